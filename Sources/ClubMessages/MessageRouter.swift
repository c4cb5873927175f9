import CardCore
import ClubRecords
import Foundation
import Logging
import Synchronization

/// Passes each message to the processor registered for its type.
///
/// A message is stored in the inbox first. A message that ``accept(_:)`` has stored survives a crash, if the inbox
/// does, and is processed by ``resume()`` after the next start. Messages are processed one at a time, in the order in
/// which they were stored. A message that could not be processed becomes a dead letter, which can be listed and
/// replayed.
///
/// All methods may be called from any task or thread.
public final class MessageRouter: Sendable {
    /// The inbox of the messages.
    public let inbox: any MessageInbox

    /// The configuration of the router.
    public let configuration: RouterConfiguration

    struct State: Sendable {
        var typeKey = "messageType"
        var typeProcessor: (@Sendable (FieldValue) -> String?)?
        var processors = ProcessorTable()
        /// The messages that are in the queue or being processed.
        var active: Set<String> = []
        /// Messages that are pending although their turn has come, since the inbox failed.
        var unfinished: [String: Unfinished] = [:]
        /// Whether these are about to be taken up.
        var isCatchingUp = false
    }

    struct Job: Sendable {
        var message: Message
        /// How often processing it was begun before.
        var attempts = 0
        var ignoresExpiry = false
        let answer = OneAnswer<Result<RoutingResult, ClubError>>()
    }

    /// What is left to do where the inbox failed.
    struct Unfinished: Sendable {
        var job: Job
        /// What came out, if only storing that is left.
        var result: RoutingResult?
    }

    /// The router whose processor the current task works for.
    @TaskLocal static var processing: ObjectIdentifier?

    let guarded = Mutex(State())
    let broadcaster = EventBroadcaster<RoutingResult>()
    /// Storing, listing and enqueuing: so the order in the queue is that in the inbox.
    let storing = TurnQueue()
    /// Processing.
    let working = TurnQueue()

    /// Creates a router.
    ///
    /// - Parameters:
    ///   - inbox: the inbox of the messages; by default in memory.
    ///   - configuration: times and limits.
    public init(inbox: any MessageInbox = MemoryInbox(), configuration: RouterConfiguration = RouterConfiguration()) {
        self.inbox = inbox
        self.configuration = configuration
    }

    /// The state of the kiosk, which processors receive: that of ``RouterConfiguration/application``.
    public var state: KioskState {
        get { configuration.application.applicationState }
        set { configuration.application.applicationState = newValue }
    }

    /// The key path of the type in a payload, with names separated by dots; `messageType` by default. The value is a
    /// type if it is a text of 1...200 characters without control characters.
    public var messageTypeKey: String {
        get { guarded.withLock { $0.typeKey } }
        set { guarded.withLock { $0.typeKey = newValue } }
    }

    /// Returns the type of a payload, in place of ``messageTypeKey``; `nil` for no type. It may be called from any
    /// thread, concurrently.
    public var messageTypeProcessor: (@Sendable (_ payload: FieldValue) -> String?)? {
        get { guarded.withLock { $0.typeProcessor } }
        set { guarded.withLock { $0.typeProcessor = newValue } }
    }

    /// The results of messages from now on, once they are stored, including duplicates. Each call returns a sequence of
    /// its own; unread results are buffered in memory.
    public var results: AsyncStream<RoutingResult> { broadcaster.stream() }

    /// Returns the type of a payload by the rules of this router; `nil` if it has none.
    public func messageType(of payload: FieldValue) -> String? {
        let (key, processor) = guarded.withLock { ($0.typeKey, $0.typeProcessor) }
        guard let processor else { return MessageType.find(key, in: payload) }
        return processor(payload).flatMap { Message.isName($0) ? $0 : nil }
    }

    /// Stores a message, processes it in its turn, and returns its result.
    ///
    /// A stored message is processed even if the calling task is cancelled; the call then still returns the result.
    ///
    /// - Returns: the result; ``RoutingResult/Outcome/duplicate`` for a known identifier.
    /// - Throws: the error of the inbox. A message that could not be stored was not accepted. If it was stored and the
    ///   inbox failed later, accepting it again continues. ``ClubError/Kind/invalidValue`` for an invalid identifier,
    ///   and inside a processor of this router, which would wait for itself: ``post(_:)`` does not.
    @discardableResult
    public func accept(_ message: Message) async throws(ClubError) -> RoutingResult {
        try refuseToWaitForItself("route a message")
        let (message, job) = try await store(message)
        guard let job else { return duplicate(message) }
        return try await job.answer.value().get()
    }

    /// Stores a message, to be processed in its turn, without waiting for its result, which ``results`` reports.
    ///
    /// - Returns: `false` for a known identifier.
    /// - Throws: the error of the inbox; the message was not accepted.
    @discardableResult
    public func post(_ message: Message) async throws(ClubError) -> Bool {
        let (message, job) = try await store(message)
        if job == nil { _ = duplicate(message) }
        return job != nil
    }

    func refuseToWaitForItself(_ attempt: String) throws(ClubError) {
        guard Self.processing == ObjectIdentifier(self) else { return }
        let detail = "a processor cannot wait for a message behind its own; use 'post' there"
        throw ClubError(.invalidValue, attempting: attempt, detail: detail)
    }

    private func store(_ message: Message) async throws(ClubError) -> (Message, Job?) {
        guard Message.isName(message.id) else {
            throw ClubError(.invalidValue, attempting: "route a message", detail: Message.nameRule)
        }
        let message = typed(message)
        let job = try await storing.inTurn { () async throws(ClubError) -> Job? in
            try await inbox.add(message) ? enqueue(Job(message: message)) : goOn(message.id)
        }
        return (message, job)
    }

    /// Takes up a message that is known and waits for an inbox that failed.
    private func goOn(_ id: String) -> Job? {
        let found = guarded.withLock { $0.active.contains(id) ? nil : $0.unfinished[id] }
        return found.map { enqueue(Job(message: $0.job.message, ignoresExpiry: $0.job.ignoresExpiry)) }
    }

    private func duplicate(_ message: Message) -> RoutingResult {
        let result = result(.duplicate, of: message)
        tell(message, result)
        return result
    }

    func result(_ outcome: RoutingResult.Outcome, of message: Message, by processor: String? = nil) -> RoutingResult {
        RoutingResult(
            messageID: message.id,
            type: message.type,
            source: message.source,
            outcome: outcome,
            processor: processor,
            at: configuration.clock()
        )
    }

    func tell(_ message: Message, _ result: RoutingResult) {
        // The reason may have words of a processor, so it stays out of the log.
        let level: Logger.Level = result.outcome.isDead ? .warning : .info
        configuration.logger.log(level: level, "\(message): \(result.outcome.name)")
        broadcaster.yield(result)
    }
}

extension MessageRouter {
    /// Registers a processor for its type, after others of the same type. One that is registered already keeps its
    /// place.
    ///
    /// - Parameter make: creates a processor for each message. An error fails the message.
    @discardableResult
    public func register<Processor: MessageProcessor>(
        _ processor: Processor.Type,
        make: @escaping @Sendable () throws -> Processor = { Processor() }
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(processor, make: make)
        return guarded.withLock { $0.processors.register(entry) }
    }

    /// Registers a closure for messages of a type, after others of the same type.
    ///
    /// ```swift
    /// router.register(type: "greeting") { (payload: Greeting.Payload, context) in .newData }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type of its messages, compared exactly.
    ///   - sources: the sources of accepted messages; by default all but cards, which anybody can write.
    ///   - name: its name in results; by default the type.
    ///   - process: processes a message, as ``MessageProcessor/process(_:context:)``.
    @discardableResult
    public func register<Payload: Decodable & Sendable>(
        type: String,
        sources: Set<MessageSource.Kind> = MessageSource.Kind.allButCard,
        name: String? = nil,
        _ process: @escaping @Sendable (Payload, MessageContext) async throws -> ProcessingResult
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(type: type, sources: sources, name: name ?? type, process: process)
        return guarded.withLock { $0.processors.register(entry) }
    }

    /// Sets the processor of messages without another one: of unknown types, without a type, and declined by all
    /// others. There is one; its ``MessageProcessor/processorType`` is ignored.
    @discardableResult
    public func setFallback<Processor: MessageProcessor>(
        _ processor: Processor.Type,
        make: @escaping @Sendable () throws -> Processor = { Processor() }
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(processor, make: make)
        return guarded.withLock { $0.processors.setFallback(entry) }
    }

    /// Sets a closure as the fallback.
    ///
    /// - Parameters:
    ///   - sources: the sources of accepted messages; by default all but cards.
    ///   - name: its name in results.
    ///   - process: processes a message, whose type is ``MessageContext/type``.
    @discardableResult
    public func setFallback<Payload: Decodable & Sendable>(
        sources: Set<MessageSource.Kind> = MessageSource.Kind.allButCard,
        name: String = "fallback",
        _ process: @escaping @Sendable (Payload, MessageContext) async throws -> ProcessingResult
    ) -> ProcessorRegistration {
        let entry = ProcessorTable.Entry(type: "", sources: sources, name: name, process: process)
        return guarded.withLock { $0.processors.setFallback(entry) }
    }

    /// Unregisters a processor by its Swift type, also as the fallback. A message under way is processed to its end.
    ///
    /// - Returns: whether it was registered.
    @discardableResult
    public func unregister<Processor: MessageProcessor>(_ processor: Processor.Type) -> Bool {
        let type = ObjectIdentifier(processor)
        return guarded.withLock { $0.processors.unregister { $0.swiftType == type } }
    }

    /// Removes one registration, also of the fallback.
    ///
    /// - Returns: whether it was present.
    @discardableResult
    public func unregister(_ registration: ProcessorRegistration) -> Bool {
        guarded.withLock { $0.processors.unregister { $0.registration == registration } }
    }
}

/// The configuration of a router.
public struct RouterConfiguration: Sendable {
    /// The maximum time of processing: 30 s by default, at least 1 ms.
    public var timeout: Duration {
        didSet { timeout = max(timeout, .milliseconds(1)) }
    }

    /// The number of attempts interrupted by the end of the program after which a message becomes a dead letter: 3 by
    /// default, at least 1.
    public var maximumAttempts: Int {
        didSet { maximumAttempts = max(maximumAttempts, 1) }
    }

    /// The state of the kiosk; by default that of the program.
    public var application: KioskApplication

    /// The router's clock.
    public var clock: @Sendable () -> Date

    /// Makes the identifiers of messages that have none.
    public var makeUUID: @Sendable () -> UUID

    /// The router's logger: types, sources and outcomes, no payloads and no whole identifiers.
    public var logger: Logger

    /// Creates a configuration.
    public init(
        timeout: Duration = .seconds(30),
        maximumAttempts: Int = 3,
        application: KioskApplication = .shared,
        clock: @escaping @Sendable () -> Date = { Date() },
        makeUUID: @escaping @Sendable () -> UUID = { UUID() },
        logger: Logger = Logger(label: "router")
    ) {
        self.timeout = max(timeout, .milliseconds(1))
        self.maximumAttempts = max(maximumAttempts, 1)
        self.application = application
        self.clock = clock
        self.makeUUID = makeUUID
        self.logger = logger
    }
}

enum RoutingTime {
    /// A time as others write it: text of ISO 8601 with an offset or `Z`, or a day alone, which is its beginning in UTC;
    /// or seconds since 1970. `nil` if it is none of these, or outside the years 1970 to 9999.
    static func date(_ value: FieldValue) -> Date? {
        switch value {
        case .string(var text):
            return text.withUTF8(ISODate.microseconds).map(Timestamp.date)
        case .int(let seconds):
            return date(.double(Double(seconds)))
        case .double(let seconds):
            return Timestamp.microseconds(Date(timeIntervalSince1970: seconds)).map(Timestamp.date)
        case .null, .bool, .array, .object:
            return nil
        }
    }
}

/// A registration of a processor, to be removed by ``MessageRouter/unregister(_:)-(ProcessorRegistration)``.
public struct ProcessorRegistration: Sendable, Hashable {
    /// Greater for a later one, in the whole program, so that one router's means nothing to another.
    let number: Int

    private static let last = Atomic(0)

    static func next() -> ProcessorRegistration {
        ProcessorRegistration(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}
