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
