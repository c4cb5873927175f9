import Foundation
import GRDB

/// Whose events and executions are counted, as the store names it.
struct SubjectKey: Sendable, Hashable {
    typealias Kind = TransferRecord.Subject.Kind

    var kind: Kind
    /// A ``Member/userId``, a tag, or the identifier of a device.
    var text: String
    /// The time of a member's latest deletion: what was recorded under an earlier creation counts no more.
    var ended: Int64 = -1
    /// The time of the creation under which something is recorded now; 0 for whoever is not created.
    var born: Int64 = 0

    init(_ kind: Kind, _ text: String, ended: Int64 = -1, born: Int64 = 0) {
        self.kind = kind
        self.text = text
        self.ended = ended
        self.born = born
    }

    init(_ row: MemberRow) {
        self.init(.member, row.member.userId, ended: row.ended, born: row.origin.time)
    }

    /// The values for `kind = ? AND subject = ?`.
    var values: [BoundValue] { [.text(kind.rawValue), .text(text)] }

    /// Whom it means to an application.
    var subject: ScenarioSubject {
        switch kind {
        case .member: .member(text)
        case .group: .group(text)
        case .kiosk: .kiosk
        }
    }
}

struct ScenarioEventRow: Sendable, Hashable {
    var eventID: UUID
    var stamp: Stamp
    var key: SubjectKey
    var name: String
    /// Microseconds since 1970.
    var at: Int64
    /// The visit that it stands for, with which it ends.
    var visit: UUID?
    /// Whether the visit was undone, which may be all that is left of the undoing.
    var isUndone = false
}

/// Writes events that programs record for scenarios, and removes a scenario's state.
struct SubjectEvents {
    let transaction: StoreTransaction

    private var db: Database { transaction.db }

    /// Writes an event. One that is known stays as it is. Returns whether it is new.
    @discardableResult
    func add(_ event: ScenarioEventRow) throws -> Bool {
        try db.run(
            """
            INSERT OR IGNORE INTO scenario_event (event_id, device_id, hlc, kind, subject, name, at, born, visit, undone)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
                ?10 OR EXISTS (SELECT 1 FROM undo WHERE undo.event_id = ?9))
            """,
            [
                .uuid(event.eventID), .uuid(event.stamp.device), .integer(event.stamp.time),
                .text(event.key.kind.rawValue), .text(event.key.text), .text(event.name), .integer(event.at),
                .integer(event.key.born), event.visit.map(BoundValue.uuid) ?? .null,
                .integer(event.isUndone ? 1 : 0),
            ]
        )
        return db.changesCount == 1
    }

    /// Takes note that a visit was undone, for whoever it counts.
    func undo(ofVisit visit: UUID) throws {
        try db.run("UPDATE scenario_event SET undone = 1 WHERE visit = ? AND undone = 0", [.uuid(visit)])
    }

    /// Records an event; returns whether it is new: one with that identifier may have been recorded before.
    func trigger(
        _ name: String,
        for subject: ScenarioSubject,
        at time: Int64,
        id: UUID,
        _ attempt: String
    ) throws -> Bool {
        let (_, key, _) = try transaction.scenarios.state(for: subject, attempt)
        return try add(ScenarioEventRow(eventID: id, stamp: transaction.nextStamp(), key: key, name: name, at: time))
    }

    /// Lets what a scenario was charged with, and the events that programs recorded under its name of events, count no
    /// more, up to now; visits stay.
    func reset(_ scenario: String, events name: String?, for subject: ScenarioSubject, _ attempt: String) throws {
        let (state, _, _) = try transaction.scenarios.state(for: subject, attempt)
        let stamp = try transaction.nextStamp()
        for key in state.keys {
            try reset(key, scenario, stamp)
            if let name { try reset(key, Self.resetName(ofEvents: name), stamp) }
        }
    }

    /// What stands for a name of events among the scenarios that were reset; no scenario has such an identifier.
    static func resetName(ofEvents name: String) -> String { resetMark + name }

    private static let resetMark = "\u{1}events:"

    /// The same in SQL, of a column with the name.
    static func resetNameSQL(_ column: String) -> String { "(char(1) || 'events:' || \(column))" }

    /// Lets what was recorded up to a moment count no more. The records stay, so that devices that learn of them and of
    /// this in whatever order come to the same; returns whether that is news.
    @discardableResult
    func reset(_ key: SubjectKey, _ scenario: String, _ stamp: Stamp) throws -> Bool {
        let sql = """
            INSERT INTO scenario_reset (kind, subject, scenario, hlc, device_id) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (kind, subject, scenario) DO UPDATE SET hlc = excluded.hlc, device_id = excluded.device_id
            WHERE (hlc, device_id) < (excluded.hlc, excluded.device_id)
            """
        try db.run(sql, key.values + [.text(scenario), .integer(stamp.time), .uuid(stamp.device)])
        guard db.changesCount == 1 else { return false }
        // What is left is counted anew when it is needed.
        if scenario.hasPrefix(Self.resetMark) {
            let name = String(scenario.dropFirst(Self.resetMark.count))
            try KeptCount(source: KeptCount.events, key: key, name: name, db: db).forget()
        } else {
            try KeptCount(source: KeptCount.executions, key: key, name: scenario, db: db).forget()
            let gone = "kind = ? AND subject = ? AND scenario = ? AND hlc <= ?"
            let values = key.values + [.text(scenario), .integer(stamp.time)]
            try db.run(
                """
                DELETE FROM scenario_undelivered
                WHERE execution_id IN (SELECT execution_id FROM scenario_execution WHERE \(gone))
                """,
                values
            )
            try db.run("UPDATE scenario_execution SET counts = 0 WHERE \(gone)", values)
        }
        return true
    }

    /// Removes the state of scenarios of a member who was erased, as of then.
    func forget(of identifier: String, as stamp: Stamp) throws {
        let condition = "kind = 'member' AND subject = ?1 AND (born <= ?2 OR born & 65535 = 65535)"
        let arguments: StatementArguments = [identifier, stamp.time]
        let gone = "SELECT execution_id FROM scenario_execution WHERE \(condition)"
        for table in ["scenario_settlement", "scenario_undelivered"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE execution_id IN (\(gone))", arguments: arguments)
        }
        try db.execute(sql: "DELETE FROM scenario_execution WHERE \(condition)", arguments: arguments)
        try db.execute(sql: "DELETE FROM scenario_event WHERE \(condition)", arguments: arguments)
        try db.write("DELETE FROM scenario_reset WHERE kind = 'member' AND subject = ? AND hlc <= ?", arguments)
    }
}

struct ScenarioReading {
    let db: Database
    let device: LocalDevice

    /// The subject's state; throws ``ClubError/Kind/noSuchMember``.
    func state(
        for subject: ScenarioSubject,
        _ attempt: String
    ) throws -> (state: ScenarioState, key: SubjectKey, row: MemberRow?) {
        switch subject {
        case .member(let userId):
            let row = try db.members.member(device.identifiers(userId), attempt)
            return (try ScenarioState(row, in: db), SubjectKey(row), row)
        case .group(let tag):
            let key = SubjectKey(.group, PlainText.line(tag))
            return (ScenarioState(key, in: db), key, nil)
        case .kiosk:
            return (ScenarioState(device.kioskKey, in: db), device.kioskKey, nil)
        }
    }

    func decide(
        _ scenario: Scenario,
        for subject: ScenarioSubject,
        at time: Int64,
        conditionsHold: Bool,
        _ attempt: String,
        calendars: ScenarioCalendars = ScenarioCalendars()
    ) throws -> (decision: ScenarioDecision, state: ScenarioState, key: SubjectKey) {
        guard scenario.audience.includes(subject) else {
            let detail = "the scenario '\(scenario.id)' is not for \(subject.kindName)"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        let (state, key, row) = try self.state(for: subject, attempt)
        let look = ScenarioAttempt(
            now: time,
            history: StoredHistory(state: state, scenario: scenario.id, source: scenario.events),
            member: row?.member,
            tags: try state.tags(),
            customConditionsHold: conditionsHold,
            calendars: calendars
        )
        return (try scenario.decide(look, for: state.subject), state, key)
    }
}

extension Database {
    /// Up to when a scenario's state does not count, -1 if it was never reset.
    func resetTime(_ key: SubjectKey, _ scenario: String) throws -> Int64 {
        try first(
            "SELECT hlc FROM scenario_reset WHERE kind = ? AND subject = ? AND scenario = ?",
            key.values + [.text(scenario)]
        ) { try $0.value(0) } ?? -1
    }
}

extension Database {
    /// The windows in which scenarios that were used on this database count.
    func scenarioSpans() throws -> Set<ScenarioSpan> { Set(try scenarioSpanLines().compactMap { ScenarioSpan($0) }) }

    /// The same as they are stored, with those that a newer version wrote.
    fileprivate func scenarioSpanLines() throws -> Set<Substring> {
        Set((try setting(ScenarioSpan.storedKey) ?? "").split(separator: "\n"))
    }

    /// The moments from which scenarios count now, each with the end of the time in which they do.
    func scenarioAnchors(at now: Int64) throws -> [(from: Int64, until: Int64)] {
        let calendars = ScenarioCalendars()
        return try scenarioSpans().compactMap { $0.anchor(at: now, calendars) }
    }
}

extension SubjectEvents {
    /// Keeps the windows of scenarios, on top of those that are kept: two programs may have scenarios of their own.
    func keep(_ spans: Set<ScenarioSpan>) throws {
        guard !spans.isEmpty else { return }
        let lines = Set(spans.map { $0.text[...] })
        let former = try transaction.db.scenarioSpanLines()
        guard !lines.isSubset(of: former) else { return }
        try transaction.db.set(ScenarioSpan.storedKey, to: former.union(lines).sorted().joined(separator: "\n"))
    }
}
