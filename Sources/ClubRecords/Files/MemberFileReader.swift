/// Reads the members of a user list or CSV file as values, some thousand at a time: for programs that look at them
/// before they are merged.
package struct MemberFileReader {
    /// The form of the file.
    package let format: TransferFormat

    private var reader: any RowReader
    private var isAtEnd = false

    /// Opens a file.
    ///
    /// - Throws: ``TransferError``, ``TransferError/Kind/malformed`` for a club's file too, which holds no such rows.
    package init(
        _ path: String,
        format: TransferFormat? = nil,
        mappings: [ColumnMapping] = []
    ) throws(TransferError) {
        let source = try FileSource(path)
        if let format {
            self.format = format
        } else {
            self.format = try .detect(path: path, start: source.peek(TransferFormat.lookahead))
        }
        reader = try Self.reader(self.format, source, mappings)
    }

    static func reader(
        _ format: TransferFormat,
        _ source: any ByteSource,
        _ mappings: [ColumnMapping]
    ) throws(TransferError) -> any RowReader {
        switch format {
        case .userList: return try UserListReader(source, mappings: mappings)
        case .csv: return try CSVMemberReader(source, mappings: mappings)
        case .clubkit:
            throw TransferError(.malformed, file: source.path, detail: "a club's file can only be merged as a whole")
        }
    }

    /// The next members, and the rows between them that could not be read; `nil` at the end.
    package mutating func next() throws(TransferError) -> (members: [ImportedMember], malformed: [ImportedRow])? {
        guard !isAtEnd else { return nil }
        var batch = RowBatch(isUntyped: format == .csv)
        isAtEnd = try !reader.read(into: &batch)
        if isAtEnd, batch.count == 0 { return nil }
        return (
            batch.batch.rows.map { batch.batch.member($0) },
            batch.faults.map { ImportedRow(row: $0.row, fault: $0.fault) }
        )
    }
}

extension ImportedRow {
    init(row: Int, fault: RowFault) {
        self.init(row: row, outcome: .malformed, column: fault.column, reason: fault.reason)
    }
}
