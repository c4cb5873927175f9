import Cryptography

/// What a terminal asks of a phone, and what it reports about itself.
public struct SmartTapRequest: Sendable, Hashable {
    /// What kinds of objects are wanted.
    public var services: [Service]

    /// The terminal's capabilities and purpose (record `pcr`), or `nil` to omit them. Then data are not compressed.
    public var capabilities: Capabilities?

    /// A kind of object: one of ``SmartTapObject/Kind``, several of them, what a wallet keeps in the cloud, or marketing.
    public enum Service: UInt8, Sendable, Hashable, CaseIterable {
        case all, allExceptPayment, payment
        case loyalty, offer, giftCard, privateLabel, eventTicket, flight, transit
        case cloudWallet = 0x10
        case mobileMarketing, generic, genericPrivate
        case customer = 0x40
    }

    /// Five bytes: system, interface, checkout, cardholder verification, tap mode.
    public struct Capabilities: Sendable, Hashable {
        /// 01 stand-alone, 02 semi-integrated, 04 unattended, 08 online, 10 offline, 40 inflates zlib.
        public var system: UInt8
        /// 01 printer, 04 display, 10 audio, 40 video.
        public var interface: UInt8
        /// 01 payment, 02 digital receipts, 04 service issuance.
        public var checkout: UInt8
        /// 01 online PIN, 04 signature, 08 none, 10 device code.
        public var verification: UInt8
        /// 01 pass only, 02 payment only, 04 pass and payment, 08 pass over payment.
        public var tapMode: UInt8

        /// Capabilities.
        public init(
            system: UInt8 = 0x40,
            interface: UInt8 = 0,
            checkout: UInt8 = 0,
            verification: UInt8 = 0,
            tapMode: UInt8 = 0x01
        ) {
            self.system = system
            self.interface = interface
            self.checkout = checkout
            self.verification = verification
            self.tapMode = tapMode
        }

        var bytes: [UInt8] { [system, interface, checkout, verification, tapMode] }
    }

    /// A question for passes of all kinds.
    public init(services: [Service] = [.all], capabilities: Capabilities? = Capabilities()) {
        self.services = services.isEmpty ? [.all] : services
        self.capabilities = capabilities
    }
}

/// What a terminal makes up for one tap. Passed in so that a tap can be repeated byte by byte.
public struct SmartTapEntropy: Sendable {
    /// The number of the session, 8 bytes.
    public var session: [UInt8]
    /// What makes the tap this one and no other, 32 bytes.
    public var nonce: [UInt8]
    let key: P256.PrivateKey

    /// Made up anew.
    public init() {
        session = (0..<8).map { _ in UInt8.random(in: 0...255) }
        nonce = (0..<32).map { _ in UInt8.random(in: 0...255) }
        key = P256.PrivateKey()
    }

    /// That session, nonce and ephemeral key; `nil` if one has not its length, or the key is none of the curve.
    public init?(session: [UInt8], nonce: [UInt8], ephemeralKey: [UInt8]) {
        guard session.count == 8, nonce.count == 32,
            let key = try? P256.PrivateKey(ephemeralKey)
        else { return nil }
        self.init(session: session, nonce: nonce, key: key)
    }

    init(session: [UInt8], nonce: [UInt8], key: P256.PrivateKey) {
        self.session = session
        self.nonce = nonce
        self.key = key
    }

    /// The ephemeral public key, a compressed point of 33 bytes.
    var publicKey: [UInt8] { key.publicKey.compressed }
}

extension SmartTapEntropy: CustomReflectable {
    /// Shows nothing: the ephemeral key opens the tap.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
