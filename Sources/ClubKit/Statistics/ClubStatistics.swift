import Foundation
import GRDB
import ReaderKit

/// Statistics of a club's visits in a period.
///
/// They count visits of the ledger: of cards and by hand, without undone visits and those of deleted members. Totals of
/// imported files have no times, so they are in no number here, though they show who had been here before.
public struct ClubStatistics: Sendable, Hashable {
    /// The beginning, inclusive.
    public var from: Date

    /// The end, exclusive.
    public var to: Date

    /// The name of the time zone of ``hours`` and ``days``, such as `Europe/Berlin`.
    public var timeZone: String

    /// The number of visits.
    public var visits = 0

    /// The number of visits recorded by hand.
    public var manualVisits = 0

    /// The number of members who came at least once.
    public var uniqueVisitors = 0

    /// The number of members who came on a day other than their first.
    public var returningMembers = 0

    /// The number of members who joined, whether they came or not.
    public var newMembers = 0

    /// The number of taps inside the cooldown, which are acknowledged and not counted.
    public var repeats = 0

    /// The number of taps that were ignored by configuration.
    public var ignored = 0

    /// The number of taps that were rejected.
    public var rejected = 0

    /// The number of ignored and rejected taps for each reason, by the name of ``Receipt/Reason/Code``.
    public var reasons: [String: Int] = [:]

    /// The visits in each hour of the day, over all days: 24 numbers, the first from midnight on. On a day on which an
    /// hour comes twice, both count as that hour.
    public var hours = [Int](repeating: 0, count: 24)

    /// Each day from ``from`` to ``to``, in order, including days without visits.
    public var days: [Day] = []

    /// One day.
    public struct Day: Sendable, Hashable, Encodable {
        /// The date in the time zone, as in `2026-11-21`.
        public var date: String
        /// The number of visits.
        public var visits = 0
        /// The number of members who came.
        public var uniqueVisitors = 0
        /// The number of members who joined.
        public var newMembers = 0
    }

    /// An hour of the day.
    public struct PeakHour: Sendable, Hashable, Encodable {
        /// The hour in which it begins, 0 to 23.
        public var hour: Int
        /// The number of visits in it.
        public var visits: Int
    }

    /// The hour of the day with the most visits, the earliest of several; `nil` without visits.
    public var peakHour: PeakHour? {
        guard let most = hours.max(), most > 0, let hour = hours.firstIndex(of: most) else { return nil }
        return PeakHour(hour: hour, visits: most)
    }

    /// The day with the most visits, the earliest of several; `nil` without visits.
    public var busiestDay: Day? {
        guard let most = days.map(\.visits).max(), most > 0 else { return nil }
        return days.first { $0.visits == most }
    }
}

extension ClubStatistics: Encodable {
    /// Encodes all values, times in ISO 8601; `peakHour` and `busiestDay` are omitted without visits.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeObject([
            "from": ISO8601.text(from), "to": ISO8601.text(to), "timeZone": timeZone, "visits": visits,
            "manualVisits": manualVisits, "uniqueVisitors": uniqueVisitors, "returningMembers": returningMembers,
            "newMembers": newMembers, "repeats": repeats, "ignored": ignored, "rejected": rejected,
            "reasons": reasons, "peakHour": peakHour, "busiestDay": busiestDay, "hours": hours, "days": days,
        ])
    }
}

extension MemberStore {
    /// The most days that are counted at once: a hundred years.
    package static let mostDays: Int64 = 36_525

    package func statistics(from: Date?, to: Date, in timeZone: TimeZone) async throws(ClubError) -> ClubStatistics {
        let attempt = "count visits"
        func microseconds(_ date: Date) throws(ClubError) -> Int64 {
            if let time = Timestamp.microseconds(date) { return time }
            throw ClubError(.invalidValue, attempting: attempt, detail: "a time is outside the years 1970 to 9999")
        }
        let stop = try microseconds(to)
        let chosen = try from.map(microseconds)
        return try await read(attempt) { db in
            let start = try chosen ?? db.members.firstDay(before: stop, in: timeZone)
            guard start <= stop, stop - start <= Self.mostDays * LocalDays.day else {
                let detail = "the time does not begin before its end, or is longer than \(Self.mostDays) days"
                throw ClubError(.invalidValue, attempting: attempt, detail: detail)
            }
            let days = LocalDays(from: start, to: stop, in: timeZone)
            let (from, to) = (Timestamp.date(start), Timestamp.date(stop))
            var statistics = ClubStatistics(from: from, to: to, timeZone: timeZone.identifier)
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

private struct StatisticsQuery {
    let db: Database
    let days: LocalDays
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
                WHERE born > ended_hlc AND \(VisitRow.isCounted))

        """

    private func rows(_ select: String) throws -> RowCursor {
        let stretches = try MemberRow.json(days.stretches.map { [$0.start, $0.stop, $0.shift + Self.bias] })
        return try Row.fetchCursor(db, sql: Self.live + select, arguments: ["stretches": stretches])
    }

    /// The place of a day among ``ClubStatistics/days``, from the local time.
    private func day(_ local: String) -> String {
        "(\(local)) / \(LocalDays.day) - \(Self.bias / LocalDays.day + first)"
    }

    func visits(into statistics: inout ClubStatistics) throws {
        let sql = """
            SELECT \(day("local")), local / \(LocalDays.hour) % 24, count(*), sum(source = 'manual')
            FROM live GROUP BY 1, 2
            """
        let rows = try rows(sql)
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
        let rows = try rows("SELECT \(day("local")), member_id, max(at) FROM live GROUP BY 1, 2 ORDER BY 1")
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
            let start = starts[number] ?? LocalDays.start(ofDayAt: time, in: days.timeZone)
            starts[number] = start
            if earliest < start { statistics.returningMembers += 1 }
        }
    }

    /// When each of those came first, with whatever card: by the ledger, or by a file, whose totals are visits without
    /// times. Of visits that were removed there are none left either: the first was at the creation or later.
    private func firstVisits(of visitors: [Int64: Int64]) throws -> [Int64: Int64] {
        let joined = same.filter { visitors[$0.value] != nil }.keys
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT member.id, min(
                    coalesce((SELECT at FROM visit WHERE visit.member_id = member.id AND born > ended_hlc
                        AND \(VisitRow.isCounted) ORDER BY at LIMIT 1), \(Timestamp.latest)),
                    CASE WHEN claim_visits > 0 THEN min(claim_at, added_at) ELSE \(Timestamp.latest) END,
                    CASE WHEN instr(facts, '"removals"') > 0 AND own_visits > (
                        SELECT count(*) FROM visit WHERE visit.member_id = member.id AND born > ended_hlc
                            AND \(VisitRow.isCounted))
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
        let sql = """
            SELECT \(day("added_at + shift")), count(*)
            FROM member JOIN stretch ON added_at >= start AND added_at < stop
            WHERE status = 0 GROUP BY 1
            """
        let rows = try rows(sql)
        while let row = try rows.next() {
            let day: Int = try row.value(0)
            let count: Int = try row.value(1)
            statistics.newMembers += count
            if statistics.days.indices.contains(day) { statistics.days[day].newMembers += count }
        }
    }
}

extension StoredMembers {
    /// The beginning of the first day on which somebody came or joined; without one, of the last day.
    fileprivate func firstDay(before stop: Int64, in timeZone: TimeZone) throws -> Int64 {
        let sql = """
            SELECT min(at) FROM (SELECT min(at) AS at FROM visit
                UNION ALL SELECT min(added_at) FROM member WHERE status = 0)
            """
        let time = min(try Int64.fetchOne(db, sql: sql) ?? stop, max(0, stop - 1))
        return LocalDays.start(ofDayAt: time, in: timeZone)
    }
}

extension StoredReceipts {
    /// Counts the taps that were not counted as visits.
    fileprivate func count(from start: Int64, to stop: Int64, into statistics: inout ClubStatistics) throws {
        let sql = """
            SELECT outcome, reason_code, count(*) FROM receipt
            WHERE at >= ? AND at < ? AND outcome IN ('repeat', 'ignored', 'rejected') AND \(Erasing.keptReceipt)
            GROUP BY outcome, reason_code
            """
        for row in try db.rows(sql, [start, stop]) {
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

/// The days of a time zone, for counting in SQL: where clocks differ from UTC by the same, days are whole numbers of
/// seconds.
struct LocalDays {
    /// A stretch of time in which clocks differ from UTC by the same.
    struct Stretch: Equatable {
        /// In microseconds since 1970.
        var start: Int64
        /// In microseconds since 1970; not included.
        var stop: Int64
        /// What is added to a time to read UTC's clock as the local one, in microseconds.
        var shift: Int64
    }

    static let day: Int64 = 86_400 * Timestamp.second
    static let hour: Int64 = 3_600 * Timestamp.second

    /// Without gaps, from the beginning to the end.
    let stretches: [Stretch]

    let timeZone: TimeZone

    /// - Parameters:
    ///   - from: in microseconds since 1970.
    ///   - to: in microseconds since 1970; not included.
    init(from: Int64, to: Int64, in timeZone: TimeZone) {
        self.timeZone = timeZone
        var stretches: [Stretch] = []
        var start = from
        while start < to {
            let date = Timestamp.date(start)
            let shift = Int64(timeZone.secondsFromGMT(for: date)) * Timestamp.second
            let next = timeZone.nextDaylightSavingTimeTransition(after: date).flatMap(Timestamp.microseconds)
            // A zone that does not know its next change must not keep this from ending.
            let stop = next.flatMap { $0 > start ? min($0, to) : nil } ?? to
            stretches.append(Stretch(start: start, stop: stop, shift: shift))
            start = stop
        }
        self.stretches = stretches
    }

    /// The number of the local day of a time: 0 is 1 January 1970.
    func number(of time: Int64) -> Int64? {
        guard let stretch = stretches.first(where: { $0.start <= time && time < $0.stop }) else { return nil }
        let local = time + stretch.shift
        return local >= 0 ? local / Self.day : (local - Self.day + 1) / Self.day
    }

    /// The date of a day, as in `2026-11-21`.
    static func date(ofNumber number: Int64) -> String {
        Receipt.Notice.day(of: Date(timeIntervalSince1970: Double(number) * 86_400), in: .gmt)
    }

    static func start(of date: Date, in timeZone: TimeZone) -> Date { calendar(timeZone).startOfDay(for: date) }

    static func start(ofDayAt time: Int64, in timeZone: TimeZone) -> Int64 {
        Timestamp.microseconds(start(of: Timestamp.date(time), in: timeZone)) ?? 0
    }

    static func end(of date: Date, in timeZone: TimeZone) -> Date {
        let start = start(of: date, in: timeZone)
        // 36 hours later is the next day, also where a day has 25 hours.
        return calendar(timeZone).startOfDay(for: start.addingTimeInterval(129_600))
    }

    private static func calendar(_ timeZone: TimeZone) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }
}
