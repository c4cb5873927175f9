import Dispatch
import Foundation

/// Members: looking them up and changing them.
///
/// Every method that changes something returns when that is on disk; ``Club/events`` and the delegate are notified
/// after the commit. A `key` is a member's ``Member/userId`` or any of their cards.
extension Club {
    // MARK: Looking up

    /// Returns a member by ``MembershipUser/userId``, as a copy in the class of
    /// ``setCustomMembershipUser(classType:)``; `nil` if absent. It reads the database on the calling thread.
    ///
    /// - Throws: ``ClubError``, ``ClubError/Kind/unreadableRecord`` if the custom class does not accept the record.
    public func getUser(with userId: String) throws(ClubError) -> MembershipUser? {
        try memberNow(withUserID: userId).map { member throws(ClubError) in try user(from: member) }
    }

    /// A member by ``Member/userId`` or any of their cards, read on the calling thread; `nil` if absent.
    package func memberNow(withUserID userID: String) throws(ClubError) -> Member? {
        try openStore("look up a member").memberNow(withUserID: userID)
    }

    func user(from member: Member) throws(ClubError) -> MembershipUser { try userClass.object(of: member) }

    /// Returns a member by ``Member/userId`` or any of their cards; `nil` if absent.
    public func member(withUserID userID: String) async throws(ClubError) -> Member? {
        try await openStore("look up a member").member(withUserID: userID)
    }

    /// Returns all members in the given order.
    public func members(sortedBy order: MemberOrder = .insertion) async throws(ClubError) -> [Member] {
        try await openStore("list the members").members(sortedBy: order)
    }

    /// The number of members.
    public func memberCount() async throws(ClubError) -> Int { try await openStore("count the members").memberCount() }

    /// Returns the number of counted visits since a moment, those without undone ones and those of deleted members.
    public func visitCount(since date: Date) async throws(ClubError) -> Int {
        try await openStore("count the visits").visitCount(since: date)
    }

    /// Returns a member with cards, notes, tags and limits; `nil` if absent.
    public func details(of key: String) async throws(ClubError) -> MemberDetails? {
        try await openStore("look up a member").details(of: key)
    }

    /// The audit log of a member, newest first, at most `limit` entries; without a member, that of the whole club.
    public func auditLog(of key: String? = nil, limit: Int = 1000) async throws(ClubError) -> [AuditEntry] {
        try await openStore("read the audit log").auditLog(of: key, limit: max(0, limit))
    }

    /// The former values of a member's name, custom fields and notes, the most recently replaced first.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    public func formerValues(of key: String, limit: Int = 1000) async throws(ClubError) -> [FormerValue] {
        try await openStore("list a member's former values").formerValues(of: key, limit: max(0, limit))
    }

    // MARK: Changing

    /// Adds a member without visits: ``Member/numVisits`` is 0. Totals and times in `member` are ignored.
    ///
    /// - Throws: ``ClubError/Kind/memberExists``, ``ClubError/Kind/invalidValue`` for an unusable identifier.
    @discardableResult
    public func add(_ member: Member, by context: ActionContext = ActionContext()) async throws(ClubError) -> Member {
        try await openStore("add a member").add(member, context) { self.publish(.added($0.member, at: $0.at)) }
    }

    /// Changes a member's name and custom fields. Other changes of the closure are ignored.
    ///
    /// - Parameter changes: called with the current member, outside any transaction, and again if the member was
    ///   changed meanwhile.
    /// - Throws: ``ClubError/Kind/noSuchMember``, ``ClubError/Kind/busy`` if the member keeps being changed by others.
    @discardableResult
    public func update(
        _ key: String,
        by context: ActionContext = ActionContext(),
        _ changes: @escaping @Sendable (inout Member) -> Void
    ) async throws(ClubError) -> Member {
        try await openStore("change a member").update(key, context, committed: updated(.edit), changes)
    }

    /// Deletes a member. Merging an older record of the member later does not restore it.
    ///
    /// - Returns: the deleted member.
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    @discardableResult
    public func delete(_ key: String, by context: ActionContext = ActionContext()) async throws(ClubError) -> Member {
        try await openStore("delete a member").delete(key, context) { self.publish(.deleted($0.member, at: $0.at)) }
    }

    /// Blocks a member: taps are rejected, with the reason. Without a reason, that of an earlier block stays.
    @discardableResult
    public func block(_ key: String, by context: ActionContext) async throws(ClubError) -> Member {
        let reason = PlainText.line(context.reason ?? "")
        return try await set([SystemValues.Name.blocked: .string(reason)], key, .blocked, context)
    }

    /// Unblocks a member.
    @discardableResult
    public func unblock(_ key: String, by context: ActionContext = ActionContext()) async throws(ClubError) -> Member {
        try await set([SystemValues.Name.blocked: .null], key, .unblocked, context)
    }

    /// Sets when the membership ends, from when on taps are rejected; `nil` for no end.
    @discardableResult
    public func setExpiry(
        of key: String,
        to date: Date?,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        let time = try date.map { date throws(ClubError) in try moment(date, "set the end of a membership") }
        let value = time.map { FieldValue.int(Int($0)) } ?? .null
        return try await set([SystemValues.Name.expires: value], key, .setExpiry, context)
    }

    /// Adds visits that the member bought. Once none are left, taps are rejected.
    ///
    /// - Parameter visits: 1 to 1 000 000.
    @discardableResult
    public func sellVisits(
        _ visits: Int,
        to key: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await openStore("sell visits").sellVisits(visits, to: key, context, committed: updated(.edit))
    }

    /// Removes a member's limit on visits.
    @discardableResult
    public func removeVisitLimit(
        of key: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await openStore("sell visits").sellVisits(nil, to: key, context, committed: updated(.edit))
    }

    /// Replaces the notes on a member; they may have several lines.
    @discardableResult
    public func setNotes(
        _ notes: String,
        on key: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await set([SystemValues.Name.notes: .string(notes)], key, .noted, context)
    }

    /// Replaces a member's tags. Empty tags and duplicates are omitted. Concurrent changes of other tags on another
    /// device stay.
    @discardableResult
    public func setTags(
        _ tags: [String],
        of key: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await openStore("change a member").setTags(.all(tags), of: key, context, committed: updated(.edit))
    }

    /// Adds tags to a member and removes tags; the others stay. If two devices change the same tag, the later change
    /// wins. Empty tags are omitted, and a tag in both lists is added.
    @discardableResult
    public func changeTags(
        of key: String,
        adding added: [String],
        removing removed: [String] = [],
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await openStore("change a member")
            .setTags(.some(added: added, removed: removed), of: key, context, committed: updated(.edit))
    }

    private func set(
        _ values: [String: FieldValue],
        _ key: String,
        _ action: AuditEntry.Action,
        _ context: ActionContext
    ) async throws(ClubError) -> Member {
        try await openStore("change a member").set(values, of: key, action, context, committed: updated(.edit))
    }

    func updated(_ reason: MembershipUpdateReason) -> @Sendable (MemberStore.Changed) -> Void {
        { self.publish(.updated($0.member, reason, at: $0.at)) }
    }

    // MARK: Cards

    /// Adds a card to a member.
    ///
    /// - Throws: ``ClubError/Kind/memberExists`` if the card belongs to another member.
    @discardableResult
    public func addCard(
        _ card: String,
        to key: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await openStore("change a card")
            .setCard(card, of: key, blocked: nil, .addedCard, context, committed: updated(.edit))
    }

    /// Blocks one card of a member, whose taps are then rejected. The member's other cards stay usable.
    @discardableResult
    public func blockCard(_ card: String, by context: ActionContext) async throws(ClubError) -> Member {
        try await openStore("change a card")
            .setCard(card, of: card, blocked: context.reason ?? "", .blockedCard, context, committed: updated(.edit))
    }

    /// Unblocks a card.
    @discardableResult
    public func unblockCard(
        _ card: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await openStore("change a card")
            .setCard(card, of: card, blocked: nil, .unblockedCard, context, committed: updated(.edit))
    }

    /// Replaces a lost card of a member, which is blocked.
    ///
    /// - Throws: ``ClubError/Kind/memberExists`` if the new card belongs to another member.
    @discardableResult
    public func replaceCard(
        _ old: String,
        with new: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Member {
        try await openStore("replace a card").replaceCard(old, by: new, context, committed: updated(.edit))
    }

    /// Merges two members who are the same person: all identifiers of `key` then lead to `target`, who has the visits
    /// of both.
    ///
    /// What is known of the merged member is carried over: a block, if the target is not blocked; the end of the
    /// membership, if the target has none; visits left, added, if the target's are limited; tags; and notes, on a new
    /// line. The target's name, custom fields, end of the membership and unlimited visits stay. The report lists what
    /// was carried over and what was not.
    ///
    /// It is carried over once: later changes to the merged member, by a kiosk that does not know of the merge, do not
    /// affect the target. If two kiosks merge the same two members before they exchange records, both add the visits
    /// left.
    @discardableResult
    public func mergeMember(
        _ key: String,
        into target: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> JoinReport {
        try await openStore("merge two members").mergeMember(key, into: target, context, committed: updated(.merge))
    }
}

/// Merging members into the club, and finding those who are there twice.
extension Club {
    /// Merges members that an application holds, such as those of
    /// ``ClubMiddlewareDelegate/club(_:didReceiveImported:)``.
    ///
    /// The values count as of the member's latest visit, like the rows of a file: merging the same or older records
    /// again changes nothing. After the commit ``ClubMiddlewareDelegate/club(_:didUpdateMembership:)`` is called once
    /// for each changed member; created members are reported only by ``ClubEvent/merged(_:at:)``.
    ///
    /// - Parameters:
    ///   - members: the members with their totals and times, merged in one transaction.
    ///   - mode: how existing members are treated.
    ///   - dryRun: whether only to report what would change.
    ///   - context: who merges, for the audit log.
    @discardableResult
    public func merge(
        _ members: [Member],
        mode: MergeMode = .merge,
        dryRun: Bool = false,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> MergeReport {
        let store = try openStore("merge members")
        return try await Self.merging.run { () throws(ClubError) in
            var report = MergeReport(dryRun: dryRun)
            let sink = try StoreImportSink(store, mode: mode, dryRun: dryRun, context) { self.publish(merged: $0) }
            let rows = members.enumerated().map { ImportedMember($1, row: $0 + 1) }
            let verdicts = Result { () throws(ClubError) in try sink.apply(rows) }
            let finished = Result { () throws(ClubError) in try sink.finish() }
            for (row, verdict) in zip(rows, try verdicts.get()) { report.count(verdict, of: row.userId, row: row.row) }
            try finished.get()
            if !dryRun { self.publish(.merged(report, at: self.configuration.clock())) }
            return report
        }
    }

    /// Merging blocks, so it has a queue of its own.
    private static let merging = DispatchQueue(label: "club.merging")

    /// Reports members who were there and whom a merge has changed or deleted.
    func publish(merged members: [MergedMember]) {
        for one in members {
            publish(one.isDeleted ? .deleted(one.member, at: one.at) : .updated(one.member, .merge, at: one.at))
        }
    }

    // MARK: Duplicates

    /// Returns pairs of members who may be the same person, the most likely first, for a person to review and pass to
    /// ``mergeMember(_:into:by:)`` or ``dismissDuplicate(_:_:by:)``. It reads all members.
    ///
    /// - Parameter limit: the maximum number of pairs.
    public func duplicates(limit: Int = 1000) async throws(ClubError) -> [DuplicatePair] {
        try await openStore("look for duplicates").duplicates(limit: max(0, limit))
    }

    /// Records that two members are different persons, so that ``duplicates(limit:)`` omits the pair, here and on
    /// devices that merge with this one.
    ///
    /// - Returns: whether this is new; otherwise nothing is written.
    @discardableResult
    public func dismissDuplicate(
        _ key: String,
        _ other: String,
        by context: ActionContext = ActionContext()
    ) async throws(ClubError) -> Bool {
        let attempt = "dismiss a duplicate"
        let store = try openStore(attempt)
        let (key, other) = (store.device.identifiers(key), store.device.identifiers(other))
        return try await store.write(attempt) { transaction in
            let members = transaction.db.members
            let (first, second) = MemberStore.ordered(
                try members.member(key, attempt),
                try members.member(other, attempt)
            )
            guard first.id != second.id else {
                throw ClubError(.invalidValue, attempting: attempt, detail: "both are the same member")
            }
            guard try !MemberStore.areDistinct(first, second) else { return false }
            let stamp = try transaction.nextStamp()
            let (userID, otherID) = (first.member.userId, second.member.userId)
            // A fact, so that it merges.
            try transaction.members.change(first) {
                $0.set(MemberStore.distinction(userID, from: otherID), .bool(true), stamp)
            }
            try transaction.audit(.edited, of: userID, context, detail: ["distinctFrom": .string(otherID)])
            return true
        }
    }
}
