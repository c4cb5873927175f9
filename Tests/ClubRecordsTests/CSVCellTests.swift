import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubRecords

@Suite struct CSVCellTests {
    static func written(_ value: FieldValue?) -> String {
        var csv: [UInt8] = []
        var writer = CSVWriter()
        writer.beginRow(&csv)
        writer.value(value, &csv)
        return String(decoding: csv, as: UTF8.self)
    }

    static let table: [(FieldValue?, String)] = [
        (nil, ""), (.null, "<null>"), (.string(""), "\"\""), (.string("Ann"), "Ann"), (.int(-5), "-5"),
        (.double(1.5), "1.5"), (.bool(true), "true"),
        (.string("a,b"), "\"a,b\""), (.string("a\"b"), "\"a\"\"b\""), (.string("a\nb"), "\"a\nb\""),
        (.string("a;b"), "\"a;b\""),
        // Formulas.
        (.string("=1+1"), "\"'=1+1\""), (.string("+49 30"), "\"'+49 30\""), (.string("-1"), "\"'-1\""),
        (.string("@SUM(A1)"), "\"'@SUM(A1)\""), (.string("\t=1"), "\"'\t=1\""), (.string("\r=1"), "\"'\r=1\""),
        (.string("＝1"), "\"'＝1\""), (.string("="), "\"'=\""),
        // What would be read as something else.
        (.string("<null>"), "\"'<null>\""), (.string("[1]"), "\"'[1]\""), (.string("{}"), "\"'{}\""),
        // Apostrophes of a text's own.
        (.string("'t Hooft"), "'t Hooft"), (.string("'"), "'"), (.string("'+49"), "\"''+49\""),
        (.string("''=x"), "\"'''=x\""), (.string("'<null>"), "\"''<null>\""), (.string("[1"), "[1"),
        (.array([.int(1), .string("a")]), "\"[1,\"\"a\"\"]\""), (.object([:]), "\"{}\""),
        (.string("1=1"), "1=1"), (.string("é=1"), "é=1"),
    ]

    @Test(arguments: table) func writes(_ value: FieldValue?, _ text: String) {
        #expect(Self.written(value) == text)
    }

    /// The custom field that a cell is read as.
    static func read(_ cell: String) throws -> FieldValue? {
        let csv = "userId,f\nU1,\(cell)"
        var reader = try CSVMemberReader(MemorySource(Array(csv.utf8)))
        var batch = RowBatch(isUntyped: true)
        while try reader.read(into: &batch) {}
        #expect(batch.faults.isEmpty)
        return try batch.batch.member(#require(batch.batch.rows.first)).fields["f"]
    }

    @Test(arguments: table) func readsBack(_ value: FieldValue?, _ text: String) throws {
        // Numbers and truth values come back as text, which CSV cannot tell from them.
        let expected: FieldValue? =
            switch value {
            case .int, .double, .bool: value?.cellText.map { .string($0) }
            default: value
            }
        #expect(try Self.read(text) == expected)
    }

    /// What people and spreadsheets write.
    static let foreign: [(String, FieldValue?)] = [
        ("+49 30", .string("+49 30")), ("'+49 30", .string("+49 30")), ("=1+1", .string("=1+1")),
        ("'hello", .string("'hello")), ("\"<null>\"", .null), ("\"'\"", .string("'")), ("''", .string("''")),
        ("007", .string("007")), (" a ", .string(" a ")), ("\"[1, 2]\"", .array([.int(1), .int(2)])),
    ]

    @Test(arguments: foreign) func readsOthers(_ text: String, _ value: FieldValue?) throws {
        #expect(try Self.read(text) == value)
    }

    @Test func everyTextComesBack() throws {
        var random = SeededNumbers(seed: 20_261_121)
        var texts = ["+49 151 23456789", "'+49", "'t Hooft", "", "<null>", "\"quoted\", he said"]
        for _ in rounds(1000) { texts.append(random.text()) }
        var csv: [UInt8] = []
        var writer = CSVWriter()
        writer.beginRow(&csv)
        for name in ["userId", "username", "f"] { writer.text(name, marksEmpty: false, &csv) }
        for (index, text) in texts.enumerated() {
            writer.beginRow(&csv)
            writer.text("U\(index)", marksEmpty: false, &csv)
            writer.text(text, marksEmpty: false, &csv)
            writer.text(text, marksEmpty: true, &csv)
        }
        var reader = try CSVMemberReader(MemorySource(csv, piece: 1000))
        var read: [ImportedMember] = []
        var isMore = true
        while isMore {
            var batch = RowBatch(isUntyped: true)
            isMore = try reader.read(into: &batch)
            #expect(batch.faults.map(\.fault) == [])
            read += batch.batch.rows.map { batch.batch.member($0) }
        }
        #expect(read.count == texts.count)
        for (member, text) in zip(read, texts) {
            #expect(member.username == .string(text))
            #expect(member.fields == ["f": .string(text)])
        }
        // And nothing that a spreadsheet would take for a formula is in the file.
        var raw = try CSVReader(MemorySource(csv))
        var formulas = 0
        while try raw.next() {
            formulas += raw.withRow { bytes, fields in
                fields.count { $0.count > 0 && "=+-@\t\r\n".utf8.contains(bytes[$0.start]) }
            }
        }
        #expect(formulas == 0)
    }

    @Test func everyValueComesBack() throws {
        var random = SeededNumbers(seed: 7)
        for _ in rounds(400) {
            let value = random.value().normalized
            let expected: FieldValue? =
                switch value {
                case .int, .double, .bool: value.cellText.map { .string($0) }
                default: value
                }
            #expect(try Self.read(Self.written(value)) == expected, "\(value)")
        }
    }
}
