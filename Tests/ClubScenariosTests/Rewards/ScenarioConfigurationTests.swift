import ClubRecords
import Foundation
import RecordsTestSupport
import Testing

@testable import ClubScenarios

@Suite("Files of scenarios: what they say")
struct ScenarioConfigurationTests {
    private typealias Support = RewardSupport

    @Test("The tenth visit: a free coffee, at most once a week, not on the first day; in Swift and in a file")
    func coffee() throws {
        let december = try Support.utc("2026-11-30T23:00:00Z")
        let swift = Reward.stampCard(every: 10, since: december).scenarios(id: "free-coffee") {
            $0.title = "A free coffee"
            $0.message = "This coffee is on us."
            $0.timeZone = Support.berlin
            $0.minSecondsSinceFirstEvent = 86_400
            $0.rules.append(.executions(atMost: 1, within: .week))
        }
        let file = try ScenarioConfiguration(
            yaml: """
                timeZone: Europe/Berlin
                scenarios:
                  - id: free-coffee
                    title: A free coffee
                    message: This coffee is on us.
                    reward: stampCard
                    every: 10
                    since: 2026-12-01
                    atMost: { times: 1, within: week }
                    afterFirst: 1 day
                """,
            timeZone: .gmt
        )
        #expect(file.scenarios.map(ScenarioShape.init) == swift.map(ScenarioShape.init))
        #expect(file.warnings.isEmpty)
    }

    @Test("A question after a week and five starts, every two days, four times at most; in Swift and in a file")
    func subscribe() throws {
        let swift = Scenario("subscribe") {
            $0.audience = .kiosk
            $0.events = .named("start")
            $0.timeZone = Support.berlin
            $0.maxExecutionsPermitted = 4
            $0.minSecondsSinceFirstEvent = 604_800
            $0.rules = [.minEventsRequired(5), .minSecondsBetweenExecutions(172_800)]
        }
        let file = try ScenarioConfiguration(yaml: Support.everything)
        let scenario = try #require(file.scenarios.first { $0.id == "subscribe" })
        #expect(ScenarioShape(scenario) == ScenarioShape(swift))
    }

    @Test("All keys, in the order in which their rules are told")
    func everything() throws {
        let file = try ScenarioConfiguration(yaml: Support.everything, timeZone: .gmt)
        #expect(file.warnings.isEmpty)
        #expect(
            file.scenarios.map(\.id)
                == ["free-coffee", "hello", "back", "level/silver", "level/gold", "subscribe", "choir"]
        )
        let coffee = try #require(file.scenarios.first)
        #expect(coffee.priority == 5 && coffee.exclusiveGroup == "welcome-offers" && coffee.timeZone == Support.berlin)
        let weekend = OpeningHours(
            weekdays: [.friday],
            from: try #require(TimeOfDay("22:00")),
            until: try #require(TimeOfDay("02:00"))
        )
        let (from, until) = (try Support.utc("2026-11-30T23:00:00Z"), try Support.utc("2026-12-31T23:00:00Z"))
        let all: [ScenarioRule] = [
            .minSecondsSinceFirstEvent(86_400), .valid(from: from, until: until), .every(10, since: from),
            .executions(atMost: 1, within: .week), .weekdays([.saturday, .sunday]),
            .openingHours([try Self.hours("16:00", "18:00"), weekend]), .tagged("students"),
            .events(atLeast: 3, atMost: nil, within: .seconds(604_800)),
            .all([.minEventsRequired(3), .maxEventsPermitted(50)]), .maxExecutionsPermitted(4),
            .executions(atMost: 2, within: .days(30)), .minSecondsSinceFirstEvent(86_400),
            .minSecondsSinceLastEvent(90), .minSecondsBetweenExecutions(604_800),
            .every(5, since: try Support.utc("2026-12-01T15:00:00Z")),
            .reaches(7, within: .since(try Support.utc("2025-12-31T23:00:00Z"))), .absence(2_592_000),
            .weekdays([.monday]), .openingHours([try Self.hours("09:00", "17:30")]),
            .birthday(field: "birthday", daysBefore: 3, daysAfter: 3), .tagged("early"),
            .valid(from: nil, until: try Support.utc("2027-01-31T23:00:00Z")),
            .any([
                .tagged("a"), .all([.tagged("b"), .birthday(field: "born", daysBefore: 0, daysAfter: 0)]),
            ]),
        ]
        #expect(coffee.allRules == all)
        #expect(file.scenarios[1].message == "Welcome!\nMake yourself at home.")
        #expect(file.scenarios[3...4].map(\.title) == ["A new level", "Gold at last"])
        #expect(file.scenarios[3...4].map(\.message) == ["Silver!", nil])
        #expect(file.scenarios[6].audience == .group("choir"))
    }

    private static func hours(_ from: String, _ until: String) throws -> OpeningHours {
        OpeningHours(
            weekdays: Set(Weekday.allCases),
            from: try #require(TimeOfDay(from)),
            until: try #require(TimeOfDay(until))
        )
    }

    @Test(
        "Values are what is written, and not what YAML makes of them",
        arguments: [
            // A key and a text that YAML 1.1 takes for truth values.
            ("on: mon\ntitle: on", "on", [.weekdays([.monday])]), ("title: yes", "yes", []), ("title: 'no'", "no", []),
            // No number in base 60, and no octal one.
            ("hours: 12:30-13:30", nil, nil), ("title: 12:30", "12:30", []), ("title: 010", "010", []),
            ("reward: stampCard\nevery: 010\nsince: 2026-12-01", nil, nil),
            ("title: 2026-12-01", "2026-12-01", []), ("title: 1e3", "1e3", []), ("title: 0x1F", "0x1F", []),
            // Quotes change nothing but that a text may look like nothing.
            ("title: 'null'", "null", []), ("title: \"~\"", "~", []), ("tag: 'a'", nil, [.tagged("a")]),
            ("tag: 7", nil, [.tagged("7")]), ("tag: true", nil, [.tagged("true")]),
            ("title: =", "=", []), ("title: <<", "<<", []), ("tag: .inf", nil, [.tagged(".inf")]),
        ] as [(String, String?, [ScenarioRule]?)]
    )
    func asWritten(_ lines: String, _ title: String?, _ rules: [ScenarioRule]?) throws {
        let scenario = try Support.scenario(lines)
        #expect(scenario.title == title)
        switch rules {
        case let rules?: #expect(scenario.allRules == rules)
        case nil where lines.hasPrefix("hours"):
            #expect(scenario.allRules == [.openingHours([try Self.hours("12:30", "13:30")])])
        case nil where lines.hasPrefix("reward"):
            #expect(scenario.allRules == [.every(10, since: try Support.utc("2026-11-30T23:00:00Z"))])
        default: break
        }
    }

    @Test("Identifiers keep their zeros, and keys their names")
    func identifiers() throws {
        let file = try ScenarioConfiguration(yaml: "scenarios: [{ id: 007 }, { id: 7 }, { \"id\": on }, { id: 1_0 }]")
        #expect(file.scenarios.map(\.id) == ["007", "7", "on", "1_0"])
    }

    @Test(
        "Windows",
        arguments: [
            ("7 days", .seconds(604_800)), ("1 week", .seconds(604_800)), ("week", .week), ("day", .day),
            ("month", .month), ("year", .year), ("3600", .seconds(3600)), ("{ days: 7 }", .days(7)),
            ("{ since: 1970-01-02T00:00Z }", .since(Date(timeIntervalSince1970: 86_400))),
        ] as [(String, ScenarioWindow)]
    )
    func windows(_ text: String, _ window: ScenarioWindow) throws {
        #expect(
            try Support.scenario("atMost: { times: 1, within: \(text) }").rules == [
                .executions(atMost: 1, within: window)
            ]
        )
    }

    @Test("One limit, several, and one for ever")
    func limits() throws {
        let several = try Support.scenario(
            "atMost: [{ times: 1, within: day }, { times: 3, within: week }, 10, { times: 9 }]"
        )
        #expect(
            several.allRules
                == [
                    .maxExecutionsPermitted(9), .executions(atMost: 1, within: .day),
                    .executions(atMost: 3, within: .week),
                ]
        )
        #expect(try Support.scenario("atMost: 4").allRules == [.maxExecutionsPermitted(4)])
    }

    @Test("JSON is YAML, also with its escapes")
    func json() throws {
        let title = #""title": "\ud83c\udf89 \u00e9 \/ \\ud83c\\udf89 \"x\"""#
        let file = try ScenarioConfiguration(
            yaml: """
                {
                \t"timeZone": "Europe/Berlin",
                \t"scenarios": [
                \t\t{"id":"a",\(title),"reward":"welcome","priority":1,"exclusive":"x"}
                \t]
                }
                """
        )
        #expect(file.scenarios.map(\.title) == [#"🎉 é / \ud83c\udf89 "x""#] && file.warnings.isEmpty)
    }

    @Test("No scenarios are none")
    func none() throws {
        #expect(try ScenarioConfiguration(yaml: "scenarios: []").scenarios.isEmpty)
    }

    @Test(
        "What is hardly meant is a warning",
        arguments: [
            ("reward: stampCard\nevery: 10", 3, 13, "without 'since'"), ("priority: 1", 3, 5, "a priority alone"),
            ("atMost: 0", 3, 13, "never"), ("atMost: { times: 0, within: day }", 3, 22, "never"),
            ("when: [executions: { atMost: 0 }]", 3, 34, "never"),
            ("when: [events: { atMost: 0 }]", 3, 30, "never"),
            ("events: visit", 3, 13, "record as 'visit'"), ("events: Visits", 3, 13, "'events: visits'"),
        ]
    )
    func warnings(_ lines: String, _ line: Int, _ column: Int, _ part: String) throws {
        let warnings = try ScenarioConfiguration(yaml: Support.file(lines)).warnings
        #expect(warnings.map { [$0.line, $0.column] } == [[line, column]])
        #expect(warnings.first?.message.contains(part) == true, "\(warnings)")
    }

    @Test("A file is read from its path")
    func files() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data(Support.everything.utf8)))
        #expect(try ScenarioConfiguration(path: path).scenarios.count == 7)
        #expect(try ScenarioConfiguration(contentsOf: URL(fileURLWithPath: path)).scenarios.count == 7)
    }
}
