import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubRecords

/// What spreadsheets make of identifiers.
@Suite struct IdentifierTextTests {
    /// A cell as it stands in a file, with quotes where it needs them.
    struct Cell: Sendable, CustomTestStringConvertible {
        var text: String
        /// The identifier that is taken; `nil` if the row is refused.
        var id: String?
        var finding: IdentifierText.Finding?
        var testDescription: String { text.debugDescription }

        init(_ text: String, _ id: String?, _ finding: IdentifierText.Finding? = nil) {
            (self.text, self.id, self.finding) = (text, id, finding)
        }
    }

    static let refused: [IdentifierText.Finding: [String]] = [
        .scientific: [
            "4,01235E+12", "4.01235E+12", "6,93217E+15", "4,01235e+12", "4E+12", "4.01235E12", "4,01235E+012",
            "-4.0E+12",
            "4.01235E +12", "1.2E-5", "4,01235×10^12", "4.01235*10^12", "4\u{66B}01235E+12", "٤٫٠١٢٣٥E+١٢", "1.E+15",
            ".5E+12", "1234567890123456.0", "\u{A0}4.01E+12\u{202F}",
        ],
        .error: [
            "#N/A", "#NAME?", "#REF!", "#VALUE!", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#NV", "#WERT!", "#BEZUG!",
            "#ZAHL!", "#NOM?", "#VALEUR!", "#¡REF!", "#¿NOMBRE?", "#N/D", "#RIF!", "#NOME?", "#N/B", "#VERW!", "#Н/Д",
            "#ССЫЛКА!", "#YOK", "#AD?", "#BAŞV!", "#I/T", "#HIÁNYZIK", "#ERROR!", "########", "Err:502", "#n/a",
            "#N/D!",
            "#GETTING_DATA", "Fehler:508", "#VALUE", "#REF", "#NUM", "#SAKNAS", "#BŁĄD", "#NEDOSTUPNÝ",
        ],
        .nothing: [
            "null", "NULL", "(null)", "nan", "NaN", "N/A", "None", "undefined", "\\N", "nil", "n.a.", "k.A.", "(leer)",
            "(blank)", "[NULL]", "unknown", "TBD", "-", "–", "---", "?",
        ],
        .formula: ["=A1", "=1+1", "=SUM(A1:A2)", "=\"a\"&\"b\"", "＝1"],
        .unreadable: ["U1\u{3164}", "U\u{FFFD}1", "\u{2800}U1", "U1\u{FE0F}"],
    ]

    static let taken: [Cell] = [
        // What programs put around it.
        Cell("=\"0001234\"", "0001234"), Cell("=\"U1\"", "U1"), Cell("=\"a\"\"b\"", "a\"b"),
        Cell("'0001234", "0001234"),
        Cell("'U1", "U1"), Cell("'+49", "+49"), Cell("'U1'", "U1"), Cell("'4.01E+12", "4.01E+12"), Cell("''x", "'x"),
        Cell("=\"\u{A0}U1 \"", "U1"), Cell(" 'U1 ", "U1"),
        // Blanks of every kind.
        Cell("U1\u{A0}", "U1"), Cell("\u{2007}U1", "U1"), Cell("U1\u{202F}\u{3000} \t", "U1"),
        Cell("\u{2003}U1\u{2009}", "U1"),
        Cell("\u{1680}U1\u{205F}\u{85}", "U1"), Cell("\r\nU1\n", "U1"), Cell("\u{A0}Zoë\u{A0}", "Zoë"), Cell("Ü", "Ü"),
        Cell("U\u{A0}1", "U\u{A0}1"),
        // Numbers as cards and desks write them.
        Cell("1234E567", "1234E567"), Cell("12E45678", "12E45678"), Cell("04E10000", "04E10000"),
        Cell("12E-45", "12E-45"),
        Cell("0001234567", "0001234567"), Cell("04A1B2C3D4E580", "04A1B2C3D4E580"), Cell("04:A1:B2:C3", "04:A1:B2:C3"),
        Cell("M-1", "M-1"), Cell("MEM-2024", "MEM-2024"), Cell("K.1", "K.1"), Cell("#A12", "#A12"), Cell("-1", "-1"),
        Cell("10-16", "10-16"),
        Cell("1.2", "1.2"), Cell("123 45", "123 45"), Cell("NULLA", "NULLA"), Cell("U-10-16", "U-10-16"),
        Cell("error:1", "error:1"),
        Cell("4012350000000", "4012350000000"), Cell("https://club.example/m/42", "https://club.example/m/42"),
        // What may be right, and is noted.
        Cell("1234.0", "1234", .fraction), Cell("1234,00", "1234", .fraction),
        Cell("1.234.567", "1.234.567", .thousands),
        Cell("1,234", "1,234", .thousands), Cell("1'234'567", "1'234'567", .thousands),
        Cell("123 456 789", "123 456 789", .thousands),
        Cell("1\u{202F}234\u{202F}567", "1\u{202F}234\u{202F}567", .thousands), Cell("2024-10-16", "2024-10-16", .date),
        Cell("2024-10-16 00:00:00", "2024-10-16 00:00:00", .date), Cell("16.10.2024", "16.10.2024", .date),
        Cell("10/16/2024", "10/16/2024", .date), Cell("10/16/24", "10/16/24", .date), Cell("16-Oct", "16-Oct", .date),
        Cell("16. Okt", "16. Okt", .date), Cell("Oct-24", "Oct-24", .date), Cell("01-Dez-24", "01-Dez-24", .date),
        Cell("1-févr", "1-févr", .date),
        Cell("6932170000000000", "6932170000000000", .lostDigits), Cell("0", "0", .placeholder),
        Cell("000000", "000000", .placeholder), Cell("WAHR", "WAHR", .placeholder),
        Cell("Total", "Total", .placeholder),
        Cell("10:30", "10:30", .date), Cell("10/16", "10/16", .date), Cell("9:15 AM", "9:15 AM", .date),
        Cell("’0042", "0042"),
        Cell("4012345678901230000", "4012345678901230000", .lostDigits),
    ]

    static func read(_ cell: String) throws -> (batch: RowBatch, id: String?) {
        let quoted = "\"" + cell.replacing("\"", with: "\"\"") + "\""
        var reader = try CSVMemberReader(MemorySource(Array("userId,username\n\(quoted),Ann\nU9,Bo".utf8)))
        var batch = RowBatch(isUntyped: true)
        while try reader.read(into: &batch) {}
        let row = batch.batch.rows.first { batch.batch.member($0).username == .string("Ann") }
        return (batch, row.map { batch.batch.string($0.userId) })
    }

    @Test(arguments: IdentifierText.Finding.allCases.filter(\.isFault)) func isRefused(
        _ finding: IdentifierText.Finding
    ) throws {
        let cells = try #require(Self.refused[finding])
        for cell in cells {
            let (batch, id) = try Self.read(cell)
            #expect(id == nil, "\(cell)")
            let fault = try #require(batch.faults.first, "\(cell)").fault
            #expect(fault.column == "userId" && fault.reason == finding.reason, "\(cell): \(fault)")
            #expect(!fault.reason.contains(cell))
        }
    }

    @Test(arguments: taken) func isTaken(_ cell: Cell) throws {
        let (batch, id) = try Self.read(cell.text)
        #expect(id == cell.id, "\(batch.faults)")
        #expect(batch.batch.notes.values.flatMap(\.self) == [cell.finding?.reason].compactMap(\.self))
    }

    @Test(arguments: ["U\u{200B}1", "U1\u{FEFF}", "\u{200B}U1", "\u{202E}U1", "U1\u{2060}"])
    func whatIsInvisibleIsRefused(_ cell: String) throws {
        let (batch, id) = try Self.read(cell)
        #expect(id == nil && batch.faults.count == 1)
    }

    /// Each identifier that a store may have comes back from the club's own files.
    @Test(arguments: [nil, ";", ","] as [String?]) func everyIdentifierComesBack(_ spreadsheet: String?) throws {
        var random = SeededNumbers(seed: 20_261_128)
        var ids =
            Self.taken.compactMap(\.id)
            + Self.refused.filter { $0.key != .unreadable }.values.flatMap(\.self).map(\.trimmed)
        ids += [
            "'", "''", "'x'", "''x'", "'U1'", "=\"0042\"", "<null>", "[1]", "{}", "'1234.0", "'#N/A", "true", "1/2",
            "00", "12:30", "1;2,3|4",
        ]
        for _ in rounds(600) {
            let text = random.text().trimmed
            let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.isDefaultIgnorableCodePoint }
            if Array(text.utf8).withUnsafeBufferPointer(CSVRowMapper.isUsable), isPlain { ids.append(text) }
        }
        var csv: [UInt8] = []
        var writer = spreadsheet.map { CSVWriter(forSpreadsheetWith: $0.utf8.first ?? 0) } ?? CSVWriter()
        writer.begin(&csv)
        writer.beginRow(&csv)
        for name in ["userId", "username", "f"] { writer.text(name, marksEmpty: false, &csv) }
        for var id in ids {
            writer.beginRow(&csv)
            id.withUTF8 { writer.identifier($0, &csv) }
            writer.text(id, marksEmpty: false, &csv)
            writer.value(.string(id), &csv)
        }
        let result = try CSVMemberReaderTests.read(csv, piece: 1000)
        #expect(result.faults == [:])
        #expect(result.members.count == ids.count)
        for (member, id) in zip(result.members, ids) {
            #expect(Array(member.userId.utf8) == Array(id.utf8))
            #expect(member.username == .string(id) && member.fields == ["f": .string(id)])
        }
    }

    static let fragile: [(String, Bool)] = [
        ("0042", true), ("42", false), ("12345678901", false), ("123456789012", true), ("12E45678", true),
        ("1.5", true),
        ("10-16", true), ("1/2", true), ("12:30", true), ("2024-10-16", true), ("16-Oct", true), ("Mar-24", true),
        ("true", true),
        ("WAHR", true), ("50%", true), ("0", false), ("Ann", false), ("U1", false), ("68er", false),

        ("M-1", false), ("", false),
    ]

    @Test(arguments: fragile) func knowsWhatASpreadsheetChanges(_ text: String, _ isFragile: Bool) {
        #expect(Array(text.utf8).withUnsafeBufferPointer(CSVCell.isFragile) == isFragile)
    }
}
