import Foundation
import GRDB
import ReaderKit

extension MemberStore {
    /// Removes old visits. What is old is looked for outside of all transactions, so that taps go on.
    ///
    /// - Parameter receiptsAtOnce: how many receipts are changed in one transaction.
    /// - Returns: how many.
    package func pruneVisits(
        before date: Date,
        _ context: ActionContext,
        receiptsAtOnce: Int = 400
    ) async throws(ClubError) -> Int {
        let attempt = "remove old visits"
        guard let limit = Timestamp.microseconds(date) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: "the time is outside the years 1970 to 9999")
        }
        let now = device.now
        let (retention, ids) = try await read(attempt) { db in
            let retention = Retention.Limits(limit: limit, now: now, anchors: try db.scenarioAnchors(at: now))
            return (retention, try db.members.withVisits(before: retention))
        }
        var removed = 0
        var rest = ids[...]
        while !rest.isEmpty {
            let part = rest
            let done = try await writePortion(attempt) { transaction in
                let done = try transaction.retention.pruneVisits(of: part, retention)
                if done.visits > 0 {
                    // With what it records, so that nothing is gone without it, whenever the program ends.
                    try transaction.audit(
                        .removedVisits,
                        of: nil,
                        context,
                        detail: ["visits": .int(done.visits), "before": .string(ISO8601.text(date))]
                    )
                }
                return done
            }
            removed += done.visits
            rest = rest.dropFirst(done.members)
        }
        try await removeReceipts(before: limit, atOnce: receiptsAtOnce, attempt)
        try await blurScenarios(before: min(limit, now), retention.anchors.map(\.from), attempt)
        try await forgetChanges(before: limit, attempt)
        if removed > 0 { await forgetLog() }
        return removed
    }

    /// Changes a part of much, and leaves the database to others for as long as that took: another program that waits for
    /// its turn looks for it only now and then.
    func writePortion<Value: Sendable>(
        _ attempt: String,
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws(ClubError) -> Value {
        let start = ContinuousClock.now
        let value = try await write(attempt, body)
        try? await Task.sleep(for: min(ContinuousClock.now - start, .seconds(1)))
        return value
    }

    /// Forgets old taps of members that were not counted.
    private func removeReceipts(before limit: Int64, atOnce count: Int, _ attempt: String) async throws(ClubError) {
        // The last receipt of one round is where the next begins. Those at 0 are forgotten.
        var last: (at: Int64, id: UUID)? = (
            0, UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
        )
        let condition = """
            member_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
            """
        while let start = last {
            let found = try await read(attempt) { db in
                try db.rows(
                    """
                    SELECT at, event_id FROM receipt INDEXED BY receipt_by_time
                    WHERE (at, event_id) > (?, ?) AND at < ? AND \(condition) ORDER BY at, event_id LIMIT ?
                    """,
                    [start.at, start.id, limit, count]
                ).map { row -> (at: Int64, id: UUID) in (try row.value("at"), try row.value("event_id")) }
            }
            last = found.last
            guard !found.isEmpty else { return }
            try await writePortion(attempt) { transaction in
                for receipt in found {
                    let stands = try transaction.db.first(
                        "SELECT 1 FROM receipt WHERE event_id = ? AND \(condition)",
                        [.uuid(receipt.id)]
                    ) { _ in true }
                    guard stands == true else { continue }
                    try transaction.messages.empty(ofTap: receipt.id)
                    try transaction.retention.forgetReceipt(of: receipt.id)
                }
            }
        }
    }

    /// Removes from the list of changes what describes old visits: the values that members showed before. Whoever
    /// follows the list has read them, or reads everything anew.
    private func forgetChanges(before limit: Int64, _ attempt: String) async throws(ClubError) {
        let last = try await read(attempt) { db in
            try db.value(
                "SELECT max(seq) FROM change WHERE json_valid(before) AND before ->> '$[4]' < ?",
                [limit]
            ) as Int64?
        }
        guard let last else { return }
        try await writePortion(attempt) { transaction in
            // The numbers go on, although nothing is left.
            _ = try transaction.members.noteCreations()
            try transaction.db.execute(sql: "DELETE FROM change WHERE seq <= ?", arguments: [last])
        }
    }
}

/// Removing visits that are older than what is kept.
///
/// Of each member and device, what the device recorded first goes first, up to the first visit that is not old: it was
/// made and recorded no earlier than the limit. What goes is counted in the member's facts as a ``MemberFacts/Removal``,
/// by device and creation, with the moment up to which it goes: so a device that has the same visits still counts them
/// once, and removes them when the facts reach it. A visit that was undone is not counted, and undoing a visit that was
/// removed changes nothing any more.
struct Retention {
    let transaction: StoreTransaction

    private var db: Database { transaction.db }

    /// How many members, and how many of their visits, are dealt with in one transaction: a tap waits no longer than for
    /// one of them.
    private static let membersAtOnce = 100

    private static let visitsAtOnce = 400

    /// What a removal goes by.
    fileprivate struct Limits: Sendable {
        /// What is older goes, in microseconds since 1970.
        var limit: Int64
        var now: Int64
        /// The moments from which scenarios count, with the end of the time in which they do.
        var anchors: [(from: Int64, until: Int64)]

        var limitOfClock: Int64 { limit / 1000 << 16 }
    }

    /// Removes old visits of members, as many as are dealt with at once.
    ///
    /// - Returns: how many visits, and of how many members there are no more to remove.
    fileprivate func pruneVisits(of ids: ArraySlice<Int64>, _ retention: Limits) throws -> (visits: Int, members: Int) {
        var done = (visits: 0, members: 0)
        for id in ids.prefix(Self.membersAtOnce) {
            let left = Self.visitsAtOnce - done.visits
            guard left > 0 else { break }
            let count = try pruneVisits(of: id, retention, atMost: left)
            done.visits += count
            if count < left { done.members += 1 }
        }
        return done
    }

    private struct OldVisit {
        var id: UUID
        var creation: Creation
        var hlc: Int64
        var at: Int64
        var counts: Bool

        init(_ row: Row) throws {
            creation = Creation(device: try row.value("device_id"), born: try row.value("born"))
            (id, hlc) = (try row.value("event_id"), try row.value("hlc"))
            (at, counts) = (try row.value("at"), try row.value("counts"))
        }
    }

    private struct Creation: Hashable {
        var device: UUID
        var born: Int64
    }

    /// Removes the first so many old visits of a member, and those of the same moments.
    private func pruneVisits(of id: Int64, _ retention: Limits, atMost most: Int) throws -> Int {
        guard let row = try db.members.row(id: id) else { return 0 }
        // What is kept is looked at once for each device, not for each old visit.
        let sql = """
            WITH old AS MATERIALIZED (
                SELECT event_id, device_id, born, hlc, at, \(VisitRow.isCounted) AS counts
                FROM visit LEFT JOIN (
                    SELECT device_id AS device, min(hlc) AS first FROM visit INDEXED BY visit_by_member
                    WHERE member_id = ?1 AND at >= ?2 AND hlc >= ?3 GROUP BY +device_id
                ) AS kept ON kept.device = visit.device_id
                WHERE member_id = ?1 AND (at < ?2 OR hlc < ?3) AND hlc < coalesce(kept.first, \(Int64.max))
            )
            SELECT * FROM old
            WHERE hlc <= coalesce((SELECT hlc FROM old ORDER BY hlc LIMIT 1 OFFSET ?4), \(Int64.max))
            """
        let old = try db.rows(sql, [id, retention.limit, retention.limitOfClock, most - 1])
        guard !old.isEmpty else { return 0 }
        let groups = Dictionary(grouping: try old.map { try OldVisit($0) }, by: \.creation)
        let before = try row.facts()
        var facts = before
        facts.forgetTallies(until: retention.now)
        let first = SystemValues(before).packs.first?.stamp.time ?? Int64.max
        // What files counted, and what came on top by then, stays as a claim of its own.
        let latest = groups.values.joined().map(\.at).max() ?? 0
        for claim in before.claims where claim.moment.latest < latest {
            let more: Int? = try db.value(
                "SELECT count(*) FROM visit WHERE member_id = ? AND at > ? AND at <= ? AND born > ? AND \(VisitRow.isCounted)",
                [id, claim.moment.latest, latest, row.ended]
            )
            let (visits, overflow) = claim.visits.addingReportingOverflow(more ?? 0)
            guard !overflow, visits > claim.visits else { continue }
            facts.add(MemberFacts.Claim(visits: visits, at: latest, stamp: claim.stamp))
        }
        let anchors = anchors(retention.anchors, facts)
        for (creation, visits) in groups {
            let former = facts.removal(creation.device, born: creation.born)
            let counted = visits.filter(\.counts)
            let total = Int.sum(former?.visits ?? 0, counted.count)
            facts.add(
                MemberFacts.Removal(
                    Stamp(time: visits.map(\.hlc).max() ?? 0, device: creation.device),
                    born: creation.born,
                    visits: total,
                    bought: min(former?.bought ?? 0, total) + counted.count { $0.hlc > first },
                    latest: max(former?.latest ?? 0, counted.map(\.at).max() ?? 0),
                    tallies: tallies(anchors, of: counted.map(\.at), on: former)
                )
            )
        }
        try remove(groups.values.joined().map(\.id))
        try transaction.members.save(facts, of: id)
        return old.count
    }

    /// Removes visits that another device has removed and counted. That device need not know from which moments scenarios
    /// count here, so their numbers are added to the facts first.
    ///
    /// - Parameters:
    ///   - facts: those of both devices.
    ///   - before: those of this device.
    func removeCounted(of id: Int64, _ facts: inout MemberFacts, before: MemberFacts) throws {
        let removed = Dictionary(
            facts.removals.map { (Creation(device: $0.stamp.device, born: $0.born), $0) },
            uniquingKeysWith: { $0.stamp.time > $1.stamp.time ? $0 : $1 }
        )
        var ids: [UUID] = []
        // When the visits were that count.
        var counted: [Creation: [Int64]] = [:]
        let visits = try db.rows(
            "SELECT event_id, device_id, born, hlc, at, \(VisitRow.isCounted) AS counts FROM visit WHERE member_id = ?",
            [id]
        )
        for visit in try visits.map({ try OldVisit($0) }) {
            guard let removal = removed[visit.creation], visit.hlc <= removal.stamp.time else { continue }
            ids.append(visit.id)
            if visit.counts { counted[visit.creation, default: []].append(visit.at) }
        }
        guard !ids.isEmpty else { return }
        let anchors = try anchors(db.scenarioAnchors(at: transaction.device.now), before)
        for (creation, visits) in counted {
            guard var removal = removed[creation] else { continue }
            removal.tallies = tallies(anchors, of: visits, on: before.removal(creation.device, born: creation.born))
            facts.add(removal)
        }
        try remove(ids)
    }

    /// The moments from which scenarios count here, and those of other devices.
    private func anchors(_ own: [(from: Int64, until: Int64)], _ facts: MemberFacts) -> [(from: Int64, until: Int64)] {
        own + facts.removals.flatMap(\.tallies).map { ($0.from, $0.until) }
    }

    /// How many visits lie at or after each moment, on top of those that were removed before.
    private func tallies(
        _ anchors: [(from: Int64, until: Int64)],
        of visits: [Int64],
        on former: MemberFacts.Removal?
    ) -> [MemberFacts.Removal.Tally] {
        anchors.map { from, until in
            let count = Int.sum(former?.visits(since: from) ?? 0, visits.count { $0 >= from })
            return MemberFacts.Removal.Tally(from: from, until: until, visits: count)
        }
    }

    /// Removes visits for good, whoever they were of.
    private func remove(_ ids: [UUID]) throws {
        guard !ids.isEmpty else { return }
        try transaction.permittingChanges {
            for id in ids {
                try transaction.messages.empty(ofTap: id)
                try forgetReceipt(of: id)
                try db.cachedStatement(sql: "DELETE FROM visit WHERE event_id = ?").execute(arguments: [id])
                try db.cachedStatement(sql: "DELETE FROM undo WHERE event_id = ?").execute(arguments: [id])
            }
        }
    }

    /// Leaves of a tap only that it was there, so that it adds nothing when it is submitted again.
    fileprivate func forgetReceipt(of tap: UUID) throws {
        try db.cachedStatement(sql: "UPDATE receipt SET \(Erasing.forgottenReceipt) WHERE event_id = ?1")
            .execute(arguments: [tap, Rejection.erased.message])
    }
}

extension StoredMembers {
    /// Who has visits that are old, found by indexes.
    fileprivate func withVisits(before retention: Retention.Limits) throws -> [Int64] {
        let sql = """
            WITH RECURSIVE device (id) AS (
                SELECT min(device_id) FROM visit
                UNION ALL SELECT (SELECT min(device_id) FROM visit WHERE device_id > device.id)
                FROM device WHERE device.id IS NOT NULL
            )
            SELECT member_id FROM visit INDEXED BY visit_by_time WHERE at < ?1
            UNION SELECT member_id FROM device CROSS JOIN visit INDEXED BY visit_by_device
                ON visit.device_id = device.id AND hlc < ?2
            """
        return try db.values(sql, [retention.limit, retention.limitOfClock])
    }
}

/// Rounding the times of what scenarios did and counted, once it is older than what is kept.
///
/// That something was granted stays, with its number and what became of it, so that it is not granted twice. When it
/// was is rounded up, so that nothing is due earlier: to the end of its day (UTC), but not beyond a moment from which
/// scenarios count. The visit is not named any more. What concerns the kiosk alone names nobody and stays as it is; so
/// does what was not settled, since it is yet to be delivered.
///
/// The moment of the logical clock is rounded as well: up, so that it stays later than a reset before it; down if a reset
/// came after it. A visit that was recorded later than it was made has an old time and a newer moment: each is rounded
/// once it is old itself. A rounded record is put before one that is not (see ``JoinableRecord``), so
/// that devices that have rounded and such that have not come to the same.
extension MemberStore {
    private static let day = Stamp.day

    /// How many records are changed in one transaction.
    private static let recordsAtOnce = 400

    /// ``Stamp/isRounded`` of a column.
    private static func isRounded(_ column: String) -> String {
        "(\(column) & 65535 = 0 AND (\(column) >> 16) % \(day) IN (0, \(day - 1)))"
    }

    /// A moment of a logical clock, rounded up or down within its day.
    private static func rounded(_ column: String, up: String) -> String {
        "((\(column) >> 16) / \(day) * \(day) + iif(\(up), \(day - 1), 0) << 16)"
    }

    /// A time in microseconds, rounded up within its day, up to the next of the moments in `?2`.
    private static let roundedTime = """
        min((at / \(day * 1000) + 1) * \(day * 1000) - 1,
            coalesce((SELECT min(value) - 1 FROM json_each(?2) WHERE value > at), \(Int64.max)))
        """

    private struct Rounding: Sendable {
        var table: String
        var key: String
        /// Which rows are, beside those that are old: a condition of the table.
        var condition: String
        /// What else is changed.
        var changes = ""
        /// What else shows that a row with an old time is not rounded.
        var isOld = ""
        /// Whether a row came after the latest reset.
        var stands = "TRUE"
    }

    private static let roundings = [
        Rounding(
            table: "scenario_execution",
            key: "execution_id",
            condition: """
                kind <> 'kiosk'
                AND EXISTS (SELECT 1 FROM scenario_settlement AS s WHERE s.execution_id = e.execution_id)
                """,
            changes: ", visit = NULL",
            isOld: " OR visit IS NOT NULL",
            stands: IntegrityQuestion.isNotReset
        ),
        Rounding(
            table: "scenario_event",
            key: "event_id",
            condition: "kind <> 'kiosk'",
            changes: ", visit = NULL",
            isOld: " OR visit IS NOT NULL",
            stands: """
                e.hlc > coalesce((SELECT r.hlc FROM scenario_reset AS r WHERE r.kind = e.kind AND r.subject = e.subject
                    AND r.scenario = \(SubjectEvents.resetNameSQL("e.name"))), -1)
                """
        ),
        Rounding(
            table: "scenario_settlement",
            key: "execution_id",
            condition: """
                EXISTS (SELECT 1 FROM scenario_execution AS x WHERE x.execution_id = e.execution_id AND x.kind <> 'kiosk')
                """
        ),
    ]

    /// Rounds the times of days that lie wholly before a limit.
    ///
    /// - Parameters:
    ///   - limit: in microseconds since 1970, no later than the present.
    ///   - anchors: the moments from which scenarios count.
    func blurScenarios(before limit: Int64, _ anchors: [Int64], _ attempt: String) async throws(ClubError) {
        let end = limit / (Self.day * 1000) * Self.day
        let moments = "[\(anchors.map(String.init).joined(separator: ","))]"
        for rounding in Self.roundings {
            let (table, key) = (rounding.table, rounding.key)
            let (oldTime, oldClock) = ("at < \(end * 1000)", "hlc < \(end << 16)")
            let isOld = """
                (\(oldClock) AND NOT \(Self.isRounded("hlc"))
                    OR \(oldTime) AND (at <> \(Self.roundedTime)\(rounding.isOld))) AND \(rounding.condition)
                """
            var last = Data()
            while true {
                let start = last
                let ids = try await read(attempt) { db in
                    try db.values(
                        """
                        SELECT DISTINCT \(key) FROM \(table) AS e WHERE \(key) > ?1 AND \(isOld)
                        ORDER BY \(key) LIMIT \(Self.recordsAtOnce)
                        """,
                        [start, moments]
                    ) as [Data]
                }
                guard let next = ids.last else { break }
                try await writePortion(attempt) { transaction in
                    // What is rounded up is no later than this device's clock.
                    _ = try transaction.nextStamp()
                    for id in ids {
                        let sql = """
                            UPDATE \(table) AS e SET
                                hlc = iif(\(oldClock), \(Self.rounded("hlc", up: rounding.stands)), hlc),
                                at = iif(\(oldTime), \(Self.roundedTime), at)\(rounding.changes)
                            WHERE \(key) = ?1 AND \(isOld)
                            """
                        try transaction.db.write(sql, [id, moments])
                    }
                }
                last = next
            }
        }
    }
}
