import Foundation
import Logging

/// What a router needs to know.
public struct RouterConfiguration: Sendable {
    /// How long a processor may take: 30 s by default, at least 1 ms.
    public var timeout: Duration {
        didSet { timeout = max(timeout, .milliseconds(1)) }
    }

    /// After how many attempts that ended with the program a message becomes a dead letter: 3 by default, at least 1.
    public var maximumAttempts: Int {
        didSet { maximumAttempts = max(maximumAttempts, 1) }
    }

    /// Says what the kiosk is doing; that of the program by default.
    public var application: KioskApplication

    /// The router's time.
    public var clock: @Sendable () -> Date

    /// Makes the identifiers of messages that have none.
    public var makeUUID: @Sendable () -> UUID

    /// Where the router writes what happens: types, sources and outcomes, no payloads and no whole identifiers.
    public var logger: Logger

    /// A configuration.
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
