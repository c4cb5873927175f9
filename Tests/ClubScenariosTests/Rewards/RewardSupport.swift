import ClubRecords
import Foundation
import RecordsTestSupport
import Testing

@testable import ClubScenarios

/// What a scenario says, without its code, so that two can be compared.
struct ScenarioShape: Equatable, CustomTestStringConvertible {
    var id: String
    var title: String?
    var message: String?
    var audience: ScenarioAudience
    var events: ScenarioEvents
    var rules: [ScenarioRule]
    var validity: [Date?]
    var timeZone: TimeZone
    var priority: Int
    var exclusiveGroup: String?
    var compatible: Bool

    init(_ scenario: Scenario) {
        id = scenario.id
        title = scenario.title
        message = scenario.message
        audience = scenario.audience
        events = scenario.events
        rules = scenario.allRules
        validity = [scenario.validFrom, scenario.validUntil]
        timeZone = scenario.timeZone
        priority = scenario.priority
        exclusiveGroup = scenario.exclusiveGroup
        compatible = scenario.compatibleWithWaitForIt
    }

    var testDescription: String { "\(id): \(rules)" }
}

enum RewardSupport {
    static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt

    /// A moment by UTC.
    static func utc(_ text: String) throws -> Date {
        try #require(try? Date(text, strategy: .iso8601))
    }

    /// The faults of a text; none if it can be used.
    static func faults(_ yaml: String) -> [ScenarioConfiguration.Finding] {
        do {
            _ = try ScenarioConfiguration(yaml: yaml, path: "s.yaml", timeZone: berlin)
            return []
        } catch {
            return error.findings
        }
    }

    /// A file with one scenario, whose other lines are these.
    static func file(_ lines: String) -> String {
        let indented = lines.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
        return "scenarios:\n  - id: a\n" + indented.joined(separator: "\n") + "\n"
    }

    /// The only scenario of a file with these lines.
    static func scenario(_ lines: String) throws -> Scenario {
        let scenarios = try ScenarioConfiguration(yaml: file(lines), timeZone: berlin).scenarios
        #expect(scenarios.count == 1)
        return try #require(scenarios.first)
    }

    /// All that a file can say.
    static let everything = """
        timeZone: Europe/Berlin
        scenarios:
          - id: free-coffee
            title: A free coffee
            message: This coffee is on us.
            for: members
            events: visits
            reward: stampCard
            every: 10
            since: 2026-12-01
            atMost: { times: 1, within: week }
            afterFirst: 1 day
            from: 2026-12-01
            until: 2026-12-31
            on: [saturday, sunday]
            hours: ["16:00-18:00", { on: [fri], from: "22:00", until: "02:00" }]
            tag: students
            priority: 5
            exclusive: welcome-offers
            when:
              - events: { atLeast: 3, within: 7 days }
              - events: { atLeast: 3, atMost: 50 }
              - executions: { atMost: 4 }
              - executions: { atMost: 2, within: { days: 30 } }
              - sinceFirst: 1 day
              - sinceLast: 90 s
              - between: 7 days
              - every: { events: 5, since: 2026-12-01 16:00 }
              - reaches: { events: 7, within: { since: 2026-01-01 } }
              - absence: 30 days
              - on: monday
              - hours: 09:00-17:30
              - birthday: { field: birthday, daysBefore: 3, daysAfter: 3 }
              - tag: early
              - period: { until: 2027-01-31 }
              - any:
                  - tag: a
                  - all: [{ tag: b }, { birthday: born }]
          - id: hello
            reward: welcome
            message: |
              Welcome!
              Make yourself at home.
          - id: back
            reward: comeback
            after: 30 days
          - id: level
            reward: tiers
            title: A new level
            within: year
            tiers:
              - { name: silver, visits: 10, message: Silver! }
              - { name: gold, visits: 50, title: Gold at last }
          - id: subscribe
            for: kiosk
            events: start
            afterFirst: 7 days
            atMost: 4
            when: [events: { atLeast: 5 }, between: 2 days]
          - { id: choir, for: { group: choir }, when: [{ events: { atLeast: 100, within: month } }] }
        """
}
