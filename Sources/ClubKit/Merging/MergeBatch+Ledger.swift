import Foundation
import GRDB
import ReaderKit

/// Visits and undoings of a club's own file.
extension MergeBatch {
    mutating func apply(_ visit: TransferRecord.Visit) throws -> ImportVerdict {
        guard MemberID.isUsable(visit.userId) else { return .skipped(Self.unusableReason) }
        guard let userID = transaction.device.identifier(imported: visit.userId) else {
            return .skipped(Self.otherKeyReason)
        }
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
        var row = try db.members.row(userID: userID)
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
            _ = try transaction.members.insert(userID, facts, joined: &joined)
            row = try db.members.row(userID: userID)
        }
        guard let row else { return .kept }
        try touchVisits(of: row)
        if let former {
            if let owner = try db.members.row(id: former.memberID) { try touchVisits(of: owner) }
            try transaction.ledger.replaceVisit(entry, of: row.id)
        } else {
            try transaction.ledger.insertVisit(entry, of: row.id)
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
        guard let owner, let row = try db.members.row(id: owner), !isKept(row) else { return .kept }
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
        try transaction.events.undo(ofVisit: undo.eventID)
        try transaction.permittingChanges {
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
