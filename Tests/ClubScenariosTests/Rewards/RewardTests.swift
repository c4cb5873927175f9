import ClubRecords
import Foundation
import Testing

@testable import ClubScenarios

@Suite("Ready-made rewards")
struct RewardTests {
    private static let day = Date(timeIntervalSince1970: 1_764_543_600)

    @Test(
        "Each reward becomes its rules",
        arguments: [
            (Reward.stampCard(every: 10, since: day), [ScenarioRule.every(10, since: day)]),
            (.stampCard(every: 1, since: nil), [.every(1, since: nil)]),
            (.welcome, [.minEventsRequired(1), .maxEventsPermitted(1), .maxExecutionsPermitted(1)]),
            (.comeback(after: 2_592_000), [.absence(2_592_000)]), (.custom, []),
        ]
    )
    func rules(_ reward: Reward, _ rules: [ScenarioRule]) throws {
        let scenarios = reward.scenarios(id: "a")
        #expect(scenarios.map(\.id) == ["a"] && scenarios.map(\.allRules) == [rules])
        try scenarios.first?.validate()
        // Further conditions come behind, and cannot put the reward's own aside.
        let more = reward.scenarios(id: "a") {
            $0.rules = [.tagged("students")]
            $0.minSecondsSinceFirstEvent = 60
        }
        #expect(more.map(\.allRules) == [[.minSecondsSinceFirstEvent(60)] + rules + [.tagged("students")]])
    }

    @Test("Tiers become a scenario each, with identifiers of their own")
    func tiers() throws {
        let tiers = [Tier("silver", visits: 10, message: "Silver!"), Tier("gold", visits: 50, title: "Gold")]
        let scenarios = Reward.tiers(tiers, within: .year).scenarios(id: "level") {
            $0.title = $0.title ?? "Level"
            $0.priority = 3
        }
        #expect(scenarios.map(\.id) == ["level/silver", "level/gold"])
        #expect(scenarios.map(\.allRules) == [[.reaches(10, within: .year)], [.reaches(50, within: .year)]])
        #expect(scenarios.map(\.title) == ["Level", "Gold"] && scenarios.map(\.message) == ["Silver!", nil])
        #expect(scenarios.allSatisfy { $0.priority == 3 })
        for scenario in scenarios { try scenario.validate() }
        #expect(Reward.tiers([], within: .year).scenarios(id: "level").isEmpty)
    }
}
