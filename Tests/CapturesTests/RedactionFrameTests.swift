import CardPasses
import Testing

@testable import Captures

/// What stands within commands to readers is replaced as if it stood alone, and what is not understood is listed.
@Suite struct RedactionFrameTests {
    private func redact(_ exchanges: String, card: String = "iso14443a uid 04A1B2C3D4E580") throws -> CaptureRedaction {
        CaptureRedaction(of: try Capture(parsing: "capture 1\ncard at 0 \(card)\n\(exchanges)\n"), seed: 1)
    }

    private static let read = "03 10 D1 01 0C 54 02 65 6E 41 6E 6E 61 62 65 6C"

    @Test(arguments: [
        // PWD_AUTH in each form, its answer too; the frame alone; a transparent session with flags before it
        ("> FF FE 01 00 05 1B 31 27 33 94 00\n< 5A 3C 90 00", ["31 27 33 94", "5A 3C"]),
        ("> FF EF 00 00 05 1B 31 27 33 94 00\n< 5A 3C 90 00", ["31 27 33 94", "5A 3C"]),
        ("> FF 00 00 00 07 D4 42 1B 31 27 33 94\n< D5 43 00 5A 3C 90 00", ["31 27 33 94", "5A 3C"]),
        ("> FF 00 00 00 07 D4 42 1B 31 27 33 94\n< D5 43 01 90 00", ["31 27 33 94"]),
        ("> FF 00 00 00 07 D4 42 1B 31 27 33 94\n! timeout", ["31 27 33 94"]),
        (
            "> FF C2 00 01 0B 90 02 00 1C 95 05 1B 31 27 33 94 00\n< C0 03 00 90 00 92 01 00 97 02 5A 3C 90 00",
            ["31 27 33 94", "5A 3C"]
        ),
        ("control 0x42000001 > FF FE 01 00 05 1B 31 27 33 94 00\n< 5A 3C 90 00", ["31 27 33 94", "5A 3C"]),
        // contents
        ("> FF EF 00 00 02 30 04 00\n< \(read) 90 00", ["41 6E 6E 61"]),
        ("> FF FE 01 00 02 30 04 00\n< \(read) 90 00", ["41 6E 6E 61"]),
        ("> FF C2 00 01 04 95 02 30 04 00\n< C0 03 00 90 00 97 10 \(read) 90 00", ["41 6E 6E 61"]),
        ("> FF EF 00 00 06 A2 05 41 6E 6E 61 00\n< 0A 90 00", ["41 6E 6E 61"]),
        // a whole APDU within
        ("> FF FE 01 00 09 00 20 00 01 04 31 27 33 94 00\n< 90 00 90 00", ["31 27 33 94"]),
        // identifiers: by reading, by anticollision
        ("> FF EF 00 00 02 30 00 00\n< 04 A1 B2 9F C3 D4 E5 80 72 48 00 00 E1 10 12 00 90 00", ["A1 B2", "C3 D4 E5"]),
        (
            "> FF EF 00 00 02 93 20 00\n< 88 04 A1 B2 9F 90 00\n> FF EF 00 00 02 95 20 00\n< C3 D4 E5 80 72 90 00",
            ["A1 B2", "C3 D4 E5"]
        ),
        // SpringCard's Classic commands: keys, contents, keys in what a trailer answers
        ("> FF F3 00 04 06 12 34 56 78 9A BC 10\n< \(read) 90 00", ["12 34 56 78 9A BC", "41 6E 6E 61"]),
        (
            "> FF F3 00 07 06 12 34 56 78 9A BC 10\n< 00 00 00 00 00 00 FF 07 80 69 21 43 65 87 A9 CB 90 00",
            ["21 43 65 87"]
        ),
        ("> FF F4 00 04 16 \(read) 12 34 56 78 9A BC\n< 90 00", ["12 34 56 78 9A BC", "41 6E 6E 61"]),
        // a Classic's own frames, and the write in two parts
        (">> 60 04 12 34 56 78 9A BC C3 D4 E5 80\n! timeout", ["12 34 56 78 9A BC", "C3 D4 E5"]),
        (">> A0 2B\n<< 0A/4\n>> 31 27 33 94 00 00 00 00 00 00 00 00 00 00 00 00\n<< 0A/4", ["31 27 33 94"]),
    ])
    func replacesWhatStandsWithin(exchanges: String, secrets: [String]) throws {
        let redaction = try redact(exchanges)
        let text = redaction.capture.text()
        for secret in secrets { #expect(!text.contains(secret), "\(text)") }
        #expect(redaction.unexaminedLines.isEmpty, "\(text)")
        #expect(text.utf8.count - redaction.capture.headers.reduce(0) { $0 + $1.value.utf8.count + 9 } > 40)
    }

    @Test(arguments: [
        "> FF EF 00 00 00\n< 41 42 43 90 00",
        "> FF CA 77 00 00\n< 11 22 33 44 90 00",
        "> FF 00 00 00 06 D4 08 63 31 12 34\n< D5 09 90 00", "> FF C2 00 01 04 95 09 1B 31\n< 90 00",
        "control 0x42000001 > 58 20\n< 00 41", "> 00 DC 01 04 02 12 34\n< 90 00", ">> A7 12 34 56\n<< 00",
        "> FF FE 01 00 07 FF FE 01 00 02 A7 55 00\n< 90 00",
        "> FF FE 01 00 15 FF FE 01 00 10 FF FE 01 00 0B FF FE 01 00 06 1B 31 27 33 94 00\n< 90 00",
    ])
    func listsWhatItDoesNotUnderstand(exchanges: String) throws {
        #expect(try redact(exchanges).unexaminedLines == [3])
        #expect(try redact(exchanges).unexaminedCount == 1)
    }

    @Test(arguments: [
        // extended reading and writing
        (">> 02 30 05 00\n<< 00 41 6E 6E 61", ["41 6E 6E 61"]), (">> 02 31 05 00 41 6E 6E 61\n<< 00", ["41 6E 6E 61"]),
        (">> 02 33 05 00 01 00\n<< 00 41 6E 6E 61 62 65 6C 78", ["41 6E 6E 61", "62 65 6C 78"]),
        (">> 02 24 05 01 41 6E 6E 61 62 65 6C 78\n<< 00", ["41 6E 6E 61", "62 65 6C 78"]),
        // with the security byte of each block
        (">> 42 20 05\n<< 00 00 41 6E 6E 61", ["41 6E 6E 61"]),
        (">> 42 23 05 01\n<< 00 01 41 6E 6E 61 00 62 65 6C 78", ["41 6E 6E 61", "62 65 6C 78"]),
        // passwords, with the identifier behind the maker's code
        (">> 02 B3 04 04 31 27 33 94\n<< 00", ["31 27 33 94"]),
        (">> 22 B3 04 78 56 34 12 00 01 04 E0 04 31 27 33 94\n<< 00", ["31 27 33 94", "78 56 34 12"]),
        (">> 02 3B 01\n<< 00 00 78 56 34 12 00 01 04 E0", ["78 56 34 12"]),
    ])
    func replacesVicinity(exchanges: String, secrets: [String]) throws {
        let redaction = try redact(exchanges, card: "iso15693")
        let text = redaction.capture.text()
        for secret in secrets { #expect(!text.contains(secret), "\(text)") }
        #expect(redaction.unexaminedLines.isEmpty, "\(text)")
        #expect(try Capture(parsing: text) == redaction.capture)
    }

    /// The security byte stays what it was.
    @Test func theSecurityByteIsNoContent() throws {
        let text = try redact(">> 42 23 05 01\n<< 00 01 41 6E 6E 61 00 62 65 6C 78", card: "iso15693").capture.text()
        let answer = try #require(text.split(separator: "\n").first { $0.hasPrefix("<<") })
        #expect(answer.hasPrefix("<< 00 01 ") && answer.dropFirst(21).hasPrefix("00 "), "\(answer)")
    }

    @Test(arguments: [">> 02 35 00 12 34\n<< 00", ">> 02 A5 04 99\n<< 00 12", ">> 02 20\n<< 00 41 42 43 44"])
    func listsUnknownVicinity(exchanges: String) throws {
        #expect(try redact(exchanges, card: "iso15693").unexaminedLines == [3])
    }
}
