import Testing
import TestSupport

@testable import CardTags

@Suite struct SecretKeyTests {
    private static let text = "000102030405060708090A0B0C0D0EAB"

    @Test func isNeverShown() throws {
        let key = try #require(SecretKey(text: Self.text))
        var dumped = ""
        dump(key, to: &dumped)
        for shown in [
            "\(key)", String(reflecting: key), "\([key])", dumped, "\(Mirror(reflecting: key).children.count)",
        ] {
            #expect(!shown.uppercased().contains("AB"), "\(shown)")
            #expect(!shown.contains("171"), "\(shown)")
        }
        #expect("\(key)" == "secret key of 16 bytes")
    }

    @Test(arguments: ["", "00", "000102030405060708090A0B0C0D0E", "000102030405060708090A0B0C0D0E0F10", "key"])
    func refusesOtherLengths(text: String) {
        #expect(SecretKey(text: text) == nil)
    }

    @Test func comparesEveryByte() throws {
        let one = bytes(Self.text)
        #expect(SecretKey(one) == SecretKey(text: "00:01:02:03:04:05:06:07-08-09 0a 0b 0c 0d 0e ab"))
        for index in one.indices {
            var other = one
            other[index] ^= 0x01
            #expect(SecretKey(one) != SecretKey(other), "byte \(index)")
        }
        #expect(SecretKey(one) != .factory)
    }
}
