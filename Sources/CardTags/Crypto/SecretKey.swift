import CardCore
import Cryptography

/// An AES key of 16 bytes.
///
/// It is never shown: its text states only what it is, it cannot be encoded, and comparing two takes the same time
/// whether and wherever they differ. Its memory is cleared when it is no longer used.
public struct SecretKey: Sendable {
    /// The length of a key, in bytes.
    public static let length = 16

    /// A key of zeros, with which NXP's cards leave the factory. It protects nothing.
    public static let factory = SecretKey(SecretBytes([UInt8](repeating: 0, count: length)))

    let bytes: SecretBytes

    /// A key of those bytes, or `nil` if they are not 16.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.init(SecretBytes(bytes))
    }

    private init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// Reads a key of 32 hexadecimal digits, with `:`, `-` or spaces between bytes or without; `nil` if it is none.
    public init?(text: some StringProtocol) {
        guard let bytes = try? Hex.decode(text) else { return nil }
        self.init(bytes)
    }
}

extension SecretKey: Equatable {
    /// Whether both are the same key, in a time that does not depend on where they differ.
    public static func == (left: SecretKey, right: SecretKey) -> Bool { left.bytes == right.bytes }
}

extension SecretKey: Secret {
    /// What it is, without its bytes.
    public var description: String { "secret key of \(Self.length) bytes" }
}

/// Why bytes could not be encrypted, decrypted or trusted. Never what they were.
package enum CryptoFailure: Error, Sendable, Hashable {
    /// The bytes are not whole blocks, or not as many as they should be.
    case wrongLength
    /// The message authentication code or checksum is not the one that the bytes should have.
    case forged
    /// What stands behind the data is not padding.
    case wrongPadding
    /// The command counter of the session is at its end.
    case exhausted
}
