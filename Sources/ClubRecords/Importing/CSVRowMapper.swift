import CardCore
import CardPasses

struct CSVRowMapper: Sendable {
    let plan: ColumnPlan

    /// How numbers are written: with a comma for a point where a comma does not stand between fields.
    private var forms: NumberText.Forms

    // The columns of the base values; -1 where there is none.
    private var userId = -1
    private var memberId = -1
    private var username = -1
    private var added = -1
    private var visits = -1
    private var lastVisit = -1

    /// The columns of custom fields in the order of their names, each with `"name":`.
    private let custom: [(index: Int, prefix: [UInt8])]

    /// Those of what the club keeps besides, with their names in the file.
    private var standing: [(index: Int, column: StandingColumn, name: String, isMapped: Bool)] = []

    /// Those of custom fields that hold birthdays, with the names of the fields.
    private var birthdays: [(index: Int, name: String)] = []

    /// The order of the numbers of dates.
    var dateOrder: DateOrder? {
        get { forms.order }
        set { forms.order = newValue }
    }

    /// Fields that a row must have at least: up to the last base value. Spreadsheets leave out empty ones at the end.
    private let fewest: Int

    init(_ plan: ColumnPlan, comma: Bool) {
        self.plan = plan
        forms = NumberText.Forms(comma: comma)
        var custom: [(name: String, index: Int)] = []
        for (index, target) in plan.targets.enumerated() {
            switch target {
            case .userId: userId = index
            case .username: username = index
            case .timeStampAdded: added = index
            case .numVisits: visits = index
            case .timeStampOfLastVisit: lastVisit = index
            case .custom(let name):
                if name == "memberId" { memberId = index }
                if BirthdayText.isName(name) { birthdays.append((index, name)) }
                custom.append((name, index))
            case .standing(let column):
                standing.append((index, column, plan.columns[index].column, plan.mapped.contains(index)))
            case .nothing: break
            }
        }
        self.custom = custom.sorted { $0.name < $1.name }.map { name, index in
            var prefix: [UInt8] = []
            JSONText.append(name.utf8, to: &prefix)
            prefix.append(UInt8(ascii: ":"))
            return (index, prefix)
        }
        fewest = 1 + max(userId, username, added, visits, lastVisit)
    }

    /// The column of the identifiers.
    var identifierColumn: Int? { [userId, memberId].first { $0 >= 0 } }

    func name(_ index: Int) -> String? {
        guard plan.columns.indices.contains(index) else { return nil }
        let column = plan.columns[index]
        return column.field ?? (column.column.isEmpty ? nil : column.column)
    }

    /// Appends the member of a row, or nothing if all its fields are empty.
    func append(
        _ line: Int,
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ fields: [CSVReader.Field],
        to batch: inout ImportBatch
    ) throws(RowFault) {
        let columns = plan.targets.count
        guard fields.count >= fewest, fields.count <= columns else {
            if fields.allSatisfy({ $0.count == 0 }) { return }
            if fields.count < fewest {
                throw RowFault(name(fields.count), "the row ends after \(fields.count) of \(columns) fields")
            }
            if fields[columns...].contains(where: { $0.count > 0 }) {
                let reason = "the row has \(fields.count) fields and the header \(columns); put texts that contain "
                throw RowFault("\(columns + 1)", reason + "the delimiter in quotes")
            }
            return try append(line, bytes, Array(fields[..<columns]), to: &batch)
        }
        func cell(_ index: Int) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(rebasing: bytes[fields[index].range])
        }

        let (id, finding) = identifier(bytes, fields)
        guard !id.isEmpty else {
            if fields.allSatisfy({ $0.count == 0 }) { return }
            throw .noIdentifier
        }
        guard Self.isUsable(id) else { throw .badIdentifier }
        if let finding, finding.isFault { throw RowFault("userId", finding.reason) }
        // Where it has none, the memberId stands in as it is.
        let hasNumber = fields.indices.contains(userId) && fields[userId].count > 0
        let card = hasNumber ? try plan.numbers?.userId(String(decoding: id, as: UTF8.self)) : nil
        var (addedAt, numVisits, lastVisitAt): (Moment?, Int?, Moment?)
        if added >= 0, let text = number(cell(added)) {
            addedAt = try NumberText.moment(text, forms).mapError { RowFault.time("timeStampAdded", $0) }.get()
        }
        if visits >= 0, let text = number(cell(visits)) {
            numVisits = try NumberText.visits(text, forms).mapError { RowFault.visits("numVisits", $0) }.get()
        }
        if lastVisit >= 0, let text = number(cell(lastVisit)) {
            lastVisitAt = try NumberText.moment(text, forms).mapError { RowFault.time("timeStampOfLastVisit", $0) }
                .get()
        }
        // A NUL in a cell was found before; JSON can spell one.
        for (index, _) in custom where index < fields.count && cell(index).contains(UInt8(ascii: "\\")) {
            if CSVCell.container(cell(index))?.hasNUL == true { throw .nul(self.name(index)) }
        }
        func value(_ index: Int) -> FieldValue? {
            guard index < fields.count, fields[index].count > 0, !CSVCell.isNull(cell(index)) else { return nil }
            let text = String(decoding: CSVCell.text(cell(index)), as: UTF8.self)
            return CSVCell.container(cell(index)) ?? .string(text)
        }
        var said = Standing()
        var notes: [String] = []
        for (index, column, name, isMapped) in standing {
            guard let value = value(index) else { continue }
            if let note = try said.read(column, value, name: name, isMapped: isMapped, order: dateOrder) {
                notes.append(note)
            }
        }
        var kept: [Int: FieldValue?] = [:]
        for (index, name) in birthdays {
            guard let value = value(index) else { continue }
            let birthday = BirthdayText.kept(value, in: name, order: dateOrder)
            if let note = birthday.note { notes.append(note) }
            if birthday.value != value { kept.updateValue(birthday.value, forKey: index) }
        }
        var name = ImportBatch.OptionalText.absent
        if username >= 0 {
            let text = cell(username)
            name = CSVCell.isNull(text) ? .null : .text(batch.text(CSVCell.text(text)))
        }
        batch.append(
            ImportBatch.Row(
                row: line,
                userId: card.map { batch.text($0.utf8) } ?? batch.text(id),
                username: name,
                addedAt: addedAt,
                numVisits: numVisits,
                lastVisitAt: lastVisitAt,
                fields: custom.isEmpty ? nil : customFields(bytes, fields, kept, &batch)
            )
        )
        batch.set(said, of: line)
        for note in notes { batch.note(line, note) }
        if let finding { batch.note(line, finding.reason) }
    }

    private func identifier(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ fields: [CSVReader.Field]
    ) -> (text: UnsafeBufferPointer<UInt8>, finding: IdentifierText.Finding?) {
        for index in [userId, memberId] where fields.indices.contains(index) {
            let cell = NumberText.trimmed(UnsafeBufferPointer(rebasing: bytes[fields[index].range]))
            guard !CSVCell.isNull(cell) else { continue }
            let id = IdentifierText.read(cell)
            if !id.text.isEmpty { return id }
        }
        return (UnsafeBufferPointer(start: nil, count: 0), nil)
    }

    static func isUsable(_ id: UnsafeBufferPointer<UInt8>) -> Bool {
        if id.count <= MemberID.longest, id.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return true }
        let text = String(decoding: id, as: UTF8.self)
        return MemberID.isUsable(text) && !text.allSatisfy(\.isWhitespace)
    }

    /// The text of a number, or `nil` if the cell contains none.
    private func number(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        let text = NumberText.trimmed(cell)
        return text.isEmpty || CSVCell.isNull(text) ? nil : text
    }

    private func customFields(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ fields: [CSVReader.Field],
        _ kept: [Int: FieldValue?],
        _ batch: inout ImportBatch
    ) -> ImportBatch.Text? {
        batch.text { json in
            var isFirst = true
            for (index, prefix) in custom where index < fields.count {
                let field = fields[index]
                // Nothing at all states nothing; an empty text stands in quotes.
                let known = kept[index]
                guard field.count > 0 || field.isQuoted, known != .some(nil) else { continue }
                json.append(isFirst ? UInt8(ascii: "{") : UInt8(ascii: ","))
                isFirst = false
                json.append(contentsOf: prefix)
                let cell = UnsafeBufferPointer(rebasing: bytes[field.range])
                if CSVCell.isNull(cell) {
                    json.append(contentsOf: "null".utf8)
                } else if let value = known ?? nil {
                    JSONText.append(value, to: &json)
                } else if let container = CSVCell.container(cell) {
                    JSONText.append(container, to: &json)
                } else {
                    JSONText.append(CSVCell.text(cell), to: &json)
                }
            }
            if !isFirst { json.append(UInt8(ascii: "}")) }
        }
    }
}

struct CSVMemberReader: RowReader {
    private var reader: CSVReader
    private var mapper: CSVRowMapper
    private let mappings: [ColumnMapping]
    /// The names of the columns as they are compared.
    private var names: [String] = []

    private(set) var columns: [ImportReport.Column] = []
    private(set) var notes: [String] = []
    var offset: Int { reader.offset }
    var totalBytes: Int? { reader.totalBytes }

    init(
        _ source: any ByteSource,
        mappings: [ColumnMapping] = [],
        layout: FileLayout = FileLayout(),
        limits: CSVReader.Limits = CSVReader.Limits()
    ) throws(TransferError) {
        var reader = try CSVReader(source, delimiter: UInt8(ascii: ","), limits: limits)
        try reader.findHeader(layout.delimiter?.asciiValue, skipping: max(0, layout.skippedLines)) {
            ColumnPlan.score($0, mappings)
        }
        guard try reader.next() else { throw TransferError(.noHeader, file: reader.path) }
        if let problem = reader.problem {
            let fault = RowFault.csv(problem, nil, limits)
            let kind: TransferError.Kind = problem.kind == .notUTF8 ? .wrongEncoding : .malformed
            let (line, column) = (reader.line, problem.field)
            throw TransferError(kind, file: reader.path, line: line, column: column, detail: fault.reason)
        }
        self.mappings = mappings
        let header = Self.texts(&reader)
        let plan = try ColumnPlan(header: header, mappings: mappings, file: reader.path, line: reader.line)
        mapper = CSVRowMapper(plan, comma: reader.delimiter != UInt8(ascii: ","))
        mapper.dateOrder = layout.dateOrder
        self.reader = reader
        (columns, notes) = (plan.columns, plan.notes)
        begin(header)
    }

    private static func texts(_ reader: inout CSVReader) -> [String] {
        reader.withRow { bytes, fields in
            fields.map { field in
                String(decoding: CSVCell.text(UnsafeBufferPointer(rebasing: bytes[field.range])), as: UTF8.self)
            }
        }
    }

    private mutating func begin(_ header: [String]) {
        names = header.map(ColumnPlan.key)
        reader.check(only: mapper.plan.targets.map { $0 != .nothing })
    }

    mutating func read(into batch: inout RowBatch) throws(TransferError) -> Bool {
        while !batch.isFull {
            guard try reader.next() else { return false }
            let (line, mapper) = (reader.line, mapper)
            if let problem = reader.problem {
                batch.faults.append((line, .csv(problem, mapper.name(problem.field - 1), reader.limits)))
                continue
            }
            if mayBeNames(), isNames() {
                batch.faults.append((line, .namesAgain))
                continue
            }
            do throws(RowFault) {
                try reader.withRow { bytes, fields throws(RowFault) in
                    try mapper.append(line, bytes, fields, to: &batch.batch)
                }
            } catch {
                batch.faults.append((line, error))
            }
        }
        return true
    }

    /// Whether the row's identifier is a column's name, as it is where files were put one behind another.
    private mutating func mayBeNames() -> Bool {
        guard let index = mapper.identifierColumn, reader.fields.indices.contains(index) else { return false }
        let length = reader.fields[index].count
        guard length > 0, ColumnPlan.mayBeKnown(length: length) || names.contains(where: { $0.utf8.count == length })
        else { return false }
        let key = reader.withRow { bytes, fields in
            ColumnPlan.key(
                String(decoding: CSVCell.text(UnsafeBufferPointer(rebasing: bytes[fields[index].range])), as: UTF8.self)
            )
        }
        return names.contains(key) || ColumnPlan.isKnown(key, mappings)
    }

    /// Whether the row is a line of column names. Where they stand in another order, the rows behind it are read so.
    private mutating func isNames() -> Bool {
        guard let index = mapper.identifierColumn else { return false }
        let row = Self.texts(&reader)
        let keys = row.map(ColumnPlan.key)
        if keys[index] == names[index] { return true }
        let said = keys.filter { !$0.isEmpty }
        guard said.count > 1, said.allSatisfy({ names.contains($0) || ColumnPlan.isKnown($0, mappings) }) else {
            return false
        }
        // Of a file of another kind, the names mean what they say.
        let plans = [mappings, []].lazy.compactMap { [reader] in
            try? ColumnPlan(header: row, mappings: $0, file: reader.path, line: reader.line)
        }
        guard let plan = plans.first else { return false }
        let order = mapper.dateOrder
        mapper = CSVRowMapper(plan, comma: reader.delimiter != UInt8(ascii: ","))
        mapper.dateOrder = order
        begin(row)
        return true
    }
}
