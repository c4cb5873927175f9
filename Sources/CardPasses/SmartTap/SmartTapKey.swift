import CardCore
import Cryptography
import Foundation

/// The long-term key of a terminal for passes of Google Wallet: P-256, registered in the Google Pay & Wallet console
/// under a version, for the collector that the console assigned.
///
/// It is never shown: its description contains only version and collector.
public struct SmartTapKey: Sendable {
    /// The collector's number.
    public let collectorID: UInt32

    /// The version under which the public key was registered.
    public let version: UInt32

    private let key: P256.PrivateKey

    /// A new key.
    public init(collectorID: UInt32, version: UInt32) {
        self.init(P256.PrivateKey(), collectorID, version)
    }

    private init(_ key: P256.PrivateKey, _ collectorID: UInt32, _ version: UInt32) {
        self.key = key
        self.collectorID = collectorID
        self.version = version
    }

    /// A key of 32 bytes; `nil` if they are no private key of the curve.
    public init?(_ bytes: [UInt8], collectorID: UInt32, version: UInt32) {
        guard let key = try? P256.PrivateKey(bytes) else { return nil }
        self.init(key, collectorID, version)
    }

    /// A key as a PEM file has it (PKCS #8 or SEC 1); `nil` if it is none.
    public init?(pem: String, collectorID: UInt32, version: UInt32) {
        guard let key = try? P256.PrivateKey(pem: pem) else { return nil }
        self.init(key, collectorID, version)
    }

    /// The public key as the console takes it, in PEM.
    public var publicKeyPEM: String { key.publicKey.pem }

    /// The public key: a compressed point, 33 bytes.
    public var publicKey: [UInt8] { key.publicKey.compressed }

    /// The private key in PKCS #8, as a PEM file has it, for the one who made it.
    package var pem: String { key.pem }

    /// Signs with ECDSA and SHA-256, in DER: 70 to 72 bytes, now and then fewer.
    func sign(_ bytes: [UInt8]) throws -> [UInt8] { try key.sign(bytes).der }
}

extension SmartTapKey: Secret {
    /// Whose key it is, without its bytes.
    public var description: String { "Smart Tap key \(version) of collector \(collectorID)" }
}

/// By what a terminal shows a phone whose it is.
public enum SmartTapCredential: Sendable {
    /// With the long-term key, anew at each tap.
    case key(SmartTapKey)
    /// With a signature that was made in advance.
    case preSigned(SmartTapPreSignature)

    /// The collector's number, and the version under which the public key was registered.
    public var collector: (id: UInt32, version: UInt32) {
        switch self {
        case .key(let key): (key.collectorID, key.version)
        case .preSigned(let signature): (signature.collectorID, signature.version)
        }
    }
}
