import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubRecords

extension CSVReader {
    /// The fields of the current row as texts.
    mutating func texts() -> [String] {
        withRow { bytes, fields in
            fields.map { String(decoding: UnsafeBufferPointer(rebasing: bytes[$0.range]), as: UTF8.self) }
        }
    }
}

@Suite struct CSVReaderTests {
    /// A row, or what is wrong with one, and the line on which it begins.
    enum Found: Equatable, CustomStringConvertible {
        case row(Int, [String])
        case problem(Int, CSVReader.Problem.Kind, field: Int)

        var description: String {
            switch self {
            case .row(let line, let fields): "\(line): \(fields)"
            case .problem(let line, let kind, let field): "\(line): \(kind) in field \(field)"
            }
        }
    }

    static func read(
        _ bytes: [UInt8],
        piece: Int = .max,
        delimiter: UInt8? = UInt8(ascii: ","),
        limits: CSVReader.Limits = CSVReader.Limits()
    ) throws -> [Found] {
        var reader = try CSVReader(MemorySource(bytes, piece: piece), delimiter: delimiter, limits: limits)
        var found: [Found] = []
        while try reader.next() {
            if let problem = reader.problem {
                found.append(.problem(reader.line, problem.kind, field: problem.field))
            } else {
                found.append(.row(reader.line, reader.texts()))
            }
        }
        #expect(reader.offset == bytes.count)
        return found
    }

    /// Sizes of the pieces in which a source gives its bytes.
    static let pieces = [1, 2, 3, 5, .max]

    static let meanings: [(String, [Found])] = [
        ("", []),
        ("a", [.row(1, ["a"])]),
        ("a,b", [.row(1, ["a", "b"])]),
        ("a,b\n", [.row(1, ["a", "b"])]),
        ("a,b\r\nc,d\r\n", [.row(1, ["a", "b"]), .row(2, ["c", "d"])]),
        ("a,b\rc,d", [.row(1, ["a", "b"]), .row(2, ["c", "d"])]),
        ("a\n\n\r\n\rb", [.row(1, ["a"]), .row(5, ["b"])]),
        (",", [.row(1, ["", ""])]),
        (",\n,", [.row(1, ["", ""]), .row(2, ["", ""])]),
        ("a,\n", [.row(1, ["a", ""])]),
        ("\"\"", [.row(1, [""])]),
        ("\"\"\n", [.row(1, [""])]),
        ("\"a,b\",c", [.row(1, ["a,b", "c"])]),
        ("\"a\"\"b\"", [.row(1, ["a\"b"])]),
        ("\"\"\"\"", [.row(1, ["\""])]),
        ("\"a\"\"\",\"\"\"b\"", [.row(1, ["a\"", "\"b"])]),
        ("\"a\nb\",c\nd", [.row(1, ["a\nb", "c"]), .row(3, ["d"])]),
        ("\"a\r\n\r\nb\"\r\nc", [.row(1, ["a\r\n\r\nb"]), .row(4, ["c"])]),
        ("\"a\rb\"\rc", [.row(1, ["a\rb"]), .row(3, ["c"])]),
        ("x,\"\"\"a\"\"\"\ny", [.row(1, ["x", "\"a\""]), .row(2, ["y"])]),
        // A quote inside a field that does not begin with one, as the original library writes it.
        ("a\"b,c\"\"d", [.row(1, ["a\"b", "c\"\"d"])]),
        (" \"a\"", [.row(1, [" \"a\""])]),
        ("Zoë,😀\né", [.row(1, ["Zoë", "😀"]), .row(2, ["é"])]),
        ("\u{FEFF}a", [.row(1, ["a"])]),
        ("a,\u{FEFF}b", [.row(1, ["a", "\u{FEFF}b"])]),
        ("a;b\tc", [.row(1, ["a;b\tc"])]),
    ]

    @Test(arguments: meanings) func meaning(_ text: String, _ rows: [Found]) throws {
        for piece in Self.pieces {
            #expect(try Self.read(Array(text.utf8), piece: piece) == rows, "\(text.debugDescription) in \(piece)")
        }
    }

    static let malformed: [([UInt8], [Found])] = [
        // Text behind a closing quote, in a row of one line.
        (Array("\"a\"b,c\nd".utf8), [.problem(1, .textBehindQuote, field: 1), .row(2, ["d"])]),
        (Array("a,\"b\" ,c\r\nd".utf8), [.problem(1, .textBehindQuote, field: 2), .row(2, ["d"])]),
        // A quote that should not be there gives back the rows that it swallowed.
        (
            Array("u5,\"Ann,1\nu6,\"Bob\",2\nu7,Eve,3".utf8),
            [.problem(1, .textBehindQuote, field: 2), .row(2, ["u6", "Bob", "2"]), .row(3, ["u7", "Eve", "3"])]
        ),
        (
            Array("u5,\"Ann\nu6,Bob\nu7,Eve".utf8),
            [.problem(1, .unterminatedQuote, field: 2), .row(2, ["u6", "Bob"]), .row(3, ["u7", "Eve"])]
        ),
        (Array("\"".utf8), [.problem(1, .unterminatedQuote, field: 1)]),
        (Array("a\n\"b\"\"".utf8), [.row(1, ["a"]), .problem(2, .unterminatedQuote, field: 1)]),
        // Windows-1252.
        (Array("a,Zo".utf8) + [0xEB] + Array(",x\nb".utf8), [.problem(1, .notUTF8, field: 2), .row(2, ["b"])]),
        ([0x22, 0xE9, 0x22, 0x0A, 0x62], [.problem(1, .notUTF8, field: 1), .row(2, ["b"])]),
        (Array("a,b\u{0}c\nd".utf8), [.problem(1, .nul, field: 2), .row(2, ["d"])]),
        // Overlong, a surrogate, above U+10FFFF, cut off.
        ([0xC0, 0x80], [.problem(1, .notUTF8, field: 1)]),
        ([0xED, 0xA0, 0x80], [.problem(1, .notUTF8, field: 1)]),
        ([0xF4, 0x90, 0x80, 0x80], [.problem(1, .notUTF8, field: 1)]),
        ([0x61, 0xE2, 0x82], [.problem(1, .notUTF8, field: 1)]),
        ([0x61, 0x2C, 0xE2, 0x0A, 0x62], [.problem(1, .notUTF8, field: 2), .row(2, ["b"])]),
    ]

    @Test(arguments: malformed) func problemsOfRows(_ bytes: [UInt8], _ found: [Found]) throws {
        for piece in Self.pieces {
            #expect(try Self.read(bytes, piece: piece) == found, "\(bytes.hex) in \(piece)")
        }
    }

    @Test func limits() throws {
        var limits = CSVReader.Limits()
        limits.fieldBytes = 8
        limits.rowBytes = 40
        limits.fields = 3
        let long = String(repeating: "x", count: 1000)
        let table: [(String, [Found])] = [
            ("12345678,a\nb", [.row(1, ["12345678", "a"]), .row(2, ["b"])]),
            ("a,123456789\nb", [.problem(1, .fieldTooLong, field: 2), .row(2, ["b"])]),
            ("a,\"123456789\"\nb", [.problem(1, .fieldTooLong, field: 2), .row(2, ["b"])]),
            ("1,2,3,4,5\nb", [.problem(1, .tooManyFields, field: 4), .row(2, ["b"])]),
            ("\(long)\nb", [.problem(1, .fieldTooLong, field: 1), .row(2, ["b"])]),
        ]
        for (text, found) in table {
            #expect(try Self.read(Array(text.utf8), limits: limits) == found, "\(text.prefix(20))")
        }
        // In small pieces the row is given up before its end is seen.
        for text in ["\(long)\nb", "\"\(long)\nb", "\(long)\r\nb"] {
            let found = try Self.read(Array(text.utf8), piece: 16, limits: limits)
            #expect(found == [.problem(1, .rowTooLong, field: 1), .row(2, ["b"])], "\(text.prefix(20))")
        }
    }

    @Test func aRowLongerThanEveryBufferTakesNoMemory() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000)
        let found = try Self.read(long + [0x0A] + Array("b".utf8))
        #expect(found == [.problem(1, .rowTooLong, field: 1), .row(2, ["b"])])
    }

    @Test func tellsEmptyTextFromNothing() throws {
        var reader = try CSVReader(MemorySource(Array(",\"\"".utf8)))
        #expect(try reader.next())
        #expect(reader.fields.map(\.isQuoted) == [false, true])
    }

    static let delimiters: [(String, UInt8, Int)] = [
        ("a,b\n1;2;3,4", UInt8(ascii: ","), 1), ("a;b\n1,2,3", UInt8(ascii: ";"), 1),
        ("a\tb\n", UInt8(ascii: "\t"), 1), ("a", UInt8(ascii: ","), 1), ("", UInt8(ascii: ","), 1),
        ("\"a,b,c\";d", UInt8(ascii: ";"), 1), ("a;b,c", UInt8(ascii: ","), 1),
        ("sep=;\r\na;b", UInt8(ascii: ";"), 2), ("sep=|\na|b,c,d", UInt8(ascii: "|"), 2),
    ]

    @Test(arguments: delimiters) func findsTheDelimiter(_ text: String, _ delimiter: UInt8, _ line: Int) throws {
        var reader = try CSVReader(MemorySource(Array(text.utf8)))
        #expect(reader.delimiter == delimiter)
        if try reader.next() { #expect(reader.line == line) }
    }

    static let wide: [[UInt8]] = [
        [0xFF, 0xFE, 0x61, 0x00], [0xFE, 0xFF, 0x00, 0x61], [0x61, 0x00, 0x2C, 0x00, 0x62, 0x00],
        [0x00, 0x61, 0x00, 0x2C], [0xFF, 0xFE, 0x00, 0x00],
    ]

    @Test(arguments: wide) func refusesOtherEncodings(_ bytes: [UInt8]) {
        #expect {
            _ = try CSVReader(MemorySource(bytes))
        } throws: { error in
            (error as? TransferError)?.kind == .wrongEncoding
        }
    }

    @Test func survivesAnyBytes() throws {
        var random = SeededNumbers(seed: 4)
        let alphabet = Array("\"\",,\r\n ab;\t'".utf8) + [0, 0xFF, 0xC3, 0xA9, 0xEF, 0xBB, 0xBF]
        for _ in rounds(600) {
            let count = Int.random(in: 0...40, using: &random)
            let bytes = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
            guard let whole = try? Self.read(bytes) else { continue }
            #expect(try Self.read(bytes, piece: 1) == whole, "\(bytes.hex)")
        }
    }
}
