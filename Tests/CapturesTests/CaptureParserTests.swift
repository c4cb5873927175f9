import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures

@Suite struct CaptureParserTests {
    static let example = """
        capture 1
        title: Membership card, NTAG213, https://club.example/m/42
        reader: SpringCard H518 [CCID] (000A1B2C) 00 00
        source: synthetic                      # or: recorded, with device and date
        license: CC0-1.0
        recorded by: somebody

        card at 0.000 atr 3B8F8001804F0CA0000003060300030000000068
        > FF CA 00 00 00
        < 04 A1 B2 C3 D4 E5 80 90 00 @ 0.0041
        > FF B0 00 03 10
        < E1 10 12 00 03 1B D1 01 17 55 04 63 6C 75 62 2E 90 00
        ! removed
        """

    @Test func readsTheExampleOfTheFormat() throws {
        let text = Self.example.replacingOccurrences(
            of: "! removed",
            with: """
                > FF B0 00 07 10
                ! removed                              # a fault in place of an answer
                removed at 1.250
                card at 4.000 iso14443a atqa 0044 sak 00 uid 04 a1 b2 c3 d4 e5 80 ats 0578807002
                >> 30 03
                << 0a/4 @ 4.25
                control 0x42000001 > 58 20 00
                < 00 53
                control 1 >
                <
                """
        )
        let capture = try Capture(parsing: text, file: "example.capture")
        #expect(capture.title == "Membership card, NTAG213, https://club.example/m/42")
        #expect(capture.source == "synthetic")
        #expect(capture.license == "CC0-1.0")
        #expect(capture[header: "Recorded By"] == "somebody")
        #expect(capture.readers == [Capture.Reader(name: "SpringCard H518 [CCID] (000A1B2C) 00 00")])
        #expect(capture.started == nil)
        #expect(capture.presentations.count == 2)
        let first = try #require(capture.presentations.first)
        #expect(first.at == .zero)
        #expect(first.removedAt == .milliseconds(1250))
        #expect(first.facts.atr?.hex == "3B8F8001804F0CA0000003060300030000000068")
        #expect(
            first.exchanges == [
                .init(
                    .apdu([0xFF, 0xCA, 0, 0, 0]),
                    .bytes([0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80, 0x90, 0]),
                    at: .microseconds(4100)
                ),
                .init(
                    .apdu([0xFF, 0xB0, 0, 3, 0x10]),
                    .bytes(try Hex.decode("E1101200031BD101175504636C75622E9000"))
                ),
                .init(.apdu([0xFF, 0xB0, 0, 7, 0x10]), .fault(.removed)),
            ]
        )
        #expect(first.exchanges.map(\.sourceLine) == [9, 11, 13])
        let second = capture.presentations[1]
        #expect(second.facts.technology == .iso14443a)
        #expect(second.facts.values.map(\.name) == ["atqa", "sak", "uid", "ats"])
        #expect(second.facts["uid"]?.hex == "04A1B2C3D4E580")
        #expect(
            second.exchanges == [
                .init(
                    .raw(RawFrame([0x30, 0x03])),
                    .raw(RawFrame([0x0A], bitsInLastByte: 4)),
                    at: .milliseconds(4250)
                ),
                .init(.control(code: 0x4200_0001, data: [0x58, 0x20, 0]), .bytes([0, 0x53])),
                .init(.control(code: 1, data: []), .bytes([])),
            ]
        )
        #expect(second.removedAt == nil)
    }

    @Test func readsWhatEditorsAndSystemsAdd() throws {
        let text =
            "\u{FEFF}# a comment\r\n\r\n  capture 1 # the version\r\nsource: a#b\r\n\tcard at 1\r\n"
            + ">ffca000000#x\r\n<9000@1.5#y\r\nremoved at 2"
        let capture = try Capture(parsing: text)
        #expect(capture.source == "a#b")
        #expect(
            capture.presentations == [
                .init(
                    at: .seconds(1),
                    exchanges: [.init(.apdu([0xFF, 0xCA, 0, 0, 0]), .bytes([0x90, 0]), at: .milliseconds(1500))],
                    removedAt: .seconds(2)
                )
            ]
        )
    }

    @Test func readsSeveralReadersAndTheirInterleaving() throws {
        let capture = try Capture(
            parsing: """
                capture 1
                reader 1: Left
                reader 2: Right
                card 1 at 0
                > 00A40000
                < 9000 @ 0.1
                card 2 at 0.5
                > 00B00000
                < 6A82 @ 0.6
                reader 1
                > 00C00000
                ! comm-error @ 0.55
                removed 2 at 0.7
                removed 1 at 0.6
                line 2 at 0.9  two spaces, a # and no comment
                """
        )
        #expect(capture.readers.map(\.number) == [1, 2])
        #expect(capture.presentations.map(\.reader) == [1, 2])
        #expect(capture.presentations[0].exchanges.map(\.answer) == [.bytes([0x90, 0]), .fault(.commError)])
        #expect(capture.presentations[1].exchanges.count == 1)
        #expect(capture.presentations.map(\.removedAt) == [.milliseconds(600), .milliseconds(700)])
        #expect(
            capture.lines == [.init(reader: 2, at: .milliseconds(900), text: " two spaces, a # and no comment")]
        )
        #expect(try Capture(parsing: capture.text()) == capture)
    }

    @Test func readsACardThatCouldNotBeConnected() throws {
        let capture = try Capture(parsing: "capture 1\ncard at 1\n! removed\nremoved at 2\n")
        #expect(capture.presentations == [.init(at: .seconds(1), connectFault: .removed, removedAt: .seconds(2))])
    }

    @Test(arguments: [
        ("2026-11-21T12:00:00Z", 1_795_262_400.0), ("2026-11-21T13:00:00.250+01:00", 1_795_262_400.25),
        ("1970-01-01T00:00:00Z", 0), ("2024-02-29T23:59:59.999Z", 1_709_251_199.999),
    ])
    func readsTheStart(text: String, seconds: Double) throws {
        let capture = try Capture(parsing: "capture 1\nstarted: \(text)\n")
        #expect(capture.started == Date(timeIntervalSince1970: seconds))
        let written = ISO8601.text(Date(timeIntervalSince1970: seconds))
        #expect(ISO8601.date(written) == Date(timeIntervalSince1970: seconds))
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        var text: String
        var code: CaptureError.Code
        var line: Int
        var column: Int
        var testDescription: String { text.replacingOccurrences(of: "\n", with: "⏎") }

        init(_ text: String, _ code: CaptureError.Code, _ line: Int, _ column: Int) {
            self.text = text
            self.code = code
            self.line = line
            self.column = column
        }

        /// A fault in what follows a card, in the third line and later.
        static func card(_ text: String, _ code: CaptureError.Code, _ line: Int, _ column: Int) -> Malformed {
            Malformed("capture 1\ncard at 1\n" + text, code, line + 2, column)
        }
    }

    @Test(arguments: [
        Malformed("", .notACapture, 1, 1),
        Malformed("# only a comment\n", .notACapture, 1, 1),
        Malformed("title: x\ncapture 1\n", .notACapture, 1, 1),
        Malformed("capture\n", .notACapture, 1, 8),
        Malformed("capture one\n", .notACapture, 1, 9),
        Malformed("capture 2\n", .unsupportedVersion, 1, 9),
        Malformed("capture 99999999999999999999\n", .unsupportedVersion, 1, 9),
        Malformed("capture 1 x\n", .trailingText, 1, 11),
        Malformed("capture 1\n\nhello\n", .invalidHeader, 3, 1),
        Malformed("capture 1\n: x\n", .invalidHeader, 2, 1),
        Malformed("capture 1\nti/tle: x\n", .invalidHeader, 2, 1),
        Malformed("capture 1\ntitle: a\u{1B}[0m\n", .invalidHeader, 2, 8),
        Malformed("capture 1\nstarted: yesterday\n", .invalidHeader, 2, 10),
        Malformed("capture 1\nstarted: 2026-02-29T00:00:00Z\n", .invalidHeader, 2, 10),
        Malformed("capture 1\nreader:\n", .invalidHeader, 2, 8),
        Malformed("capture 1\nreader: a\nreader 1: b\n", .invalidHeader, 3, 1),
        Malformed("capture 1\nreader 1: a\nreader 1: b\n", .duplicateHeader, 3, 1),
        Malformed("capture 1\nreader 1000: a\n", .unknownReader, 2, 1),
        Malformed("capture 1\ntitle: a\nTitle: b\n", .duplicateHeader, 3, 1),
        Malformed("capture 1\ncard at 1\ntitle: a\n", .headerAfterCard, 3, 1),
        Malformed("capture 1\nline at 1 x\ntitle: a\n", .headerAfterCard, 3, 1),
        Malformed("capture 1\n> 00A40000\n", .noCard, 2, 1),
        Malformed("capture 1\n< 9000\n", .noCard, 2, 1),
        Malformed("capture 1\n! removed\n", .noCard, 2, 1),
        Malformed("capture 1\nremoved at 1\n", .noCard, 2, 1),
        Malformed("capture 1\ncard\n", .invalidTime, 2, 5),
        Malformed("capture 1\ncard at\n", .invalidTime, 2, 8),
        Malformed("capture 1\ncard at -1\n", .invalidTime, 2, 9),
        Malformed("capture 1\ncard at 1.\n", .invalidTime, 2, 9),
        Malformed("capture 1\ncard at 1.0000000001\n", .invalidTime, 2, 9),
        Malformed("capture 1\ncard at 99999999999\n", .invalidTime, 2, 9),
        Malformed("capture 1\ncard 1 at 1\n", .unknownReader, 2, 6),
        Malformed("capture 1\nreader 1: a\ncard at 1\n", .unknownReader, 3, 6),
        Malformed("capture 1\nreader 1: a\ncard 2 at 1\n", .unknownReader, 3, 6),
        Malformed("capture 1\nreader 1: a\ncard 1 at 1\nremoved 1 at 2\nreader 1\n", .noCard, 5, 1),
        Malformed("capture 1\ncard at 1 atr\n", .missingBytes, 2, 14),
        Malformed("capture 1\ncard at 1 atr 3\n", .oddHex, 2, 15),
        Malformed("capture 1\ncard at 1 atr 3B8\n", .oddHex, 2, 17),
        Malformed("capture 1\ncard at 1 atr 3G\n", .invalidHex, 2, 16),
        Malformed("capture 1\ncard at 1 atr \(String(repeating: "3B", count: 34))\n", .wrongLength, 2, 11),
        Malformed("capture 1\ncard at 1 atr 3B00 atr 3B00\n", .duplicateFact, 2, 20),
        Malformed("capture 1\ncard at 1 colour 00\n", .unknownFact, 2, 11),
        Malformed("capture 1\ncard at 1 iso14443a uid 00 colour 00\n", .unknownFact, 2, 28),
        Malformed("capture 1\ncard at 1 iso14443a iso14443b\n", .duplicateFact, 2, 21),
        Malformed("capture 1\ncard at 2\nremoved at 1\n", .timeBackwards, 3, 12),
        Malformed("capture 1\ncard at 2\nremoved at 3\ncard at 2.5\n", .timeBackwards, 4, 9),
        Malformed("capture 1\ncard at 2\ncard at 1\n", .timeBackwards, 3, 9),
        Malformed("capture 1\ncard at 2\nline at 1 x\n", .timeBackwards, 3, 9),
        Malformed("capture 1\nline at x y\n", .invalidTime, 2, 9),
        Malformed.card("removed at 2\nremoved at 3\n", .noCard, 2, 1),
        Malformed.card("removed at 2\n> 00A40000\n< 9000\n", .noCard, 2, 1),
        Malformed.card("> 00A40000\n", .missingAnswer, 1, 1),
        Malformed.card("> 00A40000\n> 00A40000\n< 9000\n", .missingAnswer, 1, 1),
        Malformed.card("> 00A40000\nremoved at 3\n", .missingAnswer, 1, 1),
        Malformed.card("< 9000\n", .unexpectedAnswer, 1, 1),
        Malformed.card("> 00A40000\n< 9000\n< 9000\n", .unexpectedAnswer, 3, 1),
        Malformed.card("> 00A40000\n< 9000\n! removed\n", .unexpectedAnswer, 3, 1),
        Malformed.card("> 00A40000\n<< 9000\n", .answerKind, 2, 1),
        Malformed.card(">> 3000\n< 9000\n", .answerKind, 2, 1),
        Malformed.card("control 1 > 00\n<< 9000\n", .answerKind, 2, 1),
        Malformed.card(">\n< 9000\n", .missingBytes, 1, 2),
        Malformed.card("> 00A400\n< 9000\n", .wrongLength, 1, 1),
        Malformed.card("> \(String(repeating: "00", count: 65_545))\n", .wrongLength, 1, 1),
        Malformed.card("> 00A4000\n< 9000\n", .oddHex, 1, 9),
        Malformed.card("> 00 A4 0 0 00\n< 9000\n", .oddHex, 1, 9),
        Malformed.card("> 00A400xx\n< 9000\n", .invalidHex, 1, 9),
        Malformed.card("> 00A40000 @ 1\n< 9000\n", .invalidHex, 1, 12),
        Malformed.card("> é\n", .invalidHex, 1, 3),
        Malformed.card("> 00A40000\n<\n", .missingBytes, 2, 2),
        Malformed.card("> 00A40000\n< 90\n", .wrongLength, 2, 1),
        Malformed.card("> 00A40000\n< \(String(repeating: "00", count: 65_539))\n", .wrongLength, 2, 1),
        Malformed.card("> 00A40000\n< 9000 @\n", .invalidTime, 2, 9),
        Malformed.card("> 00A40000\n< 9000 @ x\n", .invalidTime, 2, 10),
        Malformed.card("> 00A40000\n< 9000 @ 0.9\n", .timeBackwards, 2, 8),
        Malformed.card("> 00A40000\n< 9000 @ 2\n> 00A40000\n< 9000 @ 1.9\n", .timeBackwards, 4, 8),
        Malformed.card("> 00A40000\n< 9000 @ 2\nremoved at 1.5\n", .timeBackwards, 3, 12),
        Malformed.card("> 00A40000\n< 9000 @ 2 3\n", .trailingText, 2, 12),
        Malformed.card("> 00A40000\n! gone\n", .unknownFault, 2, 3),
        Malformed.card("> 00A40000\n!\n", .unknownFault, 2, 2),
        Malformed.card("> 00A40000\n! removed now\n", .trailingText, 2, 11),
        Malformed.card(">>\n", .missingBytes, 1, 3),
        Malformed.card(">> 0A/9\n", .invalidBits, 1, 7),
        Malformed.card(">> 0A/\n", .invalidBits, 1, 7),
        Malformed.card(">> 1A/4\n", .invalidBits, 1, 7),
        Malformed.card(">> 3000\n<<\n", .missingBytes, 2, 3),
        Malformed.card("control > 00\n", .invalidControlCode, 1, 9),
        Malformed.card("control 0x142000001 > 00\n", .invalidControlCode, 1, 9),
        Malformed.card("control -1 > 00\n", .invalidControlCode, 1, 9),
        Malformed.card("control 1 00\n", .missingBytes, 1, 11),
        Malformed.card("hello\n", .unknownStatement, 1, 1),
        Malformed.card("reader 1\n", .unknownReader, 1, 8),
    ])
    func refusesWhatIsMalformed(_ malformed: Malformed) {
        #expect {
            try Capture(parsing: malformed.text, file: "x.capture")
        } throws: { error in
            guard let error = error as? CaptureError else { return false }
            #expect(error.code == malformed.code)
            #expect((error.line, error.column) == (malformed.line, malformed.column), "\(error)")
            #expect(error.description == "x.capture:\(error.line):\(error.column): \(error.message)")
            #expect(!error.message.isEmpty && !error.hint.isEmpty)
            return true
        }
    }

    @Test func refusesWhatIsNotUTF8() {
        let bytes = Array("capture 1\ntitle: é".utf8) + [0xFF] + Array("\n".utf8)
        #expect(throws: CaptureError.self) { try Capture(parsing: bytes) }
        #expect {
            try Capture(parsing: bytes)
        } throws: { error in
            let error = error as? CaptureError
            return error?.code == .invalidUTF8 && error?.line == 2 && error?.column == 9
        }
    }

    @Test func refusesWhatIsTooLong() {
        func code(_ bytes: [UInt8]) -> CaptureError.Code? {
            do throws(CaptureError) {
                _ = try Capture(parsing: bytes)
                return nil
            } catch {
                return error.code
            }
        }
        let head = Array("capture 1\n# ".utf8)
        let comment = [UInt8](repeating: 0x61, count: CaptureLimits.lineLength - 2)
        #expect(code(head + comment) == nil)
        #expect(code(head + comment + [0x61]) == .lineTooLong)
        // A whole file of comments of 64 KiB each.
        let line = Array("#".utf8) + [UInt8](repeating: 0x61, count: 65_534) + Array("\n".utf8)
        var file = Array("capture 1\n".utf8)
        while file.count + line.count <= CaptureLimits.fileLength { file += line }
        file += [UInt8](repeating: 0x20, count: CaptureLimits.fileLength - file.count)
        #expect(code(file) == nil)
        #expect(code(file + [0x20]) == .fileTooLong)
    }

    @Test func readsALargeCaptureInTimeThatGrowsWithItsLength() throws {
        // A copy of what was read at every line would take minutes.
        let count = rounds(20_000).count
        let text = "capture 1\ncard at 0\n" + String(repeating: "> 00B0000010\n< 6A82\n", count: count)
        let clock = ContinuousClock()
        var capture = Capture()
        let time = try clock.measure { capture = try Capture(parsing: text) }
        #expect(capture.presentations.first?.exchanges.count == count)
        #expect(time < .seconds(30))
    }

    /// A backend may know more of a card than the names that are documented, except of type A.
    @Test func factsOfOtherTechnologiesAreOpen() throws {
        let capture = try Capture(
            parsing: "capture 1\ncard at 0.000 iso15693 uid E007809E7960 8300 dsfid 00 afi 5A\n"
        )
        #expect(capture.presentations[0].facts["afi"] == [0x5A])
        #expect(try Capture(parsing: capture.text()) == capture)
        #expect(throws: CaptureError.self) {
            try Capture(parsing: "capture 1\ncard at 0.000 iso14443a atqa 0044 afi 5A\n")
        }
    }
}
