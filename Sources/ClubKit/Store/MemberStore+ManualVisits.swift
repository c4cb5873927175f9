import Foundation
import GRDB

/// Visits that a person records or undoes.
extension MemberStore {
    /// What a visit by hand came to.
    package struct ManualVisit: Sendable {
        var changed: Changed
        /// What scenarios were charged with.
        var executions: [ScenarioExecution]
    }

    /// Counts a visit that no card told of.
    ///
    /// - Parameter scenarios: what it may be charged with if it is the latest of the member: at an earlier one, what later
    ///   ones brought would come again.
    package func recordVisit(
        of key: String,
        at date: Date?,
        id: UUID,
        _ context: ActionContext,
        scenarios: ScenarioTap? = nil,
        committed: @escaping @Sendable (ManualVisit) -> Void
    ) async throws(ClubError) -> ManualVisit {
        let attempt = "record a visit"
        let key = identifiers(key)
        let time = try timeOfVisit(date, attempt)
        return try await write(attempt, committed: committed) { db in
            let row = try Self.member(key, attempt, in: db)
            let changed = try self.insertVisit(id, of: row, at: time, context, attempt, in: db)
            var executions: [ScenarioExecution] = []
            if let scenarios, time >= row.latest, let counted = try Self.row(id: row.id, in: db) {
                executions = try self.charge(scenarios, for: counted, owner: counted, visit: id, at: time, in: db)
            }
            return ManualVisit(changed: changed, executions: executions)
        }
    }

    /// When a visit by hand was: now if nobody says otherwise.
    private func timeOfVisit(_ date: Date?, _ attempt: String) throws(ClubError) -> Int64 {
        guard let time = Timestamp.microseconds(date ?? clock()) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the time is outside the years 1970 to 9999")
        }
        // A day, for clocks that differ.
        guard time <= (Timestamp.microseconds(clock()) ?? 0) + 86_400 * Timestamp.second else {
            let detail = "the time is in the future; a visit is recorded when it was made"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        return time
    }

    private func insertVisit(
        _ id: UUID,
        of row: MemberRow,
        at time: Int64,
        _ context: ActionContext,
        _ attempt: String,
        in db: Database
    ) throws -> Changed {
        let visit = VisitRow(
            eventID: id,
            stamp: try nextStamp(in: db),
            at: time,
            reader: "",
            backend: "",
            born: row.origin.time,
            source: .manual,
            reason: context.reason.map(PlainText.line),
            actor: context.actor.map(PlainText.line)
        )
        try insertVisit(visit, of: row.id, in: db)
        try count(row, at: time, in: db)
        let detail = ["visit": FieldValue.string(id.uuidString)]
        try audit(.recordedVisit, of: row.member.userId, context, detail: detail, in: db)
        return try changed(row.id, attempt, in: db)
    }

    /// Does what an application changed in a record, in one transaction.
    ///
    /// - Parameters:
    ///   - ids: one for each visit that there are more.
    ///   - committed: told of each change after the commit, in their order.
    func apply(
        _ edit: UserEdit,
        ids: [UUID],
        _ context: ActionContext,
        committed: @escaping @Sendable (MembershipUpdateReason, Changed) -> Void
    ) async throws(ClubError) {
        let attempt = "change a member"
        let key = identifiers(edit.userId)
        let time = try timeOfVisit(edit.visitTime, attempt)
        let told: @Sendable ([(reason: MembershipUpdateReason, changed: Changed)]) -> Void = { changes in
            for change in changes { committed(change.reason, change.changed) }
        }
        _ = try await write(attempt, committed: told) { db -> [(reason: MembershipUpdateReason, changed: Changed)] in
            let row = try Self.member(key, attempt, in: db)
            var changes: [(reason: MembershipUpdateReason, changed: Changed)] = []
            var member = row.member
            if let name = edit.username { member.username = name.text }
            member.fields.merge(edit.fields) { $1 }
            if let changed = try self.edit(row, to: member, context, attempt, in: db) {
                changes.append((.edit, changed))
            }
            for id in ids {
                let row = try Self.member(key, attempt, in: db)
                changes.append((.manualVisit, try self.insertVisit(id, of: row, at: time, context, attempt, in: db)))
            }
            guard edit.visits < 0 else { return changes }
            // Undone ones are in between: as many as there are, so far as anybody has come that often.
            let visits = try Self.visits(of: key, limit: 100_000, attempt, in: db).filter(\.counts).prefix(-edit.visits)
            guard visits.count == -edit.visits else {
                let detail = "there are only \(visits.count) visits in the ledger to undo"
                throw ClubError(.invalidValue, attempting: attempt, detail: detail)
            }
            for visit in visits { changes.append((.undo, try self.undo(visit.id, context, attempt, in: db))) }
            return changes
        }
    }

    /// Makes a visit count no more.
    package func undoVisit(
        _ id: UUID,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "undo a visit"
        return try await write(attempt, committed: committed) { db in
            try self.undo(id, context, attempt, in: db)
        }.member
    }

    private func undo(
        _ id: UUID,
        _ context: ActionContext,
        _ attempt: String,
        in db: Database
    ) throws -> Changed {
        // A visit that ended with a deletion counts nowhere already.
        let found = try Int64.fetchOne(
            db,
            sql: """
                SELECT member_id FROM visit JOIN member ON member.id = member_id
                WHERE event_id = ?1 AND born > ended_hlc
                    AND NOT EXISTS (SELECT 1 FROM undo WHERE event_id = ?1)
                """,
            arguments: [id]
        )
        guard let memberID = found, let row = try Self.row(id: memberID, in: db), row.exists else {
            throw ClubError(.noSuchVisit, attempting: attempt)
        }
        let stamp = try self.nextStamp(in: db)
        try db.execute(
            sql: "INSERT INTO undo (event_id, device_id, hlc, at, reason, actor) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                id, stamp.device, stamp.time, Timestamp.microseconds(self.clock()) ?? 0,
                context.reason.map(PlainText.line), context.actor.map(PlainText.line),
            ]
        )
        try self.undoEvents(ofVisit: id, in: db)
        try self.markChanged(memberID, in: db)
        try self.refreshTotals(of: memberID, in: db)
        try self.audit(
            .undidVisit,
            of: row.member.userId,
            context,
            detail: ["visit": .string(id.uuidString)],
            in: db
        )
        return try self.changed(try Self.representative(of: row, in: db).id, attempt, in: db)
    }
}
