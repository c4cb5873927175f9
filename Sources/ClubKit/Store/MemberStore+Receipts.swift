import Foundation
import GRDB
import ReaderKit

extension MemberStore {
    /// Keeps what became of a tap, with the member's totals as they are now.
    static func insert(_ receipt: Receipt, memberID: Int64?, in db: Database) throws {
        try db.run(
            """
            INSERT INTO receipt (event_id, at, reader, backend, outcome, reason_code, reason, notices, member_id,
                num_visits, last_visit_at)
            SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT num_visits FROM member WHERE id = ?9),
                (SELECT last_visit_at FROM member WHERE id = ?9)
            """,
            [
                .uuid(receipt.eventID), .integer(Timestamp.microseconds(receipt.at) ?? 0), .text(receipt.reader),
                .text(receipt.backend.rawValue), .text(receipt.outcome.name),
                .optional(receipt.outcome.reason?.code.rawValue), .optional(receipt.outcome.reason?.message),
                try receipt.notices.isEmpty ? .null : .text(MemberRow.json(receipt.notices)), .optional(memberID),
            ]
        )
    }

    /// Lets a receipt tell the totals of the member whom the one whose tap it was is a part of.
    static func tellTotals(of row: MemberRow, in eventID: UUID, in db: Database) throws {
        try db.run(
            "UPDATE receipt SET num_visits = ?, last_visit_at = ? WHERE event_id = ?",
            [.integer(Int64(row.member.numVisits)), row.latest == 0 ? .null : .integer(row.latest), .uuid(eventID)]
        )
    }

    /// The receipt of a tap that was seen before, with the member's totals as they were right after it.
    static func receipt(_ eventID: UUID, in db: Database) throws -> Receipt? {
        let sql = """
            SELECT at, reader, backend, outcome, reason_code, reason, notices, member_id, num_visits, last_visit_at
            FROM receipt WHERE event_id = ?
            """
        return try db.first(sql, [.uuid(eventID)]) { try receipt(eventID, $0, in: db) }
            ?? receiptOfMergedVisit(eventID, in: db)
    }

    private static func receipt(_ eventID: UUID, _ row: StatementRow, in db: Database) throws -> Receipt {
        guard
            let backend = BackendKind(rawValue: try row.value(2)),
            let outcome = Receipt.Outcome(
                name: try row.value(3),
                code: try row.optional(4),
                message: try row.optional(5)
            )
        else {
            throw ClubError(.corrupt, attempting: "read the receipt of a tap", detail: "a value has no meaning")
        }
        var receipt = Receipt(
            eventID: eventID,
            at: Timestamp.date(try row.value(0)),
            reader: try row.value(1),
            backend: backend,
            outcome: outcome
        )
        if let notices: String = try row.optional(6) {
            receipt.notices = (try? JSONDecoder().decode([Receipt.Notice].self, from: Data(notices.utf8))) ?? []
        }
        if let memberID: Int64 = try row.optional(7), let owner = try Self.row(id: memberID, in: db) {
            var member = try (owner.exists ? representative(of: owner, in: db) : owner).member
            member.numVisits = try row.optional(8) ?? 0
            let latest: Int64? = try row.optional(9)
            member.timeStampOfLastVisit = latest.map(Timestamp.seconds) ?? 0
            receipt.member = member
        }
        if receipt.outcome.isCounted { receipt.executions = try executions(at: eventID, in: db) }
        return receipt
    }
}

extension Receipt.Outcome {
    /// The outcome as the store keeps it.
    fileprivate init?(name: String, code: String?, message: String?) {
        let reason = code.flatMap(Receipt.Reason.Code.init(rawValue:)).map { Receipt.Reason($0, message ?? "") }
        switch (name, reason) {
        case ("created", _): self = .created
        case ("visit", _): self = .visit
        case ("repeat", _): self = .repeat
        case ("ignored", let reason?): self = .ignored(reason)
        case ("rejected", let reason?): self = .rejected(reason)
        default: return nil
        }
    }
}
