import ClubRecords

/// Processes the messages of one type.
///
/// ```swift
/// struct Greeting: MessageProcessor {
///     struct Payload: Decodable, Sendable { var message: String }
///     static let processorType = "greeting"
///
///     func process(_ payload: Payload, context: MessageContext) async throws -> ProcessingResult {
///         guard context.state == .serving else { return .noData }
///         print(payload.message)
///         return .newData
///     }
/// }
///
/// router.register(Greeting.self)
/// ```
///
/// Each message gets a processor of its own. It runs outside Swift's cooperative pool of threads, so it may block, but not
/// for longer than ``RouterConfiguration/timeout``: then its task is cancelled, its result is ignored, and the next
/// message has its turn.
///
/// A message is processed at least once: where the program is killed in the midst of it, it comes again.
public protocol MessageProcessor: SendableMetatype {
    /// What the payload is read as, strictly: a value that is missing or of another kind fails the message. A `Date` is
    /// read from text of ISO 8601 or seconds since 1970. ``FieldValue`` takes any payload.
    associatedtype Payload: Decodable & Sendable

    /// The type of the messages, compared exactly, with regard to case.
    static var processorType: String { get }

    /// From where it takes messages; for messages from elsewhere it is as if it were not registered.
    ///
    /// By default from everywhere but cards (``MessageSource/Kind/allButCard``): anybody can write a card and hold it to
    /// the reader, while the other ways need an account on this machine. A processor that takes messages from cards must
    /// be harmless, whatever the payload says and however often it comes.
    static var acceptedSources: Set<MessageSource.Kind> { get }

    /// A processor for one message.
    init()

    /// Processes the message.
    ///
    /// What it throws fails the message. The reason names a ``ClubError`` whole and of other errors only the type, since
    /// they may quote the payload.
    func process(_ payload: Payload, context: MessageContext) async throws -> ProcessingResult
}

extension MessageProcessor {
    /// Everywhere but cards.
    public static var acceptedSources: Set<MessageSource.Kind> { MessageSource.Kind.allButCard }
}
