import Foundation
import GRDB

/// Gives the state of scenarios as records of a club's file, in the same order on every device.
struct ScenarioExport {
    let append: (TransferRecord) throws -> Void

    func write(_ db: Database) throws {
        var rows = try Row.fetchCursor(
            db,
            sql: "SELECT kind, subject, scenario, hlc, device_id FROM scenario_reset ORDER BY kind, subject, scenario"
        )
        while let row = try rows.next() {
            let stamp = Stamp(time: try row.value(3), device: try row.value(4))
            try append(.reset(.init(subject: subject(row, 0), scenario: try row.value(2), stamp: stamp)))
        }
        rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT event_id, hlc, device_id, kind, subject, name, at, born, visit, undone FROM scenario_event
                ORDER BY event_id
                """
        )
        while let row = try rows.next() {
            let event = TransferRecord.Event(
                eventID: try row.value(0),
                stamp: Stamp(time: try row.value(1), device: try row.value(2)),
                subject: try subject(row, 3),
                name: try row.value(5),
                at: try row.value(6),
                born: try row.value(7),
                visit: try row.optional(8),
                undone: try row.value(9) ? true : nil
            )
            try append(.event(event))
        }
        rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT execution_id, hlc, device_id, kind, subject, scenario, at, born, visit, number
                FROM scenario_execution ORDER BY execution_id
                """
        )
        while let row = try rows.next() {
            let execution = TransferRecord.Execution(
                id: try row.value(0),
                stamp: Stamp(time: try row.value(1), device: try row.value(2)),
                subject: try subject(row, 3),
                scenario: try row.value(5),
                at: try row.value(6),
                born: try row.value(7),
                visit: try row.optional(8),
                number: try row.value(9)
            )
            try append(.execution(execution))
        }
        rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT execution_id, state, hlc, device_id, at, reason, actor FROM scenario_settlement
                ORDER BY execution_id, state
                """
        )
        while let row = try rows.next() {
            let settlement = TransferRecord.Settlement(
                id: try row.value(0),
                state: try row.value(1),
                stamp: Stamp(time: try row.value(2), device: try row.value(3)),
                at: try row.value(4),
                reason: try row.optional(5),
                actor: try row.optional(6)
            )
            try append(.settlement(settlement))
        }
    }

    private func subject(_ row: Row, _ column: Int) throws -> TransferRecord.Subject {
        TransferRecord.Subject(try row.value(column), try row.value(column + 1))
    }
}
