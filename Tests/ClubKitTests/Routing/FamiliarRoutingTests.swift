import ClubKit
import Foundation
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

/// As the original library's example has them, with other words for the platform's.
private final class GreetingProcessor: CKPushNotificationProcessor {
    static var processorType: String { return "greeting" }
    private let message: String?

    required init(notification: [AnyHashable: Any]) {
        message = notification["message"] as? String
    }

    func process(
        application: KioskApplication,
        notification: [AnyHashable: Any],
        fetchCompletionHandler: ((BackgroundFetchResult) -> Void)?
    ) {
        switch application.applicationState {
        case .serving:
            fetchCompletionHandler?(message == nil ? .failed : .newData)
        case .idle, .maintenance:
            fetchCompletionHandler?(.noData)
        }
    }
}

private struct WarningProcessor: CKPushNotificationProcessor {
    static let processorType = "warning"

    init(notification: [AnyHashable: Any]) {}

    func process(
        application: KioskApplication,
        notification: [AnyHashable: Any],
        fetchCompletionHandler: ((BackgroundFetchResult) -> Void)?
    ) {
        fetchCompletionHandler?(.newData)
        fetchCompletionHandler?(.failed)
    }
}

/// Takes the handler away, and lets go of it at once or keeps it.
private struct KeepingProcessor: CKPushNotificationProcessor {
    static let processorType = "greeting"
    nonisolated(unsafe) static var kept: ((BackgroundFetchResult) -> Void)?

    let keeps: Bool

    init(notification: [AnyHashable: Any]) {
        keeps = notification["keeps"] as? Bool ?? false
    }

    func process(
        application: KioskApplication,
        notification: [AnyHashable: Any],
        fetchCompletionHandler: ((BackgroundFetchResult) -> Void)?
    ) {
        if keeps { Self.kept = fetchCompletionHandler }
    }
}

@Suite("The original library's router", .timeLimit(.minutes(10)))
struct FamiliarRoutingTests {
    let router = CKPushNotificationRouter()
    let application = KioskApplication()

    private var greeting: [AnyHashable: Any] {
        [
            "aps": ["alert": ["title": "Hello", "body": "World", "action-loc-key": "OPEN"], "badge": 1]
                as [String: Any],
            "messageType": "greeting", "message": "How are you?", "title": "Greeting",
        ]
    }

    /// What the handler was called with.
    private func route(_ notification: [AnyHashable: Any]) -> (isRouted: Bool, completions: [BackgroundFetchResult]) {
        var completions: [BackgroundFetchResult] = []
        let isRouted = router.route(application: application, notification: notification) { completions.append($0) }
        return (isRouted, completions)
    }

    // MARK: - The original's own tests

    @Test("A greeting is routed while its processor is registered")
    func registered() {
        router.register(processor: GreetingProcessor.self)
        router.register(processor: GreetingProcessor.self)
        #expect(route(greeting) == (true, [.newData]))
        router.unregister(processor: GreetingProcessor.self)
        #expect(route(greeting) == (false, [.noData]))
        router.unregister(processor: GreetingProcessor.self)
    }

    @Test("A closure finds the type in place of the key")
    func closure() {
        router.register(processor: WarningProcessor.self)
        router.messageTypeProcessor = { notification in notification["level"] as? String }
        #expect(route(["level": "warning"]) == (true, [.newData]))
        #expect(route(["messageType": "warning"]) == (false, [.noData]))
        router.messageTypeProcessor = nil
        #expect(route(["messageType": "warning"]) == (true, [.newData]))
    }

    @Test("An unknown type is not routed")
    func unknown() {
        router.register(processor: GreetingProcessor.self)
        #expect(route(["messageType": "unknown"]) == (false, [.noData]))
        #expect(route(["messageType": "Greeting"]) == (false, [.noData]))
        #expect(route([:]) == (false, [.noData]))
        #expect(route(["messageType": 1]) == (false, [.noData]))
        #expect(!router.route(application: application, notification: [:], fetchCompletionHandler: nil))
    }

    @Test("Another key does not find what stands under the first one")
    func key() {
        router.register(processor: GreetingProcessor.self)
        router.messageTypeKey = "type"
        #expect(route(greeting) == (false, [.noData]))
        #expect(route(["type": "greeting"]) == (true, [.failed]))
        router.messageTypeKey = "aps.category"
        #expect(route(["aps": ["category": "greeting"]]) == (true, [.failed]))
        #expect(route(["aps.category": "greeting"]) == (true, [.failed]))
        #expect(route(["aps": "greeting"]) == (false, [.noData]))
    }

    @Test("The original's own tests, with the router of this library")
    func modern() async throws {
        struct Greeting: MessageProcessor {
            struct Payload: Decodable, Sendable {
                var message: String
                var title: String
            }
            static let processorType = "greeting"
            func process(_ payload: Payload, context: MessageContext) async throws -> ProcessingResult {
                context.state == .serving ? .newData : .noData
            }
        }
        let router = MessageRouter(configuration: .test())
        let fields: [String: FieldValue] = [
            "aps": ["alert": ["title": "Hello", "body": "World", "action-loc-key": "OPEN"], "badge": 1],
            "message": "How are you?", "title": "Greeting",
        ]
        router.register(Greeting.self)
        #expect(try await router.accept(message("1", fields: fields)).outcome == .newData)
        router.state = .maintenance
        #expect(try await router.accept(message("2", fields: fields)).outcome == .noData)
        router.unregister(Greeting.self)
        #expect(try await router.accept(message("3", fields: fields)).outcome.name == "unhandled")
        router.register(type: "warning") { (_: FieldValue, _) in .newData }
        router.messageTypeProcessor = { _ in "warning" }
        #expect(try await router.accept(message("4", fields: fields)).outcome == .newData)
        router.messageTypeProcessor = nil
        #expect(try await router.accept(message("5", "unknown")).outcome.name == "unhandled")
        router.register(Greeting.self)
        router.messageTypeKey = "type"
        #expect(try await router.accept(message("6", fields: fields)).outcome.name == "unhandled")
    }

    // MARK: - Its rules

    @Test("Of two processors of a type the later one counts, and either takes it back")
    func override() {
        router.register(processor: KeepingProcessor.self)
        router.register(processor: GreetingProcessor.self)
        #expect(route(greeting) == (true, [.newData]))
        router.unregister(processor: KeepingProcessor.self)
        #expect(route(greeting).isRouted == false)
    }

    @Test("The application's state is told", arguments: KioskState.allCases)
    func state(state: KioskState) {
        router.register(processor: GreetingProcessor.self)
        application.applicationState = state
        #expect(route(greeting) == (true, [state == .serving ? .newData : .noData]))
    }

    @Test("Routers and their application are one state, serving becomes idle without taps, and maintenance stays")
    func sharedState() async throws {
        let now = Mutex(start)
        let application = KioskApplication(idleAfter: .seconds(300), clock: { now.withLock(\.self) })
        var configuration = RouterConfiguration.test()
        configuration.application = application
        let (one, two) = (MessageRouter(configuration: configuration), MessageRouter(configuration: configuration))
        one.state = .maintenance
        #expect(application.applicationState == .maintenance)
        #expect(two.state == .maintenance)
        application.applicationState = .serving
        #expect(one.state == .serving)
        now.withLock { $0 += 1000 }
        // Nobody serves readers.
        #expect(one.state == .serving)
        var settings = ClubConfiguration.test()
        settings.application = application
        let club = try await openClub(settings)
        _ = try await club.receive(tap("A"))
        now.withLock { $0 += 299 }
        #expect(one.state == .serving)
        now.withLock { $0 += 1 }
        #expect(one.state == .idle)
        one.register(type: "greeting") { (_: FieldValue, context) in .failed("\(context.state)") }
        #expect(try await one.accept(message("1")).outcome == .failed("idle"))
        _ = try await club.receive(tap("A", at: 60))
        #expect(one.state == .serving)
        one.state = .maintenance
        now.withLock { $0 += 1000 }
        _ = try await club.receive(tap("A", at: 120))
        #expect(one.state == .maintenance)
        #expect(try await one.accept(message("2")).outcome == .failed("maintenance"))
        try await club.close()
        #expect(MessageRouter().configuration.application === KioskApplication.shared)
        #expect(ClubConfiguration().application === KioskApplication.shared)
    }

    @Test("Serving readers begins a time in which somebody is there")
    func servingBegins() async throws {
        var settings = ClubConfiguration.test()
        settings.application = KioskApplication(applicationState: .idle)
        let club = try await openClub(settings)
        try await club.serve(CombinedBackend([]))
        #expect(settings.application.applicationState == .serving)
        try await club.close()
    }

    @Test("In maintenance taps are acknowledged as ignored, also when they come again, and are not counted")
    func maintenance() async throws {
        let settings = ClubConfiguration.test()
        let club = try await openClub(settings)
        _ = try await club.receive(tap("A"))
        settings.application.applicationState = .maintenance
        let (known, unknown) = (tap("A", at: 60), tap("B", at: 61))
        for tap in [known, unknown] {
            #expect(try await club.receive(tap).outcome.reason?.code == .maintenance)
        }
        #expect(try await club.receive(tap(nil, at: 62)).outcome.reason?.code == .noIdentifier)
        settings.application.applicationState = .serving
        #expect(try await club.receive(known).outcome.reason?.code == .maintenance)
        #expect(try await club.memberCount() == 1)
        #expect(try await club.receive(tap("A", at: 90)).member?.numVisits == 2)
        #expect(try await club.check().isEmpty)
        try await club.close()
    }

    @Test("A handler is completed once, also if the processor lets go of it, and later if it keeps it")
    func once() {
        router.register(processor: KeepingProcessor.self)
        #expect(route(["messageType": "greeting"]) == (true, [.noData]))
        var completions: [BackgroundFetchResult] = []
        let kept: [AnyHashable: Any] = ["messageType": "greeting", "keeps": true]
        #expect(router.route(application: application, notification: kept) { completions.append($0) })
        #expect(completions == [])
        KeepingProcessor.kept?(.failed)
        KeepingProcessor.kept?(.newData)
        KeepingProcessor.kept = nil
        #expect(completions == [.failed])
    }

    @Test("It may be used from many threads")
    func threads() async {
        let (router, application) = (router, application)
        let routed = Counter()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    router.register(processor: GreetingProcessor.self)
                    router.messageTypeKey = "messageType"
                    if router.route(application: application, notification: ["messageType": "greeting"]) {
                        _ = routed.next()
                    }
                    if number.isMultiple(of: 2) { router.register(processor: WarningProcessor.self) }
                    application.applicationState = .idle
                }
            }
        }
        #expect(routed.next() == 65)
        #expect(CKPushNotificationRouter.sharedRouter === CKPushNotificationRouter.sharedRouter)
    }

    @Test("As a fallback it gets the messages that nobody else took")
    func fallback() async throws {
        let modern = MessageRouter(configuration: .test())
        modern.setFallback(router)
        router.register(processor: GreetingProcessor.self)
        router.register(processor: WarningProcessor.self)
        modern.state = .serving
        let hello: [String: FieldValue] = ["message": "hello", "more": [1, 2.5, nil, true, ["a": [:]]]]
        let result = try await modern.accept(message("1", fields: hello))
        #expect(result.outcome == .newData)
        #expect(result.processor == "CKPushNotificationRouter")
        #expect(try await modern.accept(message("2")).outcome == .failed("its processor says that it failed"))
        #expect(try await modern.accept(message("3", "warning")).outcome == .newData)
        #expect(try await modern.accept(message("4", "unknown")).outcome.name == "unhandled")
        #expect(try await modern.accept(message("5", source: MessageSource(.card))).outcome.name == "unhandled")
        modern.state = .maintenance
        #expect(try await modern.accept(message("6", fields: hello)).outcome == .noData)
    }
}
