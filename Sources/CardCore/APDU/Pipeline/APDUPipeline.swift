/// The way from a command to a card: extended lengths or command chaining, `6Cxx`, `61xx`, a trace, and limits for
/// everything that a card decides.
///
/// ```text
/// send ─▶ ResponseChaining ─▶ LengthNegotiation ─▶ CommandChaining ─▶ LengthCorrection ─▶ APDUTransport ─▶ card
///            61xx                short, extended       parts              6Cxx            bytes, time, trace
/// ```
///
/// It belongs to one conversation and remembers which form of lengths the card refused. It knows nothing of what was
/// selected on the card.
///
/// ```swift
/// let pipeline = APDUPipeline(channel)
/// let answer = try pipeline.send(.select(name: [0xA0, 0x00, 0x00, 0x03, 0x97]))
/// ```
public final class APDUPipeline {
    private let transport: APDUTransport
    private let whole: ResponseChaining<LengthNegotiation>
    private var negotiation: LengthNegotiation { whole.next }
    private let configuration: Configuration

    /// How commands that are too long for the short form are sent.
    public enum Lengths: String, Sendable, Hashable, CaseIterable {
        /// As reader and card can; another way when one is refused.
        case automatic
        /// Never with extended lengths.
        case short
        /// Always with extended lengths, whatever is known of reader and card.
        case extended
    }

    /// What a pipeline does. Greater numbers than ``ReaderLimits`` has are brought down to it.
    public struct Configuration: Sendable {
        /// How long commands are sent.
        public var lengths = Lengths.automatic

        /// The capabilities of the card, or `nil` for those that its ATR states.
        public var card: CardCapabilities?

        /// Whether `61xx` fetches the rest. Off for protocols in which it is a result of its own.
        public var fetchesMoreData = true

        /// How many times GET RESPONSE is sent for one command, 0...``ReaderLimits/moreDataRounds``.
        public var moreDataRounds = ReaderLimits.moreDataRounds

        /// How often a command is repeated for `6Cxx`. 0 returns the status word as the card sent it.
        public var wrongLengthRounds = ReaderLimits.wrongLengthRounds

        /// How many bytes of data are taken for one command, 0...65 536.
        public var longestAnswer = ReaderLimits.responseLength - 2

        /// How long a command may take with all its rounds, or `nil`. It is looked at between the rounds.
        public var duration: Duration? = ReaderLimits.commandDuration

        /// What is called for each exchange, or `nil` for nothing.
        public var trace: APDUTrace?

        /// Everything that reader and card can do, without a trace.
        public static let `default` = Configuration()
    }

    /// A pipeline for the conversation with one card.
    public init(_ channel: any CardChannel, configuration: Configuration = .default) {
        self.configuration = configuration
        transport = APDUTransport(channel, trace: configuration.trace, limit: configuration.duration)
        let negotiation = LengthNegotiation(
            transport,
            channel.capabilities,
            configuration.card ?? CardCapabilities(facts: channel.facts),
            configuration.lengths,
            wrongLengthRounds: min(max(configuration.wrongLengthRounds, 0), ReaderLimits.wrongLengthRounds)
        )
        whole = ResponseChaining(
            next: negotiation,
            rounds: min(max(configuration.moreDataRounds, 0), ReaderLimits.moreDataRounds),
            bytes: min(max(configuration.longestAnswer, 0), ReaderLimits.responseLength - 2)
        )
    }

    /// Whether extended lengths work with this card and reader, as far as the conversation has shown; `nil` before.
    public var extendedLengthsWork: Bool? { negotiation.extendedLengthsWork }

    /// Sends a command and returns the whole answer, whatever its status word.
    ///
    /// - Throws: ``ReaderError``. What goes over a limit is ``ReaderError/Kind/limitExceeded``, a command that takes too
    ///   long with all its rounds ``ReaderError/Kind/timeout``, and one that neither way carries
    ///   ``ReaderError/Kind/unsupported``.
    public func send(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        transport.begin()
        return configuration.fetchesMoreData ? try whole.process(command) : try negotiation.process(command)
    }
}

extension CardChannel {
    /// Sends a command and returns the card's answer as it is, whatever its status word.
    ///
    /// - Throws: ``ReaderError``; an answer that is no response APDU is ``ReaderError/Kind/invalidAnswer``.
    public func exchange(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        try APDUTransport(self).process(command)
    }

    /// Sends a command and returns the whole answer: a status word `6Cxx` repeats the command with the length that the
    /// card names, and `61xx` fetches the rest with GET RESPONSE (ISO/IEC 7816-4).
    ///
    /// Protocols in which `61xx` has a meaning of its own use ``exchange(_:)``, and commands that may be longer than the
    /// reader or the card takes an ``APDUPipeline``.
    ///
    /// - Returns: the data of all parts, and the last status word.
    /// - Throws: ``ReaderError``; more rounds or more data than ``ReaderLimits`` allows is
    ///   ``ReaderError/Kind/limitExceeded``, and more time ``ReaderError/Kind/timeout``.
    public func send(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        let transport = APDUTransport(self, limit: ReaderLimits.commandDuration)
        transport.begin()
        return try ResponseChaining(next: LengthCorrection(next: transport)).process(command)
    }
}
