import Foundation

/// A test that a scenario makes when it is evaluated.
///
/// Lengths of time are in seconds, compared in whole microseconds. A time that lies ahead (since the clock was set
/// back) never satisfies a rule about how long ago something was.
public indirect enum ScenarioRule: Sendable, Hashable {
    /// There were at least so many events.
    case minEventsRequired(Int)
    /// There were at most so many events.
    case maxEventsPermitted(Int)
    /// There were fewer executions.
    case maxExecutionsPermitted(Int)
    /// The first event was longer ago; fails while there is no event.
    case minSecondsSinceFirstEvent(TimeInterval)
    /// The last event was longer ago; fails while there is no event.
    case minSecondsSinceLastEvent(TimeInterval)
    /// The last execution was longer ago; holds while there was none.
    case minSecondsBetweenExecutions(TimeInterval)
    /// The application's own conditions (``Scenario/customConditions``).
    case customConditions
    /// Now lies between these: the first is included, the second is not.
    case valid(from: Date?, until: Date?)
    /// So many events lie in the window.
    case events(atLeast: Int?, atMost: Int?, within: ScenarioWindow)
    /// With the one that is asked for, at most so many executions lie in the window.
    case executions(atMost: Int, within: ScenarioWindow)
    /// A stamp card: one execution for each so many events. With `since`, events and executions from then on count.
    case every(Int, since: Date?)
    /// The latest event, which is in the window, made it exactly so many there. If it is one that a program recorded, this
    /// holds until it happened.
    case reaches(Int, within: ScenarioWindow)
    /// More than so many seconds lay between the latest event and the one before it. If they are events that a program
    /// recorded, this holds until it happened.
    case absence(TimeInterval)
    /// Today is one of these.
    case weekdays(Set<Weekday>)
    /// Now lies in one of these.
    case openingHours([OpeningHours])
    /// Today is from so many days before to so many days after the member's birthday, which a custom field tells as
    /// `YYYY-MM-DD` or `MM-DD`. Who was born on 29 February has it on the 28th in other years. At most 366 days.
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

/// A stretch of time in which events or executions are counted.
///
/// Calendar periods are those of the scenario's time zone, in the Gregorian calendar: where clocks are changed, a day
/// has 23 or 25 hours.
public enum ScenarioWindow: Sendable, Hashable {
    /// The last so many seconds: later than now minus these, up to now. For executions also those that lie less than
    /// these seconds ahead, so that a clock that was set back permits no more of them.
    case seconds(TimeInterval)
    /// Today and the n - 1 calendar days before it.
    case days(Int)
    /// Today.
    case day
    /// This week, which begins on Monday (ISO 8601).
    case week
    /// This calendar month.
    case month
    /// This calendar year.
    case year
    /// From that moment on, which is included.
    case since(Date)
}

/// Hours on days of the week, by the clock on the wall in the scenario's time zone.
///
/// Where clocks are changed, a time that a day does not have counts as the next that it has, and one that a day has
/// twice counts both times.
public struct OpeningHours: Sendable, Hashable {
    /// The days on which the hours begin.
    public var weekdays: Set<Weekday>

    /// When they begin.
    public var from: TimeOfDay

    /// When they are over: the first moment that does not belong to them. If it is no later than ``from``, they go on
    /// to that time of the next day.
    public var until: TimeOfDay

    /// Hours from one time until another on these days.
    public init(weekdays: Set<Weekday>, from: TimeOfDay, until: TimeOfDay) {
        self.weekdays = weekdays
        self.from = from
        self.until = until
    }
}

extension OpeningHours {
    /// Whether they go on to the next day.
    var crossesMidnight: Bool { until <= from }

    /// Whether they include that time of a day, in microseconds since midnight.
    func include(_ time: Int64, on weekday: Weekday, after yesterday: Weekday) -> Bool {
        let (from, until) = (CivilDate.microseconds(from), CivilDate.microseconds(until))
        guard crossesMidnight else { return time >= from && time < until && weekdays.contains(weekday) }
        return time >= from && weekdays.contains(weekday) || time < until && weekdays.contains(yesterday)
    }
}

extension OpeningHours: CustomStringConvertible {
    /// Such as `Saturday and Sunday 09:00-17:30`, or `every day 09:00-17:30`.
    public var description: String {
        let days = weekdays.count == Weekday.allCases.count ? "every day" : Weekday.list(weekdays)
        return "\(days) \(from)-\(until)"
    }
}

/// A time on the clock on the wall, to the minute. `24:00` is the end of the day.
public struct TimeOfDay: Sendable, Hashable {
    /// Minutes since midnight, 0...1440, as the clock shows them.
    public let minutes: Int

    /// A time from 00:00 to 24:00; `nil` for anything else.
    public init?(hour: Int, minute: Int) {
        guard (0...24).contains(hour), (0...59).contains(minute), hour < 24 || minute == 0 else { return nil }
        minutes = hour * 60 + minute
    }

    /// Reads `HH:mm`, two digits each; `nil` for anything else.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            let hour = CivilDate.number(bytes[0...1]), let minute = CivilDate.number(bytes[3...4])
        else { return nil }
        self.init(hour: hour, minute: minute)
    }
}

extension TimeOfDay: Comparable {
    /// Whether the left one is earlier.
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
    /// The English name, such as `Monday`.
    var name: String {
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][rawValue - 1]
    }

    /// Such as `Monday, Tuesday and Sunday`, in the order of the week.
    static func list(_ weekdays: Set<Weekday>) -> String {
        let names = allCases.filter(weekdays.contains).map(\.name)
        guard let last = names.last else { return "no day" }
        guard names.count > 1 else { return last }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
