import Foundation

extension ScenarioFileReader {
    static let scenarioKeys = [
        "id", "title", "message", "for", "events", "reward", "every", "since", "after", "tiers", "within", "atMost",
        "afterFirst", "from", "until", "on", "hours", "tag", "priority", "exclusive", "when",
    ]

    /// A scenario of the file: one, or one for each tier.
    mutating func scenario(_ value: ScenarioFileValue) -> [Scenario] {
        guard let fields = fields(value, Self.scenarioKeys, as: "a scenario") else { return [] }
        let id = identifier(fields)
        let title = fields["title"].flatMap { text($0, "a title", longest: Self.longestTitle) }
        let message = fields["message"].flatMap {
            text($0, "a message", longest: Self.longestMessage, withLines: true)
        }
        var draft = Scenario(id ?? "")
        draft.timeZone = timeZone
        if let value = fields["for"], let audience = audience(value) { draft.audience = audience }
        if let value = fields["events"], let name = text(value, "the name of events") {
            draft.events = name == "visits" ? .visits : .named(name)
            if name != "visits", ["visit", "visits", "tap", "taps"].contains(name.lowercased()) {
                warn(
                    value,
                    "visits are counted by 'events: visits'; this counts what programs record as '\(name)'",
                    "Leave 'events' out to count visits."
                )
            }
        }
        let reward = reward(fields)
        limits(fields, &draft)
        validity(fields, &draft)
        if let value = fields["on"], let days = weekdays(value) { draft.rules.append(.weekdays(days)) }
        if let value = fields["hours"], let hours = hours(value) { draft.rules.append(.openingHours(hours)) }
        if let value = fields["tag"], let tag = text(value, "a tag") { draft.rules.append(.tagged(tag)) }
        if let value = fields["priority"] { draft.priority = number(value, -1_000_000...1_000_000) ?? 0 }
        draft.exclusiveGroup = fields["exclusive"].flatMap { text($0, "the name of a group of scenarios") }
        if let key = fields.key("priority"), fields["exclusive"] == nil {
            warn(
                key,
                "a priority alone changes only the order in which they are told",
                "Scenarios of which only the first is to happen also need 'exclusive: NAME'."
            )
        }
        if let value = fields["when"], let rules = rules(value, depth: 0, of: draft.events) { draft.rules += rules }
        let scenarios = reward.scenarios(id: id ?? "") { scenario in
            let own = scenario
            scenario = draft
            scenario.id = own.id
            scenario.title = own.title ?? title
            scenario.message = own.message ?? message
        }
        if id != nil { check(scenarios, fields) }
        return scenarios
    }

    private mutating func identifier(_ fields: ScenarioFileFields) -> String? {
        guard let value = fields["id"] else {
            guard fields.lacks("id") else { return nil }
            fault(fields.whole, "'id' is missing", "Give it a name of its own, such as 'id: free-coffee', and keep it.")
            return nil
        }
        return text(value, "an identifier")
    }

    /// What only the scenarios as a whole show.
    private mutating func check(_ scenarios: [Scenario], _ fields: ScenarioFileFields) {
        let place = fields["id"] ?? fields.whole
        for scenario in scenarios {
            if let line = identifiers[scenario.id] {
                let name = ScenarioFileValue.quoted(scenario.id)
                fault(place, "the identifier \(name) is that of line \(line) already", "Give each its own.")
            }
            identifiers[scenario.id] = place.node.line
        }
        guard findings.isEmpty, let scenario = scenarios.first else { return }
        do {
            try scenario.validate()
        } catch {
            fault(fields.whole, error.detail ?? error.kind.meaning, error.hint)
        }
    }

    private mutating func audience(_ value: ScenarioFileValue) -> ScenarioAudience? {
        guard value.isMapping else {
            guard let text = value.text, text == "members" || text == "kiosk" else {
                if !value.isUnusable {
                    let nearest = value.text.flatMap { NearestName.of($0, among: ["members", "kiosk"]) }
                    fault(
                        value,
                        "expected members, kiosk or { group: TAG }, found \(value.found)",
                        nearest.map { "Did you mean '\($0)'?" } ?? "A group is written as { group: students }."
                    )
                }
                return nil
            }
            return text == "members" ? .members : .kiosk
        }
        guard let fields = fields(value, ["group"], as: "a group") else { return nil }
        guard let group = fields["group"] else {
            guard fields.lacks("group") else { return nil }
            fault(value, "'group' is missing", "Write it as { group: students }.")
            return nil
        }
        return text(group, "the tag of a group").map { .group($0) }
    }

    /// `atMost` and `afterFirst`.
    private mutating func limits(_ fields: ScenarioFileFields, _ draft: inout Scenario) {
        for value in fields["atMost"].flatMap({ list($0, "limits") }) ?? [] where !value.isUnusable {
            var times: Int?
            if value.isMapping {
                guard let limit = self.fields(value, ["times", "within"], as: "a limit") else { continue }
                guard let count = limit["times"] else {
                    guard limit.lacks("times") else { continue }
                    fault(value, "'times' is missing", "Write it as { times: 1, within: week }.")
                    continue
                }
                times = executions(count)
                if let within = limit["within"] {
                    let window = window(within)
                    if let times, let window { draft.rules.append(.executions(atMost: times, within: window)) }
                    continue
                }
            } else {
                times = executions(value, "Write the number alone, as 10, or as { times: 1, within: week }.")
            }
            guard let times else { continue }
            draft.maxExecutionsPermitted = min(times, draft.maxExecutionsPermitted ?? times)
        }
        if let value = fields["afterFirst"] {
            draft.minSecondsSinceFirstEvent = duration(value, allowsZero: true)
        }
    }

    /// How often something may happen.
    mutating func executions(_ value: ScenarioFileValue, _ hint: String? = nil) -> Int? {
        let times = number(value, 0...1_000_000, hint)
        if times == 0 { warn(value, "at most 0 times is never", "Write at least 1, or remove the scenario.") }
        return times
    }

    /// `from` and `until`.
    private mutating func validity(_ fields: ScenarioFileFields, _ draft: inout Scenario) {
        guard let period = period(fields) else { return }
        (draft.validFrom, draft.validUntil) = period
    }

    /// From when until when; a day is its whole.
    mutating func period(_ fields: ScenarioFileFields) -> (from: Date?, until: Date?)? {
        let from = fields["from"].flatMap { moment($0)?.start }
        let until = fields["until"].flatMap { moment($0)?.end }
        if let from, let until, until <= from, let value = fields["until"] {
            fault(value, "it is over before it begins", "Write a day or a time that is later than 'from'.")
            return nil
        }
        return (from, until)
    }
}
