import GRDB
import Testing

/// A database that another program holds for writing.
final class LockedDatabase: Sendable {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { db in try db.execute(sql: "BEGIN EXCLUSIVE") }
    }

    func release() {
        try? queue.inDatabase { db in try db.execute(sql: "ROLLBACK") }
        try? queue.close()
    }
}
