import ClubKit
import Foundation
import Logging
import ReaderKit
@_exported import MessagesTestSupport
@_exported import RecordsTestSupport

extension ClubConfiguration {
    static func test(
        _ database: DatabaseLocation = .memory,
        cooldown: Duration = .seconds(30),
        userCreationStyle: UserCreation = .automaticallyOnScan,
        busyTimeout: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Date = { start }
    ) -> ClubConfiguration {
        let uuids = UUIDSource()
        var logger = Logger(label: "club.test")
        logger.logLevel = .critical
        var configuration = ClubConfiguration(
            database: database,
            cooldown: cooldown,
            userCreationStyle: userCreationStyle,
            busyTimeout: busyTimeout,
            clock: clock,
            makeUUID: { uuids() },
            logger: logger
        )
        configuration.application = KioskApplication()
        return configuration
    }
}

/// An open club in memory, or on a file.
func openClub(_ configuration: ClubConfiguration = .test()) async throws -> Club {
    let club = Club(configuration: configuration)
    try await club.open()
    return club
}

/// A tap `seconds` after ``start``, with an identifier of its own unless one is given.
func tap(
    _ key: String?,
    at seconds: Double = 0,
    id: UUID = UUID(),
    name: String? = nil,
    problems: [ScanEvent.Problem] = []
) -> ScanEvent {
    ScanEvent(
        id: id,
        at: start.addingTimeInterval(seconds),
        reader: "Test reader",
        backend: .simulated,
        memberKey: key,
        memberName: name,
        problems: problems
    )
}
