import Foundation

/// Merging members into the club, and finding those who are there twice.
extension Club {
    /// Merges members that an application holds, such as those of ``ClubMiddlewareDelegate/club(_:didReceiveImported:)``.
    ///
    /// What is merged counts as of the member's latest visit, as the rows of a file do: merging the same again, or older
    /// records, changes nothing. After the commit ``ClubMiddlewareDelegate/club(_:didUpdateMembership:)`` is called once
    /// for each member who was changed; for those who were created nothing is called but ``ClubEvent/merged(_:at:)``.
    ///
    /// - Parameters:
    ///   - members: with the totals and times that are to be taken in.
    ///   - mode: what becomes of members who are there.
    ///   - dryRun: whether only to say what would happen.
    ///   - context: who merges, for the audit log.
    @discardableResult
    public func merge(
        _ members: [Member],
        mode: MergeMode = .merge,
        dryRun: Bool = false,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> MergeReport {
        throw ClubError(.notOpen, attempting: "merge members")
    }

    /// Pairs of members who may be one person, the most telling first: for a person to look at, and to
    /// ``join(_:to:by:)`` or ``dismissDuplicate(_:_:by:)``.
    ///
    /// - Parameter limit: how many at most.
    public func duplicates(limit: Int = 1000) async throws(ClubError) -> [DuplicatePair] {
        throw ClubError(.notOpen, attempting: "look for duplicates")
    }

    /// Says that two members are two persons, so that ``duplicates(limit:)`` names them no more.
    public func dismissDuplicate(
        _ key: String,
        _ other: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) {
        throw ClubError(.notOpen, attempting: "dismiss a duplicate")
    }
}
