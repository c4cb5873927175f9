import Dispatch
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
    ///   - members: with the totals and times that are to be taken in. All are merged in one transaction.
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
        let store = try openStore("merge members")
        let result: Result<MergeReport, ClubError> = await withCheckedContinuation { continuation in
            Self.merging.async {
                continuation.resume(
                    returning: Result { () throws(ClubError) in
                        try self.mergeNow(members, mode: mode, dryRun: dryRun, by: context, in: store)
                    }
                )
            }
        }
        return try result.get()
    }

    /// Merging blocks, so it has a queue of its own.
    private static let merging = DispatchQueue(label: "club.merging")

    /// Merges members on the calling thread, which must not be one of Swift's pool.
    func mergeNow(
        _ members: [Member],
        mode: MergeMode = .merge,
        dryRun: Bool = false,
        by context: ActionContext = ActionContext()
    ) throws(ClubError) -> MergeReport {
        try mergeNow(members, mode: mode, dryRun: dryRun, by: context, in: openStore("merge members"))
    }

    private func mergeNow(
        _ members: [Member],
        mode: MergeMode,
        dryRun: Bool,
        by context: ActionContext,
        in store: MemberStore
    ) throws(ClubError) -> MergeReport {
        var report = MergeReport(dryRun: dryRun)
        let sink = try StoreImportSink(store, mode: mode, dryRun: dryRun, context) { self.publish(merged: $0) }
        let rows = members.enumerated().map { ImportedMember($1, row: $0 + 1) }
        let verdicts: [ImportVerdict]
        do throws(ClubError) {
            verdicts = try sink.apply(rows)
        } catch {
            try? sink.finish()
            throw error
        }
        try sink.finish()
        for (row, verdict) in zip(rows, verdicts) { report.count(verdict, of: row.userId, row: row.row) }
        if !dryRun { publish(.merged(report, at: configuration.clock())) }
        return report
    }

    /// Tells of members who were there and whom a merge has changed or deleted.
    func publish(merged members: [MergedMember]) {
        for one in members {
            publish(one.isDeleted ? .deleted(one.member, at: one.at) : .updated(one.member, .merge, at: one.at))
        }
    }

    // MARK: Duplicates

    /// Pairs of members who may be one person, the most telling first: for a person to look at, and to
    /// ``join(_:to:by:)`` or ``dismissDuplicate(_:_:by:)``. It reads all members.
    ///
    /// - Parameter limit: how many at most.
    public func duplicates(limit: Int = 1000) async throws(ClubError) -> [DuplicatePair] {
        try await openStore("look for duplicates").duplicates(limit: max(0, limit))
    }

    /// Says that two members are two persons, so that ``duplicates(limit:)`` names them no more, here and on devices
    /// that merge with this one.
    ///
    /// - Returns: whether that is news; nothing is written otherwise.
    @discardableResult
    public func dismissDuplicate(
        _ key: String,
        _ other: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Bool {
        try await openStore("dismiss a duplicate").dismissDuplicate(key, other, context)
    }
}
