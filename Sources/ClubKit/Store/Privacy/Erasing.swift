import Foundation
import GRDB
import ReaderKit

struct Erasing {
    let transaction: StoreTransaction

    private var db: Database { transaction.db }

    /// Erases all that is known of a member and of whoever was joined to them.
    func erase(_ row: MemberRow, _ context: ActionContext) throws {
        let rows = try db.members.held(with: row)
        let stamp = try transaction.nextStamp()
        var identifiers = Set(rows.map { Array($0.member.userId.utf8) })
        for one in rows {
            let cards = try db.values("SELECT card_id FROM card WHERE member_key = ?", [one.member.userId]) as [String]
            identifiers.formUnion(cards.map { Array($0.utf8) })
        }
        let salt = transaction.device.erasureSalt
        let ordered = identifiers.sorted { $0.lexicographicallyPrecedes($1) }.map {
            String(decoding: $0, as: UTF8.self)
        }
        for identifier in ordered { _ = try remember(Erasure.hash(identifier, salt: salt), salt, stamp) }
        var joined: Set<Int64> = []
        for identifier in ordered { _ = try forget(identifier, as: stamp, joined: &joined) }
        try forgetEntries(of: ordered.map { ($0, stamp) })
        try transaction.members.refreshJoined(joined)
        try forgetChanges()
        // The reason may identify the member.
        try transaction.audit(
            .erased,
            of: Erasure.text(row.member.userId, salt: salt),
            ActionContext(actor: context.actor),
            detail: ["identifiers": .int(ordered.count)]
        )
    }

    /// Keeps the hash of somebody who was erased; returns whether that is news.
    func remember(_ hash: Data, _ salt: Data, _ stamp: Stamp) throws -> Bool {
        if let former = try db.erasures.latest(hash, salt), stamp <= former { return false }
        try db.cachedStatement(sql: "REPLACE INTO erased (salt, hash, hlc, device_id) VALUES (?, ?, ?, ?)")
            .execute(arguments: [salt, hash, stamp.time, stamp.device])
        return true
    }

    /// Removes what is held under an identifier, as of then, but for the audit log (see ``forgetEntries(of:)``).
    ///
    /// - Parameter joined: takes the rows for ``MemberSaving/refreshJoined(_:willChange:)``.
    /// - Returns: the ids of the rows of members that are gone.
    func forget(_ identifier: String, as stamp: Stamp, joined: inout Set<Int64>) throws -> [Int64] {
        let ofCards = "(card_id = ?1 OR member_key = ?1) AND hlc <= ?2"
        try db.write("DELETE FROM card WHERE \(ofCards)", [identifier, stamp.time])
        try db.execute(sql: "DELETE FROM presented WHERE name = ?", arguments: [identifier])
        var last = stamp
        var removed: [Int64] = []
        var target: String?
        if let row = try db.members.row(userID: identifier) {
            target = row.mergedInto
            var facts = try row.facts()
            facts.erase(stamp)
            // A deletion may have been later.
            last = facts.end ?? stamp
            if facts.exists {
                try forgetVisits(of: row.id, facts)
                try transaction.members.save(facts, of: row.id, joined: &joined)
            } else {
                try remove(row, facts)
                removed.append(row.id)
            }
        }
        try transaction.events.forget(of: identifier, as: last)
        // Those who were joined to this member, or had a card of theirs, stand for themselves again.
        for other in try MemberRow.all(where: "merged_into = ?", [identifier], in: db) {
            try transaction.members.save(other.facts(), of: other.id, joined: &joined)
        }
        // Whoever had the visits of this member has them no more.
        if let target, let other = try db.members.row(userID: target) {
            try transaction.members.save(other.facts(), of: other.id, joined: &joined)
            joined.insert(other.id)
        }
        return removed
    }

    /// Takes identifiers out of the entries of the audit log up to then, with one pass over the log for all of them; and
    /// of those on merges whenever they were written, since a device writes them by itself that has not learnt of the
    /// erasure. Messages that name them are emptied.
    func forgetEntries(of erased: [(identifier: String, stamp: Stamp)]) throws {
        struct Erased: Encodable {
            var identifier: String
            var time: Int64
        }
        guard !erased.isEmpty else { return }
        let list = try MemberRow.json(erased.map { Erased(identifier: $0.identifier, time: $0.stamp.time) })
        try transaction.permittingChanges {
            // In the particulars an identifier stands as a JSON string. The order of the joins is specified, since
            // SQLite does not know how many entries there are.
            let sql = """
                WITH gone (identifier, time) AS MATERIALIZED (
                        SELECT value ->> 'identifier', value ->> 'time' FROM json_each(?)),
                    named (device, moment, done, what) AS (
                        SELECT device_id, hlc, at, audit.action FROM gone
                            CROSS JOIN audit ON subject = identifier AND (hlc <= time OR audit.action = 'merged')
                        UNION SELECT device_id, hlc, at, audit.action FROM audit
                            CROSS JOIN json_each(detail) AS part
                            CROSS JOIN gone
                                ON identifier = part.atom AND (hlc <= time OR audit.action = 'merged')
                        WHERE part.type = 'text' AND part.key IS NOT 'file')
                UPDATE audit SET subject = NULL, detail = NULL FROM named
                WHERE device_id = device AND hlc = moment AND at = done AND action = what
                """
            try db.execute(sql: sql, arguments: [list])
        }
        try transaction.messages.empty(naming: erased)
    }

    /// Removes the row of somebody who was erased once and is gone again.
    func removeErased(_ facts: MemberFacts, of id: Int64, joined: inout Set<Int64>) throws {
        guard let row = try db.members.row(id: id), let end = facts.end else { return }
        if try db.erasures.latest(of: row.member.userId).map({ $0 < end }) ?? true {
            let salt = transaction.device.erasureSalt
            _ = try remember(Erasure.hash(row.member.userId, salt: salt), salt, end)
        }
        _ = try forget(row.member.userId, as: end, joined: &joined)
        try forgetEntries(of: [(row.member.userId, end)])
        try forgetChanges()
    }

    /// Removes the row of somebody who was erased, and what belongs to it.
    private func remove(_ row: MemberRow, _ facts: MemberFacts) throws {
        try forgetVisits(of: row.id, facts)
        try forgetTaps("SELECT event_id FROM receipt WHERE member_id = ?1", [row.id, Rejection.erased.message])
        try db.execute(sql: "DELETE FROM member WHERE id = ?", arguments: [row.id])
    }

    /// Removes the visits that ended with an erasure.
    func forgetVisits(of id: Int64, _ facts: MemberFacts) throws {
        let visits = "SELECT event_id FROM visit WHERE member_id = ?1 AND (born <= ?3 OR born & 65535 = 65535)"
        let arguments: StatementArguments = [id, Rejection.erased.message, facts.end?.time ?? -1]
        try transaction.permittingChanges {
            try forgetTaps(visits, arguments)
            try db.execute(sql: "DELETE FROM undo WHERE ?2 <> '' AND event_id IN (\(visits))", arguments: arguments)
            try db.execute(sql: "DELETE FROM visit WHERE ?2 <> '' AND event_id IN (\(visits))", arguments: arguments)
        }
        // Taps that were not counted have no visit; those of now belong to the member who is here again.
        let sql = """
            SELECT event_id FROM receipt
            WHERE member_id = ?1 AND at <= ?3
                AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
            """
        try forgetTaps(sql, [id, Rejection.erased.message, ((facts.end?.time ?? 0) >> 16) * 1000 + 999])
    }

    /// Empties the receipts of somebody who was erased, and the messages that came with those taps.
    ///
    /// - Parameters:
    ///   - taps: a query for the identifiers of the taps.
    ///   - arguments: its own, but for the second, which is the message of the receipts.
    private func forgetTaps(_ taps: String, _ arguments: StatementArguments) throws {
        try transaction.messages.empty(StoredMessages.ofTaps(taps), where: "?2 <> ''", arguments)
        try db.write("UPDATE receipt SET \(Self.forgottenReceipt) WHERE event_id IN (\(taps))", arguments)
    }

    /// The receipt of a tap whose visit is no longer kept, by an erasure or the retention period: without its member,
    /// time and place. A tap submitted again must add nothing, so its identifier stays; `?2` is the message.
    static let forgottenReceipt = """
        at = 0, reader = '', outcome = 'ignored', reason_code = '\(Rejection.erased.code.rawValue)', reason = ?2, \
        notices = NULL, member_id = NULL, num_visits = NULL, last_visit_at = NULL
        """

    /// Whether a receipt was not emptied by an erasure or the retention period: what is left describes no ignored tap.
    static let keptReceipt = "reason_code IS NOT '\(Rejection.erased.code.rawValue)'"

    /// Empties the list of changes, which shows what was there before, in a way that makes lists read everything anew.
    func forgetChanges() throws {
        // A number is left out, so that those who have read all so far find that one is missing.
        try db.execute(sql: "INSERT INTO change (seq, member_id) SELECT coalesce(max(seq), 0) + 2, 0 FROM change")
        try db.execute(sql: "DELETE FROM change WHERE seq < ?", arguments: [db.lastInsertedRowID])
    }
}

extension Database {
    var erasures: StoredErasures { StoredErasures(db: self) }
}

struct StoredErasures {
    let db: Database

    /// The salts of all devices that have erased somebody, each looked for behind the one before: there are many more who
    /// were erased.
    func salts() throws -> [Data] {
        let sql = """
            WITH RECURSIVE known (salt) AS (
                SELECT min(salt) FROM erased
                UNION ALL SELECT (SELECT min(salt) FROM erased WHERE erased.salt > known.salt) FROM known
                    WHERE known.salt IS NOT NULL)
            SELECT salt FROM known WHERE salt IS NOT NULL
            """
        return try db.values(sql)
    }

    func latest(of userID: String) throws -> Stamp? { try latest(of: userID, salts: salts()) }

    /// The same, by salts that were looked up before.
    func latest(of userID: String, salts: some Sequence<Data>) throws -> Stamp? {
        try salts.compactMap { try latest(Erasure.hash(userID, salt: $0), $0) }.max()
    }

    func latest(_ hash: Data, _ salt: Data) throws -> Stamp? {
        try db.row("SELECT hlc, device_id FROM erased WHERE salt = ? AND hash = ?", [salt, hash])?.stamp()
    }

    /// The facts of somebody who is not there (any more).
    func newFacts(of userID: String) throws -> MemberFacts {
        var facts = MemberFacts()
        if let erasure = try latest(of: userID) { facts.erase(erasure) }
        return facts
    }
}

extension MemberStore {
    /// Erases all that is known of a member and of whoever was joined to them; returns the member as they were.
    package func erase(
        _ key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "erase a member"
        let keys = device.identifiers(key)
        // Who was deleted before is not reported again.
        let told: @Sendable ((changed: Changed, isNews: Bool)) -> Void = { if $0.isNews { committed($0.changed) } }
        let member = try await write(attempt, committed: told) { transaction -> (changed: Changed, isNews: Bool) in
            let row = try transaction.db.members.heldRow(keys, attempt)
            try transaction.erasing.erase(row, context)
            return (Changed(member: row.member, at: self.clock()), row.exists)
        }.changed.member
        await forgetLog()
        return member
    }

    /// Moves the write-ahead log, in which former pages stand, into the database, as far as readers allow it now. What
    /// they hold back goes with the next checkpoint.
    func forgetLog() async {
        guard path != nil else { return }
        _ = try? await database.writeWithoutTransaction { db in
            _ = try? db.checkpoint(.truncate)
        }
    }
}
