import Foundation

/// Reads the values of a file of scenarios. It goes on behind a fault and leaves out what cannot be used, so that all
/// faults are found; what it made is good only if there is none.
struct ScenarioFileReader {
    var findings = YAMLFindings()
    var warnings = YAMLFindings()

    /// The calendar of days and times.
    private(set) var calendar: ZoneCalendar

    var identifiers: [String: Int] = [:]

    var timeZone: TimeZone { calendar.timeZone }

    init(timeZone: TimeZone) {
        calendar = ZoneCalendar(timeZone)
    }

    mutating func scenarios(_ root: YAMLValue) -> [Scenario] {
        guard let fields = fields(root, ["timeZone", "scenarios"], as: "'scenarios' and 'timeZone'") else { return [] }
        // First, since days and times are of this zone wherever it stands.
        if let value = fields["timeZone"], let zone = timeZone(value) { calendar = ZoneCalendar(zone) }
        let hint = "Write 'scenarios:' and below it '- id: …' for each."
        guard let list = needed("scenarios", fields, hint) else { return [] }
        guard list.isList else {
            fault(list, "expected a list of scenarios, found \(list.found)", "Begin each scenario with '- id: …'.")
            return []
        }
        var scenarios: [Scenario] = []
        for value in list.elements {
            scenarios += scenario(value)
            if scenarios.count > ScenarioConfiguration.mostScenarios {
                let message = "there are more than \(ScenarioConfiguration.mostScenarios) scenarios"
                fault(value, message, "Remove those that are over, or keep them in other files.")
                break
            }
        }
        return scenarios
    }

    /// Notes what is wrong with a value, unless that was done already.
    mutating func fault(_ value: YAMLValue, _ message: String, _ hint: @autoclosure () -> String) {
        guard !value.isUnusable else { return }
        findings.add(value.node.line, value.node.column, value.place, message, hint())
    }

    mutating func warn(_ value: YAMLValue, _ message: String, _ hint: @autoclosure () -> String) {
        warnings.add(value.node.line, value.node.column, value.place, message, hint())
    }

    /// The keys of a mapping; `nil` if it is none. Keys that are not known are faults.
    mutating func fields(_ value: YAMLValue, _ known: [String], as what: String) -> YAMLFields? {
        guard case .mapping(let entries) = value.node.content else {
            let hint = "The keys there are: \(known.joined(separator: ", "))."
            fault(value, "expected \(what), found \(value.found)", hint)
            return nil
        }
        let unknown = entries.filter { !known.contains($0.key) }
        let meant = unknown.prefix(ScenarioConfigurationError.mostFindings)
            .compactMap { NearestName.of($0.key, among: known) }
        let fields = YAMLFields(whole: value, entries: entries, meant: Set(meant))
        for key in unknown.compactMap({ fields.key($0.key) }) {
            let name = key.text ?? ""
            fault(
                key,
                "nothing has the name \(YAMLValue.quoted(name)) here",
                name == "<<"
                    ? "Write out what it was to bring in."
                    : NearestName.hint(name, among: known, else: "There are: \(known.joined(separator: ", ")).")
            )
        }
        return fields
    }

    /// The value of a key that must be there.
    mutating func needed(_ key: String, _ fields: YAMLFields, _ hint: String) -> YAMLValue? {
        if fields.lacks(key) { fault(fields.whole, "'\(key)' is missing", hint) }
        return fields[key]
    }

    /// A list of at most so many; a single value is a list of one. `nil` if absent or too many.
    mutating func list(_ value: YAMLValue, _ what: String, most: Int = 64) -> [YAMLValue]? {
        let elements = value.elements
        guard !elements.isEmpty else {
            fault(value, "expected at least one of \(what), found an empty list", "Add one, or remove the key.")
            return nil
        }
        guard elements.count <= most else {
            fault(value, "there are more than \(most) of \(what)", "Remove those that are over.")
            return nil
        }
        return elements
    }

    mutating func word<Word>(_ value: YAMLValue, _ words: [(String, Word)]) -> Word? {
        if let text = value.text, let found = words.first(where: { $0.0 == text }) { return found.1 }
        let names = words.map(\.0)
        let message = "expected one of \(names.joined(separator: ", ")), found \(value.found)"
        fault(value, message, NearestName.hint(value.text, among: names, else: "Write one of these words."))
        return nil
    }

    private mutating func timeZone(_ value: YAMLValue) -> TimeZone? {
        guard let text = value.text else {
            fault(value, "expected the name of a time zone, found \(value.found)", "Write it as Europe/Berlin.")
            return nil
        }
        if let zone = TimeZoneName.zone(text) { return zone }
        let nearest = TimeZoneName.nearest(text)
        let name = YAMLValue.quoted(text)
        let isKnown = !text.contains("/") && TimeZone(identifier: text) != nil
        fault(
            value,
            isKnown ? "\(name) is an abbreviation or an offset of time zones" : "there is no time zone \(name)",
            nearest.map { "Did you mean '\($0)'?" } ?? "Take the IANA name of a city in it, as Europe/Berlin."
        )
        return nil
    }
}

extension ScenarioFileReader {
    static let scenarioKeys = [
        "id", "title", "message", "for", "events", "reward", "every", "since", "after", "tiers", "within", "atMost",
        "afterFirst", "from", "until", "on", "hours", "tag", "priority", "exclusive", "when",
    ]

    /// A scenario of the file: one, or one for each tier.
    mutating func scenario(_ value: YAMLValue) -> [Scenario] {
        guard let fields = fields(value, Self.scenarioKeys, as: "a scenario") else { return [] }
        let id = needed("id", fields, "Give it a name of its own, such as 'id: free-coffee', and keep it.")
            .flatMap { text($0, "an identifier") }
        let (title, message) = words(fields)
        var draft = Scenario(id ?? "")
        draft.timeZone = timeZone
        if let value = fields["for"], let audience = audience(value) { draft.audience = audience }
        if let value = fields["events"], let name = text(value, "the name of events") {
            draft.events = name == "visits" ? .visits : .named(name)
            if name != "visits", ["visit", "visits", "tap", "taps"].contains(name.lowercased()) {
                let message = "visits are counted by 'events: visits'; this counts what programs record as '\(name)'"
                warn(value, message, "Leave 'events' out to count visits.")
            }
        }
        let reward = reward(fields)
        limits(fields, &draft)
        if let period = period(fields) { (draft.validFrom, draft.validUntil) = period }
        if let value = fields["on"], let days = weekdays(value) { draft.rules.append(.weekdays(days)) }
        if let value = fields["hours"], let hours = hours(value) { draft.rules.append(.openingHours(hours)) }
        if let value = fields["tag"], let tag = text(value, "a tag") { draft.rules.append(.tagged(tag)) }
        if let value = fields["priority"] { draft.priority = number(value, -1_000_000...1_000_000) ?? 0 }
        draft.exclusiveGroup = fields["exclusive"].flatMap { text($0, "the name of a group of scenarios") }
        if let key = fields.key("priority"), fields["exclusive"] == nil {
            let hint = "Scenarios of which only the first is to happen also need 'exclusive: NAME'."
            warn(key, "a priority alone changes only the order in which they are told", hint)
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

    private mutating func words(_ fields: YAMLFields) -> (title: String?, message: String?) {
        let title = fields["title"].flatMap { text($0, "a title", longest: 200) }
        let message = fields["message"].flatMap { text($0, "a message", longest: 500, withLines: true) }
        return (title, message)
    }

    /// What only the scenarios as a whole show.
    private mutating func check(_ scenarios: [Scenario], _ fields: YAMLFields) {
        let place = fields["id"] ?? fields.whole
        for scenario in scenarios {
            if let line = identifiers[scenario.id] {
                let name = YAMLValue.quoted(scenario.id)
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

    private mutating func audience(_ value: YAMLValue) -> ScenarioAudience? {
        guard value.isMapping else {
            guard let text = value.text, text == "members" || text == "kiosk" else {
                let group = "A group is written as { group: students }."
                let message = "expected members, kiosk or { group: TAG }, found \(value.found)"
                fault(value, message, NearestName.hint(value.text, among: ["members", "kiosk"], else: group))
                return nil
            }
            return text == "members" ? .members : .kiosk
        }
        guard let fields = fields(value, ["group"], as: "a group"),
            let group = needed("group", fields, "Write it as { group: students }.")
        else { return nil }
        return text(group, "the tag of a group").map { .group($0) }
    }

    private mutating func limits(_ fields: YAMLFields, _ draft: inout Scenario) {
        for value in fields["atMost"].flatMap({ list($0, "limits") }) ?? [] {
            var times: Int?
            if value.isMapping {
                guard let limit = self.fields(value, ["times", "within"], as: "a limit") else { continue }
                guard let count = needed("times", limit, "Write it as { times: 1, within: week }.") else { continue }
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
        if let value = fields["afterFirst"] { draft.minSecondsSinceFirstEvent = duration(value, allowsZero: true) }
    }

    mutating func executions(_ value: YAMLValue, _ hint: String? = nil) -> Int? {
        let times = number(value, 0...1_000_000, hint)
        if times == 0 { warn(value, "at most 0 times is never", "Write at least 1, or remove the scenario.") }
        return times
    }

    /// From when until when; a day is its whole.
    mutating func period(_ fields: YAMLFields) -> (from: Date?, until: Date?)? {
        let from = fields["from"].flatMap { moment($0)?.start }
        let until = fields["until"].flatMap { moment($0)?.end }
        if let from, let until, until <= from, let value = fields["until"] {
            fault(value, "it is over before it begins", "Write a day or a time that is later than 'from'.")
            return nil
        }
        return (from, until)
    }
}

extension ScenarioFileReader {
    static let mostTiers = 50

    private enum Kind: String, CaseIterable {
        case stampCard, welcome, comeback, tiers, custom

        /// The keys that belong to it alone.
        var keys: [String] {
            switch self {
            case .stampCard: ["every", "since"]
            case .comeback: ["after"]
            case .tiers: ["tiers", "within"]
            case .welcome, .custom: []
            }
        }

        static func of(_ key: String) -> Kind? { allCases.first { $0.keys.contains(key) } }
    }

    /// The reward of a scenario; of one with a fault anything.
    mutating func reward(_ fields: YAMLFields) -> Reward {
        var kind: Kind? = .custom
        if let value = fields["reward"] { kind = word(value, Kind.allCases.map { ($0.rawValue, $0) }) }
        // Of an unknown reward nobody knows what belongs to it.
        guard let kind else { return .custom }
        for key in Kind.allCases.flatMap(\.keys) where !kind.keys.contains(key) {
            guard let value = fields.key(key), let owner = Kind.of(key) else { continue }
            fault(
                value,
                "'\(key)' belongs to 'reward: \(owner.rawValue)'",
                fields.lacks("reward")
                    ? "Add 'reward: \(owner.rawValue)', or remove '\(key)'." : "Remove it, or change the reward."
            )
        }
        switch kind {
        case .stampCard:
            let every = required("every", fields, as: "a stamp card", "every: 10").flatMap { number($0, 1...10_000) }
            let since = fields["since"].flatMap { moment($0)?.start }
            if let value = fields["reward"], fields.lacks("since") {
                let message = "without 'since', members are owed for all visits that they have already"
                warn(value, message, "Add the day of the beginning, as 'since: 2026-12-01'.")
            }
            return .stampCard(every: every ?? 1, since: since)
        case .comeback:
            let after = required("after", fields, as: "a comeback", "after: 30 days").flatMap { duration($0) }
            return .comeback(after: after ?? 0)
        case .tiers: return tiers(fields)
        case .welcome: return .welcome
        case .custom: return .custom
        }
    }

    /// The value of a key that a reward cannot do without.
    private mutating func required(
        _ key: String,
        _ fields: YAMLFields,
        as what: String,
        _ example: String
    ) -> YAMLValue? {
        if let value = fields[key] { return value }
        guard fields.lacks(key) else { return nil }
        fault(fields["reward"] ?? fields.whole, "'\(key)' is missing, which \(what) needs", "Add '\(example)'.")
        return nil
    }

    private mutating func tiers(_ fields: YAMLFields) -> Reward {
        let window = required("within", fields, as: "a reward with tiers", "within: year").flatMap { self.window($0) }
        let entries = required("tiers", fields, as: "a reward with tiers", "tiers: [{ name: silver, visits: 10 }]")
            .flatMap { self.list($0, "tiers", most: Self.mostTiers) }
        var tiers: [Tier] = []
        for value in entries ?? [] {
            guard let fields = self.fields(value, ["name", "visits", "title", "message"], as: "a tier") else {
                continue
            }
            for key in ["name", "visits"] where fields.lacks(key) {
                fault(value, "'\(key)' is missing", "Write it as { name: silver, visits: 10 }.")
            }
            let name = fields["name"].flatMap { text($0, "the name of a tier", longest: 50) }
            let visits = fields["visits"].flatMap { number($0, 1...100_000) }
            let (title, message) = words(fields)
            guard let name, let visits else { continue }
            if tiers.contains(where: { $0.name == name }) {
                fault(value, "there is a tier \(YAMLValue.quoted(name)) already", "Give each its own name.")
                continue
            }
            if let other = tiers.first(where: { $0.visits == visits }) {
                fault(value, "\(YAMLValue.quoted(other.name)) has \(visits) visits too", "Give each its own.")
                continue
            }
            tiers.append(Tier(name, visits: visits, title: title, message: message))
        }
        return .tiers(tiers, within: window ?? .year)
    }
}
