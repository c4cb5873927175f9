import Testing
import TestSupport

@testable import CardCore

@Suite struct APDUShorthandTests {
    struct Command: CustomTestStringConvertible, Sendable {
        var text: String
        var bytes: String
        var status: UInt16?
        init(_ text: String, _ bytes: String, _ status: UInt16? = nil) {
            (self.text, self.bytes, self.status) = (text, bytes, status)
        }
        var testDescription: String { text }
    }

    static let commands = [
        Command("A4", "00A40000"),
        Command("00a4", "00A40000"),
        Command("A40400", "00A40400"),
        Command("00A40400", "00A40400"),
        Command("80CA9F17", "80CA9F17"),
        Command("A4:01", "00A4000001 01"),
        Command("A40400:D2760000850101/00=", "00A4040007D276000085010100", 0x9000),
        Command("00A4040C:E103=6A82", "00A4040C02E103", 0x6A82),
        Command("B0/0F", "00B000000F"),
        Command("00B00000/00", "00B0000000"),
        Command("00B00000/01=", "00B0000001", 0x9000),
        Command("00B00000/0000", "00B00000000000"),
        Command("00B00000/0010", "00B00000000010"),
        Command("00B00000/FFFF", "00B0000000FFFF"),
        Command("00D60000:AA/0000", "00D60000000001AA0000"),
        Command("A4=", "00A40000", 0x9000),
        Command("A4=9000", "00A40000", 0x9000),
        Command("00A4040007D276000085010100", "00A4040007D276000085010100"),
        Command("00A4040007D276000085010100=", "00A4040007D276000085010100", 0x9000),
        Command("00B0000000", "00B0000000"),
        Command("00B0000000=6a82", "00B0000000", 0x6A82),
        // A whole APDU keeps its form, though a shorter one would do.
        Command("00B00000000010", "00B00000000010"),
        Command("00D60000000001AA", "00D60000000001AA"),
        Command(" 00 A4 04 00 07 D2 76 00 00 85 01 01 00 = 90 00 ", "00A4040007D276000085010100", 0x9000),
        Command("00 A4 04 00 : D2 76 / 00", "00A4040002D27600"),
        Command("FFCA0000/00", "FFCA000000"),
    ]

    @Test(arguments: commands)
    func isRead(command: Command) throws {
        let read = try APDUShorthand(parsing: command.text)
        #expect(read.bytes.hex == command.bytes.filter { $0 != " " })
        #expect(read.expectedStatus?.rawValue == command.status)
        #expect(try read.command == CommandAPDU(bytes: read.bytes))
    }

    struct Malformed: CustomTestStringConvertible, Sendable {
        var text: String
        var column: Int
        init(_ text: String, _ column: Int) { (self.text, self.column) = (text, column) }
        var testDescription: String { text }
    }

    static let malformed = [
        Malformed("", 1),
        Malformed("   ", 4),
        Malformed("A", 2),
        Malformed("00A", 4),
        Malformed("0 0", 2),
        Malformed("00A4x", 5),
        Malformed("０0", 1),
        Malformed("00A4\u{1B}[2J", 5),
        Malformed("00A4040:01", 8),
        Malformed(":01", 1),
        Malformed("/00", 1),
        Malformed("=9000", 1),
        Malformed("00A4:", 6),
        Malformed("00A4:/00", 6),
        Malformed("00A4:0", 7),
        Malformed("00A4:01:02", 8),
        Malformed("00A4/00:01", 8),
        Malformed("00A4=9000/00", 10),
        Malformed("00A4/", 6),
        Malformed("00A4/0", 7),
        Malformed("00A4/000000", 12),
        Malformed("00A4=90", 8),
        Malformed("00A4=900000", 12),
        Malformed("00A4==", 6),
        // A whole APDU whose lengths do not fit.
        Malformed("00A4040007D27600", 17),
        Malformed("00A40400000000AA", 11),
        Malformed("00B0000000:01", 11),
        Malformed("00B0000000/01", 11),
    ]

    @Test(arguments: malformed)
    func isRefusedWhereItIsWrong(malformed: Malformed) {
        let error = #expect(throws: APDUShorthand.Failure.self) { try APDUShorthand(parsing: malformed.text) }
        #expect(error?.column == malformed.column, "\(error?.message ?? "")")
        #expect(error?.message.isEmpty == false)
    }

    @Test func dataBeyondAnyCommandIsRefused() throws {
        let longest = try APDUShorthand(parsing: "D6:" + String(repeating: "AB", count: 65_535))
        #expect(longest.form == .extended)
        #expect(longest.bytes.count == 65_542)
        #expect(throws: APDUShorthand.Failure.self) {
            try APDUShorthand(parsing: "D6:" + String(repeating: "AB", count: 65_536))
        }
    }

    /// Seed 7. Random texts of the alphabet: each is refused with a column in or just after it, or means bytes that
    /// read back as the same command.
    @Test func anyTextIsReadOrRefused() throws {
        var random = SeededNumbers(seed: 7)
        let alphabet = Array("0123456789ABCDEFabcdef:/= x")
        for _ in rounds(4000) {
            let count = Int.random(in: 0..<24, using: &random)
            let text = String((0..<count).map { _ in alphabet[Int.random(in: 0..<27, using: &random)] })
            do {
                let read = try APDUShorthand(parsing: text)
                #expect(try APDUShorthand(parsing: read.bytes.hex).bytes == read.bytes)
            } catch {
                #expect((1...text.count + 1).contains(error.column), "\(text)")
            }
        }
    }
}
