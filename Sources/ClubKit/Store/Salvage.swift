import Foundation
import GRDB
import ReaderKit

/// Brings what can be read of a damaged database into a new file, which takes its place. The damaged one is kept beside
/// it.
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
    func run(_ context: ActionContext) async throws(ClubError) -> RepairReport {
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
        var report = try await rebuild(old, new, context)

        let kept = DatabaseFiles.free(path + DatabaseFiles.damaged + DatabaseFiles.stamp(clock()))
        try DatabaseFiles.copyWithLog(path, to: kept, attempt)
        report.isNewFile = true
        report.keptFile = kept
        try Replacement(of: path, kept: kept, attempt).mark(new, attempt)
        try DatabaseFiles.publish(new, as: DatabaseFiles.repaired(path), attempt)
        // From here on, whoever opens the database does the rest if it is cut off.
        try DatabaseFiles.replace(path, attempt)
        isReplaced = true
        return report
    }

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
