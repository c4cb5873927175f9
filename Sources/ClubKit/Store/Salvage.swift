import Foundation
import GRDB
import ReaderKit

/// Brings what can be read of a damaged database into a new file, or takes the latest good snapshot, which takes its
/// place. The damaged one is kept beside it.
struct Salvage {
    let path: String
    let busyTimeout: Duration
    let identifierKey: IdentifierKey?
    let clock: @Sendable () -> Date
    let makeUUID: @Sendable () -> UUID
    private let attempt = MemberStore.repairAttempt

    init(
        path: String,
        busyTimeout: Duration,
        identifierKey: IdentifierKey?,
        clock: @escaping @Sendable () -> Date,
        makeUUID: @escaping @Sendable () -> UUID
    ) {
        self.path = path
        self.busyTimeout = busyTimeout
        self.identifierKey = identifierKey
        self.clock = clock
        self.makeUUID = makeUUID
    }

    /// Does it; the file must not be in use.
    ///
    /// - Parameters:
    ///   - snapshots: where the latest good snapshot is looked for, if anywhere.
    ///   - choose: called if there is one.
    func run(
        _ context: ActionContext,
        _ snapshots: SnapshotFolder?,
        _ choose: RepairOffer.Chooser
    ) async throws(ClubError) -> RepairReport {
        let lock = try DatabaseFiles.lock(path, attempt)
        var isReplaced = false
        defer { DatabaseFiles.release(lock, spoiling: isReplaced) }
        try DatabaseFiles.requireNothingRepaired(path, attempt)
        let folder = try WorkFolder(beside: path, attempt)
        defer { folder.remove() }

        // SQLite works on a copy, since it writes to what it opens.
        let old = folder.path + "/old.sqlite"
        let new = folder.path + "/new.sqlite"
        try DatabaseFiles.copyWithLog(path, to: old, attempt)
        let rescued: Result<RepairReport, ClubError>
        do throws(ClubError) {
            rescued = .success(try await rebuild(old, new, context))
        } catch {
            guard error.kind == .corrupt else { throw error }
            rescued = .failure(error)
        }
        var (chosen, result) = (rescued, new)
        if let snapshots, let copy = try await prepareSnapshot(in: snapshots, folder, try? rescued.get(), context) {
            switch await choose(copy.offer) {
            case .rescue: break
            case .snapshot: (chosen, result) = (.success(copy.report), copy.file)
            case .neither: throw ClubError(.cancelled, attempting: attempt)
            }
        }
        var report = try chosen.get()

        let kept = DatabaseFiles.free(path + DatabaseFiles.damaged + DatabaseFiles.stamp(clock()))
        try DatabaseFiles.copyWithLog(path, to: kept, attempt)
        report.isNewFile = true
        report.keptFile = kept
        try Replacement(of: path, kept: kept, attempt).mark(result, attempt)
        try DatabaseFiles.publish(result, as: DatabaseFiles.repaired(path), attempt)
        // From here on, whoever opens the database does the rest if it is cut off.
        try DatabaseFiles.replace(path, attempt)
        isReplaced = true
        return report
    }

    // MARK: The damaged file

    private func rebuild(
        _ old: String,
        _ new: String,
        _ context: ActionContext
    ) async throws(ClubError) -> RepairReport {
        let fresh = makeUUID()
        try DatabaseFiles.create(new, attempt)
        try open(new, fresh).close()
        let rescue: Rescue
        do {
            rescue = try Rescue(from: old, to: new)
        } catch {
            throw ClubError(error, attempting: attempt)
        }
        guard
            rescue.rows["member", default: 0] + rescue.rows["visit", default: 0] + rescue.rows["receipt", default: 0]
                > 0
        else {
            throw ClubError(.corrupt, attempting: attempt, detail: "nothing in it could be read; it was left as it is")
        }
        // The same device, for as long as its records are put together.
        let store = try open(new, fresh)
        var report = RepairReport()
        do {
            let (lost, named, visits) = (rescue.lost, rescue.named, rescue.visits)
            let (mended, others) = try await store.write(attempt) { transaction in
                var mending = Mending(transaction)
                try mending.run(reindexing: false, named: named, visits: visits)
                try transaction.audit(
                    .repaired,
                    of: nil,
                    context,
                    detail: [
                        "mended": .array(mending.mended.map { .string($0) }),
                        "lost": .array((lost + mending.lost).map { .string($0) }),
                    ]
                )
                // What was lost may have been told to other devices, so nothing more is said under the old name.
                try transaction.db.execute(
                    sql: "REPLACE INTO meta (key, value) SELECT ?, value FROM meta WHERE key = 'deviceID'",
                    arguments: [MemberStore.copyMark]
                )
                return (mending.mended, mending.lost)
            }
            report.mended = ["what could be read was brought into a new file"] + mended
            report.lost = lost + others
            report.remaining = try await store.check()
        } catch {
            try? store.close()
            throw error
        }
        try store.close()
        return report
    }

    // MARK: Snapshots

    /// Makes a copy of the latest good snapshot what would take the place of the damaged file.
    ///
    /// - Returns: the file, what would be reported, and how it compares with what could be read; `nil` without one.
    private func prepareSnapshot(
        in snapshots: SnapshotFolder,
        _ folder: WorkFolder,
        _ rescued: RepairReport?,
        _ context: ActionContext
    ) async throws(ClubError) -> (file: String, report: RepairReport, offer: RepairOffer)? {
        let file = folder.path + "/copy.sqlite"
        for snapshot in snapshots.snapshots(now: clock()) {
            for ending in ["", "-wal", "-shm"] { unlink(file + ending) }
            // Nothing is written beside the snapshot itself.
            try DatabaseFiles.copyWithLog(snapshot.url.path, to: file, attempt)
            guard (try? await MemberStore.openToRead(file).read(MemberStore.isSound)) == true else { continue }
            var offer = RepairOffer(snapshot: snapshot.url, madeAt: snapshot.madeAt)
            (offer.isFileReadable, offer.lost) = (rescued != nil, rescued?.lost ?? [])
            let store = try open(file, makeUUID())
            var report = RepairReport()
            do {
                if rescued != nil {
                    let new = folder.path + "/new.sqlite"
                    try await store.database.writeWithoutTransaction { db in
                        try db.execute(sql: "ATTACH ? AS file", arguments: [new])
                    }
                }
                let (mended, lost) = try await mend(store, isBesideFile: rescued != nil, context)
                try await compare(store, &offer)
                if rescued != nil {
                    try await store.database.writeWithoutTransaction { try $0.execute(sql: "DETACH file") }
                }
                report.mended = ["the snapshot took the place of the damaged file"] + mended
                report.lost = offer.lostWithSnapshot + lost
                report.remaining = try await store.check()
            } catch {
                try? store.close()
                throw ClubError(error, attempting: attempt)
            }
            try store.close()
            report.restoredFrom = snapshot.url.path
            return (file, report, offer)
        }
        return nil
    }

    /// Erases in the snapshot whoever was erased since, as far as that could be read.
    private func mend(
        _ store: MemberStore,
        isBesideFile: Bool,
        _ context: ActionContext
    ) async throws(ClubError) -> (mended: [String], lost: [String]) {
        try await store.write(attempt) { transaction in
            if isBesideFile {
                try transaction.db.execute(sql: "INSERT OR IGNORE INTO main.erased SELECT * FROM file.erased")
            }
            var mending = Mending(transaction)
            try mending.run(reindexing: false)
            try transaction.audit(
                .repaired,
                of: nil,
                context,
                detail: [
                    "mended": .array((["snapshot"] + mending.mended).map { .string($0) }),
                    "lost": .array(mending.lost.map { .string($0) }),
                ]
            )
            return (mending.mended, mending.lost)
        }
    }

    /// Counts what only one of both has.
    private func compare(_ store: MemberStore, _ offer: inout RepairOffer) async throws {
        let members = "SELECT user_id FROM %.member WHERE status = 0"
        let visits = "SELECT event_id FROM %.visit WHERE event_id NOT IN (SELECT event_id FROM %.undo)"
        let isBesideFile = offer.isFileReadable
        func count(_ rows: String, in one: String, not other: String) async throws -> Int {
            guard isBesideFile || one == "main" else { return 0 }
            let difference = isBesideFile ? "\(rows) EXCEPT " + rows.replacingOccurrences(of: "%", with: other) : rows
            let sql = "SELECT count(*) FROM (\(difference))".replacingOccurrences(of: "%", with: one)
            // The connection that has both.
            return try await store.database.writeWithoutTransaction { try Int.fetchOne($0, sql: sql) ?? 0 }
        }
        offer.membersOnlyInSnapshot = try await count(members, in: "main", not: "file")
        offer.visitsOnlyInSnapshot = try await count(visits, in: "main", not: "file")
        offer.membersOnlyInFile = try await count(members, in: "file", not: "main")
        offer.visitsOnlyInFile = try await count(visits, in: "file", not: "main")
    }

    private func open(_ file: String, _ device: UUID) throws(ClubError) -> MemberStore {
        try MemberStore(
            .file(path: file),
            busyTimeout: busyTimeout,
            identifierKey: identifierKey,
            clock: clock,
            makeUUID: { device }
        )
    }
}
