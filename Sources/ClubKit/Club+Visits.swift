import Foundation

/// Visits: the ledger of a member.
extension Club {
    /// The visits of a member, newest first, those that were undone too.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    public func visits(of key: String, limit: Int = 1000) async throws(ClubError) -> [Visit] {
        try await openStore("list a member's visits").visits(of: key, limit: max(0, limit))
    }

    /// The member whose visit it is, or `nil` if there is no such visit or they were deleted.
    package func member(ofVisit id: UUID) async throws(ClubError) -> Member? {
        try await openStore("look up a visit").member(ofVisit: id)
    }

    /// Counts a visit that no card told of, whatever the cooldown, the end of the membership or a block say.
    ///
    /// If it is the member's latest, the club's scenarios are looked at as at a tap, as of the time of the visit; what is
    /// charged is told and delivered likewise. For groups and the kiosk a visit by hand counts only then.
    ///
    /// - Parameters:
    ///   - key: the member's ``Member/userId`` or any of their cards.
    ///   - date: when it was; now by default, and no more than a day later than that.
    ///   - context: who records it, and why.
    /// - Returns: the member after it.
    /// - Throws: ``ClubError/Kind/noSuchMember``, ``ClubError/Kind/invalidValue`` for a date that cannot be.
    @discardableResult
    public func recordVisit(
        of key: String,
        at date: Date? = nil,
        by context: ActionContext
    ) async throws(ClubError) -> Member {
        try await recordManualVisit(of: key, at: date, by: context).member
    }

    /// The same, and says what scenarios were charged with.
    package func recordManualVisit(
        of key: String,
        at date: Date?,
        by context: ActionContext
    ) async throws(ClubError) -> (member: Member, executions: [ScenarioExecution]) {
        let store = try openStore("record a visit")
        var scenarios: ScenarioTap?
        if let plan = state.withLock({ $0.scenarios }) {
            scenarios = ScenarioTap(plan: plan, refused: await refused(by: plan.conditional))
        }
        let visit = try await store.recordVisit(
            of: key,
            at: date,
            id: configuration.makeUUID(),
            context,
            scenarios: scenarios
        ) { visit in
            self.updated(.manualVisit)(visit.changed)
            self.deliver(visit.executions, of: visit.changed.member)
        }
        return (visit.changed.member, visit.executions)
    }

    /// Makes a visit count no more, however it was recorded. It stays in the ledger, with the reason.
    ///
    /// - Parameter id: ``Visit/id``, which for a tap is ``ReaderKit/ScanEvent/id``.
    /// - Returns: the member after it.
    /// - Throws: ``ClubError/Kind/noSuchVisit``, also for a visit that was undone before, or whose member
    ///   was deleted since.
    @discardableResult
    public func undoVisit(_ id: UUID, by context: ActionContext) async throws(ClubError) -> Member {
        try await openStore("undo a visit").undoVisit(id, context, committed: updated(.undo))
    }
}
