import Foundation
import GRDB

/// The logical time of a database: its clock, and the latest moment in its records.
enum LogicalTimes {
    /// A condition of a column, that it holds a time which is believed.
    static let isPossible = "BETWEEN 0 AND \(Stamp.latestTime - 1)"

    /// The columns with logical times, by table. Those of a member's facts follow from them or stand in the facts.
    static let columns: [(table: String, column: String)] = [
        ("visit", "hlc"), ("visit", "born"), ("undo", "hlc"), ("audit", "hlc"), ("card", "hlc"), ("erased", "hlc"),
        ("member", "origin_hlc"), ("member", "ended_hlc"), ("scenario_event", "hlc"), ("scenario_event", "born"),
        ("scenario_execution", "hlc"), ("scenario_execution", "born"), ("scenario_settlement", "hlc"),
        ("scenario_reset", "hlc"),
    ]

    /// Counts the times that no clock reaches. The `ended_hlc` of a member who was never deleted is -1.
    static let impossible: String =
        "SELECT "
        + columns.map { table, column in
            let lowest = column == "ended_hlc" ? -1 : 0
            return "(SELECT count(*) FROM \(table) WHERE \(column) NOT BETWEEN \(lowest) AND \(Stamp.latestTime - 1))"
        }.joined(separator: " + ")

    /// The clock, or `nil` if absent or it shows no possible time.
    static func clock(in db: Database) throws -> Int64? {
        try db.value("SELECT hlc FROM clock WHERE typeof(hlc) = 'integer' AND hlc BETWEEN 0 AND \(Stamp.latestTime)")
    }

    /// The latest moment of which the records speak; times that are not possible do not count.
    static func latest(in db: Database) throws -> Int64 {
        var latest: Int64 = 0
        for (table, column) in columns {
            let sql = "SELECT max(\(column)) FROM \(table) WHERE \(column) \(isPossible)"
            latest = max(latest, try Int64.fetchOne(db, sql: sql) ?? 0)
        }
        let texts = try String.fetchCursor(db, sql: "SELECT facts FROM member WHERE typeof(facts) = 'text'")
        while let text = try texts.next() {
            guard let facts = try? JSONDecoder().decode(MemberFacts.self, from: Data(text.utf8)),
                facts.latestTime < Stamp.latestTime
            else { continue }
            latest = max(latest, facts.latestTime)
        }
        return latest
    }

    /// Whether the clock is so far ahead of the present and of all records that nothing but damage explains it. Other
    /// devices would not take in what is recorded here from now on.
    static func isClockAhead(now: Date, in db: Database) throws -> Bool {
        guard let clock = try clockAhead(of: now, in: db) else { return false }
        return clock - ahead > (try latest(in: db))
    }

    /// The clock, where it is so far ahead of the present that other devices take in nothing that is recorded here.
    static func clockAhead(of now: Date, in db: Database) throws -> Int64? {
        try clock(in: db).flatMap { $0 > present(now) + ahead ? $0 : nil }
    }

    static func present(_ now: Date) -> Int64 {
        let time = Stamp.time(milliseconds: (Timestamp.microseconds(now) ?? 0) / 1000, counter: 0)
        return min(time, Stamp.latestTime - 1)
    }

    private static let ahead = Stamp.tolerance << 16
}
