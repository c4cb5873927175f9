/// Reads members from CSV.
struct CSVMemberReader: RowReader {
    private var reader: CSVReader
    private let mapper: CSVRowMapper

    var columns: [ImportReport.Column] { mapper.plan.columns }
    var notes: [String] { mapper.plan.notes }
    var offset: Int { reader.offset }
    var totalBytes: Int? { reader.totalBytes }

    /// Reads the column names.
    init(
        _ source: any ByteSource,
        mappings: [ColumnMapping] = [],
        limits: CSVReader.Limits = CSVReader.Limits()
    ) throws(TransferError) {
        var reader = try CSVReader(source, limits: limits)
        guard try reader.next() else { throw TransferError(.noHeader, file: reader.path) }
        if let problem = reader.problem {
            let fault = RowFault.csv(problem, nil, limits)
            let kind: TransferError.Kind = problem.kind == .notUTF8 ? .wrongEncoding : .malformed
            throw TransferError(
                kind,
                file: reader.path,
                line: reader.line,
                column: problem.field,
                detail: fault.reason
            )
        }
        let header = reader.withRow { bytes, fields in
            fields.map { field in
                String(decoding: CSVCell.text(UnsafeBufferPointer(rebasing: bytes[field.range])), as: UTF8.self)
            }
        }
        let plan = try ColumnPlan(header: header, mappings: mappings, file: reader.path)
        mapper = CSVRowMapper(plan, comma: reader.delimiter != UInt8(ascii: ","))
        self.reader = reader
    }

    mutating func read(into batch: inout RowBatch) throws(TransferError) -> Bool {
        let mapper = mapper
        while !batch.isFull {
            guard try reader.next() else { return false }
            let line = reader.line
            if let problem = reader.problem {
                batch.faults.append((line, .csv(problem, mapper.name(problem.field - 1), reader.limits)))
                continue
            }
            let fault = reader.withRow { bytes, fields in mapper.append(line, bytes, fields, to: &batch.batch) }
            if let fault { batch.faults.append((line, fault)) }
        }
        return true
    }
}
