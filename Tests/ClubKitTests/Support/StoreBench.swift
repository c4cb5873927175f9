import ClubKit
import Foundation
import ReaderKit
import Testing

/// A directory in which stores are opened.
struct StoreBench {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    func openStore(
        _ path: String? = nil,
        busyTimeout: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Date = { start }
    ) throws(ClubError) -> MemberStore {
        try MemberStore(
            .file(path: path ?? directory.file()),
            busyTimeout: busyTimeout,
            clock: clock,
            makeUUID: { UUIDSource.uuid(77) }
        )
    }

    func receive(_ event: ScanEvent, in store: MemberStore) async throws -> Receipt {
        try #require(
            try await store.receive(event, rules: TapRules(cooldown: 30_000_000), unknown: .create, committed: { _ in })
        )
    }
}
