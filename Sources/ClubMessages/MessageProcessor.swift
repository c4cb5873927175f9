import ClubRecords
import Foundation

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
/// Each message is processed by a processor of its own. It runs outside Swift's cooperative thread pool, so it may
/// block, but not longer than ``RouterConfiguration/timeout``: then its task is cancelled, its result is ignored, and
/// the next message is processed.
///
/// A message is processed at least once: if the program is killed while processing it, it is processed again.
public protocol MessageProcessor: SendableMetatype {
    /// The type as which the payload is decoded, strictly: a missing value or one of another type fails the message. A
    /// `Date` is decoded from text of ISO 8601 or seconds since 1970. ``FieldValue`` accepts any payload.
    associatedtype Payload: Decodable & Sendable

    /// The type of the messages, compared exactly, with case.
    static var processorType: String { get }

    /// The sources of accepted messages; for others it counts as unregistered.
    ///
    /// By default all but cards (``MessageSource/Kind/allButCard``): anybody can write a card and present it, while
    /// other sources require an account on this machine. A processor that accepts messages from cards must be harmless
    /// for any payload and any number of repetitions.
    static var acceptedSources: Set<MessageSource.Kind> { get }

    /// Creates a processor for one message.
    init()

    /// Processes the message.
    ///
    /// An error fails the message. The reason includes a ``ClubError`` completely and of other errors only the type,
    /// since they may quote the payload.
    func process(_ payload: Payload, context: MessageContext) async throws -> ProcessingResult
}

extension MessageProcessor {
    /// All sources but cards.
    public static var acceptedSources: Set<MessageSource.Kind> { MessageSource.Kind.allButCard }
}

/// The metadata of a message for its processor.
public struct MessageContext: Sendable, Hashable {
    /// ``Message/id``. A processor whose work must not be repeated remembers it: after a crash a message may be
    /// processed again.
    public var messageID: String

    /// The message's type; `nil` only for a fallback, which also gets messages without one.
    public var type: String?

    /// The source of the message.
    public var source: MessageSource

    /// The time at which the message was received.
    public var receivedAt: Date

    /// The number of the attempt, from 1. Above 1, the program ended during the previous one, or its result could not
    /// be stored.
    public var attempt: Int

    /// The state of the kiosk.
    public var state: KioskState

    /// Creates a context, for tests of processors.
    public init(
        messageID: String,
        type: String?,
        source: MessageSource = MessageSource(.application),
        receivedAt: Date = Date(),
        attempt: Int = 1,
        state: KioskState = .serving
    ) {
        self.messageID = messageID
        self.type = type
        self.source = source
        self.receivedAt = receivedAt
        self.attempt = attempt
        self.state = state
    }
}

/// Who processes which messages.
struct ProcessorTable: Sendable {
    struct Entry: Sendable {
        var registration: ProcessorRegistration
        /// The processor's Swift type; `nil` for a closure.
        var swiftType: ObjectIdentifier?
        /// The type of its messages; not looked at in a fallback.
        var type: String
        var sources: Set<MessageSource.Kind>
        var name: String
        var process: @Sendable (FieldValue, MessageContext) async -> ProcessingResult
    }

    private var entries: [Entry] = []
    private var fallback: Entry?

    /// Adds a processor; one of the same Swift type gives up its place to it, and its registration.
    mutating func register(_ entry: Entry) -> ProcessorRegistration {
        var entry = entry
        if let swiftType = entry.swiftType, let place = entries.firstIndex(where: { $0.swiftType == swiftType }) {
            entry.registration = entries[place].registration
            entries[place] = entry
        } else {
            entries.append(entry)
        }
        return entry.registration
    }

    mutating func setFallback(_ entry: Entry) -> ProcessorRegistration {
        fallback = entry
        return entry.registration
    }

    mutating func unregister(where isMeant: (Entry) -> Bool) -> Bool {
        let count = entries.count
        entries.removeAll(where: isMeant)
        var isFound = entries.count < count
        if let entry = fallback, isMeant(entry) {
            fallback = nil
            isFound = true
        }
        return isFound
    }

    /// The first processor of a message, or the one to be tried behind another. The fallback is behind all.
    func processor(of type: String?, from source: MessageSource.Kind, behind last: Entry?) -> Entry? {
        if let last, last.registration == fallback?.registration { return nil }
        let number = last?.registration.number ?? 0
        if let type,
            let next = entries.first(where: {
                $0.registration.number > number && $0.type == type && $0.sources.contains(source)
            })
        {
            return next
        }
        guard let fallback, fallback.sources.contains(source) else { return nil }
        return fallback
    }

    /// Why nobody takes a message.
    func reason(type: String?, from source: MessageSource.Kind) -> String {
        guard let type else { return "it has no message type" }
        guard entries.contains(where: { $0.type == type }) else { return "no processor is registered for its type" }
        return "no processor of its type takes messages of the source '\(source.rawValue)'"
    }
}

extension ProcessorTable.Entry {
    /// A processor whose payload is read first. Whatever it throws becomes a failure.
    init<Payload: Decodable & Sendable>(
        swiftType: ObjectIdentifier? = nil,
        type: String,
        sources: Set<MessageSource.Kind>,
        name: String,
        process: @escaping @Sendable (Payload, MessageContext) async throws -> ProcessingResult
    ) {
        self.registration = .next()
        self.swiftType = swiftType
        self.type = type
        self.sources = sources
        self.name = PlainText.line(name)
        self.process = { payload, context in
            let value: Payload
            do {
                value = try PayloadDecoder.decode(Payload.self, from: payload)
            } catch {
                return .failed("the payload cannot be read: \(RecordDecoder.summary(error))")
            }
            do {
                return try await process(value, context)
            } catch let error as ClubError {
                return .failed(error.description)
            } catch {
                return .failed("it threw \(Swift.type(of: error))")
            }
        }
    }

    /// A processor that is made for each message.
    init<Processor: MessageProcessor>(_ processor: Processor.Type, make: @escaping @Sendable () throws -> Processor) {
        self.init(
            swiftType: ObjectIdentifier(processor),
            type: Processor.processorType,
            sources: Processor.acceptedSources,
            name: "\(processor)"
        ) { (payload: Processor.Payload, context) in try await make().process(payload, context: context) }
    }
}
