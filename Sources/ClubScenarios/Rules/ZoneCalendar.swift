import CardCore
import ClubRecords
import Foundation

/// The days of a time zone. Times are microseconds since 1970; local times are what the clock on the wall shows, as if
/// it stood in UTC.
final class ZoneCalendar {
    /// A stretch of time in which clocks differ from UTC by the same.
    private struct Stretch {
        var start: Int64
        /// Not included.
        var stop: Int64
        /// What is added to a time to have the local one.
        var shift: Int64
    }

    /// A moment as the clock on the wall shows it.
    struct LocalMoment {
        /// The number of the day: 0 is 1 January 1970.
        var day: Int
        /// Microseconds since midnight.
        var time: Int64
    }

    enum Unit: String { case day, week, month, year }

    /// Where a period begins and ends (not included).
    struct Period { var start, end: Int64 }

    private struct PeriodKey: Hashable { var first, next: Int }

    let timeZone: TimeZone

    /// What is known of clocks, in blocks of 2^39 µs (six days).
    private var blocks: [Int64: [Stretch]] = [:]
    private var periods: [PeriodKey: Period] = [:]
    private var latest: (moment: Int64, local: LocalMoment)?

    /// No time is looked at beyond these, which keeps every sum in range: about 9000 years on either side of 1970.
    private static let bounds: ClosedRange<Int64> = -(1 << 58)...(1 << 58)

    /// More than any clock differs from UTC, in microseconds.
    private static let margin: Int64 = 26 * 3600 * Timestamp.second

    /// As many blocks and periods are kept at most.
    private static let capacity = 512

    init(_ timeZone: TimeZone) {
        self.timeZone = timeZone
    }

    /// What the clock on the wall shows then.
    func local(_ moment: Int64) -> LocalMoment {
        if let latest, latest.moment == moment { return latest.local }
        let bounded = Self.bounded(moment)
        let stretch = block(bounded >> 39).first { bounded < $0.stop }
        let shown = bounded + (stretch?.shift ?? 0)
        let day = shown >= 0 ? shown / CivilDate.day : (shown - CivilDate.day + 1) / CivilDate.day
        let local = LocalMoment(day: Int(day), time: shown - day * CivilDate.day)
        latest = (moment, local)
        return local
    }

    /// The stretches of time in which the clock on the wall shows a time from one (inclusive) until another
    /// (exclusive), in order. There is none if all of that was skipped, and more than one if some of it came twice.
    func stretches(from: Int64, until: Int64) -> [(start: Int64, stop: Int64)] {
        let (from, until) = (Self.bounded(from), Self.bounded(until))
        guard from < until else { return [] }
        var found: [(start: Int64, stop: Int64)] = []
        for number in (from - Self.margin) >> 39...(until + Self.margin) >> 39 {
            for stretch in block(number) {
                let start = max(stretch.start, from - stretch.shift)
                let stop = min(stretch.stop, until - stretch.shift)
                guard start < stop else { continue }
                if let last = found.last, last.stop == start {
                    found[found.count - 1].stop = stop
                } else {
                    found.append((start, stop))
                }
            }
        }
        return found
    }

    /// The moment at which the clock on the wall first shows a time or, where that is left out, the next that there is.
    func moment(_ local: Int64) -> Int64 {
        stretches(from: local, until: local + 2 * CivilDate.day).first?.start ?? local
    }

    /// The first moment of a day, or of the next if that one was skipped.
    func start(ofDay day: Int) -> Int64 { moment(Self.midnight(day)) }

    /// The first moment after a day, and after the day before it.
    private func end(ofDayBefore day: Int) -> Int64 {
        let local = Self.midnight(day)
        return stretches(from: local - 2 * CivilDate.day, until: local).last?.stop ?? local
    }

    func period(_ unit: Unit, ofDay day: Int) -> Period {
        let date = CivilDate(number: day)
        switch unit {
        case .day: return period(from: day, until: day + 1)
        case .week:
            let monday = day - CivilDate.weekday(day).rawValue + 1
            return period(from: monday, until: monday + 7)
        case .month:
            let next = (date.year * 12 + date.month) / 12
            return period(
                from: day - date.day + 1,
                until: CivilDate(year: next, month: date.month % 12 + 1, day: 1).number
            )
        case .year:
            return period(
                from: CivilDate(year: date.year, month: 1, day: 1).number,
                until: CivilDate(year: date.year + 1, month: 1, day: 1).number
            )
        }
    }

    /// The time from the first of these days until the other begins. Where a clock that is set back past midnight shows
    /// the end of a day again, that belongs to both days.
    func period(from first: Int, until next: Int) -> Period {
        let key = PeriodKey(first: first, next: next)
        if let known = periods[key] { return known }
        if periods.count >= Self.capacity { periods = [:] }
        let period = Period(start: start(ofDay: first), end: end(ofDayBefore: next))
        periods[key] = period
        return period
    }

    /// A moment as people write it: `2026-11-22 18:05`.
    func text(_ moment: Int64) -> String {
        let local = local(moment)
        let minutes = Int(local.time / (60 * Timestamp.second))
        let time = TimeOfDay(hour: minutes / 60, minute: minutes % 60)
        return "\(CivilDate.text(local.day)) \(time.map(\.description) ?? "")"
    }

    /// The local time at which a day begins.
    static func midnight(_ day: Int) -> Int64 {
        // No day beyond the bounds is looked at.
        Int64(min(max(day, -3_336_000), 3_336_000)) * CivilDate.day
    }

    private static func bounded(_ moment: Int64) -> Int64 { min(max(moment, bounds.lowerBound), bounds.upperBound) }

    /// The stretches of a block of time, without gaps.
    private func block(_ number: Int64) -> [Stretch] {
        if let known = blocks[number] { return known }
        if blocks.count >= Self.capacity { blocks = [:] }
        let stretches = makeBlock(number)
        blocks[number] = stretches
        return stretches
    }

    /// Asks for the difference at both ends, and looks for the second at which it changes. No zone changes its clocks
    /// and changes them back within six days.
    private func makeBlock(_ number: Int64) -> [Stretch] {
        let (start, stop) = (number << 39, (number + 1) << 39)
        var low = start / Timestamp.second
        let last = stop / Timestamp.second
        var shift = shift(low)
        let finalShift = self.shift(last)
        var stretches: [Stretch] = []
        var begin = start
        // A change to an intermediate difference is followed by another search.
        for _ in 0..<4 where shift != finalShift {
            var high = last
            while high - low > 1 {
                let middle = low + (high - low) / 2
                if self.shift(middle) == shift { low = middle } else { high = middle }
            }
            let change = min(max(high * Timestamp.second, begin), stop)
            stretches.append(Stretch(start: begin, stop: change, shift: shift))
            begin = change
            low = high
            shift = self.shift(high)
        }
        stretches.append(Stretch(start: begin, stop: stop, shift: shift))
        return stretches
    }

    /// What is added to a time, given in seconds, to have the local one, in microseconds.
    private func shift(_ second: Int64) -> Int64 {
        Int64(timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))) * Timestamp.second
    }
}

/// The calendars of time zones, with what was computed with them. They are shared by the scenarios of one attempt, and
/// may be kept for the next ones; not by several threads at once.
package final class ScenarioCalendars {
    private var calendars: [TimeZone: ZoneCalendar] = [:]
    /// Nearly always the one that is asked for.
    private var latest: ZoneCalendar?

    package init() {}

    func calendar(_ timeZone: TimeZone) -> ZoneCalendar {
        if let latest, latest.timeZone == timeZone { return latest }
        let calendar = calendars[timeZone] ?? ZoneCalendar(timeZone)
        calendars[timeZone] = calendar
        latest = calendar
        return calendar
    }
}

/// A date of the Gregorian calendar, and its number: 0 is 1 January 1970.
///
/// Foundation's calendar is not used for scenarios: it takes microseconds for each question, and leaves open what
/// becomes of a time that a day does not have or has twice.
struct CivilDate: Equatable {
    var year: Int
    /// 1...12.
    var month: Int
    /// 1...31.
    var day: Int

    /// Microseconds of a day by the clock on the wall.
    static let day: Int64 = 86_400 * Timestamp.second

    init(year: Int, month: Int, day: Int) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    init(number: Int) {
        (year, month, day) = ISO8601.civil(days: number)
    }

    var number: Int { ISO8601.days(year: year, month: month, day: day) }

    var exists: Bool { (1...12).contains(month) && (1...31).contains(day) && CivilDate(number: number) == self }

    static func weekday(_ number: Int) -> Weekday {
        // 1 January 1970 was a Thursday.
        Weekday(rawValue: ((number + 3) % 7 + 7) % 7 + 1) ?? .monday
    }

    /// Microseconds from midnight, by the clock on the wall.
    static func microseconds(_ time: TimeOfDay) -> Int64 { Int64(time.minutes) * 60 * Timestamp.second }

    /// `2026-11-22`.
    static func text(_ number: Int) -> String {
        let date = CivilDate(number: number)
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(date.year)-\(two(date.month))-\(two(date.day))"
    }
}
