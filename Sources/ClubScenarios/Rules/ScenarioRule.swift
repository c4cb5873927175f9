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
