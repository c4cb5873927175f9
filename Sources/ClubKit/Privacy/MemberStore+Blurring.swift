import Foundation
import GRDB

/// Rounding the times of what scenarios did and counted, once it is older than what is kept.
///
/// That something was given stays, with its number and what became of it, so that it is not given twice. When it was is
/// rounded up, so that nothing is due earlier: to the end of its day (UTC), but not beyond a moment from which scenarios
/// count. The visit is not named any more. What concerns the kiosk alone names nobody and stays as it is; so does what was
/// not settled, since it is yet to be delivered.
///
/// The moment of the logical clock is rounded as well: up, so that it stays later than a reset before it; down if a reset
/// came after it. A rounded record is put before one that is not (see ``TransferRecord/joined(with:)``), so
/// that devices that have rounded and such that have not come to the same.
extension MemberStore {
    private static let day = Stamp.day

    /// How many records are changed in one transaction.
    private static let recordsAtOnce = 400

    /// ``Stamp/isRounded`` of a column.
    private static func isRounded(_ column: String) -> String {
        "(\(column) & 65535 = 0 AND (\(column) >> 16) % \(day) IN (0, \(day - 1)))"
    }

    /// A moment of a logical clock, rounded up or down within its day.
    private static func rounded(_ column: String, up: String) -> String {
        "((\(column) >> 16) / \(day) * \(day) + iif(\(up), \(day - 1), 0) << 16)"
    }

    /// A time in microseconds, rounded up within its day, up to the next of the moments in `?2`.
    private static let roundedTime = """
        min((at / \(day * 1000) + 1) * \(day * 1000) - 1,
            coalesce((SELECT min(value) - 1 FROM json_each(?2) WHERE value > at), \(Int64.max)))
        """

    /// What is rounded in a table.
    private struct Rounding: Sendable {
        var table: String
        var key: String
        /// Which rows are, beside those that are old: a condition of the table.
        var condition: String
        /// What else is changed.
        var changes: String
        /// Whether a row came after the latest reset.
        var stands = "TRUE"
    }

    private static let roundings = [
        Rounding(
            table: "scenario_execution",
            key: "execution_id",
            condition: """
                kind <> 'kiosk'
                AND EXISTS (SELECT 1 FROM scenario_settlement AS s WHERE s.execution_id = e.execution_id)
                """,
            changes: ", visit = NULL",
            stands: IntegrityQuestion.isNotReset
        ),
        Rounding(
            table: "scenario_event",
            key: "event_id",
            condition: "kind <> 'kiosk'",
            changes: ", visit = NULL",
            stands: """
                e.hlc > coalesce((SELECT r.hlc FROM scenario_reset AS r WHERE r.kind = e.kind AND r.subject = e.subject
                    AND r.scenario = \(resetNameSQL("e.name"))), -1)
                """
        ),
        Rounding(
            table: "scenario_settlement",
            key: "execution_id",
            condition: """
                EXISTS (SELECT 1 FROM scenario_execution AS x WHERE x.execution_id = e.execution_id AND x.kind <> 'kiosk')
                """,
            changes: ""
        ),
    ]

    /// Rounds the times of days that lie wholly before a limit.
    ///
    /// - Parameters:
    ///   - limit: in microseconds since 1970, no later than the present.
    ///   - anchors: the moments from which scenarios count.
    func blurScenarios(before limit: Int64, _ anchors: [Int64], _ attempt: String) async throws(ClubError) {
        let end = limit / (Self.day * 1000) * Self.day
        let moments = "[\(anchors.map(String.init).joined(separator: ","))]"
        for rounding in Self.roundings {
            let (table, key) = (rounding.table, rounding.key)
            let isOld = """
                at < \(end * 1000) AND hlc < \(end << 16) AND NOT \(Self.isRounded("hlc")) AND \(rounding.condition)
                """
            var last = Data()
            while true {
                let start = last
                let ids = try await read(attempt) { db in
                    try Data.fetchAll(
                        db.cachedStatement(
                            sql: """
                                SELECT DISTINCT \(key) FROM \(table) AS e WHERE \(key) > ? AND \(isOld)
                                ORDER BY \(key) LIMIT \(Self.recordsAtOnce)
                                """
                        ),
                        arguments: [start]
                    )
                }
                guard let next = ids.last else { break }
                try await writePortion(attempt) { db in
                    // What is rounded up is no later than this device's clock.
                    _ = try self.nextStamp(in: db)
                    for id in ids {
                        try db.cachedStatement(
                            sql: """
                                UPDATE \(table) AS e SET hlc = \(Self.rounded("hlc", up: rounding.stands)),
                                    at = \(Self.roundedTime)\(rounding.changes)
                                WHERE \(key) = ?1 AND \(isOld)
                                """
                        ).execute(arguments: [id, moments])
                    }
                }
                last = next
            }
        }
    }
}
