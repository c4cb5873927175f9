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
        var row = ScenarioEventRow(
            eventID: event.eventID,
            stamp: event.stamp,
            key: key,
            name: name,
            at: event.at,
            visit: event.visit,
            isUndone: event.undone ?? false
        )
        let former = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT born, hlc, device_id, kind, subject, name, at, undone FROM scenario_event WHERE event_id = ?
                    """
            ),
            arguments: [event.eventID]
        )
        if let former {
            let at: Int64 = try former.value(6)
            let stored = Precedence(
                born: try former.value(0),
                rounding: Stamp(time: try former.value(1), device: try former.value(2)),
                texts: [try former.value(3), try former.value(4), try former.value(5), String(at)]
            )
            let told = Precedence(
                born: key.born,
                rounding: row.stamp,
                texts: [key.kind.rawValue, key.text, name, String(row.at)]
            )
            let isUndone: Bool = try former.value(7)
            guard told.precedes(stored) else {
                guard row.isUndone, !isUndone else { return .kept }
                try db.execute(
                    sql: "UPDATE scenario_event SET undone = 1 WHERE event_id = ?",
                    arguments: [event.eventID]
                )
                return noteRecord(event.stamp, isNew: false)
            }
            row.isUndone = row.isUndone || isUndone
            try db.execute(sql: "DELETE FROM scenario_event WHERE event_id = ?", arguments: [event.eventID])
        }
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
        let former = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT born, hlc, device_id, kind, subject, scenario, at, number FROM scenario_execution
                    WHERE execution_id = ?
                    """
            ),
            arguments: [execution.id]
        )
        if let former {
            let (at, number): (Int64, Int) = (try former.value(6), try former.value(7))
            let stored = Precedence(
                born: try former.value(0),
                rounding: Stamp(time: try former.value(1), device: try former.value(2)),
                texts: [
                    try former.value(3), try former.value(4), try former.value(5), String(at), String(number),
                ]
            )
            let told = Precedence(
                born: key.born,
                rounding: execution.stamp,
                texts: [
                    key.kind.rawValue, key.text, execution.scenario, String(execution.at), String(execution.number),
                ]
            )
            guard told.precedes(stored) else { return .kept }
        }
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
        let row = SettlementRow(
            executionID: settlement.id,
            state: state,
            stamp: settlement.stamp,
            at: settlement.at,
            reason: settlement.reason.map(PlainText.line),
            actor: settlement.actor.map(PlainText.line)
        )
        let former = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT hlc, device_id, at, reason, actor FROM scenario_settlement
                    WHERE execution_id = ? AND state = ?
                    """
            ),
            arguments: [settlement.id, state.rawValue]
        )
        if let former {
            let at: Int64 = try former.value(2)
            let stored = Precedence(
                rounding: Stamp(time: try former.value(0), device: try former.value(1)),
                texts: [String(at), try former.optional(3), try former.optional(4)]
            )
            // Of two devices that said so, the first did.
            let told = Precedence(rounding: row.stamp, texts: [String(row.at), row.reason, row.actor])
            guard told.precedes(stored) else { return .kept }
        }
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
