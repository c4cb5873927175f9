import Foundation

/// Rules about when something happens: "with the tenth visit, at most once a week".
///
/// A value: it says what is to be counted and tested, and holds no state. All tests that are set have to hold at once.
///
/// ```swift
/// let coffee = Scenario("coffee") {
///     $0.message = "This visit brings you a free coffee."
///     $0.minSecondsSinceFirstEvent = 86_400
///     $0.minSecondsBetweenExecutions = 7 * 86_400
///     $0.rules = [.every(10, since: nil)]
/// }
/// ```
public struct Scenario: Sendable, Identifiable {
    /// What its state is kept under: 1...100 Unicode scalars, none of them a control character. Another identifier is
    /// another scenario, to which nothing has happened yet.
    public var id: String

    /// Its name for people.
    public var title: String?

    /// What is shown to the person when it happens.
    public var message: String?

    /// Whose events and executions are counted.
    public var audience: ScenarioAudience = .members

    /// What counts as an event.
    public var events: ScenarioEvents = .visits

    /// How many events there must be at least; `nil` for no test, as with all that follow.
    public var minEventsRequired: Int?

    /// How many events there may be at most.
    public var maxEventsPermitted: Int?

    /// How many executions there may be.
    public var maxExecutionsPermitted: Int?

    /// More than so many seconds must have passed since the first event; fails while there is none.
    public var minSecondsSinceFirstEvent: TimeInterval?

    /// More than so many seconds must have passed since the last event; fails while there is none.
    public var minSecondsSinceLastEvent: TimeInterval?

    /// More than so many seconds must have passed since the last execution; holds while there was none.
    public var minSecondsBetweenExecutions: TimeInterval?

    /// The application's own conditions. They are asked once for each attempt, before and outside its transaction, and
    /// on any thread.
    public var customConditions: (@Sendable () -> Bool)?

    /// Whether the tests of seconds since the first and the last event pass while there is no event, as they did in
    /// WaitForIt.
    public var compatibleWithWaitForIt = false

    /// Rules beyond these; all of them have to hold too. Lists may be nested eight deep, with 64 rules each.
    public var rules: [ScenarioRule] = []

    /// When it begins to be possible.
    public var validFrom: Date?

    /// When it is over: the first moment at which it is not possible any more.
    public var validUntil: Date?

    /// Where days, weekdays and times of the day are those of.
    public var timeZone: TimeZone = .current

    /// Which comes first if several are due; the greatest does, and of equals the one that was registered first.
    public var priority = 0

    /// Of those that are due at one attempt and have the same group, only the first happens.
    public var exclusiveGroup: String?

    /// A scenario; the closure sets its values.
    public init(_ id: String, configure: (inout Scenario) -> Void = { _ in }) {
        self.id = id
        configure(&self)
    }

    /// All that has to hold, in the order in which failures are told: the seven tests in the order above, the period
    /// of validity, and ``rules``.
    public var allRules: [ScenarioRule] {
        var all: [ScenarioRule] = []
        if let minEventsRequired { all.append(.minEventsRequired(minEventsRequired)) }
        if let maxEventsPermitted { all.append(.maxEventsPermitted(maxEventsPermitted)) }
        if let maxExecutionsPermitted { all.append(.maxExecutionsPermitted(maxExecutionsPermitted)) }
        if let minSecondsSinceFirstEvent { all.append(.minSecondsSinceFirstEvent(minSecondsSinceFirstEvent)) }
        if let minSecondsSinceLastEvent { all.append(.minSecondsSinceLastEvent(minSecondsSinceLastEvent)) }
        if let minSecondsBetweenExecutions { all.append(.minSecondsBetweenExecutions(minSecondsBetweenExecutions)) }
        if customConditions != nil { all.append(.customConditions) }
        if validFrom != nil || validUntil != nil { all.append(.valid(from: validFrom, until: validUntil)) }
        return all + rules
    }
}
