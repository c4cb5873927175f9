import Foundation
import GRDB
import ReaderKit

/// The members and their visits on disk, in SQLite.
///
/// Everything that blocks runs on GRDB's own queues. ``init(_:busyTimeout:identifierKey:clock:makeUUID:)``, ``close()`` and
/// the methods that are not `async` block the caller.
package final class MemberStore: Sendable {
    let database: any DatabaseWriter

    /// The path of the file, without symbolic links, or `nil` in memory.
    package let path: String?

    /// The path that was asked for, which may lead over links.
    private let place: String?

    private let identity: DatabaseFiles.Identity?

    let device: LocalDevice

    package var deviceID: UUID { device.id }

    var clock: @Sendable () -> Date { device.clock }

    /// Notifies those who wait for it that something was committed here.
    package let commits = EventBroadcaster<Void>()

    let commitsOfOthers: CommitsOfOthers

    let taps = TapQueue()

    let checkpointer: Checkpointer?

    /// Opens the store, creating and upgrading it where necessary. A file that belongs to another program, or to a
    /// newer version of this one, is left as it is.
    package init(
        _ location: DatabaseLocation,
        busyTimeout: Duration = .seconds(5),
        identifierKey: IdentifierKey? = nil,
        clock: @escaping @Sendable () -> Date,
        makeUUID: @Sendable () -> UUID
    ) throws(ClubError) {
        let attempt = "open the member database"
        switch location {
        case .memory: (path, place) = (nil, nil)
        case .file(let file): (path, place) = (DatabaseFiles.whole(file), FileSteps.absolute(file))
        }
        commitsOfOthers = CommitsOfOthers(path)
        let checkpointer = path.map { Checkpointer(path: $0) }
        self.checkpointer = checkpointer
        var configuration = Configuration()
        configuration.label = "club"
        configuration.busyMode = .timeout(Timestamp.seconds(Timestamp.microseconds(busyTimeout)))
        configuration.prepareDatabase { db in
            // Without it, the implicit deletions of REPLACE would get past the ledger's triggers.
            try db.execute(sql: "PRAGMA recursive_triggers = ON")
            // What is erased must not stay behind in the file. (Debian's SQLite does so by default.)
            try db.execute(sql: "PRAGMA secure_delete = ON")
            SearchedText.register(in: db)
            checkpointer?.attach(to: db)
        }
        let migrator = DatabaseSchema.migrator(deviceID: makeUUID())
        if let path {
            try DatabaseFiles.requireFile(path, attempt)
            try DatabaseFiles.finishReplacing(path, attempt)
            try DatabaseFiles.prepare(path)
        }
        do {
            if let path {
                if DatabaseFiles.hasContent(path) {
                    try Self.inspect(path, configuration: configuration, migrator: migrator)
                }
                database = try DatabasePool(path: path, configuration: configuration)
            } else {
                database = try DatabaseQueue(configuration: configuration)
            }
            try Self.migrate(database, migrator)
            // An import may have been cut off before it made them.
            try database.writeWithoutTransaction(SortingIndexes.make)
            // GRDB sets synchronous to NORMAL when it has opened a pool's writer, so this must come after.
            let synchronous = try database.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // A tap of a member at random then reads few pages but its own, also among a million: what leads to them
                // is kept. It is memory only where there are so many pages.
                try db.execute(sql: "PRAGMA cache_size = -32768")
                return try Int.fetchOne(db, sql: "PRAGMA synchronous")
            }
            guard synchronous == 2 else {
                let detail = "synchronous stays \(synchronous ?? -1)"
                throw ClubError(.other, attempting: "make commits durable", detail: detail)
            }
            device = LocalDevice(try Self.identify(database, makeUUID), clock, identifierKey)
            identity = path.flatMap { DatabaseFiles.Identity($0) }
            try Self.compare(identifierKey, in: database)
        } catch {
            throw ClubError(error, attempting: attempt)
        }
    }

    /// The same store on a copy of its database.
    init(_ store: MemberStore, on copy: any DatabaseWriter) {
        database = copy
        (path, place, identity, checkpointer) = (nil, nil, nil, nil)
        commitsOfOthers = CommitsOfOthers(nil)
        device = LocalDevice(store.device.id, store.device.clock, store.device.key)
    }

    deinit {
        device.holder.end()
    }

    /// Closes the database when all that is under way has ended. Later calls throw ``ClubError/Kind/notOpen``.
    package func close() throws(ClubError) {
        taps.drain()
        commitsOfOthers.end()
        checkpointer?.stop()
        try ClubError.wrapping("close the member database") {
            if path != nil {
                try database.writeWithoutTransaction { db in
                    // GRDB closes its readers last, which leaves the log behind. It is moved into the database now, so
                    // that the file is whole by itself, without waiting for other processes that read: what cannot
                    // be moved is safe in the log.
                    let timeout = try Int.fetchOne(db, sql: "PRAGMA busy_timeout") ?? 0
                    try db.execute(sql: "PRAGMA busy_timeout = 0")
                    _ = try? db.checkpoint(.truncate)
                    try db.execute(sql: "PRAGMA busy_timeout = \(timeout)")
                }
            }
            try database.close()
            taps.stop()
            device.holder.end()
        }
    }

    /// Looks, without changing what was committed, whether the file is a club's and not newer than this software.
    ///
    /// - Returns: the migrations that are missing.
    @discardableResult
    static func inspect(_ path: String, configuration: Configuration, migrator: DatabaseMigrator) throws -> [String] {
        func look(readonly: Bool) throws -> [String] {
            var configuration = configuration
            configuration.readonly = readonly
            return try DatabaseQueue(path: path, configuration: configuration).read { db in
                try DatabaseSchema.pending(in: db, of: migrator)
            }
        }
        do {
            return try look(readonly: true)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            // Whoever made the file was killed before it had a log. SQLite takes back what was begun, as it does for
            // everybody who opens the file.
            return try look(readonly: false)
        }
    }

    private static func migrate(_ database: any DatabaseWriter, _ migrator: DatabaseMigrator) throws {
        for attempt in 1... {
            if try database.read(migrator.hasCompletedMigrations) { return }
            do {
                try migrator.migrate(database)
            } catch {
                // Another process that opens the file at the same time may have been faster; look again.
                guard attempt < 5 else { throw error }
            }
        }
    }

    /// Reads off the calling thread.
    func read<Value: Sendable>(
        _ attempt: String,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ClubError) -> Value {
        do {
            return try await database.read(body)
        } catch {
            throw ClubError(error, attempting: attempt)
        }
    }

    /// Changes something in one transaction.
    ///
    /// - Parameter committed: called after the commit, in the order of the commits, on the writer's queue: it must not
    ///   wait for anything.
    func write<Value: Sendable>(
        _ attempt: String,
        committed: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws(ClubError) -> Value {
        try await onWriter(attempt) { db in try self.commit(attempt, db, committed: committed, body) }
    }

    /// Uses the connection that writes, outside of all transactions.
    func onWriter<Value: Sendable>(
        _ attempt: String,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(ClubError) -> Value {
        do {
            return try await database.writeWithoutTransaction(body)
        } catch {
            throw ClubError(error, attempting: attempt)
        }
    }

    /// Makes sure that what was just committed can be found again: a file that was deleted or moved while it is open
    /// takes everything, and is lost when it is closed.
    func confirmPlace(_ attempt: String) throws(ClubError) {
        guard let place, DatabaseFiles.Identity(place) != identity else { return }
        let detail = "the file was deleted or moved while it was open; put it back, or open the club again"
        throw ClubError(.cannotOpen, attempting: attempt, detail: detail)
    }

    /// Reads on the calling thread.
    func readNow<Value>(_ attempt: String, _ body: (Database) throws -> Value) throws(ClubError) -> Value {
        try ClubError.wrapping(attempt) { try database.read(body) }
    }

    /// Changes something in one transaction, on the calling thread.
    func writeNow<Value>(_ attempt: String, _ body: (StoreTransaction) throws -> Value) throws(ClubError) -> Value {
        try ClubError.wrapping(attempt) {
            try database.writeWithoutTransaction { db in try commit(attempt, db, body) }
        }
    }

    private func commit<Value>(
        _ attempt: String,
        _ db: Database,
        committed: (Value) -> Void = { _ in },
        _ body: (StoreTransaction) throws -> Value
    ) throws -> Value {
        var result: Value?
        try db.inTransaction(.immediate) {
            result = try body(transaction(db))
            return .commit
        }
        guard let result else { throw ClubError(.other, attempting: attempt) }
        try confirmPlace(attempt)
        committed(result)
        commits.yield(())
        return result
    }

    /// What writes in a transaction that was begun otherwise.
    func transaction(_ db: Database) -> StoreTransaction { StoreTransaction(db: db, device: device) }

    /// How SQLite writes this store's commits to disk; 2 is FULL.
    package func synchronousMode() async throws(ClubError) -> Int {
        try await onWriter("read a setting of the member database") { db in
            try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? -1
        }
    }
}

/// The key under which identifiers are hidden.
extension MemberStore {
    private static let checkKey = "identifierKey"

    /// Makes sure that the database was made with that key, or without one. A database without members takes the key.
    static func compare(_ key: IdentifierKey?, in database: any DatabaseWriter) throws {
        guard try !database.read({ db in try isKnown(key, in: db) }), let key else { return }
        try database.write { db in
            // Another process may have been faster.
            guard try !isKnown(key, in: db) else { return }
            try db.set(checkKey, to: key.check)
        }
    }

    private static func isKnown(_ key: IdentifierKey?, in db: Database) throws -> Bool {
        let attempt = "open the member database"
        let stored = try db.setting(checkKey)
        if stored == key?.check { return true }
        guard try stored == nil && !db.has("member") else { throw ClubError(.wrongIdentifierKey, attempting: attempt) }
        return false
    }
}
