import Cryptography

/// AES with 128-bit keys (FIPS 197) in the modes that cards use, on the cryptographic library's primitives.
package enum AES128 {
    /// The length of a block, in bytes.
    package static let blockLength = AES.blockLength

    /// A block of zeros: the initialisation vector with which most conversations begin.
    package static let zeroBlock = [UInt8](repeating: 0, count: blockLength)

    /// Encrypts one block (electronic code book).
    ///
    /// - Throws: ``CryptoFailure/wrongLength`` if it has not 16 bytes.
    package static func encrypt(block: [UInt8], _ key: SecretKey) throws(CryptoFailure) -> [UInt8] {
        guard block.count == blockLength else { throw .wrongLength }
        return try ofWholeBlocks { () throws(CryptographyError) in try AES.encrypt(blocks: block, key: key.bytes) }
    }

    /// Encrypts whole blocks in cipher block chaining (SP 800-38A), without padding.
    ///
    /// - Parameter vector: 16 bytes.
    /// - Throws: ``CryptoFailure/wrongLength``.
    package static func encrypt(
        _ bytes: [UInt8],
        _ key: SecretKey,
        vector: [UInt8] = zeroBlock
    ) throws(CryptoFailure) -> [UInt8] {
        try ofWholeBlocks { () throws(CryptographyError) in
            try AES.encrypt(chained: bytes, key: key.bytes, vector: vector)
        }
    }

    /// Decrypts whole blocks in cipher block chaining (SP 800-38A), without padding.
    ///
    /// - Parameter vector: 16 bytes.
    /// - Throws: ``CryptoFailure/wrongLength``.
    package static func decrypt(
        _ bytes: [UInt8],
        _ key: SecretKey,
        vector: [UInt8] = zeroBlock
    ) throws(CryptoFailure) -> [UInt8] {
        try ofWholeBlocks { () throws(CryptographyError) in
            try AES.decrypt(chained: bytes, key: key.bytes, vector: vector)
        }
    }

    /// The library refuses lengths, and nothing else.
    private static func ofWholeBlocks(
        _ transform: () throws(CryptographyError) -> [UInt8]
    ) throws(CryptoFailure) -> [UInt8] {
        do {
            return try transform()
        } catch {
            throw .wrongLength
        }
    }

    /// The message authentication code CMAC (SP 800-38B, RFC 4493), 16 bytes.
    package static func cmac(_ message: [UInt8], _ key: SecretKey) throws(CryptoFailure) -> [UInt8] {
        try ofWholeBlocks { () throws(CryptographyError) in try AES.cmac(message, key: key.bytes) }
    }

    /// CMAC that goes on from the block before, as DESFire EV1 chains it through a session: with a vector of zeros it is
    /// ``cmac(_:_:)``.
    ///
    /// The library's CMAC knows no vector, and one cannot be put into the message where that is shorter than a block.
    ///
    /// - Parameter vector: 16 bytes.
    /// - Throws: ``CryptoFailure/wrongLength``.
    package static func chainedCMAC(
        _ message: [UInt8],
        _ key: SecretKey,
        vector: [UInt8]
    ) throws(CryptoFailure) -> [UInt8] {
        guard vector.count == blockLength else { throw .wrongLength }
        let masked = masked(message, try encrypt(block: zeroBlock, key))
        return Array(try encrypt(masked, key, vector: vector).suffix(blockLength))
    }

    /// The whole blocks that CMAC encrypts, of which the last is mixed with a subkey.
    ///
    /// - Parameters:
    ///   - message: filled up where it is no whole number of blocks, or shorter than `length`.
    ///   - zero: a block of zeros, encrypted, of which the subkeys are made.
    ///   - length: the least length, a whole number of blocks.
    static func masked(_ message: [UInt8], _ zero: [UInt8], length: Int = blockLength) -> [UInt8] {
        var (padded, subkey) = (message, doubled(zero))
        if message.count < length || message.count % blockLength != 0 {
            subkey = doubled(subkey)
            padded = padding(message)
            padded += [UInt8](repeating: 0, count: max(0, length - padded.count))
        }
        let last = padded.count - blockLength
        for index in 0..<blockLength { padded[last + index] ^= subkey[index] }
        return padded
    }

    /// The bytes, then `80`, then zeros up to a whole block (ISO/IEC 9797-1, method 2). There is always an `80`.
    package static func padding(_ bytes: [UInt8]) -> [UInt8] {
        let zeros = blockLength - 1 - bytes.count % blockLength
        return bytes + [0x80] + [UInt8](repeating: 0, count: zeros)
    }

    /// The bytes before the padding of ``padding(_:)``.
    ///
    /// - Throws: ``CryptoFailure/wrongPadding``.
    package static func withoutPadding(_ bytes: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        guard let mark = bytes.lastIndex(where: { $0 != 0 }), bytes[mark] == 0x80, bytes.count - mark <= blockLength
        else { throw .wrongPadding }
        return Array(bytes[..<mark])
    }

    /// Twice the block in the field of 2^128 elements, from which CMAC makes its subkeys.
    static func doubled(_ block: [UInt8]) -> [UInt8] {
        var result = block
        var carry: UInt8 = 0
        for index in result.indices.reversed() {
            let next = result[index] >> 7
            result[index] = result[index] << 1 | carry
            carry = next
        }
        // Without a branch on the secret bit.
        if let last = result.indices.last { result[last] ^= 0x87 & (0 &- carry) }
        return result
    }
}
