import Foundation
import GRDB
import ReaderKit

/// Records of a club's own file.
extension MergeBatch {
    /// Merges records. The file has the erasures first, then the members, the cards, the visits in the order in which
    /// each device recorded them, the undoings, the state of scenarios (first what was removed of it, then events, executions
    /// and what became of these) and the audit log.
    mutating func apply(_ records: [TransferRecord]) throws -> [ImportVerdict] {
        if transaction.device.key == nil { try progress.spellings.load(db) }
        return try records.map { record in
            do {
                if case .erasure(let erasure) = record { return try apply(erasure) }
                try eraseNew()
                return switch record {
                case .member(let person): try noted(apply(person), on: Array(person.userId.utf8)[...])
                case .card(let card): try apply(card)
                case .visit(let visit): try apply(visit)
                case .undo(let undo): try apply(undo)
                case .reset(let reset): try apply(reset)
                case .event(let event): try apply(event)
                case .execution(let execution): try apply(execution)
                case .settlement(let settlement): try apply(settlement)
                case .audit(let entry): try apply(entry)
                case .erasure: .kept
                }
            } catch let verdict as ImportVerdict {
                return verdict
            }
        }
    }

    /// Refuses moments that are not believed. `date` is when it was, in microseconds since 1970.
    private func check(_ times: Int64..., at date: Int64 = 0) throws {
        guard (0...Timestamp.latest).contains(date), times.allSatisfy((0..<Stamp.latestTime).contains) else {
            throw ImportVerdict.skipped(Self.timeReason)
        }
        guard times.allSatisfy({ $0 <= limit }) else { throw ImportVerdict.skipped(Self.aheadReason) }
    }

    /// Takes note of a record that was taken in.
    private mutating func noteRecord(_ stamp: Stamp, isNew: Bool) -> ImportVerdict {
        note(stamp.time)
        progress.recordCount += 1
        return isNew ? .created : .merged(changes: [], conflicts: [])
    }

    /// Whether a member was there before this import and is to stay as they are.
    func isKept(_ row: MemberRow) -> Bool { mode == .addOnly && row.exists && !progress.hasCreated(row.id) }

    // MARK: Members

    private mutating func apply(_ person: TransferRecord.Person) throws -> ImportVerdict {
        let userID = try identifier(person.userId)
        try check(person.facts.latestTime, person.facts.removals.map(\.born).max() ?? 0)
        // Taps before a claim's time are part of it: one that is not reached yet would keep them from counting on top.
        let isBelieved = person.facts.claims.allSatisfy { claim in
            let time = claim.moment.isKnown ? claim.at : claim.moment.latest
            return claim.isOfUnknownTime && claim.moment.isKnown || Stamp.isBelieved(at: time, upTo: limit)
        }
        guard isBelieved else {
            return .skipped(Self.aheadReason)
        }
        guard let said = transaction.device.translated(person.facts) else { return .skipped(Self.otherKeyReason) }
        // In adding only, a member of somebody else's card would be joined to them.
        if mode == .addOnly, let holder = try target(of: userID), isKept(holder) { return .kept }
        guard let target = try db.members.row(userID: userID) else {
            var facts = try facts(of: nil, userID)
            facts.join(said)
            // The state of scenarios may be here of somebody of whom nothing else is.
            if let erasure = facts.erasure { try transaction.events.forget(of: userID, as: erasure) }
            if facts.erasure != nil, !facts.exists { return .skipped(Self.erasedRecordReason) }
            if facts.overfull != nil { return .skipped(Self.overfullReason) }
            let joinedTo = try SystemValues(facts).mergedInto ?? cardHolder(of: userID)
            if try isTooMany(userID, joinedTo: joinedTo) { return .skipped(Self.joinedReason) }
            note(facts.latestTime)
            if facts.isPlain, !hasCards, try !db.members.isTarget(userID) {
                progress.noteCreated(try transaction.members.insertPlain(userID, facts, creationSequence()))
            } else {
                let id = try transaction.members.insert(userID, facts, joined: &joined)
                if facts.exists { progress.noteCreated(id) }
            }
            return facts.exists ? .created : .kept
        }
        let before = try target.facts()
        var facts = before
        facts.join(said)
        if facts.overfull != nil { return .skipped(Self.overfullReason) }
        let joinedTo = SystemValues(facts).mergedInto
        if joinedTo != SystemValues(before).mergedInto, try isTooMany(userID, joinedTo: joinedTo) {
            return .skipped(Self.joinedReason)
        }
        note(facts.latestTime)
        let values = (said.value("username"), said.fields)
        func conflicts(with shown: Member) -> [FieldDifference] {
            guard said.exists else { return [] }
            return Self.conflicts(of: values, with: shown, isUntyped: false) + Self.conflicts(of: said, with: facts)
        }
        guard facts != before else { return .of(conflicts: conflicts(with: target.member)) }
        touch(target)
        if facts.removals != before.removals {
            try transaction.retention.removeCounted(of: target.id, &facts, before: before)
        }
        try transaction.members.save(facts, of: target.id, joined: &joined)
        guard let after = try db.members.row(id: target.id) else {
            forget(target.id)
            return .merged(changes: Self.standing(from: before, to: facts), conflicts: [])
        }
        if !target.exists, after.exists {
            progress.noteCreated(after.id)
            return .created
        }
        // A member who is gone has no values left to report.
        let shown = after.exists ? Self.changes(from: target.member, to: after.member) : []
        let changes = shown + Self.standing(from: before, to: facts)
        noteNews(of: target, changes.map(\.field))
        return .of(changes, conflicts: conflicts(with: after.member))
    }

    // MARK: Cards

    private mutating func apply(_ card: TransferRecord.Card) throws -> ImportVerdict {
        let (cardID, userID) = (try identifier(card.cardId), try identifier(card.userId))
        try check(card.stamp.time)
        for identifier in [cardID, userID] {
            if let erasure = try erasure(of: identifier), card.stamp.time <= erasure.time {
                return .skipped(Self.erasedRecordReason)
            }
        }
        for identifier in mode == .addOnly ? [userID, cardID] : [] {
            if let row = try target(of: identifier), isKept(row) { return .kept }
        }
        let told = TransferRecord.Card(cardId: cardID, userId: userID, blocked: card.blocked, stamp: card.stamp)
        var stored = try TransferRecord.Card.first(where: "card_id = ?", [cardID], in: db)
        if stored?.join(told) == false { return .kept }
        // A member with that identifier is, or is no more, one with the holder of the card.
        let same = try db.members.row(userID: cardID)
        if let same {
            if try isTooMany(cardID, joinedTo: userID) { return .skipped(Self.joinedReason) }
            touch(same)
        }
        try db.cachedStatement(
            sql: "REPLACE INTO card (card_id, member_key, blocked, hlc, device_id) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [cardID, userID, card.blocked, card.stamp.time, card.stamp.device])
        hasCards = true
        if let same {
            try transaction.members.save(same.facts(), of: same.id, joined: &joined)
            if same.exists, cardID != userID { noteNews(of: same, [SystemValues.Name.mergedInto]) }
        }
        if let holder = try db.members.row(userID: userID) { noteNews(of: holder, ["$cards"]) }
        return noteRecord(card.stamp, isNew: stored == nil)
    }

    // MARK: Erasures

    private mutating func apply(_ erasure: TransferRecord.Erasure) throws -> ImportVerdict {
        try check(erasure.stamp.time)
        guard mode != .addOnly else { return .skipped(Self.addOnlyReason) }
        guard try knows(erasure.salt) else { return .skipped(Self.saltReason) }
        guard try transaction.erasing.remember(erasure.hash, erasure.salt, erasure.stamp) else { return .kept }
        hasErasures = true
        erasures[erasure.salt, default: [:]][erasure.hash] = erasure.stamp
        return noteRecord(erasure.stamp, isNew: true)
    }

    /// Erases those who are here of whom the erasures state that were taken in.
    mutating func eraseNew() throws {
        guard !erasures.isEmpty else { return }
        let found = erasures
        erasures = [:]
        let identifiers = try String.fetchCursor(
            db,
            sql: """
                SELECT user_id FROM member UNION SELECT card_id FROM card UNION SELECT member_key FROM card
                UNION SELECT subject FROM audit WHERE subject IS NOT NULL
                UNION SELECT subject FROM scenario_event WHERE kind = 'member'
                UNION SELECT subject FROM scenario_execution WHERE kind = 'member'
                UNION SELECT subject FROM scenario_reset WHERE kind = 'member'
                UNION SELECT part.atom FROM message
                    CROSS JOIN json_tree(\(StoredMessages.soundContent), '$.payload') AS part
                WHERE part.type = 'text'
                """
        )
        var erased: [(identifier: String, stamp: Stamp)] = []
        while let identifier = try identifiers.next() {
            for (salt, hashes) in found {
                if let stamp = hashes[Erasure.hash(identifier, salt: salt)] { erased.append((identifier, stamp)) }
            }
        }
        for (identifier, _) in erased {
            if let row = try db.members.row(userID: identifier) { touch(row) }
        }
        for (identifier, stamp) in erased {
            for id in try transaction.erasing.forget(identifier, as: stamp, joined: &joined) { forget(id) }
        }
        guard !erased.isEmpty else { return }
        try transaction.erasing.forgetEntries(of: erased)
        try transaction.erasing.forgetChanges()
    }

    // MARK: The audit log

    private mutating func apply(_ entry: TransferRecord.Audit) throws -> ImportVerdict {
        guard AuditEntry.Action(rawValue: entry.action) != nil else { return .skipped(Self.newerReason) }
        try check(entry.stamp.time, at: entry.at)
        guard var entry = transaction.device.translated(entry) else { return .skipped(Self.otherKeyReason) }
        if mode == .addOnly {
            // What was not done is not reported as done.
            guard let subject = entry.subject, let row = try target(of: subject), progress.hasCreated(row.id) else {
                return .kept
            }
        }
        if hasErasures, try isForgotten(entry) { (entry.subject, entry.detail) = (nil, nil) }
        guard try insert(entry) else { return .kept }
        note(entry.stamp.time)
        return .created
    }

    /// Writes an entry. Returns whether that is news.
    private func insert(_ entry: TransferRecord.Audit) throws -> Bool {
        var entry = entry
        entry.actor = entry.actor.map(PlainText.line)
        let key: StatementArguments = [entry.stamp.device, entry.stamp.time, entry.at, entry.action]
        let values: StatementArguments = [entry.subject, try entry.detail.map(MemberRow.json), entry.actor]
        let sql = """
            INSERT OR IGNORE INTO audit (device_id, hlc, at, action, subject, detail, actor)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        try db.write(sql, key + values)
        if db.changesCount > 0 { return true }
        let condition = "device_id = ?1 AND hlc = ?2 AND at = ?3 AND action = ?4"
        guard var stored = try TransferRecord.Audit.first(where: condition, key, in: db), stored.join(entry) else {
            return false
        }
        try transaction.permittingChanges {
            try db.cachedStatement(sql: "UPDATE audit SET subject = ?5, detail = ?6, actor = ?7 WHERE \(condition)")
                .execute(arguments: key + values)
        }
        return true
    }

    /// Whether an entry names somebody who was erased after it was written, or in a merge by a device that had not heard
    /// of it.
    private mutating func isForgotten(_ entry: TransferRecord.Audit) throws -> Bool {
        // The name of a file is nobody's.
        var names: [String] = (entry.detail ?? [:]).filter { $0.key != "file" }.values.compactMap {
            if case .string(let text) = $0 { text } else { nil }
        }
        if let subject = entry.subject { names.append(subject) }
        let isOfMerge = entry.action == AuditEntry.Action.merged.rawValue
        return try names.contains { name in
            guard let erasure = try erasure(of: name) else { return false }
            return isOfMerge || entry.stamp.time <= erasure.time
        }
    }
}

/// Visits and undoings of a club's own file.
extension MergeBatch {
    private mutating func apply(_ visit: TransferRecord.Visit) throws -> ImportVerdict {
        let userID = try identifier(visit.userId)
        guard let source = Visit.Source(rawValue: visit.source) else { return .skipped(Self.newerReason) }
        try check(visit.stamp.time, visit.born, at: visit.at)
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
        if let row, isKept(row) { return .kept }
        let facts = try facts(of: row, userID)
        if facts.erasure != nil, !facts.isAlive(born: visit.born) { return .skipped(Self.erasedRecordReason) }
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
        return noteRecord(entry.stamp, isNew: formerUserID == nil)
    }

    /// The facts of a member, who may have no row.
    private mutating func facts(of row: MemberRow?, _ userID: String) throws -> MemberFacts {
        if let row { return try facts(of: row) }
        var facts = MemberFacts()
        if let erasure = try erasure(of: userID) { facts.erase(erasure) }
        return facts
    }

    private mutating func apply(_ undo: TransferRecord.Undo) throws -> ImportVerdict {
        try check(undo.stamp.time, at: undo.at)
        let owner: Int64? = try db.value("SELECT member_id FROM visit WHERE event_id = ?", [undo.eventID])
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
            ).execute(arguments: [told.eventID, told.stamp.device, told.stamp.time, told.at, told.reason, told.actor])
        }
        _ = noteRecord(undo.stamp, isNew: true)
        return .undone(row.member.userId)
    }
}

/// The state of scenarios of a club's own file.
extension MergeBatch {
    /// Finds whose a record is.
    ///
    /// - Parameter born: the creation with which it ends; `nil` for what ends with none.
    /// - Throws: an ``ImportVerdict`` if what is reported of them is not taken in.
    private mutating func owner(_ subject: TransferRecord.Subject, _ stamp: Stamp, born: Int64?) throws -> SubjectKey {
        guard let kind = SubjectKey.Kind(rawValue: subject.kind) else { throw ImportVerdict.skipped(Self.newerReason) }
        try check(stamp.time, born ?? 0)
        var key = SubjectKey(kind, subject.text, born: born ?? 0)
        if kind == .member {
            key.text = try identifier(subject.text)
            let row = try db.members.row(userID: key.text)
            if let row, isKept(row) { throw ImportVerdict.kept }
            let facts = try facts(of: row, key.text)
            if facts.erasure != nil, !facts.isAlive(born: born ?? stamp.time) {
                throw ImportVerdict.skipped(Self.erasedRecordReason)
            }
        } else if mode == .addOnly, try !isNew(SubjectKey(kind, subject.text)) {
            throw ImportVerdict.kept
        }
        return key
    }

    /// Whether nothing was known of a group or kiosk before this import.
    private mutating func isNew(_ key: SubjectKey) throws -> Bool {
        if let known = progress.newSubjects[key] { return known }
        let tables = ["scenario_event", "scenario_execution", "scenario_reset"]
        let isNew = try tables.allSatisfy { table in
            try db.first("SELECT 1 FROM \(table) WHERE kind = ? AND subject = ? LIMIT 1", key.values) { _ in } == nil
        }
        progress.newSubjects[key] = isNew
        return isNew
    }

    private mutating func apply(_ event: TransferRecord.Event) throws -> ImportVerdict {
        try check(at: event.at)
        let key = try owner(event.subject, event.stamp, born: event.born)
        var told = event
        (told.subject.text, told.name, told.born) = (key.text, PlainText.line(event.name), key.born)
        let former = try TransferRecord.Event.first(where: "event_id = ?", [event.eventID], in: db)
        var joined = former ?? told
        if former != nil, !joined.join(told) { return .kept }
        guard let kind = SubjectKey.Kind(rawValue: joined.subject.kind) else { return .kept }
        if former != nil {
            try db.execute(sql: "DELETE FROM scenario_event WHERE event_id = ?", arguments: [event.eventID])
        }
        let row = ScenarioEventRow(
            eventID: joined.eventID,
            stamp: joined.stamp,
            key: SubjectKey(kind, joined.subject.text, born: joined.born),
            name: joined.name,
            at: joined.at,
            visit: joined.visit,
            isUndone: joined.undone ?? false
        )
        try transaction.events.add(row)
        return noteRecord(event.stamp, isNew: former == nil)
    }

    private mutating func apply(_ execution: TransferRecord.Execution) throws -> ImportVerdict {
        try check(at: execution.at)
        let key = try owner(execution.subject, execution.stamp, born: execution.born)
        var told = execution
        (told.subject.text, told.born) = (key.text, key.born)
        var former = try TransferRecord.Execution.first(where: "execution_id = ?", [execution.id], in: db)
        if former?.join(told) == false { return .kept }
        let sql = """
            REPLACE INTO scenario_execution (execution_id, device_id, hlc, kind, subject, scenario, at, born, visit, number)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try db.cachedStatement(sql: sql).execute(arguments: [
            execution.id, execution.stamp.device, execution.stamp.time, key.kind.rawValue, key.text,
            execution.scenario, execution.at, key.born, execution.visit, execution.number,
        ])
        // What became of it, and up to when nothing counts, stands for itself.
        try transaction.executions.updateCounts(of: execution.id)
        return noteRecord(execution.stamp, isNew: former == nil)
    }

    private mutating func apply(_ settlement: TransferRecord.Settlement) throws -> ImportVerdict {
        guard let state = ScenarioExecution.State(rawValue: settlement.state), state != .charged else {
            return .skipped(Self.newerReason)
        }
        try check(settlement.stamp.time, at: settlement.at)
        let sql = "SELECT kind, subject FROM scenario_execution WHERE execution_id = ?"
        // Of what was removed nothing is kept.
        guard let owner = try db.row(sql, [settlement.id]) else { return .kept }
        if mode == .addOnly, let kind = SubjectKey.Kind(rawValue: try owner.value(0)) {
            let text: String = try owner.value(1)
            if kind == .member {
                if let row = try db.members.row(userID: text), isKept(row) { return .kept }
            } else if try !isNew(SubjectKey(kind, text)) {
                return .kept
            }
        }
        var told = settlement
        (told.reason, told.actor) = (settlement.reason.map(PlainText.line), settlement.actor.map(PlainText.line))
        var former = try TransferRecord.Settlement.first(
            where: "execution_id = ? AND state = ?",
            [settlement.id, state.rawValue],
            in: db
        )
        if former?.join(told) == false { return .kept }
        let row = SettlementRow(
            executionID: told.id,
            state: state,
            stamp: told.stamp,
            at: told.at,
            reason: told.reason,
            actor: told.actor
        )
        _ = try transaction.executions.settle(row, replacing: true)
        return noteRecord(settlement.stamp, isNew: former == nil)
    }

    private mutating func apply(_ reset: TransferRecord.Reset) throws -> ImportVerdict {
        let key = try owner(reset.subject, reset.stamp, born: nil)
        guard try transaction.events.reset(key, reset.scenario, reset.stamp) else { return .kept }
        return noteRecord(reset.stamp, isNew: true)
    }
}
