import Foundation
import GRDB

extension MemberStore {
    /// The most days that are counted at once: a hundred years.
    package static let mostDays: Int64 = 36_525

    /// How the club was visited in a stretch of time.
    package func statistics(from: Date?, to: Date, in timeZone: TimeZone) async throws(ClubError) -> ClubStatistics {
        let attempt = "count visits"
        let outside = ClubError(.invalidValue, attempting: attempt, detail: "a time is outside the years 1970 to 9999")
        guard let stop = Timestamp.microseconds(to) else { throw outside }
        var chosen: Int64?
        if let from {
            guard let time = Timestamp.microseconds(from) else { throw outside }
            chosen = time
        }
        return try await read(attempt) { [chosen] db in
            let start = try chosen ?? db.members.firstDay(before: stop, in: timeZone)
            guard start <= stop, stop - start <= Self.mostDays * LocalDays.day else {
                let detail = "the time does not begin before its end, or is longer than \(Self.mostDays) days"
                throw ClubError(.invalidValue, attempting: attempt, detail: detail)
            }
            let days = LocalDays(from: start, to: stop, in: timeZone)
            var statistics = ClubStatistics(
                from: Timestamp.date(start),
                to: Timestamp.date(stop),
                timeZone: timeZone.identifier
            )
            if stop > start, let first = days.number(of: start), let last = days.number(of: stop - 1) {
                statistics.days = (first...last).map { ClubStatistics.Day(date: LocalDays.date(ofNumber: $0)) }
                let count = StatisticsQuery(db: db, days: days, first: first, same: try db.members.standIns())
                try count.visits(into: &statistics)
                try count.visitors(into: &statistics)
                try count.newMembers(into: &statistics)
            }
            try db.receipts.count(from: start, to: stop, into: &statistics)
            return statistics
        }
    }
}

/// The questions that statistics put to SQLite.
private struct StatisticsQuery {
    let db: Database
    let days: LocalDays
    /// The number of the first day.
    let first: Int64
    /// See ``StoredMembers/standIns()``.
    let same: [Int64: Int64]

    /// Added to local times, so that none is negative: SQLite's division rounds towards zero.
    private static let bias = 10 * LocalDays.day

    /// The stretches as rows, and the visits in them that count, each with the row under which it was made and its local
    /// time.
    private static let live = """
        WITH stretch (start, stop, shift) AS (
                SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:stretches)),
            live (member_id, at, local, source) AS MATERIALIZED (
                SELECT visit.member_id, at, at + shift, source
                FROM stretch CROSS JOIN visit ON at >= start AND at < stop
                    JOIN member ON member.id = visit.member_id
                WHERE born > ended_hlc AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id))
        """

    private func stretches() throws -> String {
        try MemberRow.json(days.stretches.map { [$0.start, $0.stop, $0.shift + Self.bias] })
    }

    /// The place of a day among ``ClubStatistics/days``, from the local time.
    private func day(_ local: String) -> String {
        "(\(local)) / \(LocalDays.day) - \(Self.bias / LocalDays.day + first)"
    }

    func visits(into statistics: inout ClubStatistics) throws {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                \(Self.live)
                SELECT \(day("local")), local / \(LocalDays.hour) % 24, count(*), sum(source = 'manual')
                FROM live GROUP BY 1, 2
                """,
            arguments: ["stretches": try stretches()]
        )
        while let row = try rows.next() {
            let day: Int = try row.value(0)
            let hour: Int = try row.value(1)
            let count: Int = try row.value(2)
            statistics.visits += count
            statistics.manualVisits += try row.value(3)
            if statistics.hours.indices.contains(hour) { statistics.hours[hour] += count }
            if statistics.days.indices.contains(day) { statistics.days[day].visits += count }
        }
    }

    func visitors(into statistics: inout ClubStatistics) throws {
        // Who stands for whom is asked once for each member and day, not for each visit.
        let rows = try Row.fetchCursor(
            db,
            sql: "\(Self.live) SELECT \(day("local")), member_id, max(at) FROM live GROUP BY 1, 2 ORDER BY 1",
            arguments: ["stretches": try stretches()]
        )
        var latest: [Int64: Int64] = [:]
        var current: (day: Int, visitors: Set<Int64>) = (-1, [])
        while let row = try rows.next() {
            let day: Int = try row.value(0)
            let member: Int64 = try row.value(1)
            let visitor = same[member] ?? member
            latest[visitor] = max(latest[visitor] ?? 0, try row.value(2))
            // They come day by day.
            if day != current.day { current = (day, []) }
            current.visitors.insert(visitor)
            if statistics.days.indices.contains(day) { statistics.days[day].uniqueVisitors = current.visitors.count }
        }
        let first = try firstVisits(of: latest)
        var starts: [Int64: Int64] = [:]
        for (visitor, time) in latest {
            statistics.uniqueVisitors += 1
            guard let number = days.number(of: time), let earliest = first[visitor] else { continue }
            let start = starts[number] ?? self.start(ofDayAt: time)
            starts[number] = start
            if earliest < start { statistics.returningMembers += 1 }
        }
    }

    /// When each of those came first, with whatever card: by the ledger, or by what a file said, whose totals are visits
    /// without times. Of visits that were removed there are none left either: the first was at the creation or later.
    private func firstVisits(of visitors: [Int64: Int64]) throws -> [Int64: Int64] {
        let joined = same.filter { visitors[$0.value] != nil }.keys
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT member.id, min(
                    coalesce((SELECT at FROM visit WHERE visit.member_id = member.id AND born > ended_hlc
                        AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id)
                        ORDER BY at LIMIT 1), \(Timestamp.latest)),
                    CASE WHEN claim_visits > 0 THEN min(claim_at, added_at) ELSE \(Timestamp.latest) END,
                    CASE WHEN instr(facts, '"removals"') > 0 AND own_visits > (
                        SELECT count(*) FROM visit WHERE visit.member_id = member.id AND born > ended_hlc
                            AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.event_id = visit.event_id))
                        THEN added_at ELSE \(Timestamp.latest) END)
                FROM json_each(?) CROSS JOIN member ON member.id = value
                """,
            arguments: [try MemberRow.json(visitors.keys.sorted() + joined.sorted())]
        )
        var first: [Int64: Int64] = [:]
        while let row = try rows.next() {
            let member: Int64 = try row.value(0)
            let visitor = same[member] ?? member
            first[visitor] = min(first[visitor] ?? Timestamp.latest, try row.value(1))
        }
        return first
    }

    func newMembers(into statistics: inout ClubStatistics) throws {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                WITH stretch (start, stop, shift) AS (
                    SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:stretches))
                SELECT \(day("added_at + shift")), count(*)
                FROM member JOIN stretch ON added_at >= start AND added_at < stop
                WHERE status = 0 GROUP BY 1
                """,
            arguments: ["stretches": try stretches()]
        )
        while let row = try rows.next() {
            let day: Int = try row.value(0)
            let count: Int = try row.value(1)
            statistics.newMembers += count
            if statistics.days.indices.contains(day) { statistics.days[day].newMembers += count }
        }
    }

    private func start(ofDayAt time: Int64) -> Int64 {
        Timestamp.microseconds(LocalDays.start(of: Timestamp.date(time), in: days.timeZone)) ?? 0
    }
}

extension StoredMembers {
    /// The beginning of the first day on which somebody came or joined; without one, of the last day.
    fileprivate func firstDay(before stop: Int64, in timeZone: TimeZone) throws -> Int64 {
        let first = try Int64.fetchOne(
            db,
            sql: """
                SELECT min(at) FROM (SELECT min(at) AS at FROM visit
                    UNION ALL SELECT min(added_at) FROM member WHERE status = 0)
                """
        )
        let time = min(first ?? stop, max(0, stop - 1))
        return Timestamp.microseconds(LocalDays.start(of: Timestamp.date(time), in: timeZone)) ?? 0
    }
}

extension StoredReceipts {
    /// Counts the taps that were not counted as visits.
    fileprivate func count(from start: Int64, to stop: Int64, into statistics: inout ClubStatistics) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT outcome, reason_code, count(*) FROM receipt
                WHERE at >= ? AND at < ? AND outcome IN ('repeat', 'ignored', 'rejected') AND \(Erasing.keptReceipt)
                GROUP BY outcome, reason_code
                """,
            arguments: [start, stop]
        )
        for row in rows {
            let outcome: String = try row.value(0)
            let reason: String? = try row.optional(1)
            let count: Int = try row.value(2)
            switch outcome {
            case "repeat": statistics.repeats += count
            case "ignored": statistics.ignored += count
            default: statistics.rejected += count
            }
            if let reason { statistics.reasons[reason, default: 0] += count }
        }
    }
}
