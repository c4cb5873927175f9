import CCrypto

/// SHA-256 (FIPS 180-4), of bytes at once or piece by piece.
package struct SHA256 {
    /// The length of a digest, in bytes.
    package static let length = 32

    /// Copied where another value shares it.
    private var state: State

    private final class State {
        let context: Owned

        init() throws(CryptographyError) {
            context = try Owned(EVP_MD_CTX_new(), attempting: SHA256.attempt, free: EVP_MD_CTX_free)
            try require(EVP_DigestInit_ex2(context.pointer, LibCrypto.shared.sha256, nil), attempting: SHA256.attempt)
        }

        init(copying other: State) throws(CryptographyError) {
            context = try Owned(EVP_MD_CTX_new(), attempting: SHA256.attempt, free: EVP_MD_CTX_free)
            try require(EVP_MD_CTX_copy_ex(context.pointer, other.context.pointer), attempting: SHA256.attempt)
        }
    }

    private static let attempt = "compute SHA-256"

    /// Of nothing yet.
    package init() {
        state = unfailing { () throws(CryptographyError) in try State() }
    }

    /// Of those bytes.
    package static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        withPointer(to: bytes) { start, count in
            digest { EVP_Digest(start, count, $0, nil, LibCrypto.shared.sha256, nil) }
        }
    }

    /// Goes on with those bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        withPointer(to: bytes) { update(UnsafeRawBufferPointer(start: $0, count: $1)) }
    }

    /// Goes on with those bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        unfailing { () throws(CryptographyError) in
            if !isKnownUniquelyReferenced(&state) { state = try State(copying: state) }
            try require(
                EVP_DigestUpdate(state.context.pointer, bytes.baseAddress, bytes.count),
                attempting: Self.attempt
            )
        }
    }

    /// The digest of what came up to now; more may follow.
    package var digest: [UInt8] {
        let last = unfailing { () throws(CryptographyError) in try State(copying: state) }
        return Self.digest { EVP_DigestFinal_ex(last.context.pointer, $0, nil) }
    }

    private static func digest(_ write: (UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            unfailing { () throws(CryptographyError) in try require(write(buffer.baseAddress), attempting: attempt) }
            count = length
        }
    }
}

/// HMAC with SHA-256 (RFC 2104).
package enum HMAC {
    /// The code of a message, 32 bytes.
    package static func code(for message: some Collection<UInt8>, key: SecretBytes) -> [UInt8] {
        key.withBytes { MessageCode.compute(LibCrypto.shared.hmac, message, key: $0, length: SHA256.length) }
    }

    /// Whether that is the code of the message, in a time that does not show where it differs.
    package static func isValid(
        _ code: some Collection<UInt8>,
        for message: some Collection<UInt8>,
        key: SecretBytes
    ) -> Bool {
        ConstantTime.areEqual(code, self.code(for: message, key: key))
    }
}

/// Message authentication codes of libcrypto.
enum MessageCode {
    /// - Parameter template: a context with another key.
    static func compute(
        _ template: OpaquePointer,
        _ message: some Collection<UInt8>,
        key: UnsafeBufferPointer<UInt8>,
        length: Int
    ) -> [UInt8] {
        let attempt = "compute a message authentication code"
        let context = unfailing { () throws(CryptographyError) in
            try Owned(EVP_MAC_CTX_dup(template), attempting: attempt, free: EVP_MAC_CTX_free)
        }
        return withPointer(to: message) { message, count in
            [UInt8](unsafeUninitializedCapacity: length) { buffer, written in
                unfailing { () throws(CryptographyError) in
                    try require(EVP_MAC_init(context.pointer, key.baseAddress, key.count, nil), attempting: attempt)
                    try require(EVP_MAC_update(context.pointer, message, count), attempting: attempt)
                    let status = EVP_MAC_final(context.pointer, buffer.baseAddress, &written, length)
                    try require(status, attempting: attempt)
                }
            }
        }
    }
}
