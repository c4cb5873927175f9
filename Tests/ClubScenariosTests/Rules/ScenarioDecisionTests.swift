import ClubRecords
import Foundation
import Testing

@testable import ClubScenarios

/// What a decision says: why not, and when next; and how it reads as JSON.
@Suite struct ScenarioDecisionTests {
    static let now = Int64.at("2026-11-22T12:00:00Z")

    struct Sentence: Sendable {
        var rule: ScenarioRule
        var text: String

        init(_ rule: ScenarioRule, _ text: String) { (self.rule, self.text) = (rule, text) }
    }

    /// For a subject with visits five, two and one days ago, and executions two days and an hour ago.
    static let sentences: [Sentence] = [
        Sentence(.minEventsRequired(10), "3 of 10 visits so far."),
        Sentence(.maxEventsPermitted(2), "3 visits so far; at most 2 are permitted."),
        Sentence(.maxExecutionsPermitted(1), "2 executions so far; at most 1 is permitted."),
        Sentence(
            .minSecondsSinceFirstEvent(604_800),
            "The first visit was 5 days ago; 7 days have to pass."
        ),
        Sentence(
            .minSecondsSinceLastEvent(86_400),
            "The last visit was 1 day ago; more than 1 day has to pass."
        ),
        Sentence(
            .minSecondsBetweenExecutions(90_000),
            "The last execution was 1 hour ago; 1 day and 1 hour have to pass."
        ),
        Sentence(.customConditions, "The application's own conditions do not hold."),
        Sentence(.events(atLeast: 5, atMost: nil, within: .days(3)), "2 of 5 visits within 3 calendar days."),
        Sentence(
            .events(atLeast: nil, atMost: 0, within: .seconds(129_600)),
            "1 visit within 1 day and 12 hours; at most 0 are permitted."
        ),
        Sentence(.events(atLeast: 2, atMost: nil, within: .day), "0 of 2 visits today."),
        Sentence(.executions(atMost: 1, within: .week), "2 executions this week; at most 1 is permitted."),
        Sentence(.executions(atMost: 1, within: .month), "2 executions this month; at most 1 is permitted."),
        Sentence(.executions(atMost: 1, within: .year), "2 executions this year; at most 1 is permitted."),
        Sentence(
            .executions(atMost: 2, within: .since(Date(timeIntervalSince1970: 0))),
            "2 executions since 1970-01-01 00:00; at most 2 are permitted."
        ),
        Sentence(.every(10, since: nil), "3 visits and 2 executions so far; 10 are needed for each."),
        Sentence(.reaches(10, within: .week), "3 visits this week; it happens with number 10."),
        Sentence(.reaches(10, within: .day), "No visit today so far; it happens with number 10."),
        Sentence(
            .absence(1.5e6),
            "1 day lay between the last two visits; 17 days and 8 hours are needed; "
                + "a visit after 2026-12-08 20:40 would do."
        ),
        Sentence(.weekdays([.saturday, .monday]), "Today is Sunday; it happens on Monday and Saturday."),
        Sentence(
            .openingHours([
                OpeningHours(
                    weekdays: [.monday, .tuesday, .sunday],
                    from: TimeOfDay("09:00")!,
                    until: TimeOfDay("12:00")!
                )
            ]),
            "It is Sunday 12:00; the hours are Monday, Tuesday and Sunday 09:00-12:00."
        ),
        Sentence(.tagged("v\u{7}ip"), "The tag \"v ip\" is missing."),
        Sentence(
            .all([.minEventsRequired(3), .tagged("vip"), .weekdays([.monday])]),
            "The tag \"vip\" is missing; Today is Sunday; it happens on Monday."
        ),
        Sentence(
            .any([.minEventsRequired(4), .tagged("vip")]),
            "None of these holds: 3 of 4 visits so far; The tag \"vip\" is missing."
        ),
    ]

    @Test("Why a rule fails, with the numbers", arguments: sentences)
    func messages(sentence: Sentence) throws {
        var tried = TriedScenario(sentence.rule)
        tried.history = ListHistory(
            eventTimes: [Self.now - .days(5), Self.now - .days(2), Self.now - .days(1)],
            executionTimes: [Self.now - .days(2), Self.now - .seconds(3600)]
        )
        tried.customConditionsHold = false
        #expect(try tried.message(Self.now) == sentence.text)
        #expect(try !tried.isDue(Self.now))
        tried.scenario.events = .named("cups")
        let text = sentence.text.replacing("a visit", with: "an event").replacing("visit", with: "event")
        #expect(try tried.message(Self.now) == text)
    }

    @Test("Lengths of time in words")
    func words() {
        for (microseconds, text) in [
            (0, "0 seconds"), (-5, "0 seconds"), (1, "less than a millisecond"), (1500, "0.001 seconds"),
            (1_500_000, "1.5 seconds"), (1_000_000, "1 second"), (59_999_999, "59.999 seconds"),
            (60_000_000, "1 minute"), (90_000_000, "1 minute and 30 seconds"), (3_600_000_000, "1 hour"),
            (3_659_000_000, "1 hour"), (86_400_000_000, "1 day"), (100_000_000_000, "1 day and 3 hours"),
            (.days(14), "14 days"), (.max, "more time than there is"),
        ] as [(Int64, String)] {
            #expect(ScenarioTime.words(microseconds) == text)
        }
    }

    @Test("A length that lies ahead is told as such")
    func ahead() throws {
        var tried = TriedScenario { $0.minSecondsBetweenExecutions = 60 }
        tried.history.executionTimes = [Self.now + .seconds(7200)]
        #expect(try tried.message(Self.now) == "The last execution lies 2 hours ahead; 1 minute has to pass.")
    }

    @Test("All failures are told, in order, with the counters and when each could next hold")
    func decision() throws {
        var tried = TriedScenario {
            $0.minEventsRequired = 1
            $0.maxExecutionsPermitted = 9
            $0.minSecondsSinceLastEvent = 60
            $0.minSecondsBetweenExecutions = 600
            $0.customConditions = { false }
            $0.validFrom = Timestamp.date(Self.now + .days(1))
            $0.rules = [.weekdays([.monday]), .minEventsRequired(1)]
        }
        tried.history = ListHistory(eventTimes: [Self.now - 1, Self.now], executionTimes: [Self.now])
        var decision = try tried.decide(Self.now)
        #expect(decision.scenario == "test" && decision.subject == .member("A1"))
        #expect(decision.at == Timestamp.date(Self.now) && !decision.isDue)
        #expect(
            decision.failures.map(\.rule.name) == [
                "minSecondsSinceLastEvent", "minSecondsBetweenExecutions", "valid", "weekdays",
            ]
        )
        #expect(
            decision.failures.map { $0.nextPossible.map(ScenarioTime.microseconds) } == [
                Self.now + .seconds(60) + 1, Self.now + .seconds(600) + 1, Self.now + .days(1),
                .at("2026-11-23T00:00:00Z"),
            ]
        )
        #expect(decision.nextPossible == Timestamp.date(Self.now + .days(1)))
        #expect(
            decision.counters
                == ScenarioCounters(
                    eventsCount: 2,
                    executionsCount: 1,
                    firstEventDate: Timestamp.date(Self.now - 1),
                    lastEventDate: Timestamp.date(Self.now),
                    lastExecutionDate: Timestamp.date(Self.now)
                )
        )
        tried.customConditionsHold = false
        decision = try tried.decide(Self.now)
        #expect(decision.failures.map(\.rule.name)[2] == "customConditions")
        #expect(decision.nextPossible == nil)
        tried.customConditionsHold = true
        #expect(try tried.decide(Self.now + .days(1)).nextPossible == Timestamp.date(Self.now + .days(1)))
        #expect(try tried.isDue(Self.now + .days(1)))
    }

    @Test("What is cheap is looked at first, and the history only if it matters")
    func order() throws {
        var tried = TriedScenario {
            $0.minEventsRequired = 1
            $0.rules = [.minEventsRequired(1), .tagged("vip"), .any([.weekdays([.sunday])])]
        }
        var attempt = tried.attempt(Self.now)
        attempt.history = ForbiddenHistory()
        #expect(try !tried.scenario.isDue(attempt))
        attempt.tags = ["vip"]
        #expect(throws: ForbiddenHistory.Asked.self) { try tried.scenario.isDue(attempt) }
        #expect(throws: ForbiddenHistory.Asked.self) { try tried.scenario.decide(attempt, for: .kiosk) }
        tried.scenario.validUntil = Timestamp.date(Self.now)
        #expect(try !tried.scenario.isDue(attempt))
        tried.scenario.validUntil = nil
        tried.scenario.customConditions = { false }
        attempt.customConditionsHold = false
        #expect(try !tried.scenario.isDue(attempt))
        #expect(try Scenario("none").isDue(ScenarioAttempt(now: 0, history: ForbiddenHistory())))
    }

    @Test("The seven, the validity and the rules are one list, in order")
    func allRules() {
        let scenario = Scenario("coffee") {
            $0.rules = [.tagged("vip")]
            $0.validUntil = Date(timeIntervalSince1970: 9)
            $0.customConditions = { true }
            $0.minSecondsBetweenExecutions = 6
            $0.minSecondsSinceLastEvent = 5
            $0.minSecondsSinceFirstEvent = 4
            $0.maxExecutionsPermitted = 3
            $0.maxEventsPermitted = 2
            $0.minEventsRequired = 1
        }
        #expect(
            scenario.allRules == [
                .minEventsRequired(1), .maxEventsPermitted(2), .maxExecutionsPermitted(3),
                .minSecondsSinceFirstEvent(4), .minSecondsSinceLastEvent(5), .minSecondsBetweenExecutions(6),
                .customConditions, .valid(from: nil, until: Date(timeIntervalSince1970: 9)), .tagged("vip"),
            ]
        )
        #expect(Scenario("none").allRules.isEmpty)
    }

    @Test("Decisions and executions as JSON")
    func json() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func text(_ value: some Encodable) throws -> String {
            String(decoding: try encoder.encode(value), as: UTF8.self)
        }
        var tried = TriedScenario { $0.minSecondsBetweenExecutions = 60 }
        tried.history.executionTimes = [Self.now]
        // What is just after a millisecond is told as the next, at which it holds.
        #expect(
            try text(tried.decide(Self.now)) == """
                {"at":"2026-11-22T12:00:00.000Z",\
                "counters":{"eventsCount":0,"executionsCount":1,"lastExecutionDate":"2026-11-22T12:00:00.000Z"},\
                "failures":[{"message":"The last execution was 0 seconds ago; 1 minute has to pass.",\
                "nextPossible":"2026-11-22T12:01:00.001Z","rule":"minSecondsBetweenExecutions"}],\
                "isDue":false,"nextPossible":"2026-11-22T12:01:00.001Z","scenario":"test","subject":{"member":"A1"}}
                """
        )
        let id = try #require(UUID(uuidString: "00000000-0000-0000-0000-0000000000AB"))
        for (subject, json) in [
            (.member("A1"), #"{"member":"A1"}"#), (.group("vip"), #"{"group":"vip"}"#), (.kiosk, #"{"kiosk":true}"#),
        ] as [(ScenarioSubject, String)] {
            let execution = ScenarioExecution(
                id: id,
                scenario: "coffee",
                subject: subject,
                at: Timestamp.date(Self.now),
                visit: subject == .kiosk ? nil : id,
                number: 3,
                state: .redeemed
            )
            let written = try text(execution)
            #expect(written.contains("\"subject\":\(json)") && written.contains(#""at":"2026-11-22T12:00:00.000Z""#))
            #expect(!"\(subject)".contains("A1") && !"\(subject)".contains("vip"))
        }
    }
}
