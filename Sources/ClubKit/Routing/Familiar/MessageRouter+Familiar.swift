import Foundation

extension MessageRouter {
    /// Makes a router of the original's kind the fallback: its processors get what nobody else took, with the inbox, the
    /// order, the time limit and the dead letters of this router.
    ///
    /// It finds the type by its own rule. A message that it has no processor for is declined. The message is processed
    /// when the completion handler was called. They are given the application of this router.
    ///
    /// - Parameters:
    ///   - router: such as ``CKPushNotificationRouter/sharedRouter``.
    ///   - sources: from where it takes messages; by default from everywhere but cards, which anybody can write.
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
