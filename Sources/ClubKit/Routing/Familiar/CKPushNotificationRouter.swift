import Synchronization

/// Hands messages to the processors that are registered for their types, with the names and rules of the original
/// library: one processor a type, at once, on the caller's thread.
///
/// It may be used from any thread. To get messages from cards, sockets, directories and the hub, make it the fallback of a
/// ``MessageRouter``: ``MessageRouter/setFallback(_:sources:)``.
///
/// What differs from the original: a message that nobody takes completes with ``BackgroundFetchResult/noData``;
/// ``messageTypeProcessor`` may answer `nil`; a handler is completed once, whatever the processor does with it.
public final class CKPushNotificationRouter: Sendable {
    /// The one router of this program.
    public static let sharedRouter = CKPushNotificationRouter()

    private struct State {
        var typeKey = "messageType"
        var typeProcessor: (@Sendable ([AnyHashable: Any]) -> String?)?
        var processors: [String: any CKPushNotificationProcessor.Type] = [:]
    }

    private let state = Mutex(State())

    /// Tests have routers of their own.
    package init() {}

    /// Under which key a message has its type: `messageType` at first. What stands there has to be a text. A key with dots
    /// that is not there itself is a path into nested objects.
    public var messageTypeKey: String {
        get { state.withLock { $0.typeKey } }
        set { state.withLock { $0.typeKey = newValue } }
    }

    /// Tells the type of a message, in place of ``messageTypeKey``; `nil` is no type.
    public var messageTypeProcessor: (@Sendable ([AnyHashable: Any]) -> String?)? {
        get { state.withLock { $0.typeProcessor } }
        set { state.withLock { $0.typeProcessor = newValue } }
    }

    /// Registers a processor for its type. Another one of that type gives way to it.
    public func register(processor: any CKPushNotificationProcessor.Type) {
        let type = processor.processorType
        state.withLock { $0.processors[type] = processor }
    }

    /// Takes back whatever processor is registered for this one's type. If there is none, nothing happens.
    public func unregister(processor: any CKPushNotificationProcessor.Type) {
        let type = processor.processorType
        state.withLock { $0.processors[type] = nil }
    }

    /// Makes a processor for the message and has it process the message, before this returns.
    ///
    /// - Parameters:
    ///   - application: what the processor is given.
    ///   - notification: the message.
    ///   - fetchCompletionHandler: is called exactly once: by the processor, or with ``BackgroundFetchResult/noData`` where
    ///     there is none for the message, or where it lets go of the handler without calling it.
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
