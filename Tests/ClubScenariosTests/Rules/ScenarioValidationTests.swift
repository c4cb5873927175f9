import ClubRecords
import Foundation
import Testing

@testable import ClubScenarios

/// What is refused before it is used.
@Suite struct ScenarioValidationTests {
    struct Refusal: Sendable {
        var rule: ScenarioRule
        var detail: String

        init(_ rule: ScenarioRule, _ detail: String) { (self.rule, self.detail) = (rule, detail) }
    }

    static let refusals: [Refusal] = [
        Refusal(.minEventsRequired(-1), "its rule minEventsRequired has a negative number"),
        Refusal(.executions(atMost: -1, within: .day), "its rule executions has a negative number"),
        Refusal(
            .absence(.nan),
            "its rule absence has a length of time that is no finite number"
        ),
        Refusal(
            .minSecondsBetweenExecutions(.infinity),
            "its rule minSecondsBetweenExecutions has a length of time that is no finite number"
        ),
        Refusal(.minSecondsSinceLastEvent(-0.1), "its rule minSecondsSinceLastEvent has a negative length of time"),
        Refusal(.reaches(3, within: .seconds(0)), "its rule reaches has an empty window"),
        Refusal(.reaches(3, within: .days(0)), "its rule reaches has an empty window"),
        Refusal(.reaches(0, within: .day), "its rule reaches needs at least 1"),
        Refusal(.every(0, since: nil), "its rule every needs at least 1"),
        Refusal(
            .events(atLeast: nil, atMost: nil, within: .day),
            "its rule events has neither a least nor a greatest number"
        ),
        Refusal(
            .events(atLeast: 3, atMost: 2, within: .day),
            "its rule events has a least number above the greatest"
        ),
        Refusal(.weekdays([]), "its rule weekdays names no day"),
        Refusal(.openingHours([]), "its rule openingHours has no hours"),
        Refusal(
            .birthday(field: "", daysBefore: 0, daysAfter: 0),
            "its rule birthday names no field"
        ),
        Refusal(
            .birthday(field: "born", daysBefore: 0, daysAfter: 367),
            "its rule birthday has days outside 0...366"
        ),
        Refusal(.tagged(""), "its rule tagged names no tag"),
        Refusal(
            .valid(from: Date(timeIntervalSince1970: 5), until: Date(timeIntervalSince1970: 5)),
            "its rule valid is over before it begins"
        ),
        Refusal(.any([]), "its rule any has an empty list"),
        Refusal(.all([.any([.every(-1, since: nil)])]), "its rule every needs at least 1"),
        Refusal(.all(Array(repeating: .tagged("vip"), count: 65)), "its rule all has more than 64 rules"),
        Refusal(nested(9), "its rule all is nested more than 8 deep"),
        Refusal(nested(40), "its rule all is nested more than 8 deep"),
    ]

    private static func nested(_ depth: Int) -> ScenarioRule {
        (0..<depth).reduce(.tagged("vip")) { rule, _ in .all([rule]) }
    }

    @Test("A rule that cannot be meant is refused by its name", arguments: refusals)
    func refused(refusal: Refusal) {
        let scenario = Scenario("coffee") { $0.rules = [refusal.rule] }
        let error = #expect(throws: ClubError.self) { try scenario.validate() }
        #expect(error?.kind == .invalidScenario)
        #expect(error?.attempt == "use the scenario \"coffee\"")
        #expect(error?.detail == refusal.detail)
    }

    @Test("An identifier has up to 100 characters, none of which controls anything")
    func identifiers() throws {
        for id in ["", String(repeating: "a", count: 101), "a\nb", "\u{0}", "a\u{9b}"] {
            #expect(throws: ClubError.self) { try Scenario(id).validate() }
            #expect(throws: ClubError.self) { try Scenario("coffee") { $0.events = .named(id) }.validate() }
            #expect(throws: ClubError.self) { try Scenario("coffee") { $0.audience = .group(id) }.validate() }
        }
        try Scenario(String(repeating: "ä", count: 100)).validate()
        try Scenario("Club.Coffee at the bar") {
            $0.events = .named("cups")
            $0.audience = .group("students")
            $0.minEventsRequired = 0
            $0.maxExecutionsPermitted = 0
            $0.minSecondsBetweenExecutions = 0
            $0.rules = [Self.nested(8), .all(Array(repeating: .tagged("vip"), count: 64))]
        }.validate()
        let wide = ScenarioRule.all(Array(repeating: .tagged("vip"), count: 64))
        #expect(throws: ClubError.self) {
            try Scenario("coffee") { $0.rules = Array(repeating: wide, count: 16) }.validate()
        }
    }
}
