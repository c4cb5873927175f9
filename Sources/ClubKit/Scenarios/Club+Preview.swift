import Foundation

extension Club {
    /// Evaluates the scenarios as if a member made one more visit at a time. It changes nothing.
    ///
    /// - Returns: a decision for each of the member's scenarios, by priority: those of members, of groups whose tag the
    ///   member has, and of the kiosk.
    /// - Throws: ``ClubError/Kind/noSuchMember``, ``ClubError/Kind/invalidScenario``.
    public func preview(
        _ scenarios: [Scenario],
        visitOf userId: String,
        at date: Date? = nil
    ) async throws(ClubError) -> [ScenarioDecision] {
        let attempt = "look at what a visit would bring"
        let store = try openStore(attempt)
        try Self.validate(scenarios)
        let time = try moment(date, attempt)
        let refused = await refused(by: scenarios)
        let visit = configuration.makeUUID()
        return try await store.preview(ScenarioPlan(scenarios), refused, visitOf: userId, visit, at: time, attempt)
    }
}

/// A member's stamp card: how far the next reward of a ``Reward/stampCard(every:since:)`` is.
public struct StampCard: Sendable, Hashable {
    /// The scenario's identifier.
    public var scenario: String
    /// The scenario's title.
    public var title: String?
    /// The number of stamps, 0 to ``size``; a full card is that of the visit that filled it.
    public var stamps: Int
    /// The number of stamps that earn the reward.
    public var size: Int

    /// Creates a card.
    public init(scenario: String, title: String? = nil, stamps: Int, size: Int) {
        self.scenario = scenario
        self.title = title
        self.stamps = stamps
        self.size = size
    }
}

extension Club {
    /// Returns a member's stamp card of the first scenario for members that keeps one (``ScenarioRule/every(_:since:)``);
    /// `nil` if there is none.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    public func stampCard(of userId: String) async throws(ClubError) -> StampCard? {
        let attempt = "read a stamp card"
        let store = try openStore(attempt)
        let cards = scenarios.lazy.filter { $0.audience == .members && $0.events == .visits }.compactMap { scenario in
            scenario.rules.lazy.compactMap { rule -> (Scenario, Int, Date?)? in
                if case .every(let size, let since) = rule, size > 0 { (scenario, size, since) } else { nil }
            }.first
        }
        guard let (scenario, size, since) = cards.first else { return nil }
        return try await store.read(attempt) { db in
            let state = try ScenarioReading(db: db, device: store.device).state(for: .member(userId), attempt).state
            let history = StoredHistory(state: state, scenario: scenario.id, source: scenario.events)
            let visits =
                try since.map { since in
                    let before = (Timestamp.microseconds(since) ?? 0) - 1
                    return try history.countEvents(after: before, through: .max)
                } ?? history.events().count
            let stamps = visits > 0 && visits % size == 0 ? size : visits % size
            return StampCard(scenario: scenario.id, title: scenario.title, stamps: stamps, size: size)
        }
    }
}
