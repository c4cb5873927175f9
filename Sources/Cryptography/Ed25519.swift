import CCrypto

/// Signatures by Ed25519 (RFC 8032).
package enum Ed25519 {
    private static let length = 32

    /// A public key.
    package struct PublicKey: Sendable {
        private let key: EVPKey
        /// The key's 32 bytes.
        package let bytes: [UInt8]

        /// A key of 32 bytes.
        package init(_ bytes: [UInt8]) throws(CryptographyError) {
            guard bytes.count == Ed25519.length else { throw CryptographyError(attempting: "take a key of Ed25519") }
            let library = LibCrypto.shared.context
            key = try EVPKey(EVP_PKEY_new_raw_public_key_ex(library, "ED25519", nil, bytes, bytes.count))
            self.bytes = bytes
        }

        /// The public key of a PEM file (`PUBLIC KEY`, RFC 8410).
        ///
        /// - Throws: ``CryptographyError`` if it is none, or one of another kind.
        package init(pem: String) throws(CryptographyError) {
            try self.init(PEM(pem) { $0 == "PUBLIC KEY" }.body(after: Ed25519.head))
        }

        /// SubjectPublicKeyInfo (RFC 8410), as a PEM file has it.
        package var pem: String { PEM.text("PUBLIC KEY", Ed25519.head + bytes) }

        /// Whether a signature is that of the message by the private half of this key.
        package func isValid(_ signature: [UInt8], for message: some Collection<UInt8>) -> Bool {
            key.isValid(signature, for: message)
        }
    }

    /// A private key. It is never shown.
    package struct PrivateKey: Sendable {
        private let key: EVPKey
        /// What checks what it signs.
        package let publicKey: PublicKey

        /// A new key.
        package init() {
            (key, publicKey) = unfailing { () throws(CryptographyError) in
                let attempt = "make a key of Ed25519"
                let context = try Owned(
                    EVP_PKEY_CTX_new_from_name(LibCrypto.shared.context, "ED25519", nil),
                    attempting: attempt,
                    free: EVP_PKEY_CTX_free
                )
                let key = try EVPKey(generating: context, attempting: attempt)
                var (bytes, count) = ([UInt8](repeating: 0, count: Ed25519.length), Ed25519.length)
                try require(EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &count), attempting: attempt)
                return (key, try PublicKey(bytes))
            }
        }

        /// Signs a message: 64 bytes.
        package func sign(_ message: some Collection<UInt8>) throws(CryptographyError) -> [UInt8] {
            try key.sign(message)
        }
    }

    /// What stands before the key in SubjectPublicKeyInfo.
    private static let head: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
}

extension Ed25519.PrivateKey: CustomStringConvertible, CustomReflectable {
    /// What it is, without its bytes.
    package var description: String { "private key of Ed25519" }

    /// Nothing, so that neither `dump(_:)` nor a test framework prints it.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
