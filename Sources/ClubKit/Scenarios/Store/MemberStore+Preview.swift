import Foundation
import GRDB

extension MemberStore {
    /// What a visit would bring, found out by making it in a transaction that is taken back.
    func preview(
        _ plan: ScenarioPlan,
        _ refused: Set<String>,
        visitOf userID: String,
        _ id: UUID,
        at time: Int64,
        _ attempt: String
    ) async throws(ClubError) -> [ScenarioDecision] {
        let keys = identifiers(userID)
        do {
            return try await database.writeWithoutTransaction { db in
                var decisions: [ScenarioDecision] = []
                try db.inTransaction(.immediate) {
                    let row = try Self.member(keys, attempt, in: db)
                    let visit = VisitRow(
                        eventID: id,
                        stamp: try self.nextStamp(in: db),
                        at: time,
                        reader: "",
                        backend: "",
                        born: row.origin.time
                    )
                    try self.insertVisit(visit, of: row.id, in: db)
                    let counted = try self.count(row, at: time, in: db) ?? row
                    let tap = ScenarioTap(plan: plan, refused: refused)
                    decisions = try self.attempts(of: tap, for: counted, visit: id, at: time, in: db).map {
                        try $0.scenario.decide($0.attempt, for: $0.state.subject)
                    }
                    return .rollback
                }
                return decisions
            }
        } catch {
            throw ClubError(error, attempting: attempt)
        }
    }
}
