import Foundation
import GRDB
import ReaderKit

/// Brings what can be read of a damaged database into a new file, or takes the latest good snapshot, which takes its
/// place. The damaged one is kept beside it.
struct Salvage {
    let path: String
    let configuration: ClubConfiguration
    private let attempt = MemberStore.repairAttempt

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

        let place = path + DatabaseFiles.damaged + DatabaseFiles.stamp(configuration.clock())
        report.isNewFile = true
        report.keptFile = try Replacement.replace(path, by: result, keeping: place, attempt)
        isReplaced = true
        return report
    }

    // MARK: The damaged file

    private func rebuild(
        _ old: String,
        _ new: String,
        _ context: ActionContext
    ) async throws(ClubError) -> RepairReport {
        let fresh = configuration.makeUUID()
        try DatabaseFiles.create(new, attempt)
        try open(new, fresh).close()
        let rescue = try ClubError.wrapping(attempt) { try Rescue.run(from: old, to: new) }
        guard ["member", "visit", "receipt"].contains(where: { rescue.rows[$0, default: 0] > 0 }) else {
            throw ClubError(.corrupt, attempting: attempt, detail: "nothing in it could be read; it was left as it is")
        }
        // The same device, for as long as its records are put together.
        let store = try open(new, fresh)
        defer { try? store.close() }
        let (lost, named, visits) = (rescue.lost, rescue.named, rescue.visits)
        var report = RepairReport()
        (report.mended, report.lost) = try await store.write(attempt) { transaction in
            let done = try Mending.run(transaction, context, lost: lost, named: named, visits: visits)
            // What was lost may have reached other devices, so nothing more is recorded under the old name.
            try transaction.db.markCopy()
            return done
        }
        report.mended.insert("what could be read was brought into a new file", at: 0)
        report.remaining = try await store.check()
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
        for snapshot in snapshots.snapshots(now: configuration.clock()) {
            for ending in ["", "-wal", "-shm"] { unlink(file + ending) }
            // Nothing is written beside the snapshot itself.
            try DatabaseFiles.copyWithLog(snapshot.url.path, to: file, attempt)
            guard (try? await MemberStore.openToRead(file).read(MemberStore.isSound)) == true else { continue }
            var offer = RepairOffer(snapshot: snapshot.url, madeAt: snapshot.madeAt)
            (offer.isFileReadable, offer.lost) = (rescued != nil, rescued?.lost ?? [])
            let new = rescued.map { _ in folder.path + "/new.sqlite" }
            var report = try await mend(file, beside: new, &offer, context)
            report.restoredFrom = snapshot.url.path
            return (file, report, offer)
        }
        return nil
    }

    /// Erases in the snapshot whoever was erased since, as far as that could be read, and counts what only one of both has.
    ///
    /// - Parameter new: what could be read of the damaged file; `nil` if nothing.
    private func mend(
        _ file: String,
        beside new: String?,
        _ offer: inout RepairOffer,
        _ context: ActionContext
    ) async throws(ClubError) -> RepairReport {
        let store = try open(file, configuration.makeUUID())
        defer { try? store.close() }
        try await store.onWriter(attempt) { db in
            if let new { try db.execute(sql: "ATTACH ? AS file", arguments: [new]) }
        }
        let former = offer
        let (mended, lost, compared) = try await store.write(attempt) { transaction in
            if new != nil {
                try transaction.db.execute(sql: "INSERT OR IGNORE INTO main.erased SELECT * FROM file.erased")
            }
            let done = try Mending.run(transaction, context, remark: ["snapshot"])
            return (done.mended, done.lost, try former.compared(in: transaction.db))
        }
        offer = compared
        try await store.onWriter(attempt) { db in
            if new != nil { try db.execute(sql: "DETACH file") }
        }
        var report = RepairReport()
        report.mended = ["the snapshot took the place of the damaged file"] + mended
        report.lost = offer.lostWithSnapshot + lost
        report.remaining = try await store.check()
        try store.close()
        return report
    }

    private func open(_ file: String, _ device: UUID) throws(ClubError) -> MemberStore {
        var configuration = configuration
        (configuration.database, configuration.makeUUID) = (.file(path: file), { device })
        return try MemberStore(configuration)
    }
}

extension RepairOffer {
    /// The offer with the numbers of what only one of both has: of the snapshot, the main database, and of what could be
    /// read, the database `file`, if there is one.
    fileprivate func compared(in db: Database) throws -> RepairOffer {
        func count(_ rows: String, in one: String, not other: String) throws -> Int {
            guard isFileReadable || one == "main" else { return 0 }
            let others = isFileReadable ? " EXCEPT " + rows.replacingOccurrences(of: "%", with: other) : ""
            let sql = "SELECT count(*) FROM (\(rows.replacingOccurrences(of: "%", with: one))\(others))"
            return try Int.fetchOne(db, sql: sql) ?? 0
        }
        let members = "SELECT user_id FROM %.member WHERE status = 0"
        let visits = "SELECT event_id FROM %.visit WHERE event_id NOT IN (SELECT event_id FROM %.undo)"
        var offer = self
        offer.membersOnlyInSnapshot = try count(members, in: "main", not: "file")
        offer.visitsOnlyInSnapshot = try count(visits, in: "main", not: "file")
        offer.membersOnlyInFile = try count(members, in: "file", not: "main")
        offer.visitsOnlyInFile = try count(visits, in: "file", not: "main")
        return offer
    }
}
