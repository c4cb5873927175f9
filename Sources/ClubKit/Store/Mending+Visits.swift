import Foundation
import GRDB
import ReaderKit

/// Visits and the receipts of taps, put right from one another.
extension Mending {
    mutating func mendVisitsAndReceipts() throws {
        let sql = """
            SELECT event_id, at, reader, backend, member_id FROM receipt
            WHERE outcome IN ('created', 'visit') AND member_id IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
            """
        let missing = try db.rows(sql)
        for receipt in missing {
            let at: Int64 = try receipt.value(1)
            let id: Int64 = try receipt.value(4)
            guard let member = try db.members.row(id: id) else { continue }
            let time = try freeTime(near: at, of: transaction.device.id, in: "visit")
            let visit = VisitRow(
                eventID: try receipt.value(0),
                stamp: Stamp(time: time, device: transaction.device.id),
                at: at,
                reader: try receipt.value(2),
                backend: try receipt.value(3),
                // What was before the member was deleted does not count again.
                born: time <= member.ended ? time : member.origin.time
            )
            try transaction.ledger.insertVisit(visit, of: id)
            try transaction.observe(time)
            touched.insert(id)
            note("visits that were acknowledged are in the ledger again", 1)
        }
        let isCounted = "EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)"
        let holder = "(SELECT member_id FROM visit WHERE visit.event_id = receipt.event_id)"
        try note([
            "receipts say again that the tap was counted": """
            UPDATE receipt SET outcome = 'visit', reason_code = NULL, reason = NULL
            WHERE outcome NOT IN ('created', 'visit') AND \(isCounted)
            """,
            "receipts name the member of the ledger again":
                "UPDATE receipt SET member_id = \(holder) WHERE member_id IS NOT \(holder) AND \(isCounted)",
        ])
        try note(
            "receipts of taps that are in the ledger were written again",
            changing: """
                INSERT INTO receipt (event_id, at, reader, backend, outcome, member_id, num_visits, last_visit_at)
                SELECT event_id, at, reader, backend, 'visit', member_id,
                    (SELECT count(*) FROM visit AS earlier
                        WHERE earlier.member_id = visit.member_id AND earlier.at <= visit.at), at
                FROM visit WHERE device_id = ? AND source = 'card'
                    AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.event_id = visit.event_id)
                """,
            [transaction.device.id]
        )
        try note(
            "receipts of counted taps remain without a visit and a member",
            isLoss: true,
            changing: """
                UPDATE receipt SET outcome = 'rejected', reason_code = ?, reason = ?, member_id = NULL
                WHERE outcome IN ('created', 'visit') AND NOT \(isCounted)
                """,
            [Rejection.erased.code.rawValue, Rejection.erased.message]
        )
    }
    // MARK: The state of scenarios, and the inbox

    mutating func mendScenarios() throws {
        try note(
            [
                "settlements of executions in no possible state were removed":
                    "DELETE FROM scenario_settlement WHERE state NOT IN ('delivered', 'refunded', 'redeemed')",
                "settlements of executions that are not there were removed":
                    "DELETE FROM scenario_settlement WHERE \(IntegrityQuestion.withoutExecution)",
                "messages that could not be read were removed": "DELETE FROM message WHERE NOT json_valid(content)",
            ],
            isLoss: true
        )
        try note([
            "executions that are not there are not to be delivered any more":
                "DELETE FROM scenario_undelivered WHERE \(IntegrityQuestion.withoutExecution)",
            "executions of scenarios count, or do not, as what became of them says": """
            UPDATE scenario_execution AS e SET counts = (\(IntegrityQuestion.executionCounts))
            WHERE counts IS NOT (\(IntegrityQuestion.executionCounts))
            """,
            "messages wait to be replayed":
                "UPDATE message SET state = 'dead' WHERE state NOT IN ('pending', 'done', 'dead')",
        ])
        // They are counted anew when they are needed.
        try db.execute(sql: "DELETE FROM scenario_count")
    }
}
