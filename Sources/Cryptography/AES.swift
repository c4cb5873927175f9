import CCrypto

/// AES (FIPS 197) in the modes that cards and phones use.
package enum AES {
    /// The length of a block, in bytes.
    package static let blockLength = 16

    /// Whole blocks, each by itself (ECB), with a key of 16 bytes.
    package static func encrypt(blocks: [UInt8], key: SecretBytes) throws(CryptographyError) -> [UInt8] {
        try apply(LibCrypto.shared.block, blocks, key: key, vector: nil, encrypts: true)
    }

    /// Whole blocks in cipher block chaining (SP 800-38A) without padding, with a key of 16 bytes.
    package static func encrypt(
        chained bytes: [UInt8],
        key: SecretBytes,
        vector: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        try apply(LibCrypto.shared.chained, bytes, key: key, vector: vector, encrypts: true)
    }

    /// Whole blocks in cipher block chaining (SP 800-38A) without padding, with a key of 16 bytes.
    package static func decrypt(
        chained bytes: [UInt8],
        key: SecretBytes,
        vector: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        try apply(LibCrypto.shared.chained, bytes, key: key, vector: vector, encrypts: false)
    }

    /// Bytes in counter mode (SP 800-38A), with a key of 16 bytes; the same function decrypts.
    ///
    /// - Parameter counter: the first counter block, 16 bytes.
    package static func apply(
        counter: [UInt8],
        to bytes: some Collection<UInt8>,
        key: SecretBytes
    ) throws(CryptographyError) -> [UInt8] {
        try apply(LibCrypto.shared.counter, bytes, key: key, vector: counter, encrypts: true)
    }

    /// CMAC (SP 800-38B, RFC 4493) with a key of 16 bytes: 16 bytes.
    package static func cmac(_ message: [UInt8], key: SecretBytes) throws(CryptographyError) -> [UInt8] {
        guard key.count == 16 else { throw CryptographyError(attempting: "compute a CMAC") }
        return key.withBytes { MessageCode.compute(LibCrypto.shared.cmac, message, key: $0, length: blockLength) }
    }

    private static func apply(
        _ cipher: OpaquePointer,
        _ bytes: some Collection<UInt8>,
        key: SecretBytes,
        vector: [UInt8]?,
        encrypts: Bool
    ) throws(CryptographyError) -> [UInt8] {
        let attempt = encrypts ? "encrypt with AES" : "decrypt with AES"
        guard key.count == 16, vector.map({ $0.count == blockLength }) ?? true else {
            throw CryptographyError(attempting: attempt)
        }
        let context = try Owned(EVP_CIPHER_CTX_new(), attempting: attempt, free: EVP_CIPHER_CTX_free)
        let isSet = key.withBytes {
            EVP_CipherInit_ex2(context.pointer, cipher, $0.baseAddress, vector, encrypts ? 1 : 0, nil) == 1
                && EVP_CIPHER_CTX_set_padding(context.pointer, 0) == 1
        }
        guard isSet, let length = Int32(exactly: bytes.count) else { throw CryptographyError(attempting: attempt) }
        var isDone = false
        let result = withPointer(to: bytes) { start, count in
            [UInt8](unsafeUninitializedCapacity: count + blockLength) { buffer, written in
                var (some, rest): (Int32, Int32) = (0, 0)
                guard let output = buffer.baseAddress,
                    EVP_CipherUpdate(context.pointer, output, &some, start, length) == 1,
                    EVP_CipherFinal_ex(context.pointer, output + Int(some), &rest) == 1
                else { return }
                written = Int(some + rest)
                isDone = written == count
            }
        }
        guard isDone else { throw CryptographyError(attempting: attempt) }
        return result
    }

    /// Galois/counter mode (SP 800-38D) with a key of 32 bytes, and a nonce of whatever length: Apple's passes have one of 16
    /// bytes.
    package enum GCM {
        /// The length of a tag, in bytes.
        package static let tagLength = 16

        /// The ciphertext, and its tag.
        package static func seal(
            _ plain: [UInt8],
            key: SecretBytes,
            nonce: [UInt8],
            authenticating data: [UInt8] = []
        ) throws(CryptographyError) -> (ciphertext: [UInt8], tag: [UInt8]) {
            let context = try context(key, nonce, data, encrypts: true)
            let ciphertext = try run(context, plain)
            var tag = [UInt8](repeating: 0, count: tagLength)
            let count = Int32(tagLength)
            guard EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, count, &tag) == 1 else {
                throw CryptographyError(attempting: attempt)
            }
            return (ciphertext, tag)
        }

        /// What was sealed.
        ///
        /// - Throws: ``CryptographyError`` if ciphertext, data and tag do not belong together; nothing of it is given then.
        package static func open(
            _ ciphertext: [UInt8],
            tag: [UInt8],
            key: SecretBytes,
            nonce: [UInt8],
            authenticating data: [UInt8] = []
        ) throws(CryptographyError) -> [UInt8] {
            guard tag.count == tagLength else { throw CryptographyError(attempting: attempt) }
            let context = try context(key, nonce, data, encrypts: false)
            var tag = tag
            guard EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1 else {
                throw CryptographyError(attempting: attempt)
            }
            return try run(context, ciphertext)
        }

        private static let attempt = "seal or open with AES-GCM"

        private static func context(
            _ key: SecretBytes,
            _ nonce: [UInt8],
            _ data: [UInt8],
            encrypts: Bool
        ) throws(CryptographyError) -> Owned {
            // libcrypto reads as many bytes of a key as it wants.
            guard key.count == 32, !nonce.isEmpty else { throw CryptographyError(attempting: attempt) }
            let context = try Owned(EVP_CIPHER_CTX_new(), attempting: attempt, free: EVP_CIPHER_CTX_free)
            let pointer = context.pointer
            let isEncrypting: Int32 = encrypts ? 1 : 0
            var none: Int32 = 0
            let isSet = key.withBytes { key in
                EVP_CipherInit_ex2(pointer, LibCrypto.shared.galois, nil, nil, isEncrypting, nil) == 1
                    && EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1
                    && EVP_CipherInit_ex2(pointer, nil, key.baseAddress, nonce, isEncrypting, nil) == 1
                    && (data.isEmpty || EVP_CipherUpdate(pointer, nil, &none, data, Int32(data.count)) == 1)
            }
            guard isSet else { throw CryptographyError(attempting: attempt) }
            return context
        }

        private static func run(_ context: borrowing Owned, _ bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
            var result = [UInt8](repeating: 0, count: bytes.count)
            var (count, rest): (Int32, Int32) = (0, 0)
            // What follows the last byte is in no mode of a stream cipher, but a pointer has to be there.
            var end = [UInt8](repeating: 0, count: AES.blockLength)
            guard let length = Int32(exactly: bytes.count),
                bytes.isEmpty || EVP_CipherUpdate(context.pointer, &result, &count, bytes, length) == 1,
                EVP_CipherFinal_ex(context.pointer, &end, &rest) == 1, count == length
            else { throw CryptographyError(attempting: attempt) }
            return result
        }
    }
}
