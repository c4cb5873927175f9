import Foundation
import GRDB
import ReaderKit

/// Removing visits that are older than what is kept.
///
/// Of each member and device, what the device recorded first goes first, up to the first visit that is not old: it was
/// made and recorded no earlier than the limit. What goes is counted in the member's facts as a ``MemberFacts/Removal``,
/// by device and creation, with the moment up to which it goes: so a device that has the same visits still counts them
/// once, and removes them when the facts reach it. A visit that was undone is not counted, and undoing a visit that was
/// removed changes nothing any more.
extension MemberStore {
    /// How many members are dealt with in one transaction, so that taps can go on in between.
    private static let membersAtOnce = 200

    /// Removes old visits.
    ///
    /// - Parameter receiptsAtOnce: how many receipts are looked at in one transaction.
    /// - Returns: how many.
    package func removeVisits(
        before date: Date,
        _ context: ActionContext,
        receiptsAtOnce: Int = 5000
    ) async throws(ClubError) -> Int {
        let attempt = "remove old visits"
        guard let limit = Timestamp.microseconds(date) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the time is outside the years 1970 to 9999")
        }
        var removed = 0
        var last: Int64 = 0
        while true {
            let start = last
            let part = try await write(attempt) { db in
                let ids = try Int64.fetchAll(
                    db,
                    sql: """
                        SELECT DISTINCT member_id FROM visit
                        WHERE member_id > ?1 AND (at < ?2 OR hlc < ?3) ORDER BY member_id LIMIT ?4
                        """,
                    arguments: [start, limit, limit / 1000 << 16, Self.membersAtOnce]
                )
                let count = try ids.reduce(0) { try $0 + self.removeVisits(of: $1, before: limit, in: db) }
                return (count: count, last: ids.last)
            }
            removed += part.count
            guard let next = part.last else { break }
            last = next
        }
        try await removeReceipts(before: limit, atOnce: receiptsAtOnce, attempt)
        if removed > 0 {
            let count = removed
            try await write(attempt) { db in
                try self.audit(
                    .removedVisits,
                    of: nil,
                    context,
                    detail: ["visits": .int(count), "before": .string(ISO8601.text(date))],
                    in: db
                )
            }
            await forgetLog()
        }
        return removed
    }

    /// Removes old visits of a member.
    private func removeVisits(of id: Int64, before limit: Int64, in db: Database) throws -> Int {
        guard let row = try Self.row(id: id, in: db) else { return 0 }
        let before = try row.facts()
        var facts = before
        let first = SystemValues(before).packs.first?.stamp.time ?? Int64.max
        // What is kept is looked at once for each device, not for each old visit.
        let old = """
            FROM visit LEFT JOIN (
                SELECT device_id AS device, min(hlc) AS first FROM visit INDEXED BY visit_by_member
                WHERE member_id = ?1 AND at >= ?2 AND hlc >= ?3 GROUP BY +device_id
            ) AS kept ON kept.device = visit.device_id
            WHERE member_id = ?1 AND (at < ?2 OR hlc < ?3) AND hlc < coalesce(kept.first, 9223372036854775807)
            """
        let arguments: StatementArguments = [id, limit, limit / 1000 << 16]
        let groups = try Row.fetchAll(
            db,
            sql: """
                SELECT device_id, born, max(hlc), count(*), total(counts), total(counts AND hlc > ?4),
                    max(CASE WHEN counts THEN at ELSE 0 END), max(at)
                FROM (SELECT device_id, born, hlc, at,
                    NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id) AS counts \(old))
                GROUP BY device_id, born
                """,
            arguments: arguments + [first]
        )
        guard !groups.isEmpty else { return 0 }
        // What files counted, and what came on top by then, stays as a claim of its own.
        let latest: Int64 = try groups.map { try $0.value(7) }.max() ?? 0
        for claim in before.claims where claim.at < latest {
            let more = try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM visit WHERE member_id = ? AND at > ? AND at <= ? AND born > ?
                        AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id)
                    """,
                arguments: [id, claim.at, latest, row.ended]
            )
            let (visits, overflow) = claim.visits.addingReportingOverflow(more ?? 0)
            guard !overflow, visits > claim.visits else { continue }
            facts.add(MemberFacts.Claim(visits: visits, at: latest, stamp: claim.stamp))
        }
        var count = 0
        for group in groups {
            let stamp = Stamp(time: try group.value(2), device: try group.value(0))
            let born: Int64 = try group.value(1)
            let rows: Int = try group.value(3)
            let former = before.removals.first { $0.stamp.device == stamp.device && $0.born == born }
            let (visits, overflow) = (former?.visits ?? 0).addingReportingOverflow(Int(try group.value(4) as Double))
            facts.add(
                MemberFacts.Removal(
                    stamp,
                    born: born,
                    visits: overflow ? Int.max : visits,
                    bought: min(former?.bought ?? 0, visits) + Int(try group.value(5) as Double),
                    latest: max(former?.latest ?? 0, try group.value(6))
                )
            )
            count += rows
        }
        try remove(UUID.fetchAll(db, sql: "SELECT event_id \(old)", arguments: arguments), in: db)
        try save(facts, of: id, in: db)
        return count
    }

    /// Removes visits that another device has removed and counted.
    func removeCounted(of id: Int64, _ facts: MemberFacts, in db: Database) throws {
        struct Creation: Hashable {
            var device: UUID
            var born: Int64
        }
        let removed = Dictionary(
            facts.removals.map { (Creation(device: $0.stamp.device, born: $0.born), $0.stamp.time) },
            uniquingKeysWith: max
        )
        var counted: [UUID] = []
        let visits = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT event_id, device_id, born, hlc FROM visit WHERE member_id = ?"),
            arguments: [id]
        )
        while let visit = try visits.next() {
            let creation = Creation(device: try visit.value(1), born: try visit.value(2))
            let time: Int64 = try visit.value(3)
            if let latest = removed[creation], time <= latest { counted.append(try visit.value(0)) }
        }
        try remove(counted, in: db)
    }

    /// Removes visits for good, whoever they were of.
    private func remove(_ ids: [UUID], in db: Database) throws {
        guard !ids.isEmpty else { return }
        try permittingChanges(in: db) {
            for id in ids {
                try emptyMessages(ofTap: id, in: db)
                try db.cachedStatement(
                    sql: "UPDATE receipt SET \(Self.emptiedReceipt) WHERE event_id = ?1"
                ).execute(arguments: [id, Rejection.erased.message])
                try db.cachedStatement(sql: "DELETE FROM visit WHERE event_id = ?").execute(arguments: [id])
                try db.cachedStatement(sql: "DELETE FROM undo WHERE event_id = ?").execute(arguments: [id])
            }
        }
    }

    /// Forgets to whom old taps belonged that were not counted.
    private func removeReceipts(
        before limit: Int64,
        atOnce count: Int,
        _ attempt: String
    ) async throws(ClubError) {
        // The last receipt of one round is where the next begins.
        var last: (at: Int64, id: Data) = (-1, Data())
        while true {
            let start = last
            let next = try await write(attempt) { db -> (at: Int64, id: Data)? in
                let rows = try Row.fetchAll(
                    db.cachedStatement(
                        sql: """
                            SELECT at, event_id, member_id IS NOT NULL
                                AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
                            FROM receipt WHERE (at, event_id) > (?, ?) AND at < ? ORDER BY at, event_id LIMIT ?
                            """
                    ),
                    arguments: [start.at, start.id, limit, count]
                )
                for row in rows where try row.value(2) {
                    try self.emptyMessages(ofTap: try row.value(1), in: db)
                    try db.cachedStatement(sql: "UPDATE receipt SET \(Self.emptiedReceipt) WHERE event_id = ?1")
                        .execute(arguments: [row.value(1) as Data, Rejection.erased.message])
                }
                return try rows.last.map { row in (at: try row.value(0), id: try row.value(1)) }
            }
            guard let next else { return }
            last = next
        }
    }
}
