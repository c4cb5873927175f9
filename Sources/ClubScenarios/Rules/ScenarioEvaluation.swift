import Foundation

/// The rules of a scenario at one attempt. What the history says of totals is asked once.
struct ScenarioEvaluation {
    let attempt: ScenarioAttempt
    let timeZone: TimeZone
    /// What is counted, for messages.
    let counted: ScenarioEvents
    /// Whether the tests of seconds since an event hold while there is none.
    let passesWithoutEvents: Bool

    private var knownEvents: (count: Int, first: Int64?, last: Int64?)?
    private var knownExecutions: (count: Int, last: Int64?)?
    private var knownCalendar: ZoneCalendar?

    init(_ scenario: Scenario, _ attempt: ScenarioAttempt) {
        self.attempt = attempt
        timeZone = scenario.timeZone
        counted = scenario.events
        passesWithoutEvents = scenario.compatibleWithWaitForIt
    }

    var history: any ScenarioHistory { attempt.history }

    mutating func events() throws -> (count: Int, first: Int64?, last: Int64?) {
        if let knownEvents { return knownEvents }
        let events = try history.events()
        knownEvents = events
        return events
    }

    mutating func executions() throws -> (count: Int, last: Int64?) {
        if let knownExecutions { return knownExecutions }
        let executions = try history.executions()
        knownExecutions = executions
        return executions
    }

    mutating func calendar() -> ZoneCalendar {
        if let knownCalendar { return knownCalendar }
        let calendar = attempt.calendars.calendar(timeZone)
        knownCalendar = calendar
        return calendar
    }

    /// Whether a rule holds at a moment, with what the history says now. A list that lies too deep does not hold.
    mutating func holds(_ rule: ScenarioRule, at now: Int64, depth: Int = 0) throws -> Bool {
        switch rule {
        case .minEventsRequired(let limit): return try events().count >= limit
        case .maxEventsPermitted(let limit): return try events().count <= limit
        case .maxExecutionsPermitted(let limit): return try executions().count < limit
        case .minSecondsSinceFirstEvent(let seconds): return try hasPassedSinceFirst(seconds, at: now)
        case .minSecondsSinceLastEvent(let seconds): return try hasPassedSinceLast(seconds, at: now)
        case .minSecondsBetweenExecutions(let seconds): return try hasRested(seconds, at: now)
        case .customConditions: return attempt.customConditionsHold
        case .valid(let from, let until): return Self.isValid(from: from, until: until, at: now)
        case .events(let least, let most, let window):
            let count = try countEvents(within: window, at: now)
            return count >= least ?? .min && count <= most ?? .max
        case .executions(let most, let window): return try countExecutions(within: window, at: now) < most
        case .every(let size, let since):
            guard size > 0 else { return false }
            let (events, executions) = try stamps(since: since)
            return executions < events / size
        case .reaches(let number, let window):
            return try countReached(within: window, at: now) == number && !isUsed(at: now)
        case .absence(let seconds):
            guard let gap = try latestGap(at: now), gap > ScenarioTime.microseconds(seconds) else { return false }
            return try !isUsed(at: now)
        case .weekdays(let weekdays): return weekdays.contains(CivilDate.weekday(calendar().local(now).day))
        case .openingHours(let hours): return isOpen(hours, at: now)
        case .birthday(let field, let before, let after):
            return birthday(field)?.isNear(calendar().local(now).day, before: before, after: after) ?? false
        case .tagged(let tag): return attempt.tags.contains(tag)
        case .all(let rules):
            guard depth < ScenarioRule.maximumDepth else { return false }
            for rule in rules where try !holds(rule, at: now, depth: depth + 1) { return false }
            return true
        case .any(let rules):
            guard depth < ScenarioRule.maximumDepth else { return false }
            for rule in rules where try holds(rule, at: now, depth: depth + 1) { return true }
            return false
        }
    }

    static func isValid(from: Date?, until: Date?, at now: Int64) -> Bool {
        if let from, now < ScenarioTime.microseconds(from) { return false }
        if let until, now >= ScenarioTime.microseconds(until) { return false }
        return true
    }

    mutating func hasPassedSinceFirst(_ seconds: TimeInterval, at now: Int64) throws -> Bool {
        guard let first = try events().first else { return passesWithoutEvents }
        return ScenarioTime.hasPassed(ScenarioTime.microseconds(seconds), from: first, to: now)
    }

    mutating func hasPassedSinceLast(_ seconds: TimeInterval, at now: Int64) throws -> Bool {
        guard let last = try events().last else { return passesWithoutEvents }
        return ScenarioTime.hasPassed(ScenarioTime.microseconds(seconds), from: last, to: now)
    }

    mutating func hasRested(_ seconds: TimeInterval, at now: Int64) throws -> Bool {
        guard let last = try executions().last else { return true }
        return ScenarioTime.hasPassed(ScenarioTime.microseconds(seconds), from: last, to: now)
    }

    /// The events and executions of a stamp card.
    mutating func stamps(since: Date?) throws -> (events: Int, executions: Int) {
        guard let since else { return (try events().count, try executions().count) }
        let before = ScenarioTime.difference(ScenarioTime.microseconds(since), 1)
        return (
            try history.countEvents(after: before, through: .max),
            try history.countExecutions(after: before, before: .max)
        )
    }

    /// What lay between the latest event and the one before it, or `nil` if there are not two.
    func latestGap(at now: Int64) throws -> Int64? {
        guard let latest = try history.event(fromLatest: 0, through: now),
            let former = try history.event(fromLatest: 1, through: now)
        else { return nil }
        return ScenarioTime.difference(latest, former)
    }

    /// Whether it happened at the latest event already, or after it.
    ///
    /// Visits are looked at when they come. What a program recorded is still the latest event at each visit after it, and
    /// brings something once.
    mutating func isUsed(at now: Int64) throws -> Bool {
        guard case .named = counted, let latest = try history.event(fromLatest: 0, through: now),
            let last = try executions().last
        else { return false }
        return last >= latest
    }

    /// How many events there were in the window of the latest event when it came; `nil` if it lies in none that now
    /// lies in. (As a window moves on, older events leave it, which is not an event that reaches a number.)
    mutating func countReached(within window: ScenarioWindow, at now: Int64) throws -> Int? {
        guard let latest = try history.event(fromLatest: 0, through: now), latest > eventSpan(window, at: now).after
        else { return nil }
        return try history.countEvents(after: eventSpan(window, at: latest).after, through: latest)
    }

    mutating func countEvents(within window: ScenarioWindow, at now: Int64) throws -> Int {
        let span = eventSpan(window, at: now)
        return try history.countEvents(after: span.after, through: span.through)
    }

    mutating func countExecutions(within window: ScenarioWindow, at now: Int64) throws -> Int {
        let span = executionSpan(window, at: now)
        return try history.countExecutions(after: span.after, before: span.before)
    }

    /// Events count that lie after the first moment, and no later than the second.
    mutating func eventSpan(_ window: ScenarioWindow, at now: Int64) -> (after: Int64, through: Int64) {
        if case .seconds(let seconds) = window {
            return (ScenarioTime.difference(now, ScenarioTime.microseconds(seconds)), now)
        }
        let span = executionSpan(window, at: now)
        return (span.after, span.before == .max ? .max : ScenarioTime.difference(span.before, 1))
    }

    /// Executions count that lie after the first moment and before the second.
    mutating func executionSpan(_ window: ScenarioWindow, at now: Int64) -> (after: Int64, before: Int64) {
        switch window {
        case .seconds(let seconds):
            let length = ScenarioTime.microseconds(seconds)
            return (ScenarioTime.difference(now, length), ScenarioTime.sum(now, length))
        case .since(let date): return (ScenarioTime.difference(ScenarioTime.microseconds(date), 1), .max)
        case .days(let count):
            let today = calendar().local(now).day
            let period = calendar().period(from: today - Self.length(count) + 1, until: today + 1)
            return (period.start - 1, period.end)
        case .day: return span(of: .day, at: now)
        case .week: return span(of: .week, at: now)
        case .month: return span(of: .month, at: now)
        case .year: return span(of: .year, at: now)
        }
    }

    private mutating func span(of unit: ZoneCalendar.Unit, at now: Int64) -> (after: Int64, before: Int64) {
        let period = calendar().period(unit, ofDay: calendar().local(now).day)
        return (period.start - 1, period.end)
    }

    /// A number of days that can be counted with.
    static func length(_ days: Int) -> Int { min(max(days, 1), 4_000_000) }
}
