import Dispatch
import Foundation

/// What members may ask for: to see what is held on them, and that it is forgotten.
extension Club {
    /// A member by ``Member/userId`` or any of their cards, also one who was deleted, as far as something is held.
    package func heldMember(withUserID userID: String) async throws(ClubError) -> Member? {
        try await openStore("look up a member").heldMember(withUserID: userID)
    }

    /// The visits of a member, newest first, also of one who was deleted.
    package func heldVisits(of key: String, limit: Int) async throws(ClubError) -> [Visit] {
        try await openStore("list a member's visits").visits(of: key, limit: limit, held: true)
    }

    /// How many visits of a member were removed because they were old, also of one who was deleted.
    package func numberOfRemovedVisits(of key: String) async throws(ClubError) -> Int {
        try await openStore("list a member's visits").numberOfRemovedVisits(of: key)
    }

    /// What was done with a member, newest first, also with one who was deleted.
    package func heldAuditLog(of key: String, limit: Int) async throws(ClubError) -> [AuditEntry] {
        try await openStore("read the audit log").auditLog(of: key, limit: limit, held: true)
    }

    /// What a member's values were before, also of one who was deleted.
    package func heldFormerValues(of key: String, limit: Int) async throws(ClubError) -> [FormerValue] {
        try await openStore("list a member's former values").formerValues(of: key, limit: limit, held: true)
    }

    /// Writes all data on a member, and on members merged into them, into a new directory: `member.json` with
    /// everything, and `visits.csv` with the visits. Only this user may read them. For a deleted member it is the
    /// remaining data.
    ///
    /// - Parameters:
    ///   - key: the member's ``Member/userId`` or any of their cards.
    ///   - directory: a directory that is absent or empty.
    ///   - context: who discloses it, for the audit log.
    /// - Returns: the files.
    /// - Throws: ``ClubError/Kind/noSuchMember``, ``ClubError/Kind/fileExists``.
    @discardableResult
    public func disclose(
        _ key: String,
        to directory: URL,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> [URL] {
        let attempt = "disclose what is held on a member"
        let store = try openStore(attempt)
        let keys = store.device.identifiers(key)
        let (id, json, csv) = try await store.read(attempt) { db in
            let row = try db.members.heldRow(keys, attempt)
            let disclosing = Disclosing(db: db, device: store.device)
            return (row.id, try disclosing.json(of: row), try disclosing.visits(of: row))
        }
        let files = [directory.appendingPathComponent("member.json"), directory.appendingPathComponent("visits.csv")]
        try await DispatchQueue.global().run { () throws(ClubError) in
            try PrivateFiles.makeDirectory(directory.path, attempt)
            try PrivateFiles.write(json, to: files[0].path, attempt)
            try PrivateFiles.write(csv, to: files[1].path, attempt)
        }
        // What could not be written was not disclosed.
        do throws(ClubError) {
            try await store.write(attempt) { transaction in
                // Who was erased meanwhile must not come into the log again.
                guard let row = try transaction.db.members.row(id: id) else {
                    throw ClubError(.noSuchMember, attempting: attempt)
                }
                try transaction.audit(.disclosed, of: row.member.userId, context)
            }
        } catch {
            for file in files { try? FileManager.default.removeItem(at: file) }
            throw error
        }
        return files
    }

    /// Erases all data on a member and on members merged into them: names, fields, notes, cards, visits and receipts.
    /// It cannot be undone.
    ///
    /// The identifiers are remembered as keyed hashes, so that no file and no other device restores the member; a card
    /// presented later is that of a new member. The audit log keeps the actions, without the member. Freed pages of the
    /// database are overwritten; copies of it, such as backups, exports and ``keptCopies()``, are not reached.
    /// ``ClubMiddlewareDelegate/club(_:didDeleteMembership:)`` is called with a last copy, unless the member was
    /// deleted before, whose remaining data is erased too.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    public func erase(_ key: String, by context: ActionContext = ActionContext()) async throws(ClubError) {
        let store = try openStore("erase a member")
        _ = try await store.erase(key, context) { self.publish(.deleted($0.member, at: $0.at)) }
        // Unfinished copies of the database that nobody works on any more have what was erased.
        if let path = store.path { WorkFolder.removeLeftovers(beside: path) }
    }

    /// Returns the copies of the database that ``repair(by:from:choosing:)`` kept beside it, with their logs, and the
    /// snapshots beside it. They still hold members erased since, until they are deleted.
    public func keptCopies() throws(ClubError) -> [URL] {
        let store = try openStore("look for copies of the member database")
        return store.path.map { DatabaseFiles.kept($0, now: store.clock()) }?.map { URL(fileURLWithPath: $0) } ?? []
    }

    /// Removes visits before a time, with their receipts. Members keep their totals and the time of their latest visit.
    ///
    /// Scenarios go on where they are: counts from a fixed start, of scenarios set for this database, are kept, so that
    /// no reward is lost or granted twice. Sliding windows (``ScenarioWindow/days(_:)``,
    /// ``ScenarioWindow/seconds(_:)``) have no such start: where they reach back beyond that time they count what is
    /// left, which is logged. Executions stay; their time, and that of events, is rounded to the end of the day (UTC),
    /// except for those yet to be delivered.
    ///
    /// A visit is old if it was made, or recorded, before that time; for each member and device they are removed in the
    /// order of recording, so one that was recorded later than it was made may stay until its recording is that old.
    /// Merged devices count a visit once, whichever removed it: a removed visit in a file is not imported again, and
    /// other devices remove it when they merge this one's removals. A removed visit cannot be undone.
    ///
    /// - Returns: the number of removed visits.
    @discardableResult
    public func pruneVisits(
        before date: Date,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Int {
        try await pruneVisits(before: date, context, in: openStore("remove old visits"))
    }
}
