import ClubRecords
import Foundation
import Testing

@testable import ClubScenarios

@Suite("Files of scenarios: what is wrong with them, and where")
struct ScenarioConfigurationFaultTests {
    private typealias Support = RewardSupport

    /// Lines of a scenario, which begin in line 3 and column 5, and the only fault.
    struct Fault: CustomTestStringConvertible, Sendable {
        var lines: String
        var line: Int
        var column: Int
        var path: String
        var part: String
        var hint: String

        init(_ lines: String, _ line: Int, _ column: Int, _ path: String, _ part: String, hint: String = "") {
            (self.lines, self.line, self.column, self.path) = (lines, line, column, path)
            (self.part, self.hint) = (part, hint)
        }

        var testDescription: String { lines }
    }

    static let values: [Fault] = [
        // Names.
        Fault("titel: x", 3, 5, "titel", "nothing has the name \"titel\"", hint: "Did you mean 'title'?"),
        Fault("when: [tagg: x]", 3, 12, "when[0].tagg", "\"tagg\"", hint: "Did you mean 'tag'?"),
        Fault("atMost: { time: 1, times: 1 }", 3, 15, "atMost.time", "\"time\"", hint: "'times'"),
        Fault("x: 1", 3, 5, "x", "\"x\"", hint: "There are: id, title"),
        Fault("<<: { title: x }", 3, 5, "<<", "\"<<\"", hint: "Write out"),
        Fault("Title: x", 3, 5, "Title", "\"Title\"", hint: "Did you mean 'title'?"),
        // Numbers.
        Fault("priority: ten\nexclusive: x", 3, 15, "priority", "from -1000000 to 1000000, found \"ten\""),
        Fault("reward: stampCard\nsince: 2026-01-01\nevery: ten", 5, 12, "every", "from 1 to 10000, found \"ten\""),
        Fault("reward: stampCard\nsince: 2026-01-01\nevery: -3", 5, 12, "every", "found \"-3\""),
        Fault("reward: stampCard\nsince: 2026-01-01\nevery: 10.0", 5, 12, "every", "found \"10.0\""),
        Fault("reward: stampCard\nsince: 2026-01-01\nevery: 0", 5, 12, "every", "found \"0\""),
        Fault("reward: stampCard\nsince: 2026-01-01\nevery:", 5, 11, "every", "found nothing"),
        Fault("reward: stampCard\nsince: 2026-01-01\nevery: [1]", 5, 12, "every", "found a list"),
        Fault("reward: stampCard\nsince: 2026-01-01\nevery: { n: 1 }", 5, 12, "every", "found keys with values"),
        Fault("atMost: 1 per week", 3, 13, "atMost", "\"1 per week\"", hint: "{ times: 1, within: week }"),
        Fault("atMost: 99999999999999999999", 3, 13, "atMost", "found \"99999999999999999999\""),
        // Texts.
        Fault("title: [a]", 3, 12, "title", "expected a title, found a list"),
        Fault("title: ~", 3, 12, "title", "found nothing"), Fault("title: ''", 3, 12, "title", "empty text"),
        Fault("title: \"a\\u0007\"", 3, 12, "title", "control character"),
        Fault("title: \"a\\nb\"", 3, 12, "title", "control character"),
        Fault(
            "message: " + String(repeating: "é", count: 501),
            3,
            14,
            "message",
            "at most 500 characters, this one has 501"
        ),
        Fault("tag: " + String(repeating: "x", count: 101), 3, 10, "tag", "at most 100"),
        // Lengths of time.
        Fault("afterFirst: 1 month", 3, 17, "afterFirst", "found \"1 month\"", hint: "differ in length"),
        Fault("afterFirst: -1 day", 3, 17, "afterFirst", "expected a length of time", hint: "negative"),
        Fault("afterFirst: 5 m", 3, 17, "afterFirst", "\"5 m\"", hint: "'min'"),
        Fault("afterFirst: 1,5 h", 3, 17, "afterFirst", "\"1,5 h\"", hint: "decimal point"),
        Fault("afterFirst: 1000000 h", 3, 17, "afterFirst", "\"1000000 h\"", hint: "100 years"),
        Fault("when: [absence: 0 s]", 3, 21, "when[0].absence", "\"0 s\"", hint: "longer than nothing"),
        // Days and times.
        Fault("from: 2026-02-29", 3, 11, "from", "expected a day from 1970 to 2999 or a time, found \"2026-02-29\""),
        Fault("from: 26-02-01", 3, 11, "from", "\"26-02-01\""),
        Fault("from: 2026-12-01 25:00", 3, 11, "from", "\"2026-12-01 25:00\""),
        Fault("from: 2026-12-02\nuntil: 2026-12-01", 4, 12, "until", "over before it begins"),
        Fault("from: 2026-12-02 10:00\nuntil: 2026-12-02 10:00", 4, 12, "until", "over before it begins"),
        Fault("when: [period: { from: 2026-12-02, until: 2026-12-01 }]", 3, 47, "when[0].period.until", "over before"),
        // Windows.
        Fault("atMost: { times: 1, within: fortnight }", 3, 33, "atMost.within", "found \"fortnight\""),
        Fault("atMost: { times: 1, within: weak }", 3, 33, "atMost.within", "\"weak\"", hint: "'week'"),
        Fault("atMost: { times: 1, within: { days: 0 } }", 3, 41, "atMost.within.days", "from 1 to 36525"),
        Fault("atMost: { times: 1, within: {} }", 3, 33, "atMost.within", "needs 'days' or 'since'"),
        Fault("atMost: { times: 1, within: { days: 1, since: 2026-01-01 } }", 3, 51, "atMost.within.since", "either"),
        Fault("atMost: { within: week }", 3, 13, "atMost", "'times' is missing"),
        Fault("atMost: []", 3, 13, "atMost", "empty list"),
        // Weekdays and hours.
        Fault("on: [monday, tusday]", 3, 18, "on[1]", "\"tusday\"", hint: "'tuesday'"),
        Fault("on: []", 3, 9, "on", "empty list"), Fault("on: 1", 3, 9, "on", "\"1\"", hint: "mon to sun"),
        Fault("hours: 16-18", 3, 12, "hours", "\"16-18\""),
        Fault("hours: 16:00-24:30", 3, 12, "hours", "\"16:00-24:30\""),
        Fault("hours: 16:00-16:00", 3, 12, "hours", "end when they begin"),
        Fault("hours: 24:00-02:00", 3, 12, "hours", "no hours begin at 24:00"),
        Fault("hours: { from: 16:00 }", 3, 12, "hours", "need 'from' and 'until'"),
        Fault("hours: { from: 16:00, until: 6pm }", 3, 34, "hours.until", "\"6pm\""),
        // Whom and what.
        Fault("for: member", 3, 10, "for", "found \"member\"", hint: "'members'"),
        Fault("for: { groups: x }", 3, 12, "for.groups", "\"groups\"", hint: "'group'"),
        Fault("for: [a]", 3, 10, "for", "found a list"),
        // Rewards and what belongs to them.
        Fault("every: 10", 3, 5, "every", "'every' belongs to 'reward: stampCard'", hint: "Add 'reward: stampCard'"),
        Fault("reward: welcome\nafter: 1 day", 4, 5, "after", "belongs to 'reward: comeback'", hint: "Remove it"),
        Fault("within: week", 3, 5, "within", "belongs to 'reward: tiers'"),
        Fault("reward: stampcard\nevery: 10", 3, 13, "reward", "found \"stampcard\"", hint: "'stampCard'"),
        Fault("reward: stampCard\nsince: 2026-12-01", 3, 13, "reward", "'every' is missing"),
        Fault("reward: comeback", 3, 13, "reward", "'after' is missing"),
        Fault("reward: tiers\nwithin: year", 3, 13, "reward", "'tiers' is missing"),
        Fault("reward: tiers\nwithin: year\ntiers: [{ name: a }]", 5, 13, "tiers[0]", "'visits' is missing"),
        Fault(
            "reward: tiers\nwithin: year\ntiers: [{ name: a, visits: 1 }, { name: a, visits: 2 }]",
            5,
            37,
            "tiers[1]",
            "there is a tier \"a\""
        ),
        Fault(
            "reward: tiers\nwithin: year\ntiers: [{ name: a, visits: 2 }, { name: b, visits: 2 }]",
            5,
            37,
            "tiers[1]",
            "2 visits too"
        ),
        // Rules.
        Fault("when: x", 3, 11, "when", "expected a rule, found \"x\""),
        Fault("when: [{}]", 3, 12, "when[0]", "expected a rule, found none"),
        Fault("when: [{ tag: a, absence: 1 day }]", 3, 12, "when[0]", "a rule has one key, here are 2"),
        Fault("when: [any: []]", 3, 17, "when[0].any", "empty list"),
        Fault("when: [events: {}]", 3, 20, "when[0].events", "'atLeast' or 'atMost' is missing"),
        Fault("when: [events: { atLeast: 5, atMost: 3 }]", 3, 20, "when[0].events", "is never"),
        Fault("when: [events: 5]", 3, 20, "when[0].events", "expected numbers of events, found \"5\"", hint: "atLeast"),
        Fault("when: [reaches: { events: 5 }]", 3, 21, "when[0].reaches", "'within'"),
        Fault("when: [birthday: { daysBefore: 3 }]", 3, 22, "when[0].birthday", "'field' is missing"),
        Fault("when: [birthday: { field: a, daysBefore: 367 }]", 3, 46, "when[0].birthday.daysBefore", "0 to 366"),
        Fault("when: [executions: {}]", 3, 24, "when[0].executions", "'atMost' is missing"),
        // YAML's own.
        Fault("title: !!int 5", 3, 12, "title", "says a type"), Fault("? [a]\n: 1", 3, 7, "", "a key is a single word"),
        Fault("title: &x y", 3, 12, "title", "\"&x\" names a value to be repeated"),
        Fault("&x title: y", 3, 5, "", "a key is a single word"),
    ]

    @Test("Each fault is told once, at its place", arguments: values)
    func value(_ fault: Fault) {
        let found = Support.faults(Support.file(fault.lines))
        let first = found.first
        #expect(found.count == 1, "\(found)")
        let finding = found.first { $0.path.hasSuffix(fault.path) && $0.line == fault.line } ?? first
        #expect([finding?.line, finding?.column] == [fault.line, fault.column])
        #expect(finding?.path == (fault.path.isEmpty ? "scenarios[0]" : "scenarios[0].\(fault.path)"))
        #expect(finding?.message.contains(fault.part) == true, "\(found)")
        #expect(finding.map { fault.hint.isEmpty || $0.hint.contains(fault.hint) } == true, "\(found)")
        #expect(
            finding.map { $0.message.hasSuffix(".") } == false && finding?.hint.last.map { ".?".contains($0) } == true
        )
    }

    @Test(
        "Faults of the file as a whole",
        arguments: [
            ("", 0, 0, "the file is empty"), ("# nothing", 0, 0, "the file is empty"), ("---", 2, 1, "found nothing"),
            ("x", 1, 1, "expected 'scenarios' and 'timeZone', found \"x\""), ("- id: a", 1, 1, "found a list"),
            ("timeZone: UTC", 1, 1, "'scenarios' is missing"), ("scenarios:", 1, 11, "found nothing"),
            ("scenarios: { id: a }", 1, 12, "expected a list of scenarios, found keys"),
            ("scenarios: [a]", 1, 13, "expected a scenario, found \"a\""),
            ("scenarios: [{}]", 1, 13, "'id' is missing"),
            ("scenarios: []\nzone: UTC", 2, 1, "nothing has the name \"zone\""),
            ("timeZone: Europe/Berln\nscenarios: []", 1, 11, "no time zone \"Europe/Berln\""),
            ("timeZone: CET\nscenarios: []", 1, 11, "\"CET\" is an abbreviation"),
            ("timeZone: [x]\nscenarios: []", 1, 11, "found a list"),
            ("scenarios: [{ id: a }, { id: b }, { id: a }]", 1, 41, "that of line 1 already"),
            (
                "scenarios:\n  - id: a/b\n  - id: a\n    reward: tiers\n    within: year\n"
                    + "    tiers: [{ name: b, visits: 1 }]", 3, 9, "\"a/b\" is that of line 2 already"
            ),
            (
                "scenarios:\n  - id: \(String(repeating: "x", count: 98))\n    reward: tiers\n    within: year\n"
                    + "    tiers: [{ name: gold, visits: 1 }]", 2, 5, "longer than 100 characters"
            ),
        ]
    )
    func whole(_ yaml: String, _ line: Int, _ column: Int, _ part: String) {
        let found = Support.faults(yaml)
        #expect(found.map { [$0.line, $0.column] } == [[line, column]], "\(found)")
        #expect(found.first?.message.contains(part) == true, "\(found)")
    }

    @Test(
        "An unknown time zone is answered with the one that was meant",
        arguments: [
            ("Europe/Berln", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"),
            ("America/New York", "America/New_York"), ("Erope/Paris", "Europe/Paris"), ("CET", nil), ("GMT+1", nil),
            ("../../etc/passwd", nil), ("Xyzzy/Nowhere", nil),
        ]
    )
    func timeZones(_ name: String, _ meant: String?) {
        let found = Support.faults("timeZone: '\(name)'\nscenarios: []")
        #expect(found.count == 1)
        #expect(
            found.first?.hint == meant.map { "Did you mean '\($0)'?" }
                ?? "Take the IANA name of a city in it, as Europe/Berlin."
        )
    }

    @Test("All faults of a file are told at once, in the order of its lines")
    func all() {
        let found = Support.faults(
            """
            timeZone: Mars/Olympus
            scenarios:
              - id: a
                reward: stampCard
                every: ten
                atMost: { times: one, within: weak }
                titel: x
              - title: no identifier
                when:
                  - any: [{ tagg: x }, { absence: never }]
              - id: a
            """
        )
        #expect(found.map(\.line) == [1, 5, 6, 6, 7, 8, 10, 10, 11], "\(found)")
    }

    @Test("The error is one line for each finding, with file, line and column")
    func description() throws {
        let error = #expect(throws: ScenarioConfigurationError.self) {
            try ScenarioConfiguration(
                yaml: "scenarios:\n  - id: a\n    reward: stampCard\n    every: ten\n    x: 1\n",
                path: "club.yaml"
            )
        }
        let lines = try #require(error).description.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines.first
                == """
                club.yaml:4:12: scenarios[0].every: expected a whole number from 1 to 10000, found "ten". \
                Write the number alone, as 10.
                """
        )
        #expect(error?.warnings.count == 1)
    }

    @Test("What is missing or too long is said, and not more than anybody reads")
    func limits() {
        let many = (0...1000).map { "  - id: s\($0)\n" }.joined()
        #expect(Support.faults("scenarios:\n" + many).map(\.line) == [1002])
        #expect(Support.faults("scenarios:\n" + many.dropLast("  - id: s1000\n".count)).isEmpty)
        let faults = Support.faults("scenarios:\n" + (0..<300).map { "  - id: s\($0)\n    x\($0): 1\n" }.joined())
        #expect(faults.count == ScenarioConfigurationError.mostFindings + 1)
        #expect(faults.last?.message.contains("more") == true)
        #expect(
            Support.faults("scenarios: [" + String(repeating: "{ id: a }, ", count: 100_000) + "]").first?.line == 0
        )
    }

    @Test("Rules nest eight deep, and no deeper", arguments: [8, 9])
    func nesting(_ depth: Int) {
        let rule = String(repeating: "[any: ", count: depth) + "[tag: a]" + String(repeating: "]", count: depth)
        let found = Support.faults(Support.file("when: " + rule))
        #expect(found.map(\.message) == (depth > 8 ? ["rules are nested more than 8 deep"] : []))
    }
}
