import Foundation
import GRDB
import ReaderKit

/// The state of scenarios of a club's own file.
extension MergeBatch {
    /// Whose a record is here, or why it is not taken in.
    private enum Owner {
        case key(SubjectKey)
        case verdict(ImportVerdict)
    }

    /// Finds whose a record is, and whether what is told of them is taken in.
    ///
    /// - Parameter born: the creation with which it ends; `nil` for what ends with none.
    private mutating func owner(
        _ subject: TransferRecord.Subject,
        _ stamp: Stamp,
        born: Int64?
    ) throws -> Owner {
        guard let kind = SubjectKey.Kind(rawValue: subject.kind) else { return .verdict(.skipped(Self.newerReason)) }
        if let fault = fault(of: stamp.time, born ?? 0) { return .verdict(.skipped(fault)) }
        var key = SubjectKey(kind, subject.text, born: born ?? 0)
        if kind == .member {
            guard MemberID.isUsable(subject.text) else { return .verdict(.skipped(Self.unusableReason)) }
            guard let userID = transaction.device.identifier(imported: subject.text) else {
                return .verdict(.skipped(Self.otherKeyReason))
            }
            key.text = userID
            let row = try db.members.row(userID: userID)
            if let row, isKept(row) { return .verdict(.kept) }
            var facts = try row.map { row in try self.facts(of: row) } ?? MemberFacts()
            if row == nil, let erasure = try erasure(of: userID) { facts.erase(erasure) }
            if facts.erasure != nil, !facts.isAlive(born: born ?? stamp.time) {
                return .verdict(.skipped(Self.erasedReason))
            }
        } else if mode == .addOnly, try !isNew(SubjectKey(kind, subject.text)) {
            return .verdict(.kept)
        }
        return .key(key)
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

    mutating func apply(_ event: TransferRecord.Event) throws -> ImportVerdict {
        guard Self.isPlausible(at: event.at) else { return .skipped(Self.timeReason) }
        let name = PlainText.line(event.name)
        let owner = try owner(event.subject, event.stamp, born: event.born)
        guard case .key(let key) = owner else {
            guard case .verdict(let verdict) = owner else { return .kept }
            return verdict
        }
        var told = event
        (told.subject.text, told.name, told.born) = (key.text, name, key.born)
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

    mutating func apply(_ execution: TransferRecord.Execution) throws -> ImportVerdict {
        guard Self.isPlausible(at: execution.at) else { return .skipped(Self.timeReason) }
        let owner = try owner(execution.subject, execution.stamp, born: execution.born)
        guard case .key(let key) = owner else {
            guard case .verdict(let verdict) = owner else { return .kept }
            return verdict
        }
        var told = execution
        (told.subject.text, told.born) = (key.text, key.born)
        var former = try TransferRecord.Execution.first(where: "execution_id = ?", [execution.id], in: db)
        if former?.join(told) == false { return .kept }
        try db.cachedStatement(
            sql: """
                REPLACE INTO scenario_execution (execution_id, device_id, hlc, kind, subject, scenario, at, born, visit, number)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            execution.id, execution.stamp.device, execution.stamp.time, key.kind.rawValue, key.text,
            execution.scenario, execution.at, key.born, execution.visit, execution.number,
        ])
        // What became of it, and up to when nothing counts, stands for itself.
        try transaction.executions.updateCounts(of: execution.id)
        return noteRecord(execution.stamp, isNew: former == nil)
    }

    mutating func apply(_ settlement: TransferRecord.Settlement) throws -> ImportVerdict {
        guard let state = ScenarioExecution.State(rawValue: settlement.state), state != .charged else {
            return .skipped(Self.newerReason)
        }
        guard Self.isPlausible(at: settlement.at) else { return .skipped(Self.timeReason) }
        if let fault = fault(of: settlement.stamp.time) { return .skipped(fault) }
        let owner = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT kind, subject FROM scenario_execution WHERE execution_id = ?"),
            arguments: [settlement.id]
        )
        // Of what was removed nothing is kept.
        guard let owner else { return .kept }
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

    mutating func apply(_ reset: TransferRecord.Reset) throws -> ImportVerdict {
        let owner = try owner(reset.subject, reset.stamp, born: nil)
        guard case .key(let key) = owner else {
            guard case .verdict(let verdict) = owner else { return .kept }
            return verdict
        }
        guard try transaction.events.reset(key, reset.scenario, reset.stamp) else { return .kept }
        return noteRecord(reset.stamp, isNew: true)
    }

    private mutating func noteRecord(_ stamp: Stamp, isNew: Bool) -> ImportVerdict {
        note(stamp.time)
        progress.recordCount += 1
        return isNew ? .created : .merged(changes: [], conflicts: [])
    }
}
