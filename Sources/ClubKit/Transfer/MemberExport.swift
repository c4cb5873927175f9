import Foundation
import GRDB

/// Writes the members of a store, as they are at one moment, in memory that does not depend on their number.
struct MemberExport {
    let format: TransferFormat
    /// The columns, or `nil` for all that there are.
    let columns: [String]?
    /// The delimiter of a CSV file for a spreadsheet; `nil` for the form of the original library.
    let spreadsheet: Character?
    /// Whether times are numbers in a CSV file, as in those of the original library.
    let isOriginal: Bool
    /// Makes the values of a member, where a class of the application has its own idea of them.
    let record: ((Member) throws -> [String: FieldValue])?
    let output: OutputFile
    /// Called now and then; throwing ends the export.
    let progress: (TransferProgress) throws -> Void

    /// Rows between two calls of ``progress``.
    static let step = 5000

    private static let sql = """
        SELECT id, user_id, username, added_at, num_visits, last_visit_at, fields
        FROM member WHERE status = 0 ORDER BY id
        """

    /// Writes all members. Returns how many there are, and the columns.
    func write(_ db: Database) throws -> (rows: Int, columns: [String]) {
        let total = try Int.fetchOne(db, sql: "SELECT count(*) FROM member WHERE status = 0") ?? 0
        let columns = try self.columns ?? FieldKey.baseNames + Self.fieldNames(db)
        var writer: any MemberWriter =
            format == .csv
            ? CSVMemberWriter(columns, isOriginal: isOriginal, spreadsheet)
            : UserListWriter(columns, isWhole: self.columns == nil)
        try output.write { writer.begin(&$0) }
        var rows = 0
        if let record {
            // The rows of GRDB, as values are made of them anyhow.
            let cursor = try Row.fetchCursor(db, sql: Self.sql)
            while let row = try cursor.next() {
                let values = try record(Member(row))
                try output.write { writer.append(values, &$0) }
                rows += 1
                try tell(rows, of: total)
            }
        } else {
            let cursor = try RawRows(db, Self.sql)
            while try cursor.next() {
                try output.write { writer.append(cursor, &$0) }
                rows += 1
                try tell(rows, of: total)
            }
        }
        try output.write { writer.end(&$0) }
        try progress(TransferProgress(bytes: output.count, rows: rows, totalRows: total))
        return (rows, columns)
    }

    private func tell(_ rows: Int, of total: Int) throws {
        guard rows.isMultiple(of: Self.step) else { return }
        try progress(TransferProgress(bytes: output.count, rows: rows, totalRows: total))
    }

    static func fieldNames(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT json_each.key FROM member, json_each(member.fields)
                WHERE status = 0 AND fields <> '{}' AND json_valid(fields) ORDER BY 1
                """
        ).filter(FieldKey.isCustom).sorted()
    }
}

/// Writes members in one of the forms without logical times.
protocol MemberWriter {
    mutating func begin(_ text: inout [UInt8])

    /// Appends a row of: id, user_id, username, added_at, num_visits, last_visit_at, fields.
    mutating func append(_ row: RawRows, _ text: inout [UInt8])

    mutating func append(_ values: [String: FieldValue], _ text: inout [UInt8])

    mutating func end(_ text: inout [UInt8])
}

/// What a column of the table `member` is called in files.
enum BaseColumn: Int32, Sendable {
    case userId = 1
    case username, timeStampAdded, numVisits, timeStampOfLastVisit

    init?(_ name: String) {
        guard let index = FieldKey.baseNames.firstIndex(of: name) else { return nil }
        self.init(rawValue: Int32(index) + 1)
    }
}

struct CSVMemberWriter: MemberWriter {
    private let columns: [(name: String, base: BaseColumn?)]
    private let hasCustom: Bool
    private let isOriginal: Bool
    private let isForSpreadsheet: Bool
    private var writer: CSVWriter

    init(_ columns: [String], isOriginal: Bool, _ spreadsheet: Character?) {
        self.isOriginal = isOriginal
        isForSpreadsheet = spreadsheet != nil
        writer = spreadsheet?.asciiValue.map { CSVWriter(forSpreadsheetWith: $0) } ?? CSVWriter()
        self.columns = columns.map { ($0, BaseColumn($0)) }
        hasCustom = self.columns.contains { $0.base == nil }
    }

    mutating func begin(_ text: inout [UInt8]) {
        writer.begin(&text)
        writer.beginRow(&text)
        for column in columns { writer.text(column.name, marksEmpty: false, &text) }
    }

    mutating func append(_ row: RawRows, _ text: inout [UInt8]) {
        writer.beginRow(&text)
        let json = row.bytes(6)
        var fields: [String: FieldValue] = [:]
        if hasCustom, json.count > 2, case .object(let values) = try? JSONReader.value(in: json) { fields = values }
        for column in columns {
            switch column.base {
            case .userId: writer.identifier(row.bytes(1), &text)
            case .username:
                if row.isNull(2) { writer.null(&text) } else { writer.text(row.bytes(2), marksEmpty: false, &text) }
            case .timeStampAdded: time(row.integer(3), &text)
            case .numVisits: writer.plain(&text) { NumberText.append(row.integer(4), to: &$0) }
            case .timeStampOfLastVisit: time(row.integer(5), &text)
            case nil: writer.value(fields[column.name], &text)
            }
        }
    }

    private mutating func time(_ microseconds: Int64, _ text: inout [UInt8]) {
        let (isOriginal, isForSpreadsheet) = (isOriginal, isForSpreadsheet)
        writer.plain(&text) { text in
            if isOriginal { return NumberText.append(seconds: microseconds, to: &text) }
            let start = text.count
            NumberText.append(date: microseconds, to: &text)
            // For people who read it there.
            if isForSpreadsheet, text.count > start + 10 { text[start + 10] = UInt8(ascii: " ") }
        }
    }

    mutating func append(_ values: [String: FieldValue], _ text: inout [UInt8]) {
        writer.beginRow(&text)
        for column in columns {
            switch (column.base, values[column.name]) {
            case (.userId, .string(var value)): value.withUTF8 { writer.identifier($0, &text) }
            case (.username, .string(let value)):
                writer.text(value, marksEmpty: false, &text)
            case (.timeStampAdded, let value), (.timeStampOfLastVisit, let value):
                writer.plain(&text) { JSONText.append(seconds: value, to: &$0) }
            case (_, let value): writer.value(value, &text)
            }
        }
    }

    mutating func end(_ text: inout [UInt8]) {}
}

struct UserListWriter: MemberWriter {
    private let columns: [(key: [UInt8], name: String, base: BaseColumn?)]
    /// Whether all custom fields are written, so that they need not be looked at.
    private let isWhole: Bool
    private var isFirst = true

    init(_ columns: [String], isWhole: Bool) {
        self.columns = columns.map { name in
            var key: [UInt8] = []
            JSONText.append(name.utf8, to: &key)
            key.append(UInt8(ascii: ":"))
            return (key, name, BaseColumn(name))
        }
        self.isWhole = isWhole
    }

    mutating func begin(_ text: inout [UInt8]) {
        text.append(UInt8(ascii: "["))
    }

    private mutating func beginElement(_ text: inout [UInt8]) {
        if !isFirst { text.append(contentsOf: ",\n".utf8) }
        isFirst = false
        text.append(UInt8(ascii: "{"))
    }

    mutating func append(_ row: RawRows, _ text: inout [UInt8]) {
        beginElement(&text)
        let json = row.bytes(6)
        var fields: [String: FieldValue] = [:]
        if !isWhole, json.count > 2, case .object(let values) = try? JSONReader.value(in: json) { fields = values }
        var isFirstKey = true
        for column in columns where column.base != nil || !isWhole {
            if !isFirstKey { text.append(UInt8(ascii: ",")) }
            isFirstKey = false
            text.append(contentsOf: column.key)
            switch column.base {
            case .userId: JSONText.append(row.bytes(1), to: &text)
            case .username:
                if row.isNull(2) {
                    text.append(contentsOf: "null".utf8)
                } else {
                    JSONText.append(row.bytes(2), to: &text)
                }
            case .timeStampAdded: NumberText.append(seconds: row.integer(3), to: &text)
            case .numVisits: NumberText.append(row.integer(4), to: &text)
            case .timeStampOfLastVisit: NumberText.append(seconds: row.integer(5), to: &text)
            case nil: JSONText.append(fields[column.name] ?? .null, to: &text)
            }
        }
        if isWhole, json.count > 2 {
            // The object as it is, without its brackets.
            text.append(UInt8(ascii: ","))
            text.append(contentsOf: json.dropFirst().dropLast())
        }
        text.append(UInt8(ascii: "}"))
    }

    mutating func append(_ values: [String: FieldValue], _ text: inout [UInt8]) {
        beginElement(&text)
        var isFirstKey = true
        for column in columns {
            if !isFirstKey { text.append(UInt8(ascii: ",")) }
            isFirstKey = false
            text.append(contentsOf: column.key)
            switch column.base {
            case .timeStampAdded, .timeStampOfLastVisit: JSONText.append(seconds: values[column.name], to: &text)
            default: JSONText.append(values[column.name] ?? .null, to: &text)
            }
        }
        text.append(UInt8(ascii: "}"))
    }

    mutating func end(_ text: inout [UInt8]) {
        text.append(UInt8(ascii: "]"))
    }
}

extension JSONText {
    /// Appends seconds since 1970 with whole microseconds, so that a time is the same in every form.
    static func append(seconds value: FieldValue?, to text: inout [UInt8]) {
        switch value {
        case .int(let seconds) where seconds >= 0 && Int64(seconds) < Timestamp.latest / Timestamp.second:
            NumberText.append(seconds: Int64(seconds) * Timestamp.second, to: &text)
        case .double(let seconds):
            if let time = Timestamp.microseconds(Date(timeIntervalSince1970: seconds)) {
                NumberText.append(seconds: time, to: &text)
            } else {
                append(.double(seconds), to: &text)
            }
        case let value: append(value ?? .null, to: &text)
        }
    }
}
