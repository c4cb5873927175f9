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

    /// Writes all that is held on a member, and on whoever was joined to them, into a new directory: `member.json` with
    /// everything, and `visits.csv` with the visits. Only this user may read them. Of a member who was deleted it is what
    /// is still held.
    ///
    /// - Parameters:
    ///   - key: the member's ``Member/userId`` or any of their cards.
    ///   - directory: a directory that is not there yet, or is empty.
    ///   - context: who discloses it, for the audit log.
    /// - Returns: the files.
    /// - Throws: ``ClubError/Kind/noSuchMember``, ``ClubError/Kind/fileExists``.
    @discardableResult
    public func disclose(
        _ key: String,
        to directory: URL,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> [URL] {
        try await openStore("disclose what is held on a member").disclose(key, to: directory, context)
    }

    /// Erases all that is known of a member and of whoever was joined to them: names, fields, notes, cards, visits and
    /// what became of taps. It cannot be undone.
    ///
    /// The identifiers are remembered as keyed hashes, so that no file and no other device brings the member back; a
    /// card that is presented later is that of somebody new. The audit log keeps what was done, without saying to whom.
    /// Freed pages of the database are overwritten; copies of it, such as backups, exports and
    /// ``keptCopies()``, are not reached.
    /// ``ClubMiddlewareDelegate/club(_:didDeleteMembership:)`` is called with a last copy, unless the member was deleted
    /// before: what is left of them is erased too.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    public func erase(_ key: String, by context: ActionContext = ActionContext()) async throws(ClubError) {
        let store = try openStore("erase a member")
        _ = try await store.erase(key, context) { self.publish(.deleted($0.member, at: $0.at)) }
        // Unfinished copies of the database that nobody works on any more have what was erased.
        if let path = store.path { WorkFolder.removeLeftovers(beside: path) }
    }

    /// The copies of the database that ``repair(by:from:choosing:)`` kept beside it, with their logs, and the snapshots beside it. Whoever
    /// was erased since is in them still, until they are deleted.
    public func keptCopies() throws(ClubError) -> [URL] {
        let store = try openStore("look for copies of the member database")
        return store.path.map { DatabaseFiles.kept($0, now: store.clock()) }?.map { URL(fileURLWithPath: $0) } ?? []
    }

    /// Removes visits that are older, with what became of their taps. Members keep their totals and the time of their
    /// latest visit.
    ///
    /// Scenarios go on where they are: the numbers since the moments from which those count that were set for this
    /// database are kept, so that no reward is lost or comes twice. Windows that slide along with the present
    /// (``ScenarioWindow/days(_:)``, ``ScenarioWindow/seconds(_:)``) have no such moment: where they reach back beyond that
    /// time they count what is left, which the log says. What was given stays; its time, and that of events, is rounded to
    /// the end of the day (UTC), but for what is yet to be delivered.
    ///
    /// A visit is old if it was made, or recorded, before that time; of each member and device what was recorded first
    /// goes first, so one that was recorded later than it was made may stay until its recording is that old. Devices
    /// that have merged count a visit once, whoever removed it: what comes again with a file is not taken in, and goes
    /// there too when this device's removals arrive. Undoing a visit that was removed is not possible any more.
    ///
    /// - Returns: how many visits were removed.
    @discardableResult
    public func pruneVisits(
        before date: Date,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Int {
        try await pruneVisits(before: date, context, in: openStore("remove old visits"))
    }
}
