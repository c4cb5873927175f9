import GRDB
import GRDBSQLite

@testable import ClubKit

/// About how many steps SQLite makes for something in a store in memory, in which one connection does everything:
/// what takes long is seen by it on any machine, however busy.
func steps(in store: MemberStore, _ body: () async throws -> Void) async throws -> Int {
    final class Count: Sendable {
        /// Only the connection's own thread writes it.
        nonisolated(unsafe) var steps = 0
    }
    let count = Count()
    try await store.database.writeWithoutTransaction { db in
        sqlite3_progress_handler(
            db.sqliteConnection,
            10,
            { context in
                guard let context else { return 0 }
                Unmanaged<Count>.fromOpaque(context).takeUnretainedValue().steps += 10
                return 0
            },
            Unmanaged.passUnretained(count).toOpaque()
        )
    }
    var failure: (any Error)?
    do { try await body() } catch { failure = error }
    // The connection lives longer than the count.
    try await store.database.writeWithoutTransaction { sqlite3_progress_handler($0.sqliteConnection, 0, nil, nil) }
    if let failure { throw failure }
    return count.steps
}
