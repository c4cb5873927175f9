import CardCore
import Cryptography
import Foundation

/// A signature that shows whose a terminal is, made in advance by whoever holds the long-term key (Smart Tap 2.1 calls it
/// pre-signed authentication).
///
/// A terminal with it needs no long-term key. What it costs: the phone's own number is not signed, so that a recorded
/// tap cannot be distinguished from a fresh one. It opens what phones send to this terminal and is kept like a key.
public struct SmartTapPreSignature: Sendable {
    /// The collector's number.
    public let collectorID: UInt32

    /// The version under which the public key was registered.
    public let version: UInt32

    let nonce: [UInt8]
    let key: P256.PrivateKey
    let signature: [UInt8]

    /// What a signature made in advance has in place of the phone's number.
    static let phoneNonce = [UInt8](repeating: 0, count: 32)

    init(_ long: SmartTapKey, _ entropy: SmartTapEntropy) throws {
        collectorID = long.collectorID
        version = long.version
        nonce = entropy.nonce
        key = entropy.key
        signature = try long.sign(
            nonce + Self.phoneNonce + long.collectorID.bigEndianBytes + key.publicKey.compressed
        )
    }

    /// Signs in advance.
    ///
    /// - Throws: what the library for signing throws, which it does not for a key that was read.
    public init(_ key: SmartTapKey) throws {
        try self.init(key, SmartTapEntropy())
    }

    // MARK: As a file

    /// The file, whose bytes are hexadecimal.
    private struct File: Codable {
        var collector: UInt32
        var keyVersion: UInt32
        var nonce: String
        var ephemeralKey: String
        var signature: String
    }

    /// Reads what ``SmartTapPreSignature/text`` wrote; `nil` if it is something else.
    public init?(text: String) {
        guard let file = try? JSONDecoder().decode(File.self, from: Data(text.utf8)),
            let nonce = try? Hex.decode(file.nonce), nonce.count == 32, let bytes = try? Hex.decode(file.ephemeralKey),
            let key = try? P256.PrivateKey(bytes),
            let signature = try? Hex.decode(file.signature),
            ECDSASignature(der: signature) != nil
        else { return nil }
        collectorID = file.collector
        version = file.keyVersion
        self.nonce = nonce
        self.key = key
        self.signature = signature
    }

    /// A JSON object, for a file that its owner alone may read.
    package var text: String {
        let file = File(
            collector: collectorID,
            keyVersion: version,
            nonce: Hex.encode(nonce),
            ephemeralKey: Hex.encode(key.number.withBytes { Array($0) }),
            signature: Hex.encode(signature)
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(file)).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
    }
}

extension SmartTapPreSignature: Secret {
    /// Whose signature it is.
    public var description: String { "Smart Tap signature of collector \(collectorID), key \(version)" }
}
