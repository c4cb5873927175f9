/// A conversation with one card: the seam between readers and everything that is read from a card.
///
/// A channel is synchronous and belongs to the isolation that runs the conversation. It is handed to the closure of
/// ``ReaderBackend/withCard(_:perform:)``, where blocking is allowed, and must not leave it. Tag readers, recorders and
/// simulated cards are therefore plain synchronous code that runs the same on every backend and in tests.
///
/// Every method throws ``ReaderError``. An answer whose status word is not `9000` is an answer, not an error.
public protocol CardChannel: AnyObject {
    /// What the reader already knows of the card without asking it.
    var facts: CardFacts { get }

    /// What the reader can carry to the card.
    var capabilities: ChannelCapabilities { get }

    /// The time since the conversation began: measured by a live reader, recorded in a capture.
    var elapsed: Duration { get }

    /// Sends a command APDU and returns the response APDU, status word included.
    ///
    /// - Parameter command: an encoded command APDU of 4 to 65 544 bytes.
    /// - Returns: 2 to ``ReaderLimits/responseLength`` bytes.
    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8]

    /// Sends a raw frame of the card's own protocol, without checksum, and returns the card's frame.
    ///
    /// Readers that cannot do so throw ``ReaderError/Kind/unsupported``.
    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame

    /// Sends a control code to the reader itself (PC/SC: `SCardControl`).
    ///
    /// Readers without such a door throw ``ReaderError/Kind/unsupported``.
    func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8]

    /// Powers the card anew, so that it forgets what was selected and authenticated.
    func reset() throws(ReaderError)
}

extension CardChannel {
    /// Short APDUs by default; a channel that knows no answer to reset takes the card's own frames.
    public var capabilities: ChannelCapabilities {
        ChannelCapabilities(hasPseudoAPDUs: facts.atr != nil || facts.technology == nil)
    }

    /// Not every reader exchanges raw frames: by default this throws ``ReaderError/Kind/unsupported``.
    public func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        throw ReaderError(.unsupported, attempting: "exchange a raw frame")
    }

    /// Not every reader takes control codes: by default this throws ``ReaderError/Kind/unsupported``.
    public func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        throw ReaderError(.unsupported, attempting: "send a control code to the reader")
    }

    /// Not every reader can power a card anew: by default this throws ``ReaderError/Kind/unsupported``.
    public func reset() throws(ReaderError) {
        throw ReaderError(.unsupported, attempting: "reset the card")
    }
}

/// A channel that carries nothing more once its time is over.
package final class TimedChannel: CardChannel {
    private let channel: any CardChannel
    private let limit: Duration

    package init(_ channel: any CardChannel, _ limit: Duration) { (self.channel, self.limit) = (channel, limit) }

    package var facts: CardFacts { channel.facts }
    package var capabilities: ChannelCapabilities { channel.capabilities }
    package var elapsed: Duration { channel.elapsed }

    package func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        try check("send a command to the card")
        return try channel.transmit(command)
    }

    package func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        try check("exchange a raw frame")
        return try channel.transceive(frame)
    }

    package func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        try check("send a control code to the reader")
        return try channel.control(code, data)
    }

    package func reset() throws(ReaderError) {
        try check("reset the card")
        try channel.reset()
    }

    private func check(_ attempt: String) throws(ReaderError) {
        // In the channel's own time, so that a recording ends where the tap did.
        guard elapsed >= limit else { return }
        throw ReaderError(.overTime, attempting: attempt, detail: "more than \(limit)")
    }
}

/// What a reader can carry to a card, as far as that is known before it is tried.
public struct ChannelCapabilities: Sendable, Hashable {
    /// The longest command APDU that the reader passes, in bytes, header and length fields included.
    ///
    /// 261 is the longest short command; 65 544 the longest extended one (ISO/IEC 7816-3).
    public var longestCommand: Int

    /// The longest response APDU that the reader passes, in bytes, status word included: 258 for short commands.
    public var longestResponse: Int

    /// Whether APDUs with extended lengths pass; `nil` if only trying shows it.
    public var extendedLength: Bool?

    /// Whether commands of class `FF` are answered by the reader (PC/SC part 3). Otherwise the card is spoken to in its
    /// own frames, by ``CardChannel/transceive(_:)``.
    public var hasPseudoAPDUs: Bool

    /// The radio technologies of the cards that the reader sees by this way, or `nil` where that is not known. Those that
    /// are missing cannot be read, whatever the card: ISO 15693 through libnfc, for one.
    public var technologies: [Technology]?

    /// Whether this is the recording of a card of which nothing but the identifier was asked.
    package var knowsIdentifierOnly = false

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

/// A frame of a card's own protocol, without checksum, possibly ending in an incomplete byte.
public struct RawFrame: Sendable, Hashable {
    /// The bytes; the last may hold fewer than eight bits, in its low bits.
    public var bytes: [UInt8]

    /// How many bits of the last byte count, 1 to 8. A Type 2 acknowledgement is `0A` with 4 bits.
    public var bitsInLastByte: Int

    /// A frame of whole bytes, or one whose last byte has fewer bits.
    public init(_ bytes: [UInt8], bitsInLastByte: Int = 8) {
        self.bytes = bytes
        self.bitsInLastByte = min(max(bitsInLastByte, 1), 8)
    }
}

/// Limits that hold for whatever a card or a reader sends.
public enum ReaderLimits {
    /// The longest response APDU: 65 536 bytes of data and a status word. (`MAX_BUFFER_SIZE_EXTENDED` is larger.)
    public static let responseLength = 65_538

    /// The longest answer to reset (ISO/IEC 7816-3; `MAX_ATR_SIZE`).
    public static let atrLength = 33

    /// How often one command may be answered with `61xx` (more data) before the answer is refused.
    public static let moreDataRounds = 256

    /// How often one command may be answered with `6Cxx` (wrong length) before the answer is refused.
    public static let wrongLengthRounds = 1

    /// How many parts one command may be sent in (command chaining). A command of 65 535 bytes takes 257 of 255.
    public static let commandParts = 1024

    /// How long one command may take with all its rounds. It is looked at between the rounds, each of which has the
    /// deadline of its backend.
    public static let commandDuration = Duration.seconds(30)

    /// How long reading a card may take from its first command on, however many there are. It is looked at before each
    /// exchange, which has the deadline of its backend.
    public static let tapDuration = Duration.seconds(15)

    /// How long work on a card may take that somebody asked for: writing its message, or copying its memory.
    public static let workDuration = Duration.seconds(120)

    /// How many levels of BER-TLV objects are read or written.
    public static let tlvDepth = 8
}
