import Foundation
import GRDB
import ReaderKit

/// Forgetting people.
extension MemberStore {
    /// Erases all that is known of a member and of whoever was joined to them.
    ///
    /// - Returns: the member as they were.
    package func erase(
        _ key: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "erase a member"
        let keys = identifiers(key)
        // Who was deleted before is told of no second time.
        let told: @Sendable ((changed: Changed, isNews: Bool)) -> Void = { if $0.isNews { committed($0.changed) } }
        let member = try await write(attempt, committed: told) { db -> (changed: Changed, isNews: Bool) in
            let row = try Self.heldRow(keys, attempt, in: db)
            let rows = try Self.held(with: row, in: db)
            let stamp = try self.nextStamp(in: db)
            var identifiers = Set(rows.map { Array($0.member.userId.utf8) })
            for one in rows {
                let cards = try String.fetchAll(
                    db,
                    sql: "SELECT card_id FROM card WHERE member_key = ?",
                    arguments: [one.member.userId]
                )
                identifiers.formUnion(cards.map { Array($0.utf8) })
            }
            let salt = self.erasureSalt
            let ordered = identifiers.sorted { $0.lexicographicallyPrecedes($1) }.map {
                String(decoding: $0, as: UTF8.self)
            }
            for identifier in ordered {
                _ = try self.remember(Erasure.hash(identifier, salt: salt), salt, stamp, in: db)
            }
            var joined: Set<Int64> = []
            for identifier in ordered { _ = try self.forget(identifier, as: stamp, in: db, joined: &joined) }
            try self.forgetEntries(of: ordered.map { ($0, stamp) }, in: db)
            try self.refreshJoined(joined, in: db)
            try self.forgetChanges(in: db)
            // The reason may tell who it was.
            try self.audit(
                .erased,
                of: Erasure.text(row.member.userId, salt: salt),
                ActionContext(actor: context.actor),
                detail: ["identifiers": .int(ordered.count)],
                in: db
            )
            return (Changed(member: row.member, at: self.clock()), row.exists)
        }.changed.member
        await forgetLog()
        return member
    }

    /// The member with that identifier or card, or what is still held on one who was deleted.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    static func heldRow(_ keys: [String], _ attempt: String, in db: Database) throws -> MemberRow {
        if let row = try found(keys, in: db) { return row }
        for key in keys where !key.utf8.contains(0) {
            let card = try String.fetchOne(db, sql: "SELECT member_key FROM card WHERE card_id = ?", arguments: [key])
            if let row = try row(userID: key, in: db) ?? card.flatMap({ try row(userID: $0, in: db) }) { return row }
        }
        throw ClubError(.noSuchMember, attempting: attempt)
    }

    /// What this device's erasures are hashed with: not secret, but its own, so that one list of hashes cannot be
    /// compared with another.
    var erasureSalt: Data { withUnsafeBytes(of: deviceID.uuid) { Data($0) } }

    /// Keeps the hash of somebody who was erased.
    ///
    /// - Returns: whether that is news.
    func remember(_ hash: Data, _ salt: Data, _ stamp: Stamp, in db: Database) throws -> Bool {
        let former = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT hlc, device_id FROM erased WHERE salt = ? AND hash = ?"),
            arguments: [salt, hash]
        )
        if let former, stamp <= Stamp(time: try former.value(0), device: try former.value(1)) { return false }
        try db.cachedStatement(sql: "REPLACE INTO erased (salt, hash, hlc, device_id) VALUES (?, ?, ?, ?)")
            .execute(arguments: [salt, hash, stamp.time, stamp.device])
        return true
    }

    /// Removes what is held under an identifier, as of then, but for the audit log (see ``forgetEntries(of:in:)``).
    ///
    /// - Parameter joined: takes the rows for ``refreshJoined(_:in:willChange:)``.
    /// - Returns: the ids of the rows of members that are gone.
    func forget(
        _ identifier: String,
        as stamp: Stamp,
        in db: Database,
        joined: inout Set<Int64>
    ) throws -> [Int64] {
        try db.execute(
            sql: "DELETE FROM card WHERE (card_id = ?1 OR member_key = ?1) AND hlc <= ?2",
            arguments: [identifier, stamp.time]
        )
        try db.execute(sql: "DELETE FROM presented WHERE name = ?", arguments: [identifier])
        var last = stamp
        var removed: [Int64] = []
        var target: String?
        if let row = try Self.row(userID: identifier, in: db) {
            target = row.mergedInto
            var facts = try row.facts()
            facts.erase(stamp)
            // A deletion may have been later.
            last = facts.end ?? stamp
            if facts.exists {
                try forgetVisits(of: row.id, facts, in: db)
                try save(facts, of: row.id, in: db, joined: &joined)
            } else {
                try remove(row, facts, in: db)
                removed.append(row.id)
            }
        }
        try forgetScenarios(of: identifier, as: last, in: db)
        // Those who were joined to this member, or had a card of theirs, stand for themselves again.
        let others = try Row.fetchAll(
            db,
            sql: "SELECT \(MemberRow.columns) FROM member WHERE merged_into = ?",
            arguments: [identifier]
        ).map { row in try MemberRow(row) }
        for other in others { try save(other.facts(), of: other.id, in: db, joined: &joined) }
        // Whoever had the visits of this member has them no more.
        if let target, let other = try Self.row(userID: target, in: db) {
            try save(other.facts(), of: other.id, in: db, joined: &joined)
            joined.insert(other.id)
        }
        return removed
    }

    /// Takes identifiers out of the entries of the audit log up to then, with one pass over the log for all of them; and
    /// of those on merges whenever they were written, since a device writes them by itself that has not heard of the
    /// erasure. Messages that name them are emptied.
    func forgetEntries(of erased: [(identifier: String, stamp: Stamp)], in db: Database) throws {
        struct Erased: Encodable {
            var identifier: String
            var time: Int64
        }
        guard !erased.isEmpty else { return }
        let list = try MemberRow.json(erased.map { Erased(identifier: $0.identifier, time: $0.stamp.time) })
        try permittingChanges(in: db) {
            // In the particulars an identifier stands as a JSON string. The order of the joins is said, since SQLite
            // does not know how many entries there are.
            try db.execute(
                sql: """
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
                    """,
                arguments: [list]
            )
        }
        try emptyMessages(naming: erased, in: db)
    }

    /// Removes the row of somebody who was erased once and is gone again.
    func removeErased(_ facts: MemberFacts, of id: Int64, in db: Database, joined: inout Set<Int64>) throws {
        guard let row = try Self.row(id: id, in: db), let end = facts.end else { return }
        if try Self.erasure(of: row.member.userId, in: db).map({ $0 < end }) ?? true {
            let salt = erasureSalt
            _ = try remember(Erasure.hash(row.member.userId, salt: salt), salt, end, in: db)
        }
        _ = try forget(row.member.userId, as: end, in: db, joined: &joined)
        try forgetEntries(of: [(row.member.userId, end)], in: db)
        try forgetChanges(in: db)
    }

    /// Removes the row of somebody who was erased, and what belongs to it.
    private func remove(_ row: MemberRow, _ facts: MemberFacts, in db: Database) throws {
        try forgetVisits(of: row.id, facts, in: db)
        try forgetTaps(
            "SELECT event_id FROM receipt WHERE member_id = ?1",
            [row.id, Rejection.erased.message],
            in: db
        )
        try db.execute(sql: "DELETE FROM member WHERE id = ?", arguments: [row.id])
    }

    /// Removes the visits that ended with an erasure.
    func forgetVisits(of id: Int64, _ facts: MemberFacts, in db: Database) throws {
        let visits = "SELECT event_id FROM visit WHERE member_id = ?1 AND (born <= ?3 OR born & 65535 = 65535)"
        let arguments: StatementArguments = [id, Rejection.erased.message, facts.end?.time ?? -1]
        try permittingChanges(in: db) {
            try forgetTaps(visits, arguments, in: db)
            try db.execute(sql: "DELETE FROM undo WHERE ?2 <> '' AND event_id IN (\(visits))", arguments: arguments)
            try db.execute(
                sql: "DELETE FROM visit WHERE ?2 <> '' AND event_id IN (\(visits))",
                arguments: arguments
            )
        }
        // Taps that were not counted have no visit; those of now belong to the member who is here again.
        try forgetTaps(
            """
            SELECT event_id FROM receipt
            WHERE member_id = ?1 AND at <= ?3
                AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.event_id = receipt.event_id)
            """,
            [id, Rejection.erased.message, ((facts.end?.time ?? 0) >> 16) * 1000 + 999],
            in: db
        )
    }

    /// Empties the receipts of somebody who was erased, and the messages that came with those taps.
    ///
    /// - Parameters:
    ///   - taps: a query for the identifiers of the taps.
    ///   - arguments: its own, but for the second, which is what the receipts say.
    private func forgetTaps(_ taps: String, _ arguments: StatementArguments, in db: Database) throws {
        try emptyMessages(Self.messages(ofTaps: taps), where: "?2 <> ''", arguments, in: db)
        try db.execute(
            sql: "UPDATE receipt SET \(Self.forgottenReceipt) WHERE event_id IN (\(taps))",
            arguments: arguments
        )
    }

    /// What a receipt says of a tap whose visit is not kept any more, by an erasure or the retention period: neither of whom
    /// it was nor its time and place. A tap that is given again must add nothing, so its identifier stays; `?2` is the
    /// message.
    static let forgottenReceipt = """
        at = 0, reader = '', outcome = 'ignored', reason_code = '\(Rejection.erased.code.rawValue)', reason = ?2, \
        notices = NULL, member_id = NULL, num_visits = NULL, last_visit_at = NULL
        """

    /// Whether a receipt was not emptied by an erasure or the retention period: what is left tells of no tap that was
    /// ignored.
    static let keptReceipt = "reason_code IS NOT '\(Rejection.erased.code.rawValue)'"

    /// Empties the list of changes, which shows what was there before, in a way that makes lists read everything anew.
    func forgetChanges(in db: Database) throws {
        // A number is left out, so that those who have read all so far find that one is missing.
        try db.execute(sql: "INSERT INTO change (seq, member_id) SELECT coalesce(max(seq), 0) + 2, 0 FROM change")
        try db.execute(sql: "DELETE FROM change WHERE seq < ?", arguments: [db.lastInsertedRowID])
    }

    /// Does what the triggers of the ledger and the audit log refuse otherwise.
    func permittingChanges(in db: Database, _ body: () throws -> Void) throws {
        try db.execute(sql: "INSERT INTO ledger_permit (purpose) VALUES ('merge, erasure or retention')")
        try body()
        try db.execute(sql: "DELETE FROM ledger_permit")
    }

    /// Moves the write-ahead log, in which former pages stand, into the database, as far as readers allow it now. What
    /// they hold back goes with the next checkpoint.
    func forgetLog() async {
        guard path != nil else { return }
        _ = try? await database.writeWithoutTransaction { db in
            _ = try? db.checkpoint(.truncate)
        }
    }

    /// Facts of a file in which identifiers are what they are here.
    ///
    /// - Returns: `nil` if one was hidden under another key.
    func translated(_ facts: MemberFacts) -> MemberFacts? {
        guard identifierKey != nil, let versions = facts.values[SystemValues.Name.mergedInto] else { return facts }
        var translated = facts.without(SystemValues.Name.mergedInto)
        for version in versions {
            var value = version.value
            if case .string(let text) = value {
                guard let identifier = identifier(imported: text) else { return nil }
                value = .string(identifier)
            }
            translated.set(SystemValues.Name.mergedInto, value, version.stamp)
        }
        return translated
    }

    /// An entry of the audit log with its identifiers as they are kept here.
    ///
    /// - Returns: `nil` if one was hidden under another key.
    func translated(_ entry: TransferRecord.Audit) -> TransferRecord.Audit? {
        guard identifierKey != nil else { return entry }
        var translated = entry
        if let subject = entry.subject, !Erasure.isText(subject) {
            guard let identifier = identifier(imported: subject) else { return nil }
            translated.subject = identifier
        }
        for (name, value) in entry.detail ?? [:] where AuditEntry.identifiers.contains(name) {
            guard case .string(let text) = value, !Erasure.isText(text) else { continue }
            guard let identifier = identifier(imported: text) else { return nil }
            translated.detail?[name] = .string(identifier)
        }
        return translated
    }

    /// Creates the row of a member whom it tells whole, and who has no visits in the ledger.
    func insertPlain(_ userID: String, _ facts: MemberFacts, _ sequence: Int64, in db: Database) throws -> Int64 {
        let claim = facts.claims.first
        let origin = facts.born
        try db.cachedStatement(
            sql: """
                INSERT INTO member (user_id, username, added_at, num_visits, own_visits, last_visit_at, fields, origin_hlc,
                    origin_device, claim_visits, claim_at, change_seq)
                VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?5, ?10)
                """
        ).execute(arguments: [
            userID, facts.username, facts.addedAt ?? 0, claim?.visits ?? 0, claim?.at,
            try facts.fields.isEmpty ? "{}" : MemberRow.json(facts.fields),
            origin?.time ?? 0, origin.flatMap { $0.isLegacy ? nil : $0.device }, claim?.visits, sequence,
        ])
        return db.lastInsertedRowID
    }
}
