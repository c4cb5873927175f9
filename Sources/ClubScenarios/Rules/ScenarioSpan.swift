import CardCore
import ClubRecords
import Foundation

/// A window in which scenarios count, with the zone of its calendar: `year Europe/Berlin`, `since 1788256800000000`.
///
/// The database keeps those that scenarios have, so that whoever removes old visits, also another program without these
/// scenarios, keeps the numbers that they need (see ``MemberFacts/Removal/tallies``).
package struct ScenarioSpan: Hashable {
    private enum Unit: String, CaseIterable {
        case seconds, since, days, day, week, month, year
    }

    /// Under what the windows stand in `meta`.
    package static let storedKey = "scenarioSpans"

    private var unit: Unit
    /// The moment or the length, or the zone.
    private var value: String

    private init?(_ window: ScenarioWindow, _ zone: TimeZone) {
        switch window {
        case .seconds(let seconds): (unit, value) = (.seconds, String(ScenarioTime.microseconds(seconds)))
        case .since(let date):
            let moment = ScenarioTime.microseconds(date)
            // Nothing lies before 1970, and nothing after what is believed.
            guard (1...Timestamp.latest).contains(moment) else { return nil }
            (unit, value) = (.since, String(moment))
        case .days(let days):
            (unit, value) = (.days, String(Int64(ScenarioEvaluation.length(days)) * CivilDate.day))
        case .day: (unit, value) = (.day, zone.identifier)
        case .week: (unit, value) = (.week, zone.identifier)
        case .month: (unit, value) = (.month, zone.identifier)
        case .year: (unit, value) = (.year, zone.identifier)
        }
    }

    /// A line of ``text``; `nil` for one that a newer version wrote.
    package init?(_ text: Substring) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let unit = Unit(rawValue: String(parts[0])) else { return nil }
        (self.unit, value) = (unit, String(parts[1]))
    }

    package var text: String { "\(unit.rawValue) \(value)" }

    package static func all(of scenarios: [Scenario]) -> Set<ScenarioSpan> {
        var spans: Set<ScenarioSpan> = []
        for scenario in scenarios {
            for window in scenario.allRules.flatMap(\.windows) {
                if let span = ScenarioSpan(window, scenario.timeZone) { spans.insert(span) }
            }
        }
        return spans
    }

    /// What is counted from a moment that stays where it is for a time: that moment, and the end of that time. `nil` for
    /// what slides along with the present.
    package func anchor(at now: Int64, _ calendars: ScenarioCalendars) -> (from: Int64, until: Int64)? {
        if unit == .since { return Int64(value).map { ($0, Timestamp.latest) } }
        guard let period = ZoneCalendar.Unit(rawValue: unit.rawValue), let zone = TimeZone(identifier: value) else {
            return nil
        }
        let calendar = calendars.calendar(zone)
        let span = calendar.period(period, ofDay: calendar.local(now).day)
        return (max(span.start, 0), min(max(span.end, 0), Timestamp.latest))
    }

    /// How far what slides along with the present looks back, in microseconds; 0 for all others.
    package var slidingLength: Int64 { [.seconds, .days].contains(unit) ? Int64(value) ?? 0 : 0 }
}

extension ScenarioRule {
    /// The windows that it, and what it consists of, counts in.
    fileprivate var windows: [ScenarioWindow] {
        switch self {
        case .events(_, _, let window), .executions(_, let window), .reaches(_, let window): [window]
        case .every(_, let since): since.map { [.since($0)] } ?? []
        case .all(let rules), .any(let rules): rules.flatMap(\.windows)
        default: []
        }
    }
}

/// Times and lengths of time of rules in whole microseconds. Nothing here can trap: what is too large becomes the
/// largest.
package enum ScenarioTime {
    /// A moment; what is no number is the end of all time.
    static func microseconds(_ date: Date) -> Int64 { whole(date.timeIntervalSince1970) }

    /// A length of time, rounded to whole microseconds. A negative one is -1, which any length exceeds; what is no
    /// number is the longest.
    static func microseconds(_ seconds: TimeInterval) -> Int64 { max(whole(seconds), -1) }

    private static func whole(_ seconds: Double) -> Int64 {
        let value = (seconds * Double(Timestamp.second)).rounded()
        if value.isNaN || value >= 0x1p63 { return .max }
        return value < -0x1p63 ? .min : Int64(value)
    }

    static func sum<Number: FixedWidthInteger>(_ left: Number, _ right: Number) -> Number {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard overflow else { return sum }
        return left < 0 ? .min : .max
    }

    package static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        guard overflow else { return difference }
        return left < 0 ? .min : .max
    }

    /// Whether more than so many microseconds have passed since a moment that does not lie ahead.
    static func hasPassed(_ length: Int64, from start: Int64, to now: Int64) -> Bool {
        let elapsed = difference(now, start)
        return elapsed >= 0 && elapsed > length
    }

    /// As `ISO8601` has it, rounded up to the millisecond, so that a rule that holds from a moment on holds at the
    /// time that is printed.
    static func text(_ date: Date) -> String {
        let value = microseconds(date)
        let rest = ((value % 1000) + 1000) % 1000
        return ISO8601.text(rest == 0 ? date : Timestamp.date(sum(value, 1000 - rest)))
    }

    /// A length of time in words, such as `2 days and 3 hours`: its two greatest units, rounded down.
    static func words(_ microseconds: Int64) -> String {
        guard microseconds > 0 else { return "0 seconds" }
        guard microseconds < .max else { return "more time than there is" }
        func count(_ value: Int64, _ unit: String) -> String { "\(value) \(unit)\(value == 1 ? "" : "s")" }
        let seconds = microseconds / Timestamp.second
        let milliseconds = microseconds / 1000 % 1000
        if seconds < 60, milliseconds > 0 {
            var digits = String(1000 + milliseconds).dropFirst()
            while digits.last == "0" { digits = digits.dropLast() }
            return "\(seconds).\(digits) seconds"
        }
        guard seconds > 0 else { return "less than a millisecond" }
        let units: [(length: Int64, name: String)] = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
        let first = units.firstIndex { seconds >= $0.length } ?? 3
        let greatest = count(seconds / units[first].length, units[first].name)
        guard first < 3 else { return greatest }
        let rest = seconds % units[first].length / units[first + 1].length
        return rest == 0 ? greatest : greatest + " and " + count(rest, units[first + 1].name)
    }
}
