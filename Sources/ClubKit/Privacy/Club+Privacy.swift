import Foundation

/// What members may ask for: to see what is held on them, and that it is forgotten.
extension Club {
    /// Writes all that is held on a member, and on whoever was joined to them, into a new directory: `member.json` with
    /// everything, and `visits.csv` with the visits. Only this user may read them.
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
        throw ClubError(.notOpen, attempting: "disclose what is held on a member")
    }

    /// Erases all that is known of a member and of whoever was joined to them: names, fields, notes, cards, visits and
    /// what became of taps. It cannot be undone.
    ///
    /// The identifiers are remembered as keyed hashes, so that no file and no other device brings the member back; a
    /// card that is presented later is that of somebody new. The audit log keeps what was done, without saying to whom.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    public func erase(_ key: String, by context: ActionContext = ActionContext()) async throws(ClubError) {
        throw ClubError(.notOpen, attempting: "erase a member")
    }

    /// Removes visits that are older, with what became of their taps. Members keep their totals.
    ///
    /// - Returns: how many visits were removed.
    @discardableResult
    public func removeVisits(
        before date: Date,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Int {
        throw ClubError(.notOpen, attempting: "remove old visits")
    }
}
