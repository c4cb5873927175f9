import Foundation

extension Club {
    /// Reports what a member's visit at a time would bring, as if one more visit had been made then. It changes
    /// nothing.
    ///
    /// - Returns: a decision for each of the scenarios that concern the member: those of members, of groups whose tag the
    ///   member has, and of the kiosk; by priority.
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
