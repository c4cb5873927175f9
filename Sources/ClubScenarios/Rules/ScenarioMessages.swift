import ClubRecords
import Foundation

extension ScenarioEvaluation {
    /// The most lines of a list that a sentence has.
    private static let listed = 5

    /// Why a rule fails at a moment: a sentence for a person, with the actual numbers.
    mutating func message(_ rule: ScenarioRule, at now: Int64, depth: Int = 0) throws -> String {
        switch rule {
        case .minEventsRequired(let limit): return "\(try events().count) of \(number(limit)) so far."
        case .maxEventsPermitted(let limit): return "\(number(try events().count)) so far; \(Self.atMost(limit))."
        case .maxExecutionsPermitted(let limit):
            return "\(Self.executions(try executions().count)) so far; \(Self.atMost(limit))."
        case .minSecondsSinceFirstEvent(let seconds):
            return Self.elapsed("The first \(counted.noun)", from: try events().first, to: now, needs: seconds)
                ?? "There is no \(counted.noun) so far."
        case .minSecondsSinceLastEvent(let seconds):
            return Self.elapsed(
                "The last \(counted.noun)",
                from: try lastEvent(seconds, at: now),
                to: now,
                needs: seconds
            )
                ?? "There is no \(counted.noun) so far."
        case .minSecondsBetweenExecutions(let seconds):
            return Self.elapsed(
                "The last execution",
                from: try lastExecution(seconds, at: now),
                to: now,
                needs: seconds
            )
                ?? "There is no execution so far."
        case .customConditions: return "The application's own conditions do not hold."
        case .valid(let from, let until): return validity(from: from, until: until, at: now)
        case .events(let least, let most, let window):
            let count = try countEvents(within: window, at: now)
            if let least, count < least { return "\(count) of \(number(least)) \(words(window))." }
            return "\(number(count)) \(words(window)); \(Self.atMost(most ?? .max))."
        case .executions(let most, let window):
            let count = try countExecutions(within: window, at: now)
            return "\(Self.executions(count)) \(words(window)); \(Self.atMost(most))."
        case .every(let size, let since): return try stampCard(size, since: since)
        case .reaches(let limit, let window):
            guard let count = try countReached(within: window, at: now) else {
                return "No \(counted.noun) \(words(window)) so far; it happens with number \(limit)."
            }
            if count == limit { return "It happened with number \(limit) \(words(window)) already." }
            return "\(number(count)) \(words(window)); it happens with number \(limit)."
        case .absence(let seconds):
            return try absence(seconds, at: now)
        case .weekdays, .openingHours, .birthday, .tagged: return calendarMessage(rule, at: now)
        case .all(let rules), .any(let rules): return try message(of: rules, in: rule, at: now, depth: depth)
        }
    }

    private mutating func calendarMessage(_ rule: ScenarioRule, at now: Int64) -> String {
        let local = calendar.local(now)
        switch rule {
        case .weekdays(let weekdays):
            return "Today is \(CivilDate.weekday(local.day).name); it happens on \(Weekday.list(weekdays))."
        case .openingHours(let hours):
            var lines = hours.prefix(Self.listed).map(\.description)
            if hours.count > lines.count { lines.append("\(hours.count - lines.count) more") }
            return "It is \(CivilDate.weekday(local.day).name) \(calendar.text(now).suffix(5)); "
                + "the hours are \(lines.isEmpty ? "none" : lines.joined(separator: ", "))."
        case .birthday(let field, let before, _):
            guard let member = attempt.member else { return "Only a member has a birthday." }
            let name = PlainText.line(field)
            guard let value = member.fields[field], value != .null else {
                return "The member has no field \"\(name)\" that tells the birthday."
            }
            guard let birthday = birthday(field), let next = birthday.nextBeginning(after: local.day, before: before)
            else { return "The field \"\(name)\" is no day, such as 2001-05-17 or 05-17." }
            let days = next - local.day
            return "It happens around the birthday, next in \(days) day\(days == 1 ? "" : "s")."
        case .tagged(let tag): return "The tag \"\(PlainText.line(tag))\" is missing."
        default: return ""
        }
    }

    private mutating func message(
        of rules: [ScenarioRule],
        in list: ScenarioRule,
        at now: Int64,
        depth: Int
    ) throws -> String {
        guard depth < ScenarioRule.maximumDepth else { return "The rules are nested too deep." }
        var reasons: [String] = []
        for rule in rules where try !holds(rule, at: now, depth: depth + 1) {
            reasons.append(String(try message(rule, at: now, depth: depth + 1).dropLast()))
        }
        var shown = Array(reasons.prefix(Self.listed))
        if reasons.count > shown.count { shown.append("and \(reasons.count - shown.count) more") }
        if case .all = list { return shown.joined(separator: "; ") + "." }
        guard !shown.isEmpty else { return "There is no rule of which one could hold." }
        return shown.count == 1 ? shown[0] + "." : "None of these holds: \(shown.joined(separator: "; "))."
    }

    private mutating func validity(from: Date?, until: Date?, at now: Int64) -> String {
        if let from, now < ScenarioTime.microseconds(from) {
            return "It is valid from \(calendar.text(ScenarioTime.microseconds(from))) on."
        }
        let end = until.map { calendar.text(ScenarioTime.microseconds($0)) }
        return "It was valid until \(end ?? "now")."
    }

    private mutating func absence(_ seconds: TimeInterval, at now: Int64) throws -> String {
        let noun = counted.noun
        let length = ScenarioTime.microseconds(seconds)
        let gap = try latestGap(at: now)
        if let gap, gap > length { return "It happened after the last absence already." }
        // Of visits that were removed only the last is known.
        guard let last = try history.event(fromLatest: 0, through: now), try gap != nil || events().count > 1 else {
            return "There is no earlier \(noun)."
        }
        let lay = gap.map { "\(ScenarioTime.words($0)) lay between the last two \(noun)s" }
        return (lay ?? "The \(noun) before the last one is not kept any more") + "; "
            + "\(Self.needed(seconds, beyond: gap ?? 0)) needed; "
            + "\(counted.article) \(noun) after \(calendar.text(ScenarioTime.sum(last, length))) would do."
    }

    private mutating func stampCard(_ size: Int, since: Date?) throws -> String {
        guard size > 0 else { return "A card without stamps is never full." }
        let (events, executions) = try stamps(since: since)
        let (used, overflow) = executions.multipliedReportingOverflow(by: size)
        guard !overflow, events >= used else {
            return "\(number(events)) and \(Self.executions(executions)) so far; \(size) are needed for each."
        }
        return "\(events - used) of \(number(size)) for the next time."
    }

    /// Such as `The last execution was 2 days ago; 7 days have to pass.`
    private static func elapsed(_ what: String, from: Int64?, to now: Int64, needs seconds: TimeInterval) -> String? {
        guard let from else { return nil }
        let elapsed = ScenarioTime.difference(now, from)
        let passes = "\(needed(seconds, beyond: elapsed, "has to pass", "have to pass"))."
        guard elapsed >= 0 else {
            return "\(what) lies \(ScenarioTime.words(ScenarioTime.difference(0, elapsed))) ahead; \(passes)"
        }
        return "\(what) was \(ScenarioTime.words(elapsed)) ago; \(passes)"
    }

    /// Such as `7 days are`; `more than 7 days are` if what there is reads the same.
    private static func needed(
        _ seconds: TimeInterval,
        beyond elapsed: Int64,
        _ one: String = "is",
        _ many: String = "are"
    ) -> String {
        let length = max(ScenarioTime.microseconds(seconds), 0)
        let words = ScenarioTime.words(length)
        let isOne = words.hasPrefix("1 ") && !words.contains(" and ") || words.contains(" than ")
        return (words == ScenarioTime.words(elapsed) ? "more than " : "") + "\(words) \(isOne ? one : many)"
    }

    private mutating func words(_ window: ScenarioWindow) -> String {
        switch window {
        case .seconds(let seconds): "within \(ScenarioTime.words(ScenarioTime.microseconds(seconds)))"
        case .days(let count): count <= 1 ? "today" : "within \(count) calendar days"
        case .day: "today"
        case .week: "this week"
        case .month: "this month"
        case .year: "this year"
        case .since(let date): "since \(calendar.text(ScenarioTime.microseconds(date)))"
        }
    }

    private func number(_ count: Int) -> String { "\(count) \(counted.noun)\(count == 1 ? "" : "s")" }

    private static func executions(_ count: Int) -> String { "\(count) execution\(count == 1 ? "" : "s")" }

    private static func atMost(_ limit: Int) -> String { "at most \(limit) \(limit == 1 ? "is" : "are") permitted" }
}

extension ScenarioEvents {
    var noun: String { self == .visits ? "visit" : "event" }

    fileprivate var article: String { self == .visits ? "a" : "an" }
}
