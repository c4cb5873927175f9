import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// Moves commits from SQLite's log into the database beside the taps.
///
/// By itself SQLite does so in the commit that fills the log. Among a million members that commit waits for hundreds of
/// pages all over the file, as long as thirty other taps take together. Here a connection of its own does it, which
/// those that write do not wait for.
final class Checkpointer: Sendable {
    private let path: String
    private let threshold: Int32
    private let limit: Int32
    let queue = DispatchQueue(label: "club.checkpoint", qos: .utility)
    private let state = Mutex((isRunning: false, isStopped: false, moved: Int32(0)))

    /// - Parameters:
    ///   - threshold: the number of pages in the log at which they are moved; the default is SQLite's.
    ///   - limit: the number of pages at which the commit itself moves them, for when so many are written that the
    ///     connection beside them does not catch up; by default 64 MB of them.
    init(path: String, threshold: Int32 = 1000, limit: Int32 = 16_000) {
        self.path = path
        self.threshold = threshold
        self.limit = limit
    }

    /// Takes the place of SQLite's automatic checkpoints on this connection, whose configuration holds the checkpointer
    /// as long as the connection lives.
    func attach(to db: Database) {
        sqlite3_wal_hook(
            db.sqliteConnection,
            { checkpointer, connection, name, pages in
                guard let checkpointer else { return SQLITE_OK }
                let this = Unmanaged<Checkpointer>.fromOpaque(checkpointer).takeUnretainedValue()
                if pages >= this.limit {
                    sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                } else {
                    this.begin(pages)
                }
                return SQLITE_OK
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// Waits for what is under way, and begins nothing more.
    func stop() {
        state.withLock { $0.isStopped = true }
        queue.sync {}
    }

    /// Begins if enough pages were added to the log since it was last moved.
    private func begin(_ pages: Int32) {
        let isDue = state.withLock { state in
            // All had been moved, so that the log began anew.
            if pages < state.moved { state.moved = 0 }
            if state.isRunning || state.isStopped || pages - state.moved < threshold { return false }
            state.isRunning = true
            return true
        }
        guard isDue else { return }
        queue.async { [self] in
            let moved = move()
            state.withLock { ($0.isRunning, $0.moved) = (false, moved) }
        }
    }

    /// Moves what the log has now. What is committed meanwhile stays until the next time.
    private func move() -> Int32 {
        var connection: OpaquePointer?
        var moved: Int32 = 0
        defer { sqlite3_close_v2(connection) }
        // SQLite sees that there is a log when it first reads.
        guard
            sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_exec(connection, "SELECT 1 FROM sqlite_schema LIMIT 1", nil, nil, nil) == SQLITE_OK,
            sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, &moved) == SQLITE_OK
        else { return 0 }
        return moved
    }
}
