import CardCore
import CardTags
import Cryptography
import Foundation

/// A pass as the phone sends it: encrypted for the reader with a key of its own.
///
/// ```text
/// key identifier 4 | X coordinate of the phone's ephemeral key 32 | ciphertext of (time 4, message) | tag 16
/// ```
///
/// The reader has no part in the key, so a recording of a cryptogram is as good as a fresh one: only the time within
/// it, which is the phone's own, and ``digest`` distinguish them.
public struct AppleVASCryptogram: Sendable, Hashable {
    /// Names the reader's key (``AppleVASKey/identifier``).
    public let keyIdentifier: [UInt8]

    private let ephemeral: [UInt8]
    private let ciphertext: [UInt8]
    private let tag: [UInt8]

    /// Distinguishes this cryptogram from every other: the SHA-256 of all of it.
    public let digest: [UInt8]

    private static let identifierLength = 4
    private static let coordinateLength = 32
    private static let tagLength = 16
    private static let timeLength = 4
    private static let shortest = identifierLength + coordinateLength + timeLength + tagLength

    /// Takes a cryptogram apart.
    ///
    /// - Throws: ``AppleVASError/malformed(_:)`` if it is too short or too long to be one.
    public init(_ bytes: [UInt8]) throws(AppleVASError) {
        guard (Self.shortest...AppleVASLimits.cryptogram).contains(bytes.count) else { throw .malformed(.cryptogram) }
        let end = bytes.count - Self.tagLength
        let start = Self.identifierLength + Self.coordinateLength
        keyIdentifier = Array(bytes[..<Self.identifierLength])
        ephemeral = Array(bytes[Self.identifierLength..<start])
        ciphertext = Array(bytes[start..<end])
        tag = Array(bytes[end...])
        digest = SHA256.hash(bytes)
    }

    /// Opens it with the reader's keys for the kind of pass that was asked for; of keys with the same identifier each.
    ///
    /// - Parameter allowsVariant: whether a second way of making the key is tried too, which some readers know of and no
    ///   phone is known to use.
    /// - Throws: ``AppleVASError/noKey(_:)``, ``AppleVASError/notDecrypted`` or ``AppleVASError/malformed(_:)``.
    public func open(
        for merchant: AppleVASMerchant,
        allowsVariant: Bool = false
    ) throws(AppleVASError) -> AppleVASMessage {
        let keys = merchant.keys.filter { $0.identifier == keyIdentifier }
        guard !keys.isEmpty else { throw .noKey(keyIdentifier) }
        var isPoint = false
        for key in keys {
            guard let secret = key.agreement(withX: ephemeral) else { continue }
            isPoint = true
            let standard = [0x0D] + Array("id-aes256-GCM".utf8) + Self.label + merchant.merchantID
            if let plain = open(secret, standard, authenticating: [])
                ?? (allowsVariant ? open(secret, Self.label, authenticating: merchant.merchantID) : nil)
            {
                return try AppleVASMessage(plain, digest: digest)
            }
        }
        throw isPoint ? .notDecrypted : .malformed(.ephemeralKey)
    }

    private static let label = Array("ApplePay encrypted VAS data".utf8)

    /// Opens it with the key that is made of the shared secret and some information (ANSI X9.63, one block of SHA-256).
    private func open(_ secret: SecretBytes, _ information: [UInt8], authenticating data: [UInt8]) -> [UInt8]? {
        // 16 bytes, not the usual 12: the first counter block is worked out of them.
        let nonce = [UInt8](repeating: 0, count: 16)
        guard let key = try? KeyDerivation.x963(secret, information: information, count: 32) else { return nil }
        return try? AES.GCM.open(ciphertext, tag: tag, key: key, nonce: nonce, authenticating: data)
    }
}

extension AppleVASCryptogram: Redacted {
    /// For which key it is; nothing of what it holds.
    public var description: String { "Apple VAS cryptogram for key \(Hex.encode(keyIdentifier))" }
}
