import ClubKit
import Foundation
import Logging
import ReaderKit
import Synchronization

/// A directory of its own that is removed at the end.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("club-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String = "club.sqlite") -> String { path + "/" + name }
}

/// 1 September 2026, 10:00 UTC: the beginning of time in these tests.
let start = Date(timeIntervalSince1970: 1_788_256_800)

/// Counts up: the same identifiers in each test.
final class UUIDSource: Sendable {
    private let next = Atomic<UInt64>(1)

    func callAsFunction() -> UUID {
        Self.uuid(next.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    static func uuid(_ number: UInt64) -> UUID {
        let bytes = withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
        return UUID(
            uuid: (
                0, 0, 0, 0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]
            )
        )
    }
}

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

extension AsyncStream where Element: Sendable {
    /// The first elements; waits until there are so many, or the sequence ends.
    func first(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        guard count > 0 else { return [] }
        for await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}
