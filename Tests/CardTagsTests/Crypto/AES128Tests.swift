import CardCore
import Testing
import TestSupport

@testable import CardTags

@Suite struct AES128Tests {
    static let key = SecretKey(text: "2B7E151628AED2A6ABF7158809CF4F3C") ?? .factory
    static let message = bytes(
        """
        6BC1BEE22E409F96E93D7E117393172A AE2D8A571E03AC9C9EB76FAC45AF8E51
        30C81C46A35CE411E5FBC1191A0A52EF F69F2445DF4F9B17AD2B417BE66C3710
        """
    )

    /// The four examples of RFC 4493, section 4 (the same as SP 800-38B, appendix D.1).
    @Test(arguments: [
        (0, "BB1D6929E95937287FA37D129B756746"),
        (16, "070A16B46B4D4144F79BDD9DD04A287C"),
        (40, "DFA66747DE9AE63030CA32611497C827"),
        (64, "51F0BEBF7E3B9D92FC49741779363CFE"),
    ])
    func cmac(length: Int, code: String) throws {
        let message = Array(Self.message.prefix(length))
        #expect(try AES128.cmac(message, Self.key).hex == code)
        #expect(try AES128.chainedCMAC(message, Self.key, vector: AES128.zeroBlock).hex == code)
    }

    /// Where the first block is whole and not the last, the vector can be put into it instead. Seed 4493.
    @Test func chainedCMACGoesOnFromTheVector() throws {
        var random = SeededNumbers(seed: 4493)
        for length in 17...80 {
            let message = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let vector = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            var mixed = message
            for index in 0..<16 { mixed[index] ^= vector[index] }
            #expect(
                try AES128.chainedCMAC(message, Self.key, vector: vector) == AES128.cmac(mixed, Self.key),
                "\(length) bytes"
            )
        }
    }

    /// SP 800-38A, F.2.1 and F.2.2.
    @Test func chaining() throws {
        let vector = bytes("000102030405060708090A0B0C0D0E0F")
        let encrypted = """
            7649ABAC8119B246CEE98E9B12E9197D5086CB9B507219EE95DB113A917678B2\
            73BED6B8E3C1743B7116E69E222295163FF1CAA1681FAC09120ECA307586E1A7
            """
        #expect(try AES128.encrypt(Self.message, Self.key, vector: vector).hex == encrypted)
        #expect(try AES128.decrypt(bytes(encrypted), Self.key, vector: vector) == Self.message)
        #expect(try AES128.encrypt([], Self.key).isEmpty)
    }

    /// SP 800-38A, F.1.1.
    @Test func block() throws {
        let block = Array(Self.message.prefix(16))
        #expect(try AES128.encrypt(block: block, Self.key).hex == "3AD77BB40D7A3660A89ECAF32466EF97")
    }

    @Test(arguments: [1, 15, 17, 31])
    func takesWholeBlocksOnly(length: Int) {
        let bytes = [UInt8](repeating: 0, count: length)
        #expect(throws: CryptoFailure.wrongLength) { try AES128.encrypt(bytes, Self.key) }
        #expect(throws: CryptoFailure.wrongLength) { try AES128.decrypt(bytes, Self.key) }
        #expect(throws: CryptoFailure.wrongLength) { try AES128.encrypt(block: bytes, Self.key) }
        #expect(throws: CryptoFailure.wrongLength) { try AES128.encrypt([], Self.key, vector: bytes) }
        #expect(throws: CryptoFailure.wrongLength) { try AES128.chainedCMAC([], Self.key, vector: bytes) }
    }

    @Test(arguments: 0...33)
    func paddingComesOffAgain(length: Int) throws {
        let content = [UInt8](repeating: 0x80, count: length)
        let padded = AES128.padding(content)
        #expect(padded.count % 16 == 0 && padded.count > length)
        #expect(try AES128.withoutPadding(padded) == content)
    }

    @Test(arguments: ["", "00", "01", "8001", "80" + String(repeating: "00", count: 16)])
    func refusesWrongPadding(text: String) {
        #expect(throws: CryptoFailure.wrongPadding) { try AES128.withoutPadding(bytes(text)) }
    }
}
