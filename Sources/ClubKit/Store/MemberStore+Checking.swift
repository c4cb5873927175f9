import Foundation
import GRDB

extension MemberStore {
    /// Looks for damage and contradictions. An empty list means that all is well.
    ///
    /// It reads one state of the database while taps go on; on a large database it takes as long as reading all of it.
    package func check() async throws(ClubError) -> [IntegrityFinding] {
        let attempt = "check the member database"
        let deviceID = deviceID
        var findings: [IntegrityFinding]
        do {
            findings = try await database.read { db in try Self.findings(deviceID: deviceID, in: db) }
        } catch {
            let error = ClubError(error, attempting: attempt)
            guard error.kind == .corrupt || error.kind == .notADatabase else { throw error }
            findings = [IntegrityFinding(.error, .damaged, error.description)]
        }
        let synchronous = try await synchronousMode()
        if synchronous != 2 {
            findings.append(
                IntegrityFinding(.error, .notDurable, "'PRAGMA synchronous' is \(synchronous), not 2 (FULL)")
            )
        }
        for file in path.map(DatabaseFiles.exposed) ?? [] {
            let name = (file as NSString).lastPathComponent
            findings.append(
                IntegrityFinding(
                    .warning,
                    .permissions,
                    "other users may use '\(name)'; allow its owner only: chmod 600"
                )
            )
        }
        return findings
    }

    private static func findings(deviceID: UUID, in db: Database) throws -> [IntegrityFinding] {
        var findings: [IntegrityFinding] = []
        // One line "ok", or up to 100 lines of what is wrong.
        let lines = try String.fetchAll(db, sql: "PRAGMA integrity_check")
        if lines != ["ok"] {
            let more = lines.count > 1 ? " (and \(lines.count - 1) more)" : ""
            findings.append(IntegrityFinding(.error, .damaged, (lines.first ?? "no answer") + more))
        }
        for row in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check") {
            let table: String = row[0] ?? "?"
            let parent: String = row[2] ?? "?"
            findings.append(
                IntegrityFinding(
                    .error,
                    .danglingReference,
                    "a row of '\(table)' refers to a missing row of '\(parent)'"
                )
            )
        }
        for question in questions {
            let count = try Int.fetchOne(db, sql: question.sql, arguments: question.needsDevice ? [deviceID] : []) ?? 0
            if count > 0 { findings.append(IntegrityFinding(.error, question.code, "\(count) \(question.meaning)")) }
        }
        return findings
    }

    /// A count that is 0 when all is well.
    private struct Question: Sendable {
        var code: IntegrityFinding.Code
        var meaning: String
        var needsDevice = false
        var sql: String
    }

    private static let questions: [Question] = [
        Question(
            code: .totalsDiffer,
            meaning: "members whose totals differ from the ledger",
            sql: """
                SELECT count(*) FROM member LEFT JOIN
                    (SELECT member_id, count(*) AS visits, max(at) AS latest FROM visit GROUP BY member_id) AS ledger
                    ON ledger.member_id = member.id
                WHERE num_visits IS NOT coalesce(visits, 0) OR last_visit_at IS NOT latest
                """
        ),
        Question(
            code: .duplicateEvent,
            meaning: "taps that were counted more than once",
            sql: "SELECT count(*) FROM (SELECT 1 FROM visit GROUP BY event_id HAVING count(*) > 1)"
        ),
        Question(
            code: .visitWithoutMember,
            meaning: "visits of members who are not there",
            sql: "SELECT count(*) FROM visit WHERE NOT EXISTS (SELECT 1 FROM member WHERE id = member_id)"
        ),
        Question(
            code: .receiptMismatch,
            meaning: "taps that were acknowledged as counted and are not in the ledger as that",
            sql: """
                SELECT count(*) FROM receipt LEFT JOIN visit USING (event_id)
                WHERE outcome IN ('created', 'visit') AND visit.member_id IS NOT receipt.member_id
                    OR outcome IN ('repeat', 'ignored', 'rejected') AND visit.id IS NOT NULL
                """
        ),
        Question(
            code: .receiptMismatch,
            meaning: "visits of this device without the receipt of a tap",
            needsDevice: true,
            sql: """
                SELECT count(*) FROM visit
                WHERE device_id = ? AND NOT EXISTS (SELECT 1 FROM receipt WHERE receipt.event_id = visit.event_id)
                """
        ),
        Question(
            code: .clockOrder,
            meaning: "visits of this device whose logical time is not later than that of the visit before",
            needsDevice: true,
            sql: """
                SELECT count(*) FROM (SELECT hlc, lag(hlc) OVER (ORDER BY id) AS before FROM visit WHERE device_id = ?)
                WHERE hlc <= before
                """
        ),
        Question(
            code: .malformedFields,
            meaning: "members whose custom fields are no JSON object",
            sql: """
                SELECT count(*) FROM member
                WHERE CASE WHEN json_valid(fields) THEN json_type(fields) <> 'object' ELSE 1 END
                """
        ),
        Question(
            code: .ledgerUnlocked,
            meaning: "rows that leave changes to the ledger allowed",
            sql: "SELECT count(*) FROM ledger_permit"
        ),
    ]
}
