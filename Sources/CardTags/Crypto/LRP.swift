/// The leakage resilient primitive of NXP's cards (LRP, AN12304), with AES of 128-bit keys and four bits a step.
///
/// A key is never used on bytes that somebody else chose. It makes 16 plaintexts and some updated keys; then each four bits
/// of an input choose the plaintext whose encryption is the key of the next step. So nobody who measures a card gets many
/// measurements of one key.
package struct LRP: Sendable {
    private let plaintexts: [[UInt8]]
    private let updatedKey: [UInt8]

    /// The primitive with one of the updated keys of a key.
    ///
    /// - Parameter number: which of the updated keys, from 0; cards use 0 to 3.
    package init(_ key: SecretKey, updatedKey number: UInt8 = 0) throws(CryptoFailure) {
        var (plaintexts, chain) = ([[UInt8]](), try AES128.encrypt(block: Self.upper, key))
        for _ in 0..<16 {
            plaintexts.append(try Self.encrypt(Self.lower, chain))
            chain = try Self.encrypt(Self.upper, chain)
        }
        self.plaintexts = plaintexts
        chain = try AES128.encrypt(block: Self.lower, key)
        for _ in 0..<number { chain = try Self.encrypt(Self.upper, chain) }
        updatedKey = try Self.encrypt(Self.lower, chain)
    }

    /// The output for an input: 16 bytes.
    ///
    /// - Parameter isFinal: whether a last step follows the input's, as it does in everything that leaves the primitive.
    package func evaluate(_ input: [UInt8], isFinal: Bool = true) throws(CryptoFailure) -> [UInt8] {
        var state = updatedKey
        for byte in input {
            state = try Self.encrypt(plaintexts[Int(byte >> 4)], state)
            state = try Self.encrypt(plaintexts[Int(byte & 0x0F)], state)
        }
        return isFinal ? try Self.encrypt(AES128.zeroBlock, state) : state
    }

    /// Encrypts whole blocks (LRICB), each with a key of its own, derived from the counter.
    ///
    /// - Parameter counter: the counter of the first block, most significant byte first; after the highest comes 0.
    /// - Throws: ``CryptoFailure/wrongLength``.
    package func encrypt(_ bytes: [UInt8], counter: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        try eachBlock(bytes, counter) { block, key throws(CryptoFailure) in try AES128.encrypt(block: block, key) }
    }

    /// Decrypts whole blocks (LRICB), which ``encrypt(_:counter:)`` encrypted.
    ///
    /// - Throws: ``CryptoFailure/wrongLength``.
    package func decrypt(_ bytes: [UInt8], counter: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        try eachBlock(bytes, counter) { block, key throws(CryptoFailure) in try AES128.decrypt(block, key) }
    }

    /// The message authentication code CMAC with this primitive in place of AES (CMAC_LRP), 16 bytes.
    package func cmac(_ message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        let padded = AES128.masked(message, try evaluate(AES128.zeroBlock))
        var state = AES128.zeroBlock
        for start in stride(from: 0, to: padded.count, by: AES128.blockLength) {
            state = try evaluate(zip(state, padded[start...]).map { $0 ^ $1 })
        }
        return state
    }

    private func eachBlock(
        _ bytes: [UInt8],
        _ counter: [UInt8],
        _ transform: ([UInt8], SecretKey) throws(CryptoFailure) -> [UInt8]
    ) throws(CryptoFailure) -> [UInt8] {
        guard bytes.count % AES128.blockLength == 0, !counter.isEmpty else { throw .wrongLength }
        var (result, counter) = ([UInt8](), counter)
        for start in stride(from: 0, to: bytes.count, by: AES128.blockLength) {
            guard let key = SecretKey(try evaluate(counter)) else { throw .wrongLength }
            result += try transform(Array(bytes[start..<(start + AES128.blockLength)]), key)
            for index in counter.indices.reversed() {
                counter[index] &+= 1
                if counter[index] != 0 { break }
            }
        }
        return result
    }

    private static let upper = [UInt8](repeating: 0x55, count: AES128.blockLength)
    private static let lower = [UInt8](repeating: 0xAA, count: AES128.blockLength)

    private static func encrypt(_ block: [UInt8], _ key: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        guard let key = SecretKey(key) else { throw .wrongLength }
        return try AES128.encrypt(block: block, key)
    }
}

extension LRP: CustomReflectable {
    /// Shows nothing, so that `dump(_:)` and test frameworks do not print what a key made.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
