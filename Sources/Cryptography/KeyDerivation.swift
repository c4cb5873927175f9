import CCrypto

/// Keys that are made of a secret.
package enum KeyDerivation {
    /// Of a shared secret (ANSI X9.63, with SHA-256).
    package static func x963(
        _ secret: SecretBytes,
        information: [UInt8],
        count: Int
    ) throws(CryptographyError) -> SecretBytes {
        try derive(
            "X963KDF",
            count,
            secret,
            [
                (OSSL_KDF_PARAM_DIGEST, .text("SHA256")), (OSSL_KDF_PARAM_INFO, .bytes(information)),
            ]
        )
    }

    /// Of a shared secret (RFC 5869, with SHA-256).
    package static func hkdf(
        _ secret: SecretBytes,
        salt: [UInt8],
        information: [UInt8],
        count: Int
    ) throws(CryptographyError) -> SecretBytes {
        try derive(
            "HKDF",
            count,
            secret,
            [
                (OSSL_KDF_PARAM_DIGEST, .text("SHA256")), (OSSL_KDF_PARAM_SALT, .bytes(salt)),
                (OSSL_KDF_PARAM_INFO, .bytes(information)),
            ]
        )
    }

    /// Of a password (RFC 7914).
    ///
    /// - Parameters:
    ///   - cost: N, a power of two; 128 · N · `blockSize` bytes of memory are used.
    ///   - blockSize: r.
    ///   - parallelism: p.
    package static func scrypt(
        _ password: SecretBytes,
        salt: [UInt8],
        cost: UInt64,
        blockSize: UInt64 = 8,
        parallelism: UInt64 = 1,
        count: Int
    ) throws(CryptographyError) -> SecretBytes {
        try derive(
            "SCRYPT",
            count,
            password,
            secretName: OSSL_KDF_PARAM_PASSWORD,
            [
                (OSSL_KDF_PARAM_SALT, .bytes(salt)), (OSSL_KDF_PARAM_SCRYPT_N, .integer(cost)),
                (OSSL_KDF_PARAM_SCRYPT_R, .integer(blockSize)), (OSSL_KDF_PARAM_SCRYPT_P, .integer(parallelism)),
                (OSSL_KDF_PARAM_SCRYPT_MAXMEM, .integer(128 * blockSize * (cost + parallelism + 2))),
            ]
        )
    }

    private static func derive(
        _ name: String,
        _ count: Int,
        _ secret: SecretBytes,
        secretName: String = OSSL_KDF_PARAM_KEY,
        _ values: [(String, Parameters.Value)]
    ) throws(CryptographyError) -> SecretBytes {
        let attempt = "derive a key with \(name)"
        let function = try Owned(
            EVP_KDF_fetch(LibCrypto.shared.context, name, nil),
            attempting: attempt,
            free: EVP_KDF_free
        )
        let context = try Owned(EVP_KDF_CTX_new(function.pointer), attempting: attempt, free: EVP_KDF_CTX_free)
        let parameters = Parameters(values + [(secretName, .secret(secret))])
        return try SecretBytes(count: count) { output throws(CryptographyError) in
            let start = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let isDone = parameters.withPointer { EVP_KDF_derive(context.pointer, start, count, $0) }
            guard isDone == 1 else { throw CryptographyError(attempting: attempt) }
        }
    }
}
