import CardCore

/// What an iPhone reports about Value Added Services when asked for `OSE.VAS.01`.
public struct AppleVASApplication: Sendable, Hashable {
    /// The version of the protocol: 1.0 is known.
    public var version: Version

    /// What the phone can do and wants.
    public var capabilities: Capabilities

    /// A number that is another one at each SELECT (tag 9F24). Nothing depends on it.
    public var nonce: [UInt8]?

    /// A version of the protocol.
    public struct Version: Sendable, Hashable {
        /// What changes where it is another protocol.
        public var major: UInt8
        /// What changes where something is added.
        public var minor: UInt8
    }

    /// The last byte of tag 9F23.
    public struct Capabilities: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8

        /// Capabilities by their bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Passes can be returned as plain text.
        public static let plainText = Capabilities(rawValue: 0x01)
        /// Passes can be returned encrypted.
        public static let encrypted = Capabilities(rawValue: 0x02)
        /// The reader may leave passes out.
        public static let mayBeSkipped = Capabilities(rawValue: 0x04)
        /// The reader may ask for passes.
        public static let mayBePerformed = Capabilities(rawValue: 0x08)
        /// The reader may leave payment out.
        public static let paymentMayBeSkipped = Capabilities(rawValue: 0x10)
        /// The reader may ask for payment.
        public static let paymentMayBePerformed = Capabilities(rawValue: 0x20)
    }

}

extension AppleVASApplication {
    /// Reads what stands in the template 6F beside the label (``WalletSelection/apple(_:)``).
    ///
    /// - Throws: ``AppleVASError`` if there is no version, or one that is not known here.
    public init(_ template: BERTLV) throws(AppleVASError) {
        guard let version = template.find(0x9F21)?.value, version.count == 2 else { throw .malformed(.version) }
        self.version = Version(major: version[0], minor: version[1])
        guard self.version.major == 1 else { throw .unsupportedVersion(self.version) }
        // Phones without it have been asked for passes too.
        capabilities = Capabilities(
            rawValue: template.find(0x9F23)?.value?.last ?? Capabilities.mayBePerformed.rawValue
        )
        nonce = template.find(0x9F24)?.value
    }
}
