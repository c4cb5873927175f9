import ClubRecords
import Foundation

extension ScenarioEvaluation {
    /// How many changes are followed at most. A birthday on a certain weekday takes two a year.
    private static let rounds = 128

    /// The earliest moment from this one on at which all of these hold if nothing else happens, or `nil`.
    ///
    /// For each rule that fails, ``bound(_:at:depth:)`` tells a moment before which it cannot hold. To go on there and
    /// look at all again comes out right for any combination, also of rules that hold only for a time.
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
        case .minSecondsSinceLastEvent(let seconds): return Self.after(seconds, from: try events().last)
        case .minSecondsBetweenExecutions(let seconds): return Self.after(seconds, from: try executions().last)
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
            let today = calendar().local(now).day
            return birthday(field)?.nextBeginning(after: today, before: before).map { calendar().start(ofDay: $0) }
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

    /// The first event that lies ahead.
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
        case .days: return calendar().period(.day, ofDay: calendar().local(next).day).start
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
            return try history.execution(fromLatest: ScenarioTime.index(beyond, most - 1)).map { leaving(window, $0) }
        }
    }

    /// When something leaves a window that moves on.
    private mutating func leaving(_ window: ScenarioWindow, _ moment: Int64) -> Int64 {
        switch window {
        case .seconds(let seconds): ScenarioTime.sum(moment, ScenarioTime.microseconds(seconds))
        case .days(let count): calendar().start(ofDay: calendar().local(moment).day + Self.length(count))
        case .day, .week, .month, .year, .since: .max
        }
    }
}
