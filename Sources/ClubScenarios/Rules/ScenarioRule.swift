import CardCore
import Foundation

/// A rule that is evaluated for a scenario.
///
/// Durations are in seconds, compared in whole microseconds. What lies ahead, since the clock was set back, keeps a rule
/// on the time since it from holding; but not where it lies ahead by more than a day and than the rule's own length: that
/// was a wrong clock, and closes nothing for years.
public indirect enum ScenarioRule: Sendable, Hashable {
    /// The minimum number of events.
    case minEventsRequired(Int)
    /// The maximum number of events.
    case maxEventsPermitted(Int)
    /// The number of executions that must not be reached.
    case maxExecutionsPermitted(Int)
    /// The number of seconds since the first event that must be exceeded; fails while there is none.
    case minSecondsSinceFirstEvent(TimeInterval)
    /// The number of seconds since the last event that must be exceeded; fails while there is none.
    case minSecondsSinceLastEvent(TimeInterval)
    /// The number of seconds since the last execution that must be exceeded; holds while there is none.
    case minSecondsBetweenExecutions(TimeInterval)
    /// The application's own conditions (``Scenario/customConditions``).
    case customConditions
    /// The period of validity: from the first, inclusive, until the second, exclusive.
    case valid(from: Date?, until: Date?)
    /// The number of events in the window.
    case events(atLeast: Int?, atMost: Int?, within: ScenarioWindow)
    /// The maximum number of executions in the window, including the one requested.
    case executions(atMost: Int, within: ScenarioWindow)
    /// A stamp card: one execution for each that many events. With `since`, events and executions from then on count.
    case every(Int, since: Date?)
    /// The latest event, in the window, made the number of events there exactly this one. For events that a program
    /// recorded, this holds until the scenario is executed.
    case reaches(Int, within: ScenarioWindow)
    /// The number of seconds that the latest event must exceed since the one before it. For events that a program
    /// recorded, this holds until the scenario is executed.
    case absence(TimeInterval)
    /// The current weekday is one of these.
    case weekdays(Set<Weekday>)
    /// The current time is in one of these.
    case openingHours([OpeningHours])
    /// The current day is between that many days before and after the member's birthday, at most 366 days, which a
    /// custom field holds as `YYYY-MM-DD` or `MM-DD`, or in another form that can mean one day only. A birthday on
    /// 29 February is on the 28th in other years.
    case birthday(field: String, daysBefore: Int, daysAfter: Int)
    /// The member has that tag.
    case tagged(String)
    /// All of these hold.
    case all([ScenarioRule])
    /// At least one of these holds.
    case any([ScenarioRule])
}

extension ScenarioRule {
    /// How deep lists of rules may be nested. A list that lies deeper never holds.
    static let maximumDepth = 8

    /// The rule's name, such as `minEventsRequired`.
    public var name: String {
        switch self {
        case .minEventsRequired: "minEventsRequired"
        case .maxEventsPermitted: "maxEventsPermitted"
        case .maxExecutionsPermitted: "maxExecutionsPermitted"
        case .minSecondsSinceFirstEvent: "minSecondsSinceFirstEvent"
        case .minSecondsSinceLastEvent: "minSecondsSinceLastEvent"
        case .minSecondsBetweenExecutions: "minSecondsBetweenExecutions"
        case .customConditions: "customConditions"
        case .valid: "valid"
        case .events: "events"
        case .executions: "executions"
        case .every: "every"
        case .reaches: "reaches"
        case .absence: "absence"
        case .weekdays: "weekdays"
        case .openingHours: "openingHours"
        case .birthday: "birthday"
        case .tagged: "tagged"
        case .all: "all"
        case .any: "any"
        }
    }

    /// Whether it needs to know what happened so far, which is dear.
    func asksHistory(depth: Int = 0) -> Bool {
        switch self {
        case .customConditions, .valid, .weekdays, .openingHours, .birthday, .tagged: false
        case .all(let rules), .any(let rules):
            depth < Self.maximumDepth && rules.contains { $0.asksHistory(depth: depth + 1) }
        default: true
        }
    }
}

/// The window of time in which events or executions are counted.
///
/// Calendar periods are those of the scenario's time zone, in the Gregorian calendar: where clocks are changed, a day
/// has 23 or 25 hours.
public enum ScenarioWindow: Sendable, Hashable {
    /// The last seconds: later than now minus these, up to now. For executions also those less than these seconds in
    /// the future, so that a clock set back permits no more of them.
    case seconds(TimeInterval)
    /// The current day and the n - 1 calendar days before it.
    case days(Int)
    /// The current day.
    case day
    /// The current week, which begins on Monday (ISO 8601).
    case week
    /// The current calendar month.
    case month
    /// The current calendar year.
    case year
    /// From that moment on, inclusive.
    case since(Date)
}

/// Hours on days of the week, in local time of the scenario's time zone.
///
/// They are one stretch of time: from the first moment at which the clock on the wall shows ``from`` until the first at
/// which it shows ``until``. A time that is left out when clocks are set forward is the next that there is, and of one
/// that comes twice it is the first; so hours until 02:30 are over at the first 02:30, and those from 02:30 until 04:00
/// go on while the clock shows 02:00 once more.
public struct OpeningHours: Sendable, Hashable {
    /// The days on which the hours begin.
    public var weekdays: Set<Weekday>

    /// The time at which they begin.
    public var from: TimeOfDay

    /// The time at which they end, exclusive. If it is no later than ``from``, they continue to that time of the next
    /// day.
    public var until: TimeOfDay

    /// Creates hours from one time until another on these days.
    public init(weekdays: Set<Weekday>, from: TimeOfDay, until: TimeOfDay) {
        self.weekdays = weekdays
        self.from = from
        self.until = until
    }
}

extension OpeningHours {
    var crossesMidnight: Bool { until <= from }
}

extension OpeningHours: CustomStringConvertible {
    /// Such as `Saturday and Sunday 09:00-17:30`, or `every day 09:00-17:30`.
    public var description: String {
        let days = weekdays.count == Weekday.allCases.count ? "every day" : Weekday.list(weekdays)
        return "\(days) \(from)-\(until)"
    }
}

/// A local time of the day, to the minute. `24:00` is the end of the day.
public struct TimeOfDay: Sendable, Hashable {
    /// The minutes since midnight, 0...1440, in local time.
    public let minutes: Int

    /// Creates a time from 00:00 to 24:00; `nil` for anything else.
    public init?(hour: Int, minute: Int) {
        guard (0...24).contains(hour), (0...59).contains(minute), hour < 24 || minute == 0 else { return nil }
        minutes = hour * 60 + minute
    }

    /// Parses `HH:mm`, two digits each; `nil` for anything else.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            let hour = ISO8601.number(bytes[0...1]), let minute = ISO8601.number(bytes[3...4])
        else { return nil }
        self.init(hour: hour, minute: minute)
    }
}

extension TimeOfDay: Comparable {
    /// Returns whether the left one is earlier.
    public static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.minutes < right.minutes }
}

extension TimeOfDay: CustomStringConvertible {
    /// `HH:mm`.
    public var description: String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}

/// A day of the week, numbered as by ISO 8601.
public enum Weekday: Int, Sendable, Hashable, CaseIterable, Codable {
    /// The first day of the week, 1.
    case monday = 1
    /// 2.
    case tuesday
    /// 3.
    case wednesday
    /// 4.
    case thursday
    /// 5.
    case friday
    /// 6.
    case saturday
    /// The last day of the week, 7.
    case sunday
}

extension Weekday {
    var name: String { ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][rawValue - 1] }

    /// Such as `Monday, Tuesday and Sunday`, in the order of the week.
    static func list(_ weekdays: Set<Weekday>) -> String {
        let names = allCases.filter(weekdays.contains).map(\.name)
        guard let last = names.last else { return "no day" }
        guard names.count > 1 else { return last }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
