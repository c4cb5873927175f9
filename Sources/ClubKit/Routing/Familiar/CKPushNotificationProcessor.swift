/// Processes the messages of one type, with the names of the original library.
///
/// ``MessageProcessor`` does the same with a typed payload, a result, a time limit and an inbox.
public protocol CKPushNotificationProcessor: SendableMetatype {
    /// The type of the messages, compared exactly, with regard to case.
    static var processorType: String { get }

    /// A processor for one message.
    init(notification: [AnyHashable: Any])

    /// Processes the message, on the thread that called
    /// ``CKPushNotificationRouter/route(application:notification:fetchCompletionHandler:)``.
    ///
    /// - Parameters:
    ///   - application: says what the kiosk is doing.
    ///   - notification: the message, the same as in ``init(notification:)``.
    ///   - fetchCompletionHandler: to be called with what came out, also later; `nil` if nobody wants to know. Calls after
    ///     the first do nothing. Letting go of it without calling it is the same as calling it with
    ///     ``BackgroundFetchResult/noData``.
    func process(
        application: KioskApplication,
        notification: [AnyHashable: Any],
        fetchCompletionHandler: ((BackgroundFetchResult) -> Void)?
    )
}
