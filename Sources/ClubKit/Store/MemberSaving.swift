import Foundation
import GRDB

/// Writes the rows of members, but for what must be fast: a tap, and an import of new members.
struct MemberSaving {
    let transaction: StoreTransaction

    private var db: Database { transaction.db }

    /// How many changes lists may be behind before they have to compare everything.
    private static let keptChanges: Int64 = 10_000

    /// Writes down that the shown values of a member are about to change.
    ///
    /// - Returns: the change's number, for `change_seq`.
    func noteChange(of id: Int64) throws -> Int64 {
        let sql = """
            INSERT INTO change (member_id, before) SELECT id, CASE WHEN status = 0 THEN json_array(
                user_id, username, added_at, num_visits, last_visit_at,
                json(CASE WHEN json_valid(fields) THEN fields ELSE '{}' END), blocked, expires_at, visits_left,
                json(CASE WHEN json_valid(tags) THEN tags END)) END
            FROM member WHERE id = ?
            """
        try db.run(sql, [.integer(id)])
        return try numberOfChange()
    }

    /// Writes down that the shown values of a member are about to change, in the journal and in the row.
    func markChanged(_ id: Int64) throws {
        let sequence = try noteChange(of: id)
        try db.cachedStatement(sql: "UPDATE member SET change_seq = ? WHERE id = ?").execute(arguments: [sequence, id])
    }

    /// Writes down that members with that `change_seq` are about to be there.
    func noteCreations() throws -> Int64 {
        try db.run("INSERT INTO change (member_id) VALUES (0)", [])
        return try numberOfChange()
    }

    private func numberOfChange() throws -> Int64 {
        let number = db.lastInsertedRowID
        if number % 1000 == 0 {
            try db.execute(sql: "DELETE FROM change WHERE seq <= ?", arguments: [number - Self.keptChanges])
        }
        return number
    }

    /// Creates a member's row, without visits; returns the row's id.
    func insert(_ userID: String, _ facts: MemberFacts) throws -> Int64 {
        try refreshingJoined { try insert(userID, facts, joined: &$0) }
    }

    /// Does something, and then what it leaves to ``refreshJoined(_:willChange:)``.
    private func refreshingJoined<Value>(_ body: (inout Set<Int64>) throws -> Value) throws -> Value {
        var joined: Set<Int64> = []
        let value = try body(&joined)
        try refreshJoined(joined)
        return value
    }

    /// The same, leaving what is summed up to whoever calls it (see ``refreshJoined(_:willChange:)``).
    func insert(_ userID: String, _ facts: MemberFacts, joined: inout Set<Int64>) throws -> Int64 {
        try db.write("INSERT INTO member (user_id, added_at, status, facts) VALUES (?, 0, 1, '{}')", [userID])
        let id = db.lastInsertedRowID
        try save(facts, of: id, joined: &joined)
        return id
    }

    /// Creates the row of a member whom it describes completely, and who has no visits in the ledger.
    func insertPlain(_ userID: String, _ facts: MemberFacts, _ sequence: Int64) throws -> Int64 {
        let claim = facts.claims.first
        let origin = facts.born
        let sql = """
            INSERT INTO member (user_id, username, added_at, num_visits, own_visits, last_visit_at, fields, origin_hlc,
                origin_device, claim_visits, claim_at, change_seq)
            VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?5, ?10)
            """
        try db.cachedStatement(sql: sql).execute(arguments: [
            userID, facts.username, facts.addedAt ?? 0, claim?.visits ?? 0, claim?.at,
            try facts.fields.isEmpty ? "{}" : MemberRow.json(facts.fields),
            origin?.time ?? 0, origin.flatMap { $0.isLegacy ? nil : $0.device }, claim?.visits, sequence,
        ])
        return db.lastInsertedRowID
    }

    /// Writes the facts of a member, and all that follows from them and from the ledger.
    func save(_ facts: MemberFacts, of id: Int64) throws {
        try refreshingJoined { try save(facts, of: id, joined: &$0) }
    }

    /// The same, leaving what is summed up to whoever calls it (see ``refreshJoined(_:willChange:)``).
    func save(_ facts: MemberFacts, of id: Int64, joined: inout Set<Int64>) throws {
        if facts.erasure != nil, !facts.exists {
            return try transaction.erasing.removeErased(facts, of: id, joined: &joined)
        }
        let sequence = try noteChange(of: id)
        let shown = MemberProjection(facts, holder: try db.members.holderOfIdentifier(id))
        let stored = try db.row("SELECT merged_into, ended_hlc, user_id FROM member WHERE id = ?", [id])
        let former: String? = try stored?.optional("merged_into")
        // What ended with an erasure is kept nowhere, also where that is learnt of together with a later creation.
        if let stored, let erasure = facts.erasure {
            try transaction.erasing.forgetVisits(of: id, facts)
            try transaction.events.forget(of: try stored.value("user_id"), as: erasure)
        }
        let sql = """
            UPDATE member SET username = ?, added_at = ?, fields = ?, status = ?, merged_into = ?, blocked = ?,
                expires_at = ?, tags = ?, origin_hlc = ?, origin_device = ?, ended_hlc = ?, claim_visits = ?,
                claim_at = ?, facts = ?, change_seq = ?
            WHERE id = ?
            """
        let status: MemberRow.Status =
            if !shown.exists { .gone } else if shown.mergedInto != nil { .merged } else { .present }
        try db.cachedStatement(sql: sql).execute(arguments: [
            shown.username, shown.addedAt, try MemberRow.json(shown.fields), status.rawValue, shown.mergedInto,
            shown.blocked, shown.expiresAt, try shown.tags.isEmpty ? nil : MemberRow.json(shown.tags),
            shown.origin.time, shown.origin.isLegacy ? nil : shown.origin.device, shown.ended, shown.claimVisits,
            shown.claimAt, try facts.isPlain ? nil : MemberRow.json(facts), sequence, id,
        ])
        try refreshTotals(of: id, joined: &joined)
        // Whom the member was joined to before has fewer visits now.
        if let former, former != shown.mergedInto, let row = try db.members.row(userID: former) {
            try markChanged(row.id)
            joined.insert(row.id)
        }
        if let ended: Int64 = try stored?.optional("ended_hlc"), ended != shown.ended {
            try releaseCards(of: id, joined: &joined)
        }
    }

    /// Lets go of members who were joined to one by a card that was the one's before the deletion.
    private func releaseCards(of id: Int64, joined: inout Set<Int64>) throws {
        let sql = """
            SELECT member.id FROM member AS holder JOIN card ON card.member_key = holder.user_id
            JOIN member ON member.user_id = card.card_id AND member.merged_into = holder.user_id
            WHERE holder.id = ? AND holder.ended_hlc >= card.hlc AND member.id <> holder.id
            """
        let released: [Int64] = try db.values(sql, [id])
        for id in released {
            // Who was joined by a person as well stays so: this writes what follows from the facts.
            guard let row = try db.members.row(id: id), try db.members.holderOfIdentifier(id) == nil else { continue }
            let facts = try row.facts()
            if SystemValues(facts).mergedInto == nil { try save(facts, of: id, joined: &joined) }
        }
    }

    /// Changes the facts of a member, and writes what follows from them.
    func change(_ row: MemberRow, _ body: (inout MemberFacts) -> Void) throws {
        let before = try row.facts()
        var facts = before
        body(&facts)
        if facts != before { try save(facts, of: row.id) }
    }

    /// Makes a member's name and custom fields those of another record; returns `nil` if they were so already.
    func edit(_ row: MemberRow, to member: Member, _ context: ActionContext, _ attempt: String) throws -> MemberStore
        .Changed?
    {
        let said = Self.changes(from: row.member, to: member)
        try said.refuseNUL(attempting: attempt)
        guard !said.isEmpty else { return nil }
        let stamp = try transaction.nextStamp()
        try change(row) { facts in
            for (name, value) in said { facts.set(name, value, stamp) }
        }
        let names = said.keys.sorted().map { FieldValue.string($0) }
        try transaction.audit(.edited, of: row.member.userId, context, detail: ["fields": .array(names)])
        return try transaction.changed(row.id, attempt)
    }

    /// The name and the custom fields that are others than they were, as they are kept.
    private static func changes(from before: Member, to after: Member) -> [String: FieldValue] {
        var said: [String: FieldValue] = [:]
        let name = after.username.map(PlainText.line)
        if name != before.username { said["username"] = name.map { .string($0) } ?? .null }
        for name in Set(after.fields.keys).union(before.fields.keys) where FieldKey.isCustom(name) {
            let value = (after.fields[name] ?? .null).normalized
            if value != (before.fields[name] ?? .null).normalized { said[name] = value }
        }
        return said
    }

    func setCard(_ card: String, of userID: String, blocked: String?) throws {
        let stamp = try transaction.nextStamp()
        let sql = "REPLACE INTO card (card_id, member_key, blocked, hlc, device_id) VALUES (?, ?, ?, ?, ?)"
        try db.execute(sql: sql, arguments: [card, userID, blocked.map(PlainText.line), stamp.time, stamp.device])
        // Somebody who had that identifier is one with the holder of the card now.
        if card != userID, let row = try db.members.row(userID: card) { try save(row.facts(), of: row.id) }
    }

    // MARK: Totals

    /// Computes a member's totals from facts and ledger. Whoever calls it has noted the change of that member.
    func refreshTotals(of id: Int64) throws {
        try refreshingJoined { try refreshTotals(of: id, joined: &$0) }
    }

    /// The same, leaving what is summed up to whoever calls it (see ``refreshJoined(_:willChange:)``).
    func refreshTotals(of id: Int64, joined: inout Set<Int64>) throws {
        guard let row = try db.members.row(id: id) else { return }
        let totals = try db.members.totals(of: row)
        let isTarget = try db.members.isTarget(row.member.userId)
        var shown = (visits: totals.visits, latest: totals.latest)
        // The visits of others are in the sum until it is computed anew.
        if row.status == .present, isTarget || row.member.numVisits != row.ownVisits {
            shown.visits = Int.sum(totals.visits, max(0, row.member.numVisits &- row.ownVisits))
            if row.latest > 0 { shown.latest = max(row.latest, totals.latest ?? 0) }
            joined.insert(id)
        } else if isTarget || row.mergedInto != nil {
            joined.insert(id)
        }
        try db.cachedStatement(
            sql: "UPDATE member SET own_visits = ?, num_visits = ?, last_visit_at = ?, visits_left = ? WHERE id = ?"
        ).execute(arguments: [totals.visits, shown.visits, shown.latest, totals.left, id])
    }

    /// Counts the visits of joined members for those whom they were joined to.
    ///
    /// It looks at all who are connected, so whoever changes many in one transaction calls it once, at the end.
    ///
    /// - Parameters:
    ///   - ids: the rows that were written, whose changes have been noted.
    ///   - willChange: called with each row that is about to change.
    func refreshJoined(_ ids: Set<Int64>, willChange: (MemberRow) throws -> Void = { _ in }) throws {
        var done: Set<Int64> = []
        for id in ids.sorted() where !done.contains(id) {
            guard let row = try db.members.row(id: id) else { continue }
            let rows = try db.members.connected(to: row)
            done.formUnion(rows.map(\.id))
            for (one, sum) in zip(rows, try db.members.joinedTotals(of: rows)) where one.exists {
                if sum.status == one.status, sum.visits == one.member.numVisits, sum.latest == one.latest { continue }
                try willChange(one)
                if !ids.contains(one.id) { try markChanged(one.id) }
                try db.cachedStatement(
                    sql: "UPDATE member SET status = ?, num_visits = ?, last_visit_at = ? WHERE id = ?"
                ).execute(arguments: [sum.status.rawValue, sum.visits, sum.latest == 0 ? nil : sum.latest, one.id])
            }
        }
    }
}

/// What a member's row shows of the facts, apart from what follows from the ledger.
struct MemberProjection: Equatable {
    var username: String?
    /// Microseconds since 1970.
    var addedAt: Int64
    var fields: [String: FieldValue]
    var exists: Bool
    var mergedInto: String?
    var blocked: String?
    var expiresAt: Int64?
    var tags: [String]
    var origin: Stamp
    var ended: Int64
    var claimVisits: Int?
    var claimAt: Int64?

    /// What follows from the facts.
    ///
    /// - Parameter holder: whose card the member's identifier is, if it is that of somebody else.
    init(_ facts: MemberFacts, holder: String?) {
        let values = SystemValues(facts)
        exists = facts.exists
        username = facts.exists ? facts.username : nil
        addedAt = facts.addedAt ?? 0
        fields = facts.fields
        // One that was removed is not there; facts state that it was. A plain row has to hold all that is in its facts.
        if fields.values.contains(.null), !facts.isPlain { fields = fields.filter { $0.value != .null } }
        mergedInto = values.mergedInto ?? holder
        blocked = values.blocked
        expiresAt = values.expiresAt
        tags = values.tags
        origin = facts.born ?? Stamp(time: 0, device: Stamp.legacyDevice)
        ended = facts.end?.time ?? -1
        claimVisits = facts.claims.first?.visits
        claimAt = facts.claims.first?.at
    }
}
