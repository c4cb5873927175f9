import Testing
import TestSupport

@testable import Captures

/// Secrets, data and identifiers at places of their own.
@Suite struct CaptureRedactionPlacesTests {
    private func redact(_ card: String, _ exchanges: String) throws -> CaptureRedaction {
        CaptureRedaction(of: try Capture(parsing: "capture 1\ncard at 0\(card)\n\(exchanges)\n"), seed: 1)
    }

    /// Facts, exchanges, and what must not be left.
    @Test(arguments: [
        // secrets whose answers are empty
        ("", "> 00 2C 00 81 04 31 27 33 94\n< 90 00", ["31 27 33 94"]),
        ("", "> 80 D8 00 81 04 31 27 33 94\n< 90 00", ["31 27 33 94"]),
        ("", "> 90 5C 00 00 05 31 27 33 94 55 00\n< 91 00", ["31 27 33 94"]),
        (" iso14443a", ">> 54 00 31 27 33 94\n<< 00", ["31 27 33 94"]),
        // signatures
        (
            " iso14443a",
            ">> 3C 00\n<< 11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28 31 32 33 34 35 36 37 38 41 42 43 44 45 46 47 48",
            ["11 12 13 14", "45 46 47 48"]
        ),
        (
            " iso14443a",
            "> FF FE 01 00 02 3C 00 00\n< 11 12 13 14 15 16 17 18 21 22 23 24 25 26 27 28 31 32 33 34 35 36 37 38 41 42 43 44 45 46 47 48 90 00",
            ["11 12 13 14", "45 46 47 48"]
        ),
        (" iso15693", ">> 02 BD 04\n<< 00 11 12 13 14 15 16 17 18", ["11 12 13 14"]),
        // trailers and block 0 in frames
        (
            " iso14443a sak 08",
            ">> 30 07\n<< 31 27 33 94 A5 A6 FF 07 80 69 21 43 65 87 A9 CB", ["31 27 33 94", "21 43 65 87"]
        ),
        (
            " iso14443a sak 08",
            ">> A0 07\n<< 0A/4\n>> 31 27 33 94 A5 A6 FF 07 80 69 21 43 65 87 A9 CB\n<< 0A/4",
            ["31 27 33 94", "21 43 65 87"]
        ),
        (
            " iso14443a sak 08", ">> 30 00\n<< C1 A2 B3 D4 04 08 04 00 62 33 64 35 66 37 68 39",
            ["A2 B3 D4", "62 33 64 35"]
        ),
        (
            "",
            "> FF 86 00 00 05 01 00 00 60 00\n< 90 00\n> FF B0 00 00 10\n< C1 A2 B3 D4 04 08 04 00 62 33 64 35 66 37 68 39 90 00",
            ["A2 B3 D4", "62 33 64 35"]
        ),
        // pages 0 and 1 without page 2
        ("", "> FF B0 00 00 08\n< 04 A1 B2 9F C3 D4 E5 80 90 00", ["A1 B2", "C3 D4 E5"]),
        // identifiers of two different bytes, and of one
        (" iso14443a uid 11221122", "", ["11221122"]),
        ("", "> FF CA 00 00 00\n< 11 22 11 22 90 00", ["11 22 11 22"]),
        ("", "> FF CA 00 00 00\n< 11 11 11 11 90 00", ["11 11 11 11"]),
        (" iso14443a", ">> 93 20\n<< 11 22 11 22 00", ["11 22 11 22"]),
        (" iso14443a", ">> 93 70 11 22 11 22 00\n<< 08", ["11 22 11 22"]),
        // the key of a FeliCa Lite
        (
            " felica",
            ">> 20 08 01 2E 4C E7 91 83 5A 06 01 09 00 01 80 87 31 27 33 94 A1 A2 A3 A4 B1 B2 B3 B4 C1 C2 C3 C4\n<< 0C 09 01 2E 4C E7 91 83 5A 06 00 00",
            ["31 27 33 94", "C1 C2 C3 C4"]
        ),
    ])
    func replaces(card: String, exchanges: String, secrets: [String]) throws {
        let redaction = try redact(card, exchanges)
        let text = redaction.capture.text()
        for secret in secrets { #expect(!text.contains(secret), "\(text)") }
        #expect(redaction.unexaminedLines.isEmpty, "\(text)")
        #expect(try Capture(parsing: text) == redaction.capture)
    }

    /// A PIN of equal digits is a PIN: alone, within frames to the reader, and to classes that are not known. So is a
    /// password, but the factory's are known to everybody.
    @Test(arguments: [
        "> 00 20 00 01 04 31 31 31 31", "> 00 20 00 01 04 00 00 00 00", "> FF 55 00 00 04 31 31 31 31",
        "> A0 20 00 01 04 31 31 31 31", "> FF 00 00 00 0C D4 40 01 00 20 00 01 04 31 31 31 31",
        "> FF 00 00 00 0B D4 42 00 20 00 01 04 31 31 31 31", "> FF FE 01 00 09 00 20 00 01 04 31 31 31 31 00",
        "> FF EF 00 00 09 00 20 00 01 04 31 31 31 31", "> FF C2 00 01 0B 95 09 00 20 00 01 04 31 31 31 31",
        "> FF 82 00 00 06 31 31 31 31 31 31", "> FF FE 01 00 05 1B 31 31 31 31",
    ])
    func equalDigits(_ command: String) throws {
        let capture = try Capture(parsing: "capture 1\ncard at 0\n\(command)\n< 90 00\n")
        let secret = command.contains("31") ? "31 31 31 31" : "00 00 00 00"
        let redaction = CaptureRedaction(of: capture, seed: 1)
        #expect(!redaction.capture.text().contains(secret))
        #expect(redaction.secrets == [CaptureSecret(kind: .key, line: 3)])
        #expect(redaction.replacedValues == 1)
        #expect(CaptureReview(of: capture).warnings.contains { $0.code == .key && $0.line == 3 })
        let line = ConversationExplanation(of: capture).lines.first { $0.line == 3 }
        let shown = try #require(line)
        #expect(shown.bytes == nil && !shown.statement.contains(secret), "\(shown.statement)")
        #expect(!"\(shown.fields)".contains(secret.filter { $0 != " " }))
        // What is left alone is not listed.
        let factory = try Capture(parsing: "capture 1\ncard at 0\n> FF 82 00 00 06 FF FF FF FF FF FF\n< 90 00\n")
        #expect(CaptureRedaction(of: factory, seed: 1).secrets.isEmpty)
    }

    /// Facts and exchanges of which the first is listed.
    @Test(arguments: [
        ("", "> 80 CA 01 01 02 12 34\n< 6A 82"), ("", "> 00 D6 00 00 02 12 34\n< 90 00"),
        ("", "> 00 A4 04 00 05 A0 00 00 00 99\n< 12 34 90 00"), ("", "> 90 CD 00 00 02 12 34 00\n< 91 00"),
        (" iso14443a", ">> 39 02\n<< 12 34 00"), (" iso14443a", ">> 3C 00\n<< 12 34 56"),
        (" iso14443a", ">> 93 40 12 34\n<< 56"), (" iso14443a sak 08", ">> 30 04\n<< 12 34 56"),
        ("", "> FF D6 00 05 04 12 34 56 78\n< 90 00"), (" iso15693", ">> 02 20 05\n<< 00 12 34 56 78"),
        (
            "", "> FF B0 00 00 10\n< C1 A2 B3 D4 04 08 04 00 62 33 64 35 66 37 68 39 90 00"
        ),
    ])
    func lists(card: String, exchanges: String) throws {
        #expect(try redact(card, exchanges).unexaminedLines == [3])
    }

    /// What says nothing of a person stays, and is not listed.
    @Test(arguments: [
        ("", "> 00 A4 04 00 07 D2 76 00 00 85 01 01 00\n< 90 00"), (" iso14443a", ">> 3C 00\n<< 00/4"),
        (" iso14443a sak 08", ">> 30 07\n<< 04/4"), ("", "> FF D6 00 05 04 00 00 00 00\n< 90 00"),
        ("", "> FF B0 00 04 10\n< 03 00 FE 00 00 00 00 00 00 00 00 00 00 00 00 00 90 00"),
    ])
    func keeps(card: String, exchanges: String) throws {
        let original = try Capture(parsing: "capture 1\ncard at 0\(card)\n\(exchanges)\n")
        let redaction = CaptureRedaction(of: original, seed: 1)
        #expect(redaction.capture.presentations == original.presentations)
        #expect(redaction.unexaminedLines.isEmpty)
    }
}
