import Foundation
import TestSupport
import Testing

@testable import ClubRecords

@Suite struct JSONReaderTests {
    static let meanings: [(String, FieldValue)] = [
        ("null", .null), (" true ", .bool(true)), ("false", .bool(false)), ("0", .int(0)), ("-0", .int(0)),
        ("12", .int(12)), ("-12", .int(-12)), ("1.0", .int(1)), ("1.5", .double(1.5)), ("1e2", .int(100)),
        ("1E-2", .double(0.01)), ("9223372036854775807", .int(.max)),
        ("9223372036854775808", .double(9.223372036854775808e18)),
        ("\"\"", .string("")), ("\"a\\n\\u00e9\\/\\\"\"", .string("a\né/\"")), ("\"\\ud83d\\ude00\"", .string("😀")),
        ("\"Zoë\"", .string("Zoë")), ("[]", .array([])),
        ("[1, [2],{}]", .array([.int(1), .array([.int(2)]), .object([:])])),
        ("{\"a\" : 1,\n\"b\":null}", .object(["a": .int(1), "b": .null])),
        // Of two values of one name the first counts.
        ("{\"a\":1,\"a\":2}", .object(["a": .int(1)])),
    ]

    @Test(arguments: meanings) func reads(_ text: String, _ value: FieldValue) throws {
        #expect(try JSONReader.value(in: Array(text.utf8)) == value)
    }

    static let faults: [(String, Int)] = [
        ("", 0), (" ", 1), ("nul", 0), ("truE", 0), ("01", 2), ("-", 1), ("1.", 2), ("1e", 2), (".5", 0), ("+1", 0),
        ("1e999", 0), ("\"", 1), ("\"a", 2), ("\"\\x\"", 2), ("\"\\u12\"", 5), ("\"\\ud83d\"", 7), ("\"\\ude00\"", 7),
        ("\"a\nb\"", 2), ("[", 1), ("[1", 2), ("[1,]", 3), ("[1 2]", 3), ("{", 1), ("{1:2}", 1), ("{\"a\"}", 4),
        ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("1 2", 2), ("{} x", 3), ("'a'", 0), ("NaN", 0),
    ]

    @Test(arguments: faults) func tellsWhereTheFaultIs(_ text: String, _ offset: Int) {
        #expect {
            _ = try JSONReader.value(in: Array(text.utf8))
        } throws: { error in
            (error as? JSONReader.Fault)?.offset == offset
        }
    }

    @Test func endsAtItsDepth() throws {
        let depth = JSONReader.depth
        let deepest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        _ = try JSONReader.value(in: Array(deepest.utf8))
        for text in [
            "[\(deepest)]", String(repeating: "[", count: 1_000_000), String(repeating: "{\"a\":", count: 99_999),
        ] {
            #expect(throws: JSONReader.Fault.self) { try JSONReader.value(in: Array(text.utf8)) }
        }
    }

    @Test func refusesWhatIsNotUTF8() {
        for bytes: [UInt8] in [[0x22, 0xE9, 0x22], [0x22, 0x5C, 0x6E, 0xFF, 0x22]] {
            #expect(throws: JSONReader.Fault.self) { try JSONReader.value(in: bytes) }
        }
    }

    @Test func everyValueComesBackAndIsReadAlikeByFoundation() throws {
        var random = SeededNumbers(seed: 3)
        for _ in rounds(600) {
            let value = random.value().normalized
            var json: [UInt8] = []
            JSONText.append(value, to: &json)
            #expect(try JSONReader.value(in: json) == value)
            #expect(try JSONDecoder().decode(FieldValue.self, from: Data(json)) == value)
            // However the encoder writes it.
            #expect(try JSONReader.value(in: Array(JSONEncoder().encode(value))) == value)
        }
    }

    @Test func survivesAnyBytes() {
        var random = SeededNumbers(seed: 5)
        let alphabet = Array("{}[]\",:\\u0e1-. tfn".utf8) + [0, 0xFF, 0xC3, 0xA9]
        var valid = 0
        for _ in rounds(4000) {
            let count = Int.random(in: 0...12, using: &random)
            let bytes = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
            let own = try? JSONReader.value(in: bytes)
            let foundation = try? JSONDecoder().decode(FieldValue.self, from: Data(bytes))
            if let own, let foundation { #expect(own == foundation.normalized, "\(bytes.hex)") }
            if own != nil { valid += 1 }
        }
        #expect(valid > 20)
    }
}
