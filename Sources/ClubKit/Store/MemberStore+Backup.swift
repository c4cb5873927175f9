import Foundation
import GRDB
import Synchronization

extension MemberStore {
    /// The value of `meta` that tells a copy from its original.
    static let copyMark = "copyOf"

    /// Copies the database as it is at one moment into a new file, while taps go on.
    ///
    /// The copy is made with SQLite's backup interface under another name beside its place, checked, written through
    /// to the disk and then given its name: it is there whole or not at all. It is one file, without a log of its own.
    ///
    /// - Parameters:
    ///   - path: the new file, of mode 0600. Nothing is replaced.
    ///   - progress: told what is copied, on a queue of the database.
    package func backup(
        to path: String,
        _ context: ActionContext,
        progress: (@Sendable (BackupProgress) -> Void)? = nil
    ) async throws(ClubError) {
        let attempt = "back up the member database"
        let pages = try await copy(to: path, attempt, verifying: true, progress: progress)
        try await write(attempt) { transaction in
            try transaction.audit(.backedUp, of: nil, context, detail: ["pages": .int(pages)])
        }
    }

    /// Copies the database into a new file.
    ///
    /// - Returns: the number of pages.
    @discardableResult
    func copy(
        to path: String,
        _ attempt: String,
        verifying: Bool,
        progress: (@Sendable (BackupProgress) -> Void)? = nil
    ) async throws(ClubError) -> Int {
        let place = DatabaseFiles.whole(path)
        guard !DatabaseFiles.exists(place) else { throw ClubError(.fileExists, attempting: attempt) }
        let folder = try WorkFolder(beside: place, attempt)
        defer { folder.remove() }
        let file = folder.path + "/copy.sqlite"
        let cancelling = Cancelling()
        let pages: Int
        do {
            pages = try await withTaskCancellationHandler {
                try await database.read { db in
                    // The first reading fixes the moment, whatever is committed from now on.
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
                    try Self.copy(db, to: file, cancelling, verifying: verifying, attempt, progress)
                    return try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                }
            } onCancel: {
                cancelling.isCancelled.store(true, ordering: .relaxed)
            }
        } catch {
            throw ClubError(error, attempting: attempt)
        }
        try DatabaseFiles.publish(file, as: place, attempt)
        return pages
    }

    private final class Cancelling: Sendable {
        let isCancelled = Atomic(false)
    }

    /// So many pages are copied between two looks at what else is to be done: 1 MiB.
    private static let pagesPerStep: CInt = 256

    private static func copy(
        _ source: Database,
        to file: String,
        _ cancelling: Cancelling,
        verifying: Bool,
        _ attempt: String,
        _ progress: (@Sendable (BackupProgress) -> Void)?
    ) throws {
        try DatabaseFiles.create(file, attempt)
        let copy = try DatabaseQueue(path: file)
        try copy.inDatabase { target in
            try source.backup(to: target, pagesPerStep: pagesPerStep) { step in
                if cancelling.isCancelled.load(ordering: .relaxed) { throw CancellationError() }
                progress?(BackupProgress(pagesDone: step.completedPageCount, pagesTotal: step.totalPageCount))
            }
            // Without a log the copy is one file, which can be read from where nothing can be written.
            guard try String.fetchOne(target, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
                throw ClubError(.other, attempting: attempt, detail: "the copy keeps a log")
            }
            // Two files that go on under one device's name would say different things with one stamp.
            try target.execute(
                sql: "REPLACE INTO meta (key, value) SELECT ?, value FROM meta WHERE key = 'deviceID'",
                arguments: [copyMark]
            )
            guard verifying else { return }
            let lines = try String.fetchAll(target, sql: "PRAGMA integrity_check(1)")
            guard lines == ["ok"] else {
                throw ClubError(.corrupt, attempting: attempt, detail: "so its copy was not kept")
            }
        }
        try copy.close()
    }

    /// The device's identifier; a new one for a copy, which from now on is a device of its own.
    static func identify(_ database: any DatabaseWriter, _ makeUUID: () -> UUID) throws -> UUID {
        func stored(_ key: String, in db: Database) throws -> String? {
            try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])
        }
        func isMarked(_ db: Database) throws -> Bool {
            try stored(copyMark, in: db) != nil || stored(Replacement.key, in: db) != nil
        }
        if try database.read(isMarked) {
            let fresh = makeUUID().uuidString
            try database.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    // Another process may have been faster.
                    if try stored(copyMark, in: db) != nil {
                        try db.execute(sql: "UPDATE meta SET value = ? WHERE key = 'deviceID'", arguments: [fresh])
                    }
                    try db.execute(
                        sql: "DELETE FROM meta WHERE key IN (?, ?)",
                        arguments: [copyMark, Replacement.key]
                    )
                    return .commit
                }
            }
        }
        guard let text = try database.read({ try stored("deviceID", in: $0) }), let device = UUID(uuidString: text)
        else {
            throw ClubError(.corrupt, attempting: "open the member database", detail: "it has no device identifier")
        }
        return device
    }
}
