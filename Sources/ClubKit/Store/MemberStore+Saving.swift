import Foundation
import GRDB

/// Where rows of `member` are written, but for what must be fast: a tap, and an import of new members.
extension MemberStore {
    /// How many changes lists may be behind before they have to compare everything.
    package static let keptChanges: Int64 = 10_000

    /// The next moment of this device's clock.
    func nextStamp(in db: Database) throws -> Stamp {
        // The state is in the database, not here, since two processes on one file are one device.
        // The largest counter is that of files (see Stamp.isLegacy(time:)).
        // What is before 1970 or no time at all does not move the clock; what is after 9999 is not believed.
        let now = HybridTimestamp(milliseconds: (Timestamp.microseconds(clock()) ?? 0) / 1000, counter: 0)
        let time: Int64? = try db.first(
            "UPDATE clock SET hlc = max(hlc + 1 + ((hlc + 1) & 65535 = 65535), ?) RETURNING hlc",
            [.integer(now.rawValue)]
        ) { try $0.value(0) }
        guard let time else {
            throw ClubError(.corrupt, attempting: "read the member database", detail: "it has no clock")
        }
        return Stamp(time: time, device: deviceID)
    }

    /// Takes note of other devices' moments, so that what is said here from now on is later.
    func observe(_ time: Int64, in db: Database) throws {
        try db.execute(sql: "UPDATE clock SET hlc = ? WHERE hlc < ?", arguments: [time, time])
    }

    /// Writes down that the shown values of a member are about to change.
    ///
    /// - Returns: the change's number, for `change_seq`.
    func noteChange(of id: Int64, in db: Database) throws -> Int64 {
        try db.run(
            """
            INSERT INTO change (member_id, before) SELECT id, CASE WHEN status = 0 THEN json_array(
                user_id, username, added_at, num_visits, last_visit_at,
                json(CASE WHEN json_valid(fields) THEN fields ELSE '{}' END), blocked, expires_at, visits_left,
                json(CASE WHEN json_valid(tags) THEN tags END)) END
            FROM member WHERE id = ?
            """,
            [.integer(id)]
        )
        return try numberOfChange(in: db)
    }

    /// Writes down that the shown values of a member are about to change, in the journal and in the row.
    func markChanged(_ id: Int64, in db: Database) throws {
        let sequence = try noteChange(of: id, in: db)
        try db.cachedStatement(sql: "UPDATE member SET change_seq = ? WHERE id = ?").execute(arguments: [sequence, id])
    }

    /// Writes down that members with that `change_seq` are about to be there.
    func noteCreations(in db: Database, of id: Int64 = 0) throws -> Int64 {
        try db.cachedStatement(sql: "INSERT INTO change (member_id) VALUES (?)").execute(arguments: [id])
        return try numberOfChange(in: db)
    }

    private func numberOfChange(in db: Database) throws -> Int64 {
        let number = db.lastInsertedRowID
        if number % 1000 == 0 {
            try db.execute(sql: "DELETE FROM change WHERE seq <= ?", arguments: [number - Self.keptChanges])
        }
        return number
    }

    /// Creates a member's row, without visits.
    ///
    /// - Returns: the row's id.
    func insert(_ userID: String, _ facts: MemberFacts, in db: Database) throws -> Int64 {
        var joined: Set<Int64> = []
        let id = try insert(userID, facts, in: db, joined: &joined)
        try refreshJoined(joined, in: db)
        return id
    }

    /// The same, leaving what is summed up to whoever calls it (see ``refreshJoined(_:in:willChange:)``).
    func insert(
        _ userID: String,
        _ facts: MemberFacts,
        in db: Database,
        joined: inout Set<Int64>
    ) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: "INSERT INTO member (user_id, added_at, status, facts) VALUES (?, 0, 1, '{}')"
        )
        try statement.execute(arguments: [userID])
        let id = db.lastInsertedRowID
        try save(facts, of: id, in: db, joined: &joined)
        return id
    }

    /// Writes what was said of a member, and all that follows from it and from the ledger.
    func save(_ facts: MemberFacts, of id: Int64, in db: Database) throws {
        var joined: Set<Int64> = []
        try save(facts, of: id, in: db, joined: &joined)
        try refreshJoined(joined, in: db)
    }

    /// The same, leaving what is summed up to whoever calls it (see ``refreshJoined(_:in:willChange:)``).
    func save(_ facts: MemberFacts, of id: Int64, in db: Database, joined: inout Set<Int64>) throws {
        if facts.erasure != nil, !facts.exists { return try removeErased(facts, of: id, in: db, joined: &joined) }
        let sequence = try noteChange(of: id, in: db)
        let shown = MemberProjection(facts, holder: try Self.holderOfIdentifier(id, in: db))
        let stored = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT merged_into, ended_hlc, user_id FROM member WHERE id = ?"),
            arguments: [id]
        )
        let former: String? = try stored?.optional(0)
        // What ended with an erasure is kept nowhere, also where that is heard of together with a later creation.
        if let stored, let erasure = facts.erasure {
            try forgetVisits(of: id, facts, in: db)
            try forgetScenarios(of: try stored.value(2), as: erasure, in: db)
        }
        let statement = try db.cachedStatement(
            sql: """
                UPDATE member SET username = ?, added_at = ?, fields = ?, status = ?, merged_into = ?, blocked = ?,
                    expires_at = ?, tags = ?, origin_hlc = ?, origin_device = ?, ended_hlc = ?, claim_visits = ?,
                    claim_at = ?, facts = ?, change_seq = ?
                WHERE id = ?
                """
        )
        let status: MemberRow.Status =
            if !shown.exists { .gone } else if shown.mergedInto != nil { .merged } else { .present }
        try statement.execute(arguments: [
            shown.username, shown.addedAt, try MemberRow.json(shown.fields), status.rawValue, shown.mergedInto,
            shown.blocked, shown.expiresAt, try shown.tags.isEmpty ? nil : MemberRow.json(shown.tags),
            shown.origin.time, shown.origin.isLegacy ? nil : shown.origin.device, shown.ended, shown.claimVisits,
            shown.claimAt, try facts.isPlain ? nil : MemberRow.json(facts), sequence, id,
        ])
        try refreshTotals(of: id, in: db, joined: &joined)
        // Whom the member was joined to before has fewer visits now.
        if let former, former != shown.mergedInto, let row = try Self.row(userID: former, in: db) {
            try markChanged(row.id, in: db)
            joined.insert(row.id)
        }
        if let ended: Int64 = try stored?.optional(1), ended != shown.ended {
            try releaseCards(of: id, in: db, joined: &joined)
        }
    }

    /// Lets go of members who were joined to one by a card that was the one's before the deletion.
    private func releaseCards(of id: Int64, in db: Database, joined: inout Set<Int64>) throws {
        let released = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT member.id FROM member AS holder JOIN card ON card.member_key = holder.user_id
                    JOIN member ON member.user_id = card.card_id AND member.merged_into = holder.user_id
                    WHERE holder.id = ? AND holder.ended_hlc >= card.hlc AND member.id <> holder.id
                    """
            ),
            arguments: [id]
        )
        for id in released {
            // Who was joined by a person as well stays so: this writes what follows from the facts.
            guard let row = try Self.row(id: id, in: db), try Self.holderOfIdentifier(id, in: db) == nil else {
                continue
            }
            let facts = try row.facts()
            if SystemValues(facts).mergedInto == nil { try save(facts, of: id, in: db, joined: &joined) }
        }
    }

    /// Says something about a member, and writes what follows from it.
    func change(_ row: MemberRow, in db: Database, _ body: (inout MemberFacts) -> Void) throws {
        let before = try row.facts()
        var facts = before
        body(&facts)
        if facts != before { try save(facts, of: row.id, in: db) }
    }

    // MARK: Totals

    /// Computes a member's totals from facts and ledger. Whoever calls it has noted the change of that member.
    func refreshTotals(of id: Int64, in db: Database) throws {
        var joined: Set<Int64> = []
        try refreshTotals(of: id, in: db, joined: &joined)
        try refreshJoined(joined, in: db)
    }

    /// The same, leaving what is summed up to whoever calls it (see ``refreshJoined(_:in:willChange:)``).
    func refreshTotals(of id: Int64, in db: Database, joined: inout Set<Int64>) throws {
        guard let row = try Self.row(id: id, in: db) else { return }
        let totals = try Self.totals(of: row, in: db)
        let isTarget =
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM member WHERE merged_into = ?)"),
                arguments: [row.member.userId]
            ) ?? false
        var shown = (visits: totals.visits, latest: totals.latest)
        // The visits of others are in the sum until it is computed anew.
        if row.status == .present, isTarget || row.member.numVisits != row.ownVisits {
            let others = max(0, row.member.numVisits &- row.ownVisits)
            let (sum, overflow) = totals.visits.addingReportingOverflow(others)
            shown.visits = overflow ? Int.max : sum
            if row.latest > 0 { shown.latest = max(row.latest, totals.latest ?? 0) }
            joined.insert(id)
        } else if isTarget || row.mergedInto != nil {
            joined.insert(id)
        }
        try db.cachedStatement(
            sql: "UPDATE member SET own_visits = ?, num_visits = ?, last_visit_at = ?, visits_left = ? WHERE id = ?"
        ).execute(arguments: [totals.visits, shown.visits, shown.latest, totals.left, id])
    }

    /// What a member's row comes to by itself.
    struct Totals {
        var visits: Int
        var latest: Int64?
        var left: Int?
    }

    /// So many claims are counted after by a question each.
    private static let fewClaims = 8

    /// The visits after moments that are asked for in their order: one way through the ledger, however many there are.
    private struct LateVisits {
        /// Earliest first.
        private let times: [Int64]
        private var passed = 0

        init(of row: MemberRow, in db: Database) throws {
            times = try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT at FROM visit WHERE member_id = ? AND born > ?
                            AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id)
                        ORDER BY at
                        """
                ),
                arguments: [row.id, row.ended]
            )
        }

        mutating func count(after time: Int64) -> Int {
            while passed < times.count, times[passed] <= time { passed += 1 }
            return times.count - passed
        }
    }

    static func totals(of row: MemberRow, in db: Database) throws -> Totals {
        let facts = try row.facts()
        func count(_ condition: String, _ value: Int64) throws -> Int {
            try Int.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT count(*) FROM visit
                        WHERE member_id = ? AND born > ? AND \(condition) > ?
                            AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id)
                        """
                ),
                arguments: [row.id, row.ended, value]
            ) ?? 0
        }
        let ledger = try count("at", -1)
        var totals = Totals(visits: ledger)
        if !facts.removals.isEmpty {
            let (sum, overflow) = ledger.addingReportingOverflow(facts.removedVisits)
            totals.visits = overflow ? Int.max : sum
        }
        totals.latest = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT max(at) FROM visit WHERE member_id = ? AND born > ?
                        AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id)
                    """
            ),
            arguments: [row.id, row.ended]
        )
        if let removed = facts.latestRemovedVisit { totals.latest = max(totals.latest ?? 0, removed) }
        var late = try facts.claims.count > Self.fewClaims ? LateVisits(of: row, in: db) : nil
        for claim in facts.claims {
            let later = try late?.count(after: claim.at) ?? count("at", claim.at)
            let (sum, overflow) = claim.visits.addingReportingOverflow(later)
            totals.visits = max(totals.visits, overflow ? Int.max : sum)
            totals.latest = max(totals.latest ?? claim.at, claim.at)
        }
        let packs = SystemValues(facts).packs
        if let first = packs.first {
            let bought = packs.reduce(0) { sum, pack in
                let (total, overflow) = sum.addingReportingOverflow(pack.visits)
                return overflow ? Int.max : total
            }
            let removed = facts.removedVisits(boughtSince: first)
            // Neither is negative, so the difference does not overflow.
            totals.left = max(0, max(0, max(0, bought) - max(0, removed)) - (try count("hlc", first.stamp.time)))
        }
        return totals
    }
}
