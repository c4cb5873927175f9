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
            INSERT OR IGNORE INTO scenario_event (event_id, device_id, hlc, kind, subject, name, at, born, visit)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .uuid(event.eventID), .uuid(event.stamp.device), .integer(event.stamp.time),
                .text(event.key.kind.rawValue), .text(event.key.text), .text(event.name), .integer(event.at),
                .integer(event.key.born), event.visit.map(BoundValue.uuid) ?? .null,
            ]
        )
        guard db.changesCount == 1 else { return false }
        try countEvent(event, in: db)
        return true
    }

    /// Keeps the number of a subject's events, which is the same as counting them, whatever their number.
    private func countEvent(_ event: ScenarioEventRow, in db: Database) throws {
        let values = event.key.values + [.text(event.name)]
        try db.run(
            """
            UPDATE scenario_count SET events = events + 1, first_at = min(first_at, ?4), last_at = max(last_at, ?4)
            WHERE kind = ?1 AND subject = ?2 AND name = ?3
            """,
            values + [.integer(event.at)]
        )
        guard db.changesCount == 0 else { return }
        try db.run(
            """
            INSERT INTO scenario_count (kind, subject, name, events, first_at, last_at)
            SELECT kind, subject, name, count(*), min(at), max(at) FROM scenario_event
            WHERE kind = ?1 AND subject = ?2 AND name = ?3
                AND (visit IS NULL OR NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit))
            GROUP BY kind, subject, name
            """,
            values
        )
    }

    /// Forgets the numbers that follow from events, whose events changed otherwise than by one more.
    func forgetEventCounts(in db: Database) throws {
        try db.run("DELETE FROM scenario_count", [])
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

    /// Removes what a scenario was charged with, and the events that programs recorded for it, up to now; visits stay.
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

    /// Removes what was recorded up to a moment.
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
        if scenario.hasPrefix(Self.resetMark) {
            try db.run(
                "DELETE FROM scenario_event WHERE kind = ? AND subject = ? AND name = ? AND hlc <= ?",
                key.values + [.text(String(scenario.dropFirst(Self.resetMark.count))), .integer(stamp.time)]
            )
            try forgetEventCounts(in: db)
        } else {
            let gone = "scenario_execution WHERE kind = ? AND subject = ? AND scenario = ? AND hlc <= ?"
            let values = key.values + [.text(scenario), .integer(stamp.time)]
            for table in ["scenario_settlement", "scenario_undelivered"] {
                try db.run("DELETE FROM \(table) WHERE execution_id IN (SELECT execution_id FROM \(gone))", values)
            }
            try db.run("DELETE FROM \(gone)", values)
        }
        return true
    }

    /// Up to when a scenario's state was removed, -1 if it never was.
    func resetTime(_ key: SubjectKey, _ scenario: String, in db: Database) throws -> Int64 {
        try db.first(
            "SELECT hlc FROM scenario_reset WHERE kind = ? AND subject = ? AND scenario = ?",
            key.values + [.text(scenario)]
        ) { try $0.value(0) } ?? -1
    }
}
