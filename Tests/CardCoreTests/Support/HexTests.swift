import Testing
import TestSupport

@testable import CardCore

@Suite struct HexTests {
    @Test(
        arguments: [
            ([], ""),
            ([0x00], "00"),
            ([0x0A, 0xFF], "0AFF"),
            ([0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF], "0123456789ABCDEF"),
        ] as [([UInt8], String)]
    )
    func bothWays(_ bytes: [UInt8], _ text: String) throws {
        #expect(Hex.encode(bytes) == text)
        #expect(bytes.hex == text)
        #expect(try Hex.decode(text) == bytes)
        #expect(try Hex.decode(text.lowercased()) == bytes)
        #expect(try Hex.decode(Hex.encode(bytes, separator: " ")) == bytes)
        #expect(try Hex.decode(Hex.encode(bytes, separator: ":")) == bytes)
    }

    @Test(
        arguments: [
            (" 0A\tff\n", [0x0A, 0xFF]), ("0a-0b:0c 0d", [0x0A, 0x0B, 0x0C, 0x0D]), ("--", []), (" ", []),
        ] as [(String, [UInt8])]
    )
    func separators(_ text: String, _ bytes: [UInt8]) throws {
        #expect(try Hex.decode(text) == bytes)
    }

    @Test(
        arguments: [
            ("0", .init(reason: .oddNumberOfDigits, offset: 1)),
            ("0A0", .init(reason: .oddNumberOfDigits, offset: 3)),
            ("0G", .init(reason: .notADigit("G"), offset: 1)),
            // A separator may not part the digits of a byte.
            ("0 A", .init(reason: .notADigit(" "), offset: 1)),
            ("0x0A", .init(reason: .notADigit("x"), offset: 1)),
            // Digits of other scripts are none; offsets count bytes.
            ("0A\u{FF11}\u{FF11}", .init(reason: .notADigit("\u{FF11}"), offset: 2)),
            ("é", .init(reason: .notADigit("é"), offset: 0)),
            ("0A\u{2028}Z", .init(reason: .notADigit("Z"), offset: 5)),
            ("0A,0B", .init(reason: .notADigit(","), offset: 2)),
        ] as [(String, Hex.Failure)]
    )
    func malformed(_ text: String, _ failure: Hex.Failure) {
        #expect(throws: failure) { try Hex.decode(text) }
        #expect(!failure.description.isEmpty)
    }

    @Test func everyByte() throws {
        let all = (0...255).map(UInt8.init)
        #expect(try Hex.decode(all.hex) == all)
        #expect(all.hex.count == 512)
        // Substrings and other sequences of bytes work too.
        #expect(try Hex.decode(all.hex.dropFirst(2).prefix(4)) == [1, 2])
        #expect(Hex.encode(all[1...2]) == "0102")
    }
}
