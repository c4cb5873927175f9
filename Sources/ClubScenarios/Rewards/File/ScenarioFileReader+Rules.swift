import Foundation

extension ScenarioFileReader {
    static let ruleKeys = [
        "events", "executions", "sinceFirst", "sinceLast", "between", "every", "reaches", "absence", "on", "hours",
        "birthday", "tag", "period", "any", "all",
    ]

    /// Rules in a list, each a mapping with one key.
    mutating func rules(_ value: ScenarioFileValue, depth: Int, of events: ScenarioEvents) -> [ScenarioRule]? {
        guard !value.isUnusable else { return nil }
        guard depth <= ScenarioRule.maximumDepth else {
            fault(
                value,
                "rules are nested more than \(ScenarioRule.maximumDepth) deep",
                "Write them with fewer levels of 'any' and 'all'."
            )
            return nil
        }
        guard let elements = list(value, "rules") else { return nil }
        return elements.flatMap { rule($0, depth, events) }
    }

    /// One rule, which two of the model may stand for; none if something is wrong with it.
    private mutating func rule(
        _ value: ScenarioFileValue,
        _ depth: Int,
        _ counted: ScenarioEvents
    ) -> [ScenarioRule] {
        guard let fields = fields(value, Self.ruleKeys, as: "a rule") else { return [] }
        let keys = Self.ruleKeys.filter { fields[$0] != nil }
        guard let key = keys.first, let content = fields[key] else {
            if case .mapping(let entries) = value.node.content, entries.isEmpty {
                fault(value, "expected a rule, found none", "The rules are: \(Self.ruleKeys.joined(separator: ", ")).")
            }
            return []
        }
        if keys.count > 1 {
            fault(
                value,
                "a rule has one key, here are \(keys.count): \(keys.joined(separator: ", "))",
                "Begin each with a '-' of its own; under 'all', all of them have to hold."
            )
        }
        func one(_ rule: ScenarioRule?) -> [ScenarioRule] { rule.map { [$0] } ?? [] }
        switch key {
        case "events": return events(content, counted)
        case "executions": return one(executionLimit(content))
        case "sinceFirst": return one(duration(content, allowsZero: true).map { .minSecondsSinceFirstEvent($0) })
        case "sinceLast": return one(duration(content, allowsZero: true).map { .minSecondsSinceLastEvent($0) })
        case "between": return one(duration(content, allowsZero: true).map { .minSecondsBetweenExecutions($0) })
        case "every": return one(every(content))
        case "reaches": return one(reaches(content))
        case "absence": return one(duration(content).map { .absence($0) })
        case "on": return one(weekdays(content).map { .weekdays($0) })
        case "hours": return one(hours(content).map { .openingHours($0) })
        case "birthday": return one(birthday(content))
        case "tag": return one(text(content, "a tag").map { .tagged($0) })
        case "period": return one(validity(content))
        case "any": return one(rules(content, depth: depth + 1, of: counted).map { .any($0) })
        default: return one(rules(content, depth: depth + 1, of: counted).map { .all($0) })
        }
    }

    private mutating func events(_ value: ScenarioFileValue, _ counted: ScenarioEvents) -> [ScenarioRule] {
        guard let fields = fields(value, ["atLeast", "atMost", "within"], as: "numbers of events") else { return [] }
        guard fields["atLeast"] != nil || fields["atMost"] != nil else {
            guard fields.lacks("atLeast"), fields.lacks("atMost") else { return [] }
            fault(value, "'atLeast' or 'atMost' is missing", "Write it as { atLeast: 3, within: 7 days }.")
            return []
        }
        let least = fields["atLeast"].flatMap { number($0, 0...1_000_000) }
        let most = fields["atMost"].flatMap { number($0, 0...1_000_000) }
        let window = fields["within"].map { self.window($0) }
        if let least, let most, least > most {
            fault(value, "at least \(least) and at most \(most) is never", "Exchange the numbers.")
            return []
        }
        if most == 0, counted == .visits, let key = fields["atMost"] {
            warn(key, "at most 0 visits is never the case at a visit", "The visit itself counts: write at least 1.")
        }
        switch window {
        case .some(nil): return []
        case .some(let window?): return [.events(atLeast: least, atMost: most, within: window)]
        case nil:
            let rules = [least.map { ScenarioRule.minEventsRequired($0) }, most.map { .maxEventsPermitted($0) }]
                .compactMap(\.self)
            return rules.count > 1 ? [.all(rules)] : rules
        }
    }

    private mutating func executionLimit(_ value: ScenarioFileValue) -> ScenarioRule? {
        guard let fields = fields(value, ["atMost", "within"], as: "a limit") else { return nil }
        guard let most = fields["atMost"] else {
            guard fields.lacks("atMost") else { return nil }
            fault(value, "'atMost' is missing", "Write it as { atMost: 4 } or { atMost: 1, within: week }.")
            return nil
        }
        let times = executions(most)
        guard let within = fields["within"] else { return times.map { .maxExecutionsPermitted($0) } }
        guard let window = window(within), let times else { return nil }
        return .executions(atMost: times, within: window)
    }

    private mutating func every(_ value: ScenarioFileValue) -> ScenarioRule? {
        guard value.isMapping else { return number(value, 1...10_000).map { .every($0, since: nil) } }
        guard let fields = fields(value, ["events", "since"], as: "a stamp card") else { return nil }
        guard let events = fields["events"] else {
            guard fields.lacks("events") else { return nil }
            fault(value, "'events' is missing", "Write it as { events: 10, since: 2026-12-01 }.")
            return nil
        }
        let count = number(events, 1...10_000)
        let since = fields["since"].map { moment($0)?.start }
        guard let count, since != .some(nil) else { return nil }
        return .every(count, since: since ?? nil)
    }

    private mutating func reaches(_ value: ScenarioFileValue) -> ScenarioRule? {
        guard let fields = fields(value, ["events", "within"], as: "a number to reach") else { return nil }
        guard let events = fields["events"], let within = fields["within"] else {
            guard fields.lacks("events") || fields.lacks("within") else { return nil }
            fault(value, "'events' and 'within' are needed", "Write it as { events: 10, within: year }.")
            return nil
        }
        let count = number(events, 1...100_000)
        guard let window = window(within), let count else { return nil }
        return .reaches(count, within: window)
    }

    private mutating func birthday(_ value: ScenarioFileValue) -> ScenarioRule? {
        guard value.isMapping else {
            return text(value, "the name of a custom field").map { .birthday(field: $0, daysBefore: 0, daysAfter: 0) }
        }
        guard let fields = fields(value, ["field", "daysBefore", "daysAfter"], as: "a birthday") else { return nil }
        guard let name = fields["field"] else {
            guard fields.lacks("field") else { return nil }
            fault(value, "'field' is missing", "Name the members' custom field with the date, as 'field: birthday'.")
            return nil
        }
        let field = text(name, "the name of a custom field")
        let before = fields["daysBefore"].map { number($0, 0...Birthday.reach) } ?? 0
        let after = fields["daysAfter"].map { number($0, 0...Birthday.reach) } ?? 0
        guard let field, let before, let after else { return nil }
        return .birthday(field: field, daysBefore: before, daysAfter: after)
    }

    private mutating func validity(_ value: ScenarioFileValue) -> ScenarioRule? {
        guard let fields = fields(value, ["from", "until"], as: "a period") else { return nil }
        guard fields["from"] != nil || fields["until"] != nil else {
            guard fields.lacks("from"), fields.lacks("until") else { return nil }
            fault(value, "'from' or 'until' is missing", "Write it as { from: 2026-12-01, until: 2026-12-31 }.")
            return nil
        }
        return period(fields).map { .valid(from: $0.from, until: $0.until) }
    }
}
