import Foundation
import GRDB
import ReaderKit

/// Visits and undoings of a club's own file.
extension MergeBatch {
    mutating func apply(_ visit: TransferRecord.Visit) throws -> ImportVerdict {
        guard MemberID.isUsable(visit.userId) else { return .skipped(Self.unusableReason) }
        guard let userID = store.identifier(imported: visit.userId) else { return .skipped(Self.otherKeyReason) }
        guard let source = Visit.Source(rawValue: visit.source) else { return .skipped(Self.newerReason) }
        guard Self.isPlausible(at: visit.at) else { return .skipped(Self.timeReason) }
        if let fault = fault(of: visit.stamp.time, visit.born) { return .skipped(fault) }
        let entry = VisitRow(
            eventID: visit.eventID,
            stamp: visit.stamp,
            at: visit.at,
            reader: PlainText.line(visit.reader),
            backend: PlainText.line(visit.backend),
            born: visit.born,
            source: source,
            reason: visit.reason.map(PlainText.line),
            actor: visit.actor.map(PlainText.line)
        )
        // One tap may have been given to two devices before they heard of one another.
        let former = try precedence(of: visit.eventID)
        if let former, mode == .addOnly || !entry.precedence(of: userID).precedes(former.precedence) { return .kept }
        var row = try MemberStore.row(userID: userID, in: db)
        let facts: MemberFacts
        if let row {
            if isKept(row) { return .kept }
            facts = try self.facts(of: row)
        } else {
            var unknown = MemberFacts()
            if let erasure = try erasure(of: userID) { unknown.erase(erasure) }
            facts = unknown
        }
        if facts.erasure != nil, !facts.isAlive(born: visit.born) { return .skipped(Self.erasedReason) }
        // It is part of the total already.
        if facts.hasRemoved(visit.stamp, born: visit.born) { return .kept }
        if row == nil {
            // What is put in for somebody who was erased is nobody, and would be removed at once.
            if facts.erasure != nil { return .skipped(Self.erasedBeforeReason) }
            // The member comes with another file.
            if try isTooMany(userID, joinedTo: cardHolder(of: userID)) { return .skipped(Self.joinedReason) }
            _ = try store.insert(userID, facts, in: db, joined: &joined)
            row = try MemberStore.row(userID: userID, in: db)
        }
        guard let row else { return .kept }
        try touchVisits(of: row)
        if let former {
            if let owner = try MemberStore.row(id: former.memberID, in: db) { try touchVisits(of: owner) }
            try store.replaceVisit(entry, of: row.id, in: db)
        } else {
            try store.insertVisit(entry, of: row.id, in: db)
        }
        taps.append(entry.eventID)
        note(entry.stamp.time)
        progress.recordCount += 1
        return former == nil ? .created : .merged(changes: [], conflicts: [])
    }

    /// By what the visit that is in the ledger stands, and whose it is.
    private func precedence(of eventID: UUID) throws -> (precedence: Precedence, memberID: Int64)? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT visit.member_id, born, hlc, device_id, user_id, at, source, reader, backend, reason, actor
                    FROM visit LEFT JOIN member ON member.id = member_id WHERE event_id = ?
                    """
            ),
            arguments: [eventID]
        )
        guard let row else { return nil }
        let at: Int64 = try row.value(5)
        let precedence = Precedence(
            born: try row.value(1),
            stamp: Stamp(time: try row.value(2), device: try row.value(3)),
            texts: [
                try row.optional(4), String(at), try row.optional(6), try row.optional(7), try row.optional(8),
                try row.optional(9), try row.optional(10),
            ]
        )
        return (precedence, try row.value(0))
    }

    mutating func apply(_ undo: TransferRecord.Undo) throws -> ImportVerdict {
        guard Self.isPlausible(at: undo.at) else { return .skipped(Self.timeReason) }
        if let fault = fault(of: undo.stamp.time) { return .skipped(fault) }
        let owner = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT member_id FROM visit WHERE event_id = ?"),
            arguments: [undo.eventID]
        )
        // Without the visit, which was erased or removed, there is nothing to undo.
        guard let owner, let row = try MemberStore.row(id: owner, in: db), !isKept(row) else { return .kept }
        let (reason, actor) = (undo.reason.map(PlainText.line), undo.actor.map(PlainText.line))
        let stored = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT hlc, device_id, at, reason, actor FROM undo WHERE event_id = ?"),
            arguments: [undo.eventID]
        )
        if let stored {
            let at: Int64 = try stored.value(2)
            let former = Precedence(
                stamp: Stamp(time: try stored.value(0), device: try stored.value(1)),
                texts: [String(at), try stored.optional(3), try stored.optional(4)]
            )
            // Of two devices that undid the same visit, the first did.
            guard Precedence(stamp: undo.stamp, texts: [String(undo.at), reason, actor]).precedes(former) else {
                return .kept
            }
        }
        try touchVisits(of: row)
        try store.undoEvents(ofVisit: undo.eventID, in: db)
        try store.permittingChanges(in: db) {
            try db.cachedStatement(
                sql: "REPLACE INTO undo (event_id, device_id, hlc, at, reason, actor) VALUES (?, ?, ?, ?, ?, ?)"
            ).execute(arguments: [undo.eventID, undo.stamp.device, undo.stamp.time, undo.at, reason, actor])
        }
        note(undo.stamp.time)
        progress.recordCount += 1
        return .undone(row.member.userId)
    }
}

extension VisitRow {
    fileprivate func precedence(of userID: String) -> Precedence {
        Precedence(
            born: born,
            stamp: stamp,
            texts: [userID, String(at), source.rawValue, reader, backend, reason, actor]
        )
    }
}

extension MemberStore {
    /// Puts another record of a visit into the place of the one in the ledger. Nothing is counted yet.
    func replaceVisit(_ visit: VisitRow, of memberID: Int64, in db: Database) throws {
        try permittingChanges(in: db) {
            try db.cachedStatement(
                sql: """
                    UPDATE visit SET device_id = ?2, hlc = ?3, member_id = ?4, at = ?5, reader = ?6, backend = ?7,
                        born = ?8, source = ?9, reason = ?10, actor = ?11
                    WHERE event_id = ?1
                    """
            ).execute(arguments: [
                visit.eventID, visit.stamp.device, visit.stamp.time, memberID, visit.at, visit.reader, visit.backend,
                visit.born, visit.source.rawValue, visit.reason, visit.actor,
            ])
        }
    }

    /// Lets the receipts of taps say what the ledger says of them after a merge: that each counts, and for whom.
    ///
    /// What else a receipt told of the same member stays, so that the tap is answered as it was at first. A tap of a card
    /// that this device has lost, such as after a backup was put back, gets a receipt: given again, it must add nothing.
    func mergeReceipts(of taps: [UUID], in db: Database) throws {
        var rest = taps[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.askedAtOnce)
            rest = rest.dropFirst(part.count)
            // Few of another device's taps were given here.
            let differing = try Row.fetchAll(
                db,
                sql: """
                    SELECT event_id, visit.member_id FROM visit LEFT JOIN receipt USING (event_id)
                    WHERE event_id IN (\(databaseQuestionMarks(count: part.count))) AND CASE
                        WHEN receipt.event_id IS NULL THEN device_id = ? AND source = 'card'
                        ELSE receipt.member_id IS NOT visit.member_id OR outcome NOT IN ('created', 'visit') END
                    """,
                arguments: StatementArguments(part) + [deviceID]
            )
            for row in differing {
                guard let owner = try Self.row(id: try row.value(1), in: db) else { continue }
                try mergeReceipt(of: try row.value(0), totals: Self.shown(for: owner, in: db), in: db)
            }
        }
    }

    /// So many taps are looked up by one question.
    private static let askedAtOnce = 500

    private func mergeReceipt(of eventID: UUID, totals: MemberRow, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO receipt (event_id, at, reader, backend, outcome, member_id, num_visits, last_visit_at)
                SELECT event_id, at, reader, backend, 'visit', member_id, ?2, ?3 FROM visit WHERE event_id = ?1
                ON CONFLICT (event_id) DO UPDATE SET outcome = 'visit', reason_code = NULL, reason = NULL,
                    notices = NULL, at = excluded.at, reader = excluded.reader, backend = excluded.backend,
                    member_id = excluded.member_id,
                    num_visits = CASE WHEN receipt.member_id IS excluded.member_id THEN receipt.num_visits
                        ELSE excluded.num_visits END,
                    last_visit_at = CASE WHEN receipt.member_id IS excluded.member_id THEN receipt.last_visit_at
                        ELSE excluded.last_visit_at END
                """
        ).execute(arguments: [eventID, totals.member.numVisits, totals.latest == 0 ? nil : totals.latest])
    }
}
