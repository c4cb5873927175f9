import CardCore
import Cryptography
import Foundation

/// The private key of a reader for passes of Apple Wallet: P-256, made by whoever issues the passes, whose `pass.json`
/// carries the public half (`nfc.encryptionPublicKey`).
///
/// It is never shown: its description only names the key, by an identifier that every cryptogram carries in the open.
public struct AppleVASKey: Sendable {
    private let key: P256.PrivateKey

    /// What a cryptogram names the key by: the first four bytes of the SHA-256 of its public X coordinate. Two keys may
    /// have the same.
    public let identifier: [UInt8]

    private init(_ key: P256.PrivateKey) {
        self.key = key
        identifier = Array(SHA256.hash(key.publicKey.coordinates.prefix(P256.length)).prefix(4))
    }

    /// A new key.
    public init() {
        self.init(P256.PrivateKey())
    }

    /// A key of 32 bytes; `nil` if they are no private key of the curve.
    public init?(_ bytes: [UInt8]) {
        guard let key = try? P256.PrivateKey(bytes) else { return nil }
        self.init(key)
    }

    /// A key as a PEM file has it (PKCS #8 or SEC 1); `nil` if it is none.
    public init?(pem: String) {
        guard let key = try? P256.PrivateKey(pem: pem) else { return nil }
        self.init(key)
    }

    /// The public key as `pass.json` wants it: Base64 of its SubjectPublicKeyInfo with a compressed point.
    public var passEncryptionPublicKey: String {
        // id-ecPublicKey, prime256v1, a bit string of 34 bytes: what the library writes has an uncompressed point.
        let header: [UInt8] = [
            0x30, 0x39, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x22, 0x00,
        ]
        return Data(header + publicKey).base64EncodedString()
    }

    /// The public key: a compressed point, 33 bytes.
    public var publicKey: [UInt8] { key.publicKey.compressed }

    /// The private key in PKCS #8, as a PEM file has it, for the one who made it.
    package var pem: String { key.pem }

    /// The X coordinate of the product with another's point, of which only X is known: the sign makes no difference to it.
    /// `nil` if no point of the curve has that coordinate.
    func agreement(withX coordinate: [UInt8]) -> SecretBytes? {
        let point = try? P256.PublicKey(compressed: [0x02] + coordinate)
        return point.flatMap { try? key.sharedSecret(with: $0) }
    }
}

extension AppleVASKey: Secret {
    /// Which key it is, without its bytes.
    public var description: String { "Apple VAS key \(Hex.encode(identifier))" }
}
