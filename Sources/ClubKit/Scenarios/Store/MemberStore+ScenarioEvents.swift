import Foundation
import GRDB

/// Events that programs record for scenarios, and the removal of a scenario's state.
extension MemberStore {
    /// Writes an event. One that is known stays as it is.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    func addEvent(_ event: ScenarioEventRow, in db: Database) throws -> Bool {
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
    func undoEvents(ofVisit visit: UUID, in db: Database) throws {
        try db.run("UPDATE scenario_event SET undone = 1 WHERE visit = ? AND undone = 0", [.uuid(visit)])
    }

    /// The subject's state.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    func scenarioState(
        for subject: ScenarioSubject,
        _ attempt: String,
        in db: Database
    ) throws -> (state: ScenarioState, key: SubjectKey, row: MemberRow?) {
        switch subject {
        case .member(let userId):
            let row = try Self.member(identifiers(userId), attempt, in: db)
            return (try ScenarioState(row, in: db), SubjectKey(row), row)
        case .group(let tag):
            let key = SubjectKey(.group, PlainText.line(tag))
            return (ScenarioState(key, in: db), key, nil)
        case .kiosk:
            return (ScenarioState(kioskKey, in: db), kioskKey, nil)
        }
    }

    /// Records an event.
    ///
    /// - Returns: whether it is new: one with that identifier may have been recorded before.
    func trigger(
        _ name: String,
        for subject: ScenarioSubject,
        at time: Int64,
        id: UUID,
        _ attempt: String,
        in db: Database
    ) throws -> Bool {
        let (_, key, _) = try scenarioState(for: subject, attempt, in: db)
        let event = ScenarioEventRow(
            eventID: id,
            stamp: try nextStamp(in: db),
            key: key,
            name: name,
            at: time,
            visit: nil
        )
        return try addEvent(event, in: db)
    }

    /// Lets what a scenario was charged with, and the events that programs recorded under its name of events, count no
    /// more, up to now; visits stay.
    func resetScenario(
        _ scenario: String,
        events name: String?,
        for subject: ScenarioSubject,
        _ attempt: String,
        in db: Database
    ) throws {
        let (state, _, _) = try scenarioState(for: subject, attempt, in: db)
        let stamp = try nextStamp(in: db)
        for key in state.keys {
            try reset(key, scenario, stamp, in: db)
            if let name { try reset(key, Self.resetName(ofEvents: name), stamp, in: db) }
        }
    }

    /// What stands for a name of events among the scenarios that were reset; no scenario has such an identifier.
    static func resetName(ofEvents name: String) -> String { resetMark + name }

    private static let resetMark = "\u{1}events:"

    /// The same in SQL, of a column with the name.
    static func resetNameSQL(_ column: String) -> String { "(char(1) || 'events:' || \(column))" }

    /// Lets what was recorded up to a moment count no more. The records stay, so that devices that hear of them and of this
    /// in whatever order come to the same.
    ///
    /// - Returns: whether that is news.
    @discardableResult
    func reset(_ key: SubjectKey, _ scenario: String, _ stamp: Stamp, in db: Database) throws -> Bool {
        try db.run(
            """
            INSERT INTO scenario_reset (kind, subject, scenario, hlc, device_id) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (kind, subject, scenario) DO UPDATE SET hlc = excluded.hlc, device_id = excluded.device_id
            WHERE (hlc, device_id) < (excluded.hlc, excluded.device_id)
            """,
            key.values + [.text(scenario), .integer(stamp.time), .uuid(stamp.device)]
        )
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

    /// Up to when a scenario's state does not count, -1 if it was never reset.
    static func resetTime(_ key: SubjectKey, _ scenario: String, in db: Database) throws -> Int64 {
        try db.first(
            "SELECT hlc FROM scenario_reset WHERE kind = ? AND subject = ? AND scenario = ?",
            key.values + [.text(scenario)]
        ) { try $0.value(0) } ?? -1
    }
}
