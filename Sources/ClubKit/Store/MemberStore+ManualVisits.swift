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
        guard let time = Timestamp.microseconds(date ?? clock()) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the time is outside the years 1970 to 9999")
        }
        // A day, for clocks that differ.
        guard time <= (Timestamp.microseconds(clock()) ?? 0) + 86_400 * Timestamp.second else {
            let detail = "the time is in the future; a visit is recorded when it was made"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        return try await write(attempt, committed: committed) { db in
            let row = try Self.member(key, attempt, in: db)
            let visit = VisitRow(
                eventID: id,
                stamp: try self.nextStamp(in: db),
                at: time,
                reader: "",
                backend: "",
                born: row.origin.time,
                source: .manual,
                reason: context.reason.map(PlainText.line),
                actor: context.actor.map(PlainText.line)
            )
            try self.insertVisit(visit, of: row.id, in: db)
            try self.count(row, at: time, in: db)
            try self.audit(
                .recordedVisit,
                of: row.member.userId,
                context,
                detail: ["visit": .string(id.uuidString)],
                in: db
            )
            var executions: [ScenarioExecution] = []
            if let scenarios, time >= row.latest, let counted = try Self.row(id: row.id, in: db) {
                executions = try self.charge(scenarios, for: counted, owner: counted, visit: id, at: time, in: db)
            }
            return ManualVisit(changed: try self.changed(row.id, attempt, in: db), executions: executions)
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
        }.member
    }
}
