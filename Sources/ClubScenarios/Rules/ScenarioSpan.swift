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

    /// The windows in which scenarios count.
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
        let period: ZoneCalendar.Unit
        switch unit {
        case .since: return Int64(value).map { ($0, Timestamp.latest) }
        case .seconds, .days: return nil
        case .day: period = .day
        case .week: period = .week
        case .month: period = .month
        case .year: period = .year
        }
        guard let zone = TimeZone(identifier: value) else { return nil }
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
