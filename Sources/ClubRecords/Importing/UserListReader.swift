import CardCore
import Foundation

/// Reads members from a user list: a JSON array of objects with the keys of either generation of the original library.
struct UserListReader: RowReader {
    private var elements: JSONElementReader
    private let map: [String: String?]
    private let numbers: CardNumbers?
    private var number = 0
    private(set) var columns: [ImportReport.Column] = []
    private var seen: Set<String> = []
    private var hasUnusableKeys = false
    /// What keys mean of what the club keeps besides values.
    private var known: [String: StandingColumn?] = [:]
    /// The order of the numbers of dates.
    var dateOrder: DateOrder?

    init(_ source: any ByteSource, mappings: [ColumnMapping] = []) throws(TransferError) {
        map = try ColumnPlan.map(mappings, file: source.path)
        numbers = try CardNumbers(mappings, file: source.path)
        elements = try JSONElementReader(source)
    }

    var notes: [String] {
        var notes: [String] = []
        for field in map.filter({ !seen.contains($0.key) }).values.map({ $0 ?? "nothing" }).sorted() {
            notes.append("No element has the key that is mapped to '\(field)'.")
        }
        if hasUnusableKeys { notes.append("Some keys cannot be names of fields; their values are left out.") }
        return notes + ColumnPlan.notes(on: columns, map)
    }

    var offset: Int { elements.offset }
    var totalBytes: Int? { elements.totalBytes }

    mutating func read(into batch: inout RowBatch) throws(TransferError) -> Bool {
        while !batch.isFull {
            guard let element = try elements.next() else { return false }
            number += 1
            do throws(RowFault) {
                switch element {
                case .tooLong: throw RowFault(nil, "the element is longer than \(JSONElementReader.longest) bytes")
                case .broken(let reason): throw RowFault(nil, reason)
                case .value(let text): batch.batch.append(try row(text, &batch.batch))
                }
            } catch {
                batch.faults.append((number, error))
            }
        }
        return true
    }

    private mutating func row(_ text: [UInt8], _ batch: inout ImportBatch) throws(RowFault) -> ImportBatch.Row {
        let value: FieldValue
        do throws(JSONReader.Fault) {
            value = try JSONReader.value(in: text)
        } catch {
            throw RowFault(nil, "expected \(error.message) at byte \(error.offset + 1) of the element")
        }
        guard case .object(let object) = value else { throw RowFault(nil, "expected an object, '{…}'") }
        let passIsUser = !object.keys.contains { (map[$0] ?? $0) == "userId" }
        var values: [String: FieldValue] = [:]
        var said = Standing()
        var notes: [String] = []
        // Sorted, so that of two keys with one meaning always the same one counts.
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            let meaning = ColumnPlan.meaning(of: key, map, passIsUser: passIsUser)?.normalized
            note(key, meaning)
            if let meaning, let column = column(meaning) {
                if let note = try said.read(
                    column,
                    value.normalized,
                    name: key,
                    isMapped: map[key] != nil,
                    order: dateOrder
                ) {
                    notes.append(note)
                }
                continue
            }
            guard let meaning, ColumnPlan.isUsable(meaning), values[meaning] == nil || map[key] != nil else { continue }
            values[meaning] = value.normalized
            guard BirthdayText.isName(meaning) else { continue }
            let birthday = BirthdayText.kept(value.normalized, in: key, order: dateOrder)
            values[meaning] = birthday.value
            if let note = birthday.note { notes.append(note) }
        }
        if let numbers, let text = Self.text(values["userId"] ?? .null).map(Self.trimmed), !text.isEmpty {
            values["userId"] = .string(try numbers.userId(text))
        }
        let row = try Self.row(number, values, order: dateOrder, &batch)
        batch.set(said, of: number)
        for note in notes { batch.note(number, note) }
        return row
    }

    /// The same as ``StandingColumn/named(_:)``, looked up once for each key.
    private mutating func column(_ meaning: String) -> StandingColumn? {
        if let column = known[meaning] { return column }
        let column = StandingColumn.named(meaning)
        if known.count < 256 { known[meaning] = .some(column) }
        return column
    }

    private mutating func note(_ key: String, _ meaning: String?) {
        guard columns.count < 256, seen.insert(key).inserted else { return }
        let isUsable = meaning.map(ColumnPlan.isUsable) ?? true
        if !isUsable { hasUnusableKeys = true }
        let field = meaning.flatMap { column($0) }.map(\.caption.field) ?? meaning
        columns.append(ImportReport.Column(column: key, field: isUsable ? field : nil))
    }

    static func row(
        _ number: Int,
        _ values: [String: FieldValue],
        order: DateOrder? = nil,
        _ batch: inout ImportBatch
    ) throws(RowFault) -> ImportBatch.Row {
        var values = values
        func take(_ name: String) -> FieldValue { values.removeValue(forKey: name) ?? .null }

        var id = trimmed(text(take("userId")) ?? "")
        if id.isEmpty { id = trimmed(text(values["memberId"] ?? .null) ?? "") }
        guard !id.isEmpty else { throw .noIdentifier }
        guard Array(id.utf8).withUnsafeBufferPointer(CSVRowMapper.isUsable) else { throw .badIdentifier }

        var username = ImportBatch.OptionalText.absent
        let saysName = values["username"] != nil
        let name = take("username")
        let addedAt = try time(take("timeStampAdded"), "timeStampAdded", order)
        let visits = try visits(take("numVisits"))
        let lastVisitAt = try time(take("timeStampOfLastVisit"), "timeStampOfLastVisit", order)
        if let key = values.nameWithNUL { throw .nul(key) }
        if saysName {
            if let name = text(name) {
                if name.hasNUL { throw .nul("username") }
                username = .text(batch.text(name.utf8))
            } else if name == .null {
                username = .null
            } else {
                throw RowFault("username", "expected a text or null")
            }
        }
        // A text in JSON is what its program has, as strange as it may be.
        if let finding = IdentifierText.finding(id), finding != .fraction { batch.note(number, finding.reason) }
        let userId = batch.text(id.utf8)
        let fields = values.isEmpty ? nil : batch.text { JSONText.append(values, to: &$0) }
        return ImportBatch.Row(
            row: number,
            userId: userId,
            username: username,
            addedAt: addedAt,
            numVisits: visits,
            lastVisitAt: lastVisitAt,
            fields: fields
        )
    }

    private static func text(_ value: FieldValue) -> String? {
        switch value {
        case .string(let text): text
        case .int(let number): String(number)
        default: nil
        }
    }

    private static func trimmed(_ text: String) -> String { text.trimmed }

    private static func time(_ value: FieldValue, _ name: String, _ order: DateOrder?) throws(RowFault) -> Moment? {
        let forms = NumberText.Forms(order: order)
        let moment: Result<Moment, NumberText.Fault>
        switch value {
        case .null: return nil
        case .int(let number): moment = NumberText.moment(Double(number), forms)
        case .double(let number): moment = NumberText.moment(number, forms)
        case .string(let text):
            guard !trimmed(text).isEmpty else { return nil }
            moment = Array(trimmed(text).utf8).withUnsafeBufferPointer { NumberText.moment($0, forms) }
        default: throw .time(name, .noNumber)
        }
        return try moment.mapError { RowFault.time(name, $0) }.get()
    }

    private static func visits(_ value: FieldValue) throws(RowFault) -> Int? {
        let text: String
        switch value {
        case .null: return nil
        case .int(let number): text = String(number)
        case .double(let number): text = String(number)
        case .string(let string): text = trimmed(string)
        default: throw .visits("numVisits", .noNumber)
        }
        guard !text.isEmpty else { return nil }
        return try Array(text.utf8).withUnsafeBufferPointer { NumberText.visits($0, NumberText.Forms()) }
            .mapError { RowFault.visits("numVisits", $0) }.get()
    }
}
