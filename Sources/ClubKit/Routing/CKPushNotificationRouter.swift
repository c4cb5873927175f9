import Foundation
import Synchronization

/// Passes messages to the processors registered for their types, with the names and rules of the original library: one
/// processor for each type, synchronously, on the caller's thread.
///
/// It may be used from any thread. To receive messages from cards, sockets, directories and the hub, make it the
/// fallback of a ``MessageRouter``: ``MessageRouter/setFallback(_:sources:)``.
///
/// Differences from the original: a message without a processor completes with ``BackgroundFetchResult/noData``;
/// ``messageTypeProcessor`` may return `nil`; a handler is completed once, whatever the processor does with it.
public final class CKPushNotificationRouter: Sendable {
    /// The shared router of this program.
    public static let sharedRouter = CKPushNotificationRouter()

    private struct State {
        var typeKey = "messageType"
        var typeProcessor: (@Sendable ([AnyHashable: Any]) -> String?)?
        var processors: [String: any CKPushNotificationProcessor.Type] = [:]
    }

    private let state = Mutex(State())

    /// Tests have routers of their own.
    package init() {}

    /// The key of a message's type: `messageType` by default. The value must be text. A key with dots that is absent
    /// itself is a path into nested objects.
    public var messageTypeKey: String {
        get { state.withLock { $0.typeKey } }
        set { state.withLock { $0.typeKey = newValue } }
    }

    /// Returns the type of a message, in place of ``messageTypeKey``; `nil` for no type.
    public var messageTypeProcessor: (@Sendable ([AnyHashable: Any]) -> String?)? {
        get { state.withLock { $0.typeProcessor } }
        set { state.withLock { $0.typeProcessor = newValue } }
    }

    /// Registers a processor for its type, replacing another one of that type.
    public func register(processor: any CKPushNotificationProcessor.Type) {
        let type = processor.processorType
        state.withLock { $0.processors[type] = processor }
    }

    /// Unregisters any processor of this one's type. Does nothing if there is none.
    public func unregister(processor: any CKPushNotificationProcessor.Type) {
        let type = processor.processorType
        state.withLock { $0.processors[type] = nil }
    }

    /// Creates a processor for the message, which processes it before this returns.
    ///
    /// - Parameters:
    ///   - application: passed to the processor.
    ///   - notification: the message.
    ///   - fetchCompletionHandler: called exactly once: by the processor, or with ``BackgroundFetchResult/noData`` if
    ///     there is no processor for the message, or if it releases the handler without calling it.
    /// - Returns: whether there was a processor.
    @discardableResult
    public func route(
        application: KioskApplication,
        notification: [AnyHashable: Any],
        fetchCompletionHandler: ((BackgroundFetchResult) -> Void)? = nil
    ) -> Bool {
        guard let type = messageType(of: notification), let processor = state.withLock({ $0.processors[type] }) else {
            fetchCompletionHandler?(.noData)
            return false
        }
        let completion = fetchCompletionHandler.map(FetchCompletion.init)
        // Outside the lock: a processor may register others.
        processor.init(notification: notification).process(
            application: application,
            notification: notification,
            fetchCompletionHandler: completion.map { completion in { completion.complete($0) } }
        )
        return true
    }

    private func messageType(of notification: [AnyHashable: Any]) -> String? {
        let (key, processor) = state.withLock { ($0.typeKey, $0.typeProcessor) }
        if let processor { return processor(notification) }
        if let value = notification[key] { return value as? String }
        var value: Any = notification
        for part in key.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            let next = (value as? [AnyHashable: Any])?[part] ?? (value as? [String: Any])?[part]
            guard let next else { return nil }
            value = next
        }
        return value as? String
    }
}

/// A handler that is called once: by somebody, or when nobody is left who could.
private final class FetchCompletion {
    private let handler: (BackgroundFetchResult) -> Void
    private let isCompleted = Atomic(false)

    init(_ handler: @escaping (BackgroundFetchResult) -> Void) {
        self.handler = handler
    }

    deinit {
        complete(.noData)
    }

    func complete(_ result: BackgroundFetchResult) {
        guard !isCompleted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        handler(result)
    }
}

/// Processes the messages of one type, with the names of the original library.
///
/// ``MessageProcessor`` does the same with a typed payload, a result, a time limit and an inbox.
public protocol CKPushNotificationProcessor: SendableMetatype {
    /// The type of the messages, compared exactly, with case.
    static var processorType: String { get }

    /// Creates a processor for one message.
    init(notification: [AnyHashable: Any])

    /// Processes the message, on the thread that called
    /// ``CKPushNotificationRouter/route(application:notification:fetchCompletionHandler:)``.
    ///
    /// - Parameters:
    ///   - application: the state of the kiosk.
    ///   - notification: the message, the same as in ``init(notification:)``.
    ///   - fetchCompletionHandler: to be called with the result, possibly later; `nil` if no result is expected. Calls
    ///     after the first are ignored. Releasing it without calling it is the same as calling it with
    ///     ``BackgroundFetchResult/noData``.
    func process(
        application: KioskApplication,
        notification: [AnyHashable: Any],
        fetchCompletionHandler: ((BackgroundFetchResult) -> Void)?
    )
}

/// The result of a processor, with the names of the original library's platform (`UIBackgroundFetchResult`).
public enum BackgroundFetchResult: String, Sendable, Hashable, CaseIterable {
    /// New data is available.
    case newData
    /// No new data is available.
    case noData
    /// Processing failed.
    case failed
}

extension MessageRouter {
    /// Makes a router of the original's kind the fallback: its processors receive messages without a processor of this
    /// router, with this router's inbox, order, time limit and dead letters.
    ///
    /// It determines the type by its own rule. A message without a processor is declined. The message is processed once
    /// the completion handler was called. Processors receive the application of this router.
    ///
    /// - Parameters:
    ///   - router: such as ``CKPushNotificationRouter/sharedRouter``.
    ///   - sources: the sources of accepted messages; by default all but cards, which anybody can write.
    @discardableResult
    public func setFallback(
        _ router: CKPushNotificationRouter,
        sources: Set<MessageSource.Kind> = MessageSource.Kind.allButCard
    ) -> ProcessorRegistration {
        let application = configuration.application
        return setFallback(sources: sources, name: "CKPushNotificationRouter") { (payload: FieldValue, _) in
            let answer = OneAnswer<BackgroundFetchResult>()
            let isRouted = router.route(
                application: application,
                notification: payload.notification,
                fetchCompletionHandler: { answer.give($0) }
            )
            guard isRouted else { return .declined }
            switch await answer.value() {
            case .newData: return .newData
            case .noData: return .noData
            case .failed: return .failed("its processor says that it failed")
            }
        }
    }
}

extension FieldValue {
    /// An object as the original's processors get it, with `String`, `Int`, `Double`, `Bool`, `NSNull`, `[Any]` and
    /// `[String: Any]` in it.
    fileprivate var notification: [AnyHashable: Any] {
        guard case .object(let fields) = self else { return [:] }
        return Dictionary(uniqueKeysWithValues: fields.map { (AnyHashable($0), $1.plain) })
    }

    private var plain: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .string(let value): value
        case .array(let values): values.map(\.plain)
        case .object(let values): values.mapValues(\.plain)
        }
    }
}
