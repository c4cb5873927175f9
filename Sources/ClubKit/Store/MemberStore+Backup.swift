import Foundation
import GRDB
import ReaderKit
import Synchronization

/// The progress of a copy of the database.
public struct BackupProgress: Sendable, Hashable {
    /// The number of copied pages.
    public var pagesDone: Int

    /// The number of pages of the database when the copy began.
    public var pagesTotal: Int

    /// The copied fraction, from 0 to 1.
    public var fraction: Double { pagesTotal > 0 ? Double(pagesDone) / Double(pagesTotal) : 1 }

    /// Creates a progress.
    public init(pagesDone: Int, pagesTotal: Int) {
        self.pagesDone = pagesDone
        self.pagesTotal = pagesTotal
    }
}

extension MemberStore {
    /// The value of `meta` that distinguishes a copy from its original.
    static let copyMark = "copyOf"

    /// Copies the database as it is at one moment into a new file, while taps go on.
    ///
    /// The copy is made with SQLite's backup interface under another name beside its place, checked, written through
    /// to the disk and then given its name: it is there whole or not at all. It is one file, without a log of its own.
    ///
    /// - Parameters:
    ///   - path: the new file, of mode 0600. Nothing is replaced.
    ///   - progress: called with what is copied, on a queue of the database.
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
    /// - Parameter room: so many bytes stay free on the file system, and nobody waits for the copy: it is made by a
    ///   thread that the system serves when nobody else wants the processor or the disk. `nil` for a copy that somebody
    ///   waits for.
    /// - Returns: the number of pages.
    @discardableResult
    func copy(
        to path: String,
        _ attempt: String,
        verifying: Bool,
        leaving room: Int? = nil,
        progress: (@Sendable (BackupProgress) -> Void)? = nil
    ) async throws(ClubError) -> Int {
        let place = DatabaseFiles.whole(path)
        guard !DatabaseFiles.exists(place) else { throw ClubError(.fileExists, attempting: attempt) }
        let folder = try WorkFolder(beside: place, attempt)
        defer { folder.remove() }
        let file = folder.path + "/copy.sqlite"
        let copying = Copying(attempt: attempt, room: room)
        let pages: Int
        do {
            pages = try await withTaskCancellationHandler {
                try await StoreThread.run(name: "club-copy", isIdle: room != nil) { [database] in
                    let pages = try database.read { db in
                        // The first reading fixes the moment, whatever is committed from now on.
                        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
                        try copying.copy(db, to: file, progress)
                        return try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
                    }
                    if verifying { try copying.verify(file) }
                    return pages
                }
            } onCancel: {
                copying.cancel()
            }
        } catch {
            throw ClubError(error, attempting: attempt)
        }
        // What root makes in somebody's folder is for them.
        DatabaseFiles.give(file, toOwnerOf: FileSteps.folder(of: place))
        try DatabaseFiles.publish(file, as: place, attempt)
        return pages
    }

    /// A copy that is being made and looked at, which may be cancelled.
    private final class Copying: Sendable {
        private let attempt: String
        private let room: Int?
        private let state = Mutex<(isCancelled: Bool, verified: DatabaseQueue?)>((false, nil))

        /// So many pages are copied between two looks at what else is to be done: 1 MiB.
        private static let pagesPerStep: CInt = 256

        init(attempt: String, room: Int?) {
            self.attempt = attempt
            self.room = room
        }

        func cancel() {
            state.withLock { state in
                state.isCancelled = true
                state.verified?.interrupt()
            }
        }

        func copy(_ source: Database, to file: String, _ progress: (@Sendable (BackupProgress) -> Void)?) throws {
            try DatabaseFiles.create(file, attempt)
            let size =
                try source.value("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") as Int?
            try requireRoom(for: size ?? 0, at: file)
            let copy = try DatabaseQueue(path: file)
            try copy.inDatabase { target in
                try source.backup(to: target, pagesPerStep: Self.pagesPerStep) { step in
                    if self.state.withLock(\.isCancelled) { throw CancellationError() }
                    progress?(BackupProgress(pagesDone: step.completedPageCount, pagesTotal: step.totalPageCount))
                    guard self.room != nil else { return }
                    try self.requireRoom(for: 0, at: file)
                    // What waits to be written at once would keep a tap's commit waiting behind it.
                    try DatabaseFiles.synchronise(file, self.attempt)
                }
                try target.endLog(attempt, "the copy")
                try target.markCopy()
            }
            try copy.close()
        }

        func verify(_ file: String) throws {
            let queue = try MemberStore.openToRead(file)
            let isCancelled = state.withLock { state in
                state.verified = queue
                return state.isCancelled
            }
            if isCancelled { throw CancellationError() }
            guard try queue.read(MemberStore.isSound) else {
                throw ClubError(.corrupt, attempting: attempt, detail: "so its copy was not kept")
            }
        }

        private func requireRoom(for size: Int, at file: String) throws {
            guard let room, let free = FileSteps.freeSpace(at: file), free < size + room else { return }
            throw ClubError(.diskFull, attempting: attempt, detail: "the rest is left for taps")
        }
    }

    static func openToRead(_ file: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        return try DatabaseQueue(path: file, configuration: configuration)
    }

    /// Whether a file is a club's database, and SQLite finds it whole.
    static func isSound(_ db: Database) throws -> Bool {
        try Int64.fetchOne(db, sql: "PRAGMA application_id") == DatabaseSchema.applicationID
            && String.fetchAll(db, sql: "PRAGMA integrity_check(1)") == ["ok"]
            && Int.fetchOne(db, sql: "SELECT count(*) FROM member") != nil
    }

    /// The device's identifier; a new one for a copy, which from now on is a device of its own.
    static func identify(_ database: any DatabaseWriter, _ makeUUID: () -> UUID) throws -> UUID {
        if try database.read({ try $0.setting(copyMark) != nil || $0.setting(Replacement.key) != nil }) {
            let fresh = makeUUID().uuidString
            try database.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    // Another process may have been faster.
                    if try db.setting(copyMark) != nil {
                        try db.execute(sql: "UPDATE meta SET value = ? WHERE key = 'deviceID'", arguments: [fresh])
                    }
                    try db.execute(sql: "DELETE FROM meta WHERE key IN (?, ?)", arguments: [copyMark, Replacement.key])
                    return .commit
                }
            }
        }
        guard let text = try database.read({ try $0.setting("deviceID") }), let device = UUID(uuidString: text) else {
            throw ClubError(.corrupt, attempting: "open the member database", detail: "it has no device identifier")
        }
        return device
    }
}
