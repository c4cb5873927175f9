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
