import Crypto

/// What a terminal makes up for one tap. Given from outside so that a tap can be made again, byte by byte.
public struct SmartTapEntropy: Sendable {
    /// The number of the session, 8 bytes.
    public var session: [UInt8]
    /// What makes the tap this one and no other, 32 bytes.
    public var nonce: [UInt8]
    let key: P256.KeyAgreement.PrivateKey

    /// Made up anew.
    public init() {
        var generator = SystemRandomNumberGenerator()
        session = (0..<8).map { _ in UInt8.random(in: 0...255, using: &generator) }
        nonce = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        key = P256.KeyAgreement.PrivateKey()
    }

    /// That session, nonce and ephemeral key; `nil` if one has not its length, or the key is none of the curve.
    public init?(session: [UInt8], nonce: [UInt8], ephemeralKey: [UInt8]) {
        guard session.count == 8, nonce.count == 32,
            let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: ephemeralKey)
        else { return nil }
        self.init(session: session, nonce: nonce, key: key)
    }

    init(session: [UInt8], nonce: [UInt8], key: P256.KeyAgreement.PrivateKey) {
        self.session = session
        self.nonce = nonce
        self.key = key
    }

    /// The ephemeral public key, a compressed point of 33 bytes.
    var publicKey: [UInt8] { Array(key.publicKey.compressedRepresentation) }
}

extension SmartTapEntropy: CustomReflectable {
    /// Shows nothing: the ephemeral key opens the tap.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
