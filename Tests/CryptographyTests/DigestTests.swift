import Cryptography
import Testing
import TestSupport

@Suite("Digests and codes")
struct DigestTests {
    /// FIPS 180-4, and what others compute.
    @Test(
        arguments: [
            ("", "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"),
            ("abc", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "CDC76E5C9914FB9281A1C7E284D73E67F1809A48A497200E046D39CCC7112CD0"
            ),
        ] as [(String, String)]
    )
    func sha256(text: String, digest: String) {
        #expect(SHA256.hash(text.utf8) == bytes(digest))
        // A collection whose bytes do not lie in one place.
        #expect(SHA256.hash(Array(text.utf8).lazy.filter { _ in true }) == bytes(digest))
        var pieces = SHA256()
        for piece in text.utf8.split(separator: 0x62, omittingEmptySubsequences: false) {
            pieces.update(piece)
            pieces.update([0x62])
        }
        #expect(pieces.digest == SHA256.hash((text + "b").utf8))
    }

    @Test("A digest goes on after it was asked for, and a copy goes its own way")
    func copies() {
        var one = SHA256()
        one.update([1])
        #expect(one.digest == SHA256.hash([1]))
        var other = one
        other.update([3])
        one.update([2])
        #expect(one.digest == SHA256.hash([1, 2]))
        #expect(other.digest == SHA256.hash([1, 3]))
        #expect(SHA256().digest == SHA256.hash([]))
    }

    /// RFC 4231, cases 1 to 3, 6 and 7; and nothing with nothing.
    @Test(
        arguments: [
            ("", "", "B613679A0814D9EC772F95D778C35FC5FF1697C493715653C6C712144292C5AD"),
            (
                String(repeating: "0B", count: 20), "4869205468657265",
                "B0344C61D8DB38535CA8AFCEAF0BF12B881DC200C9833DA726E9376C2E32CFF7"
            ),
            (
                "4A656665", "7768617420646F2079612077616E7420666F72206E6F7468696E673F",
                "5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843"
            ),
            (
                String(repeating: "AA", count: 20), String(repeating: "DD", count: 50),
                "773EA91E36800E46854DB8EBD09181A72959098B3EF8C122D9635514CED565FE"
            ),
            (
                String(repeating: "AA", count: 131),
                "54657374205573696E67204C6172676572205468616E20426C6F636B2D53697A65204B6579202D2048617368204B6579204669727374",
                "60E431591EE0B67F0D8A26AACBF5B77F8E0BC6213728C5140546040F0EE37F54"
            ),
        ] as [(String, String, String)]
    )
    func hmac(key: String, message: String, code: String) {
        let (key, message, code) = (SecretBytes(bytes(key)), bytes(message), bytes(code))
        #expect(HMAC.code(for: message, key: key) == code)
        #expect(HMAC.isValid(code, for: message, key: key))
        for index in code.indices {
            var other = code
            other[index] ^= 1
            #expect(!HMAC.isValid(other, for: message, key: key), "byte \(index)")
        }
        #expect(!HMAC.isValid(code.dropLast(), for: message, key: key))
        #expect(!HMAC.isValid(code, for: message + [0], key: key))
    }

    @Test("Secret bytes are compared, cut and never shown")
    func secrets() {
        let text = bytes("000102030405060708090A0B0C0D0EAB")
        let secret = SecretBytes(text)
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(["\(secret)", String(reflecting: secret), dumped].allSatisfy { !$0.contains("171") })
        #expect(secret == SecretBytes(text) && secret.count == 16)
        for index in text.indices {
            var other = text
            other[index] ^= 1
            #expect(secret != SecretBytes(other), "byte \(index)")
            #expect(!ConstantTime.areEqual(text, other), "byte \(index)")
        }
        #expect(secret[4..<6] == SecretBytes([4, 5]) && secret[0..<0] == SecretBytes([]))
        #expect(secret != SecretBytes(text.dropLast()))
        #expect(ConstantTime.areEqual([UInt8](), []) && !ConstantTime.areEqual([], [0]))
        #expect(ConstantTime.areEqual([1, 2], [1, 2]) && !ConstantTime.areEqual([1, 2], [1]))
    }
}
