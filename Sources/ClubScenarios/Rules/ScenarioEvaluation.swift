import CardCore
import ClubRecords
import Foundation

/// The rules of a scenario at one attempt. The history is asked once for totals.
struct ScenarioEvaluation {
    let attempt: ScenarioAttempt
    let timeZone: TimeZone
    /// What is counted, for messages.
    let counted: ScenarioEvents
    /// Whether the tests of seconds since an event hold while there is none.
    let passesWithoutEvents: Bool

    private var knownEvents: (count: Int, first: Int64?, last: Int64?)?
    private var knownExecutions: (count: Int, last: Int64?)?
    private(set) lazy var calendar = attempt.calendars.calendar(timeZone)

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

    /// Whether a rule holds at a moment, with the history as it is now. A list that lies too deep does not hold.
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
        case .weekdays(let weekdays): return weekdays.contains(CivilDate.weekday(calendar.local(now).day))
        case .openingHours(let hours): return isOpen(hours, at: now)
        case .birthday(let field, let before, let after):
            return birthday(field)?.isNear(calendar.local(now).day, before: before, after: after) ?? false
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
        let length = ScenarioTime.microseconds(seconds)
        return first > Self.horizon(length, at: now) || ScenarioTime.hasPassed(length, from: first, to: now)
    }

    mutating func hasPassedSinceLast(_ seconds: TimeInterval, at now: Int64) throws -> Bool {
        guard try events().last != nil else { return passesWithoutEvents }
        guard let last = try lastEvent(seconds, at: now) else { return true }
        return ScenarioTime.hasPassed(ScenarioTime.microseconds(seconds), from: last, to: now)
    }

    mutating func hasRested(_ seconds: TimeInterval, at now: Int64) throws -> Bool {
        guard let last = try lastExecution(seconds, at: now) else { return true }
        return ScenarioTime.hasPassed(ScenarioTime.microseconds(seconds), from: last, to: now)
    }

    /// What lies ahead by no more than a day keeps a rule from holding that asks how long ago it was, or by no more than
    /// that length: the clock was set back. Beyond, the clock was wrong, and nobody knows when it was.
    private static func horizon(_ length: Int64, at now: Int64) -> Int64 {
        ScenarioTime.sum(now, max(length, CivilDate.day))
    }

    /// The last event that a rule on the time since it goes by, if any.
    mutating func lastEvent(_ seconds: TimeInterval, at now: Int64) throws -> Int64? {
        let horizon = Self.horizon(ScenarioTime.microseconds(seconds), at: now)
        guard let last = try events().last, last > horizon else { return try events().last }
        return try history.event(fromLatest: 0, through: horizon)
    }

    /// The last execution that a rule on the time since it goes by, if any.
    mutating func lastExecution(_ seconds: TimeInterval, at now: Int64) throws -> Int64? {
        let horizon = Self.horizon(ScenarioTime.microseconds(seconds), at: now)
        guard let last = try executions().last, last > horizon else { return try executions().last }
        return try history.execution(fromLatest: history.countExecutions(after: horizon, before: .max))
    }

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
            let last = try lastExecution(0, at: now)
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
            let today = calendar.local(now).day
            let period = calendar.period(from: today - Self.length(count) + 1, until: today + 1)
            return (period.start - 1, period.end)
        case .day: return span(of: .day, at: now)
        case .week: return span(of: .week, at: now)
        case .month: return span(of: .month, at: now)
        case .year: return span(of: .year, at: now)
        }
    }

    private mutating func span(of unit: ZoneCalendar.Unit, at now: Int64) -> (after: Int64, before: Int64) {
        let period = calendar.period(unit, ofDay: calendar.local(now).day)
        return (period.start - 1, period.end)
    }

    static func length(_ days: Int) -> Int { min(max(days, 1), 4_000_000) }
}

extension ScenarioEvaluation {
    /// How many days are searched for the next opening: some weeks, since a change of clocks can skip the hours of one
    /// of them.
    private static let searchedDays = 29

    mutating func isOpen(_ hours: [OpeningHours], at now: Int64) -> Bool {
        let today = calendar.local(now).day
        // Those of yesterday may go on; where a clock is set back past midnight, so do those of the day that it showed.
        return (today - 1...today + 1).contains { day in
            hours.contains { opening($0, on: day).map { $0.start <= now && now < $0.end } ?? false }
        }
    }

    /// The next moment after this one at which one of the hours begins.
    mutating func nextOpening(_ hours: [OpeningHours], after now: Int64) -> Int64? {
        let today = calendar.local(now).day
        for day in today - 1...today + Self.searchedDays {
            // Those of a later day begin no earlier.
            let next = hours.compactMap { opening($0, on: day)?.start }.filter { $0 > now }.min()
            if let next { return next }
        }
        return nil
    }

    /// The stretch of time of hours that begin on a day; `nil` if they do not, or all of it is left out as clocks are set
    /// forward.
    private mutating func opening(_ hours: OpeningHours, on day: Int) -> ZoneCalendar.Period? {
        guard hours.weekdays.contains(CivilDate.weekday(day)) else { return nil }
        let midnight = ZoneCalendar.midnight(day)
        let end = midnight + (hours.crossesMidnight ? CivilDate.day : 0)
        let period = ZoneCalendar.Period(
            start: calendar.moment(midnight + CivilDate.microseconds(hours.from)),
            end: calendar.moment(end + CivilDate.microseconds(hours.until))
        )
        return period.start < period.end ? period : nil
    }

    /// The next moment after this one at which one of the days begins.
    mutating func nextWeekday(_ weekdays: Set<Weekday>, after now: Int64) -> Int64? {
        let today = calendar.local(now).day
        for day in today...today + Self.searchedDays where weekdays.contains(CivilDate.weekday(day)) {
            let midnight = ZoneCalendar.midnight(day)
            let stretches = calendar.stretches(from: midnight, until: midnight + CivilDate.day)
            if let next = stretches.first(where: { $0.start > now }) { return next.start }
        }
        return nil
    }

    /// The birthday that a field of the member contains, or `nil` if it contains none.
    func birthday(_ field: String) -> Birthday? {
        attempt.member?.fields[field].flatMap(Birthday.init)
    }
}

package struct Birthday: Equatable {
    var month: Int
    var day: Int

    /// The most days around it that are looked at.
    static let reach = 366

    /// Whether it is on that day in a time zone.
    package func isToday(_ date: Date, in timeZone: TimeZone) -> Bool {
        let calendar = ZoneCalendar(timeZone)
        return isNear(calendar.local(ScenarioTime.microseconds(date)).day, before: 0, after: 0)
    }

    /// Reads a birthday in any form that can mean one day only (see ``BirthdayText``); `nil` for anything else, and for a
    /// day that there is not.
    package init?(_ value: FieldValue) {
        guard let text = value.cellText else { return nil }
        let kept = Self(kept: text) ?? (try? BirthdayText.normalised(text).get()).flatMap(Self.init(kept:))
        guard let kept else { return nil }
        self = kept
    }

    /// Reads `YYYY-MM-DD` or `MM-DD`.
    private init?(kept text: String) {
        let bytes = Array(text.utf8)
        let dash = UInt8(ascii: "-")
        // A year with a 29 February, for a day without a year.
        var year = 2000
        var rest = bytes[...]
        if bytes.count == 10 {
            guard bytes[4] == dash, let number = ISO8601.number(bytes[0...3]) else { return nil }
            year = number
            rest = bytes[5...]
        }
        guard rest.count == 5, rest[rest.startIndex + 2] == dash,
            let month = ISO8601.number(rest.prefix(2)), let day = ISO8601.number(rest.suffix(2)),
            CivilDate(year: year, month: month, day: day).exists
        else { return nil }
        self.month = month
        self.day = day
    }

    /// The number of the day on which it is in a year.
    func number(in year: Int) -> Int {
        let date = CivilDate(year: year, month: month, day: day)
        return date.exists ? date.number : CivilDate(year: year, month: 2, day: 28).number
    }

    /// Whether a day is from so many days before to so many days after it.
    func isNear(_ day: Int, before: Int, after: Int) -> Bool {
        let year = CivilDate(number: day).year
        let (before, after) = (Self.bounded(before), Self.bounded(after))
        return (year - 1...year + 1).contains { each in
            let number = number(in: each)
            return day >= number - before && day <= number + after
        }
    }

    /// The first day after this one on which its days begin.
    func nextBeginning(after day: Int, before: Int) -> Int? {
        let year = CivilDate(number: day).year
        return (year - 1...year + 2).map { number(in: $0) - Self.bounded(before) }.filter { $0 > day }.min()
    }

    private static func bounded(_ days: Int) -> Int { min(max(days, 0), reach) }
}

extension ScenarioEvaluation {
    /// How many changes are followed at most. A birthday on a certain weekday takes two a year.
    private static let rounds = 128

    /// The earliest moment from this one on at which all of these hold if nothing else happens, or `nil`.
    ///
    /// For each rule that fails, ``bound(_:at:depth:)`` returns a moment before which it cannot hold. To go on there
    /// and look at all again is right for any combination, also of rules that hold only for a time.
    mutating func earliest(_ rules: [ScenarioRule], from start: Int64) throws -> Int64? {
        var moment = start
        for _ in 0..<Self.rounds {
            var next = moment
            for rule in rules where try !holds(rule, at: moment) {
                guard let bound = try bound(rule, at: moment) else { return nil }
                next = max(next, bound)
            }
            if next == moment { return moment }
            moment = next
        }
        return nil
    }

    /// A later moment before which a rule that fails at this one cannot hold if nothing else happens; `nil` if it never
    /// can.
    private mutating func bound(_ rule: ScenarioRule, at now: Int64, depth: Int = 0) throws -> Int64? {
        guard let bound = try rawBound(rule, at: now, depth: depth), bound > now, bound <= Timestamp.latest else {
            return nil
        }
        return bound
    }

    private mutating func rawBound(_ rule: ScenarioRule, at now: Int64, depth: Int) throws -> Int64? {
        switch rule {
        case .minEventsRequired, .maxEventsPermitted, .maxExecutionsPermitted, .customConditions, .every, .tagged:
            return nil
        case .minSecondsSinceFirstEvent(let seconds): return Self.after(seconds, from: try events().first)
        case .minSecondsSinceLastEvent(let seconds): return Self.after(seconds, from: try lastEvent(seconds, at: now))
        case .minSecondsBetweenExecutions(let seconds):
            return Self.after(seconds, from: try lastExecution(seconds, at: now))
        case .valid(let from, _): return from.map(ScenarioTime.microseconds)
        case .events(let least, let most, let window):
            return try countEvents(within: window, at: now) < least ?? .min
                ? boundOfRise(within: window, at: now) : boundOfFall(to: most ?? .max, within: window, at: now)
        case .executions(let most, let window): return try boundOfExecutions(most, within: window, at: now)
        // Only events that are ahead, since the clock was set back, can make these hold.
        case .reaches, .absence: return try nextEvent(after: now)
        case .weekdays(let weekdays): return nextWeekday(weekdays, after: now)
        case .openingHours(let hours): return nextOpening(hours, after: now)
        case .birthday(let field, let before, _):
            let today = calendar.local(now).day
            return birthday(field)?.nextBeginning(after: today, before: before).map { calendar.start(ofDay: $0) }
        case .all(let rules):
            guard depth < ScenarioRule.maximumDepth else { return nil }
            var latest: Int64?
            for rule in rules where try !holds(rule, at: now, depth: depth + 1) {
                guard let bound = try bound(rule, at: now, depth: depth + 1) else { return nil }
                latest = max(latest ?? .min, bound)
            }
            return latest
        case .any(let rules):
            guard depth < ScenarioRule.maximumDepth else { return nil }
            var earliest: Int64?
            for rule in rules {
                guard let bound = try bound(rule, at: now, depth: depth + 1) else { continue }
                earliest = min(earliest ?? .max, bound)
            }
            return earliest
        }
    }

    /// The first moment at which more than so many seconds have passed.
    private static func after(_ seconds: TimeInterval, from start: Int64?) -> Int64? {
        guard let start else { return nil }
        return ScenarioTime.sum(ScenarioTime.sum(start, ScenarioTime.microseconds(seconds)), 1)
    }

    private func nextEvent(after now: Int64) throws -> Int64? {
        let ahead = try history.countEvents(after: now, through: .max)
        return ahead > 0 ? try history.event(fromLatest: ahead - 1, through: .max) : nil
    }

    /// When the window could have more events: when it comes to one that lies ahead.
    private mutating func boundOfRise(within window: ScenarioWindow, at now: Int64) throws -> Int64? {
        guard let next = try nextEvent(after: eventSpan(window, at: now).through) else { return nil }
        switch window {
        case .seconds: return next
        case .since: return nil
        case .days: return calendar.period(.day, ofDay: calendar.local(next).day).start
        case .day, .week, .month, .year: return ScenarioTime.sum(eventSpan(window, at: next).after, 1)
        }
    }

    /// When the window has no more than so many of the events that it has now.
    private mutating func boundOfFall(to most: Int, within window: ScenarioWindow, at now: Int64) throws -> Int64? {
        guard most >= 0 else { return nil }
        let end = eventSpan(window, at: now).through
        switch window {
        case .since: return nil
        case .day, .week, .month, .year: return ScenarioTime.sum(end, 1)
        case .seconds, .days:
            // The latest ones may stay; the one before them has to leave.
            return try history.event(fromLatest: most, through: end).map { leaving(window, $0) }
        }
    }

    private mutating func boundOfExecutions(
        _ most: Int,
        within window: ScenarioWindow,
        at now: Int64
    ) throws -> Int64? {
        guard most > 0 else { return nil }
        let end = executionSpan(window, at: now).before
        switch window {
        case .since: return nil
        case .day, .week, .month, .year: return end
        case .seconds, .days:
            // Those that lie beyond the window come in later; they make it no emptier.
            let beyond = try history.countExecutions(after: ScenarioTime.difference(end, 1), before: .max)
            return try history.execution(fromLatest: ScenarioTime.sum(beyond, most - 1)).map { leaving(window, $0) }
        }
    }

    private mutating func leaving(_ window: ScenarioWindow, _ moment: Int64) -> Int64 {
        switch window {
        case .seconds(let seconds): ScenarioTime.sum(moment, ScenarioTime.microseconds(seconds))
        case .days(let count): calendar.start(ofDay: calendar.local(moment).day + Self.length(count))
        case .day, .week, .month, .year, .since: .max
        }
    }
}
