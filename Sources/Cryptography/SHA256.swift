import CCrypto

/// SHA-256 (FIPS 180-4), of bytes at once or piece by piece.
package struct SHA256 {
    /// The length of a digest, in bytes.
    package static let length = 32

    /// Copied where another value shares it.
    private var state: State

    private final class State {
        let context: Owned

        init(_ context: consuming Owned) { self.context = context }

        func copy() -> State {
            let copy = SHA256.context()
            SHA256.require(EVP_MD_CTX_copy_ex(copy.pointer, context.pointer))
            return State(copy)
        }
    }

    /// Of nothing yet.
    package init() {
        let context = Self.context()
        Self.require(EVP_DigestInit_ex2(context.pointer, LibCrypto.shared.sha256, nil))
        state = State(context)
    }

    /// Of those bytes.
    package static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        withPointer(to: bytes) { start, count in
            Self.digest { require(EVP_Digest(start, count, $0, nil, LibCrypto.shared.sha256, nil)) }
        }
    }

    /// Goes on with those bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        withPointer(to: bytes) { update(UnsafeRawBufferPointer(start: $0, count: $1)) }
    }

    /// Goes on with those bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&state) { state = state.copy() }
        Self.require(EVP_DigestUpdate(state.context.pointer, bytes.baseAddress, bytes.count))
    }

    /// The digest of what came up to now; more may follow.
    package var digest: [UInt8] {
        let last = state.copy()
        return Self.digest { Self.require(EVP_DigestFinal_ex(last.context.pointer, $0, nil)) }
    }

    private static func digest(_ write: (UnsafeMutablePointer<UInt8>?) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            write(buffer.baseAddress)
            count = length
        }
    }

    private static func context() -> Owned {
        guard let context = EVP_MD_CTX_new() else { fatalError("out of memory") }
        return Owned(context, free: EVP_MD_CTX_free)
    }

    /// A digest fails where memory has run out, and nowhere else.
    private static func require(_ status: Int32) {
        if status != 1 { fatalError("\(CryptographyError(attempting: "compute SHA-256"))") }
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
        guard let pointer = EVP_MAC_CTX_dup(template) else { fatalError("out of memory") }
        let context = Owned(pointer, free: EVP_MAC_CTX_free)
        return withPointer(to: message) { message, count in
            [UInt8](unsafeUninitializedCapacity: length) { buffer, written in
                guard EVP_MAC_init(context.pointer, key.baseAddress, key.count, nil) == 1,
                    EVP_MAC_update(context.pointer, message, count) == 1,
                    EVP_MAC_final(context.pointer, buffer.baseAddress, &written, length) == 1
                else { fatalError("\(CryptographyError(attempting: "compute a message authentication code"))") }
            }
        }
    }
}
