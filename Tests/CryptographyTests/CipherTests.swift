import Cryptography
import Testing
import TestSupport

@Suite("AES, and keys that are derived")
struct CipherTests {
    /// SP 800-38A, F.1.1, F.2.1, F.5.1; SP 800-38B, D.1.
    private static let key = SecretBytes(bytes("2B7E151628AED2A6ABF7158809CF4F3C"))
    private static let plain = bytes("6BC1BEE22E409F96E93D7E117393172AAE2D8A571E03AC9C9EB76FAC45AF8E51")

    @Test func blocks() throws {
        let encrypted = bytes("3AD77BB40D7A3660A89ECAF32466EF97F5D3D58503B9699DE785895A96FDBAAF")
        #expect(try AES.encrypt(blocks: Self.plain, key: Self.key) == encrypted)
        #expect(try AES.encrypt(blocks: [], key: Self.key) == [])
    }

    @Test func chained() throws {
        let vector = bytes("000102030405060708090A0B0C0D0E0F")
        let encrypted = bytes("7649ABAC8119B246CEE98E9B12E9197D5086CB9B507219EE95DB113A917678B2")
        #expect(try AES.encrypt(chained: Self.plain, key: Self.key, vector: vector) == encrypted)
        #expect(try AES.decrypt(chained: encrypted, key: Self.key, vector: vector) == Self.plain)
        #expect(try AES.decrypt(chained: [], key: Self.key, vector: vector) == [])
    }

    @Test func counter() throws {
        let counter = bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF")
        let encrypted = bytes("874D6191B620E3261BEF6864990DB6CE9806F66B7970FDFF8617187BB9FFFDFF")
        for length in [0, 1, 15, 16, 17, 32] {
            let (plain, encrypted) = (Self.plain.prefix(length), Array(encrypted.prefix(length)))
            #expect(try AES.apply(counter: counter, to: plain, key: Self.key) == encrypted)
            #expect(try AES.apply(counter: counter, to: encrypted, key: Self.key) == Array(plain))
        }
        // The counter goes round.
        let last = [UInt8](repeating: 0xFF, count: 16)
        let zeros = [UInt8](repeating: 0, count: 32)
        let stream = try AES.encrypt(blocks: last + zeros.prefix(16), key: Self.key)
        #expect(try AES.apply(counter: last, to: zeros, key: Self.key) == stream)
    }

    @Test(
        arguments: [
            (0, "BB1D6929E95937287FA37D129B756746"), (16, "070A16B46B4D4144F79BDD9DD04A287C"),
            (20, "7D85449EA6EA19C823A7BF78837DFADE"),
        ] as [(Int, String)]
    )
    func cmac(length: Int, code: String) throws {
        #expect(try AES.cmac(Array(Self.plain.prefix(length)), key: Self.key) == bytes(code))
    }

    @Test("Other lengths of keys, vectors and blocks are refused", arguments: [0, 1, 15, 17, 24, 32, 33])
    func lengths(length: Int) {
        let (other, block) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 0, count: 16))
        let key = SecretBytes(other)
        #expect(throws: CryptographyError.self) { try AES.encrypt(blocks: block, key: key) }
        #expect(throws: CryptographyError.self) { try AES.encrypt(chained: block, key: key, vector: block) }
        #expect(throws: CryptographyError.self) { try AES.decrypt(chained: block, key: key, vector: block) }
        #expect(throws: CryptographyError.self) { try AES.apply(counter: block, to: block, key: key) }
        #expect(throws: CryptographyError.self) { try AES.cmac(block, key: key) }
        #expect(throws: CryptographyError.self) { try AES.encrypt(chained: block, key: Self.key, vector: other) }
        #expect(throws: CryptographyError.self) { try AES.decrypt(chained: block, key: Self.key, vector: other) }
        #expect(throws: CryptographyError.self) { try AES.apply(counter: other, to: block, key: Self.key) }
        guard length % 16 != 0 else { return }
        #expect(throws: CryptographyError.self) { try AES.encrypt(blocks: other, key: Self.key) }
        #expect(throws: CryptographyError.self) { try AES.encrypt(chained: other, key: Self.key, vector: block) }
        #expect(throws: CryptographyError.self) { try AES.decrypt(chained: other, key: Self.key, vector: block) }
    }

    /// The specification of GCM (McGrew and Viega), cases 13, 14, 16 and 18.
    @Test(
        arguments: [
            (
                String(repeating: "00", count: 32), "000000000000000000000000", "", "", "",
                "530F8AFBC74536B9A963B4F1C4CB738B"
            ),
            (
                String(repeating: "00", count: 32), "000000000000000000000000", "00000000000000000000000000000000", "",
                "CEA7403D4D606B6E074EC5D3BAF39D18", "D0D1C8A799996BF0265B98B5D48AB919"
            ),
            (
                "FEFFE9928665731C6D6A8F9467308308FEFFE9928665731C6D6A8F9467308308", "CAFEBABEFACEDBADDECAF888",
                "D9313225F88406E5A55909C5AFF5269A86A7A9531534F7DA2E4C303D8A318A721C3C0C95956809532FCF0E2449A6B525B16AEDF5AA0DE657BA637B39",
                "FEEDFACEDEADBEEFFEEDFACEDEADBEEFABADDAD2",
                "522DC1F099567D07F47F37A32A84427D643A8CDCBFE5C0C97598A2BD2555D1AA8CB08E48590DBB3DA7B08B1056828838C5F61E6393BA7A0ABCC9F662",
                "76FC6ECE0F4E1768CDDF8853BB2D551B"
            ),
            (
                "FEFFE9928665731C6D6A8F9467308308FEFFE9928665731C6D6A8F9467308308",
                "9313225DF88406E555909C5AFF5269AA6A7A9538534F7DA1E4C303D2A318A728C3C0C95156809539FCF0E2429A6B525416AEDBF5A0DE6A57A637B39B",
                "D9313225F88406E5A55909C5AFF5269A86A7A9531534F7DA2E4C303D8A318A721C3C0C95956809532FCF0E2449A6B525B16AEDF5AA0DE657BA637B39",
                "FEEDFACEDEADBEEFFEEDFACEDEADBEEFABADDAD2",
                "5A8DEF2F0C9E53F1F75D7853659E2A20EEB2B22AAFDE6419A058AB4F6F746BF40FC0C3B780F244452DA3EBF1C5D82CDEA2418997200EF82E44AE7E3F",
                "A44A8266EE1C8EB0C8B5D4CF5AE9F19A"
            ),
        ] as [(String, String, String, String, String, String)]
    )
    func gcm(key: String, nonce: String, plain: String, data: String, ciphertext: String, tag: String) throws {
        let (key, nonce, data) = (SecretBytes(bytes(key)), bytes(nonce), bytes(data))
        let (plain, ciphertext, tag) = (bytes(plain), bytes(ciphertext), bytes(tag))
        let sealed = try AES.GCM.seal(plain, key: key, nonce: nonce, authenticating: data)
        #expect(sealed.ciphertext == ciphertext && sealed.tag == tag)
        #expect(try AES.GCM.open(ciphertext, tag: tag, key: key, nonce: nonce, authenticating: data) == plain)
        for index in 0..<(8 * (tag.count + ciphertext.count)) {
            var (changedTag, changed) = (tag, ciphertext)
            if index / 8 < tag.count {
                changedTag[index / 8] ^= 1 << (index % 8)
            } else {
                changed[index / 8 - tag.count] ^= 1 << (index % 8)
            }
            #expect(throws: CryptographyError.self, "bit \(index)") {
                try AES.GCM.open(changed, tag: changedTag, key: key, nonce: nonce, authenticating: data)
            }
        }
        #expect(throws: CryptographyError.self) {
            try AES.GCM.open(ciphertext, tag: tag, key: key, nonce: nonce, authenticating: data + [0])
        }
        #expect(throws: CryptographyError.self) {
            try AES.GCM.open(ciphertext, tag: tag.dropLast(), key: key, nonce: nonce, authenticating: data)
        }
        #expect(throws: CryptographyError.self) {
            try AES.GCM.open(ciphertext, tag: tag, key: key, nonce: [], authenticating: data)
        }
        #expect(throws: CryptographyError.self) {
            try AES.GCM.open(ciphertext, tag: tag, key: key[0..<16], nonce: nonce, authenticating: data)
        }
    }

    @Test("HKDF: RFC 5869, A.1 and A.3; X9.63: SEC 1, 3.6.1, worked out with digests; scrypt: RFC 7914, 12")
    func derivation() throws {
        let secret = SecretBytes([UInt8](repeating: 0x0B, count: 22))
        let first = try KeyDerivation.hkdf(
            secret,
            salt: bytes("000102030405060708090A0B0C"),
            information: bytes("F0F1F2F3F4F5F6F7F8F9"),
            count: 42
        )
        let expected = "3CB25F25FAACD57A90434F64D0362F2A2D2D0A90CF1A5A4C5DB02D56ECC4C5BF34007208D5B887185865"
        #expect(first == SecretBytes(bytes(expected)))
        let plain = "8DA4E775A563C18F715F802A063C5A31B8A11F5C5EE1879EC3454E5F3C738D2D9D201395FAA4B61A96C8"
        #expect(try KeyDerivation.hkdf(secret, salt: [], information: [], count: 42) == SecretBytes(bytes(plain)))
        for information in [[], [9], [UInt8](repeating: 7, count: 200)] as [[UInt8]] {
            let blocks =
                SHA256.hash([1, 2, 3, 0, 0, 0, 1] + information) + SHA256.hash([1, 2, 3, 0, 0, 0, 2] + information)
            for count in [16, 32, 33, 64] {
                let key = try KeyDerivation.x963(SecretBytes([1, 2, 3]), information: information, count: count)
                #expect(key == SecretBytes(blocks.prefix(count)))
            }
        }
        let password = try KeyDerivation.scrypt(
            SecretBytes("password".utf8),
            salt: Array("NaCl".utf8),
            cost: 1024,
            blockSize: 8,
            parallelism: 16,
            count: 64
        )
        let long =
            "FDBABE1C9D3472007856E7190D01E9FE7C6AD7CBC8237830E77376634B3731622EAF30D92E22A3886FF109279D9830DAC727AFB94A83EE6D8360CBDFA2CC0640"
        #expect(password == SecretBytes(bytes(long)))
        // The cost is a power of two.
        #expect(throws: CryptographyError.self) {
            try KeyDerivation.scrypt(SecretBytes("password".utf8), salt: [1], cost: 1000, count: 32)
        }
    }
}
