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
        var told = visit
        told.userId = userID
        told.reader = PlainText.line(visit.reader)
        told.backend = PlainText.line(visit.backend)
        told.reason = visit.reason.map(PlainText.line)
        told.actor = visit.actor.map(PlainText.line)
        var former = try TransferRecord.Visit.first(where: "event_id = ?", [visit.eventID], in: db)
        if mode == .addOnly, former != nil { return .kept }
        let formerUserID = former?.userId
        if former?.join(told) == false { return .kept }
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
        let entry = VisitRow(
            eventID: told.eventID,
            stamp: told.stamp,
            at: told.at,
            reader: told.reader,
            backend: told.backend,
            born: told.born,
            source: source,
            reason: told.reason,
            actor: told.actor
        )
        if let formerUserID {
            if let owner = try db.members.row(userID: formerUserID) { try touchVisits(of: owner) }
            try transaction.ledger.replaceVisit(entry, of: row.id)
        } else {
            try transaction.ledger.insertVisit(entry, of: row.id)
        }
        taps.append(entry.eventID)
        note(entry.stamp.time)
        progress.recordCount += 1
        return formerUserID == nil ? .created : .merged(changes: [], conflicts: [])
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
        var told = undo
        (told.reason, told.actor) = (undo.reason.map(PlainText.line), undo.actor.map(PlainText.line))
        var former = try TransferRecord.Undo.first(where: "event_id = ?", [undo.eventID], in: db)
        if former?.join(told) == false { return .kept }
        try touchVisits(of: row)
        try transaction.events.undo(ofVisit: undo.eventID)
        try transaction.permittingChanges {
            try db.cachedStatement(
                sql: "REPLACE INTO undo (event_id, device_id, hlc, at, reason, actor) VALUES (?, ?, ?, ?, ?, ?)"
            ).execute(arguments: [
                told.eventID, told.stamp.device, told.stamp.time, told.at, told.reason, told.actor,
            ])
        }
        note(undo.stamp.time)
        progress.recordCount += 1
        return .undone(row.member.userId)
    }
}
