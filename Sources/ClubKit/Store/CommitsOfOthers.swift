import CardCore
import Foundation
import GRDB
import Synchronization

/// Reports commits of other processes, as the system reports writes to the write-ahead log, from when somebody first asks
/// until ``end()``. Commits of this process may be among them.
final class CommitsOfOthers: Sendable {
    private let path: String?
    private let commits = EventBroadcaster<Void>()
    private let watching = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter path: the database; `nil` if nobody else can have it.
    init(_ path: String?) { self.path = path }

    deinit { end() }

    func stream() -> AsyncStream<Void> {
        watching.withLock { task in
            if task == nil, let path { task = Task { [commits] in await Self.watch(path, commits) } }
        }
        return commits.stream(bufferingPolicy: .bufferingNewest(1))
    }

    func end() {
        watching.withLock { task in
            task?.cancel()
            // Nobody starts it again.
            task = task ?? Task {}
        }
        commits.finish()
    }

    private static func watch(_ path: String, _ commits: EventBroadcaster<Void>) async {
        var configuration = Configuration()
        configuration.readonly = true
        guard let connection = try? DatabaseQueue(path: path, configuration: configuration) else { return }
        // A connection of its own sees SQLite's number change with each commit of any other.
        let current = { try? connection.unsafeRead { try Int.fetchOne($0, sql: "PRAGMA data_version") } }
        var version = current()
        let log = URL(fileURLWithPath: path + "-wal")
        let folder = log.deletingLastPathComponent().path
        let name = log.lastPathComponent
        // Who follows a commit of this process has begun to read by then, and is not disturbed.
        for await _ in FolderWatch.changes(in: folder, of: [name], eachWrite: true, settling: 2000) {
            // A write is reported before the commit that it belongs to can be seen, so this looks until it can be.
            for _ in 0..<30 {
                let now = current()
                if now != version {
                    version = now ?? version
                    commits.yield(())
                    break
                }
                guard (try? await Task.sleep(for: .milliseconds(2))) != nil else { return }
            }
        }
    }
}
