/// What a reader can carry to a card, as far as that is known before it is tried.
public struct ChannelCapabilities: Sendable, Hashable {
    /// The longest command APDU that the reader passes, in bytes, header and length fields included.
    ///
    /// 261 is the longest short command; 65 544 the longest extended one (ISO/IEC 7816-3).
    public var longestCommand: Int

    /// The longest response APDU that the reader passes, in bytes, status word included: 258 for short commands.
    public var longestResponse: Int

    /// Whether APDUs with extended lengths pass. `nil` where only trying tells.
    public var extendedLength: Bool?

    /// Whether commands of class `FF` are answered by the reader (PC/SC part 3). Otherwise the card is spoken to in its
    /// own frames, by ``CardChannel/transceive(_:)``.
    public var hasPseudoAPDUs: Bool

    /// The radio technologies of the cards that the reader sees by this way, or `nil` where that is not known. Those that
    /// are missing cannot be read, whatever the card: ISO 15693 through libnfc, for one.
    public var technologies: [Technology]?

    /// What a reader can carry.
    public init(
        longestCommand: Int = 261,
        longestResponse: Int = 258,
        extendedLength: Bool? = false,
        hasPseudoAPDUs: Bool = true,
        technologies: [Technology]? = nil
    ) {
        self.longestCommand = longestCommand
        self.longestResponse = longestResponse
        self.extendedLength = extendedLength
        self.hasPseudoAPDUs = hasPseudoAPDUs
        self.technologies = technologies
    }

    /// Short APDUs, and commands of class `FF`.
    public static let shortAPDUs = ChannelCapabilities()
}
