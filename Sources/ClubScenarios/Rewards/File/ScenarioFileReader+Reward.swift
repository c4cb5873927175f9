import Foundation

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
    mutating func reward(_ fields: ScenarioFileFields) -> Reward {
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
                warn(
                    value,
                    "without 'since', members are owed for all visits that they have already",
                    "Add the day of the beginning, as 'since: 2026-12-01'."
                )
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
        _ fields: ScenarioFileFields,
        as what: String,
        _ example: String
    ) -> ScenarioFileValue? {
        if let value = fields[key] { return value }
        guard fields.lacks(key) else { return nil }
        fault(fields["reward"] ?? fields.whole, "'\(key)' is missing, which \(what) needs", "Add '\(example)'.")
        return nil
    }

    private mutating func tiers(_ fields: ScenarioFileFields) -> Reward {
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
            let title = fields["title"].flatMap { text($0, "a title", longest: Self.longestTitle) }
            let message = fields["message"].flatMap {
                text($0, "a message", longest: Self.longestMessage, withLines: true)
            }
            guard let name, let visits else { continue }
            if tiers.contains(where: { $0.name == name }) {
                fault(value, "there is a tier \(ScenarioFileValue.quoted(name)) already", "Give each its own name.")
                continue
            }
            if let other = tiers.first(where: { $0.visits == visits }) {
                fault(value, "\(ScenarioFileValue.quoted(other.name)) has \(visits) visits too", "Give each its own.")
                continue
            }
            tiers.append(Tier(name, visits: visits, title: title, message: message))
        }
        return .tiers(tiers, within: window ?? .year)
    }
}
