import ReaderKit
import Testing

@testable import ReaderKitTesting

@Suite struct TripleDESTests {
    /// With both halves of the key alike it is DES: published vectors of DES, then of DES with two keys.
    @Test(arguments: [
        ("133457799BBCDFF1133457799BBCDFF1", "0123456789ABCDEF", "85E813540F0AB405"),
        ("0E329232EA6D0D730E329232EA6D0D73", "8787878787878787", "0000000000000000"),
        // NBS 500-20: a variable plain text and a variable key.
        ("01010101010101010101010101010101", "8000000000000000", "95F8A5E5DD31D900"),
        ("80010101010101018001010101010101", "0000000000000000", "95A8D72813DAA94D"),
        // The authentication of a MIFARE Ultralight C with the factory's key, as recorded.
        ("49454D4B41455242214E4143554F5946", "D1699D8D9E225321", "04932EA8B4F93CE2"),
    ])
    func vectors(_ key: String, _ plain: String, _ cipher: String) throws {
        let des = try #require(TripleDES(key: try Hex.decode(key)))
        let zeros = [UInt8](repeating: 0, count: 8)
        #expect(des.encrypt(try Hex.decode(plain), vector: zeros).hex == cipher)
        #expect(des.decrypt(try Hex.decode(cipher), vector: zeros).hex == plain)
    }

    @Test func chaining() throws {
        let des = try #require(TripleDES(key: Array(1...16)))
        let vector = [UInt8](repeating: 0x5A, count: 8)
        let plain = (0..<24).map { UInt8($0 * 7) }
        let cipher = des.encrypt(plain, vector: vector)
        #expect(des.decrypt(cipher, vector: vector) == plain)
        // Each block depends on the one before, and alone on it.
        #expect(des.encrypt(Array(plain[8..<16]), vector: Array(cipher[..<8])) == Array(cipher[8..<16]))
        #expect(des.encrypt(Array(plain.prefix(7)), vector: vector).isEmpty)
        #expect(TripleDES(key: Array(1...8)) == nil)
    }
}
