import ClubRecords
import Foundation
import RecordsTestSupport
import Testing

@testable import ClubScenarios

/// The rules about numbers and lengths of time, at their borders.
@Suite struct ScenarioRuleTests {
    @Test("Elapsed time is compared strictly, in whole microseconds")
    func strict() throws {
        let start = Int64.at("2026-11-22T12:00:00Z")
        for length in [0.29, 0, 1, 1.1, 604_800, 1e-6] {
            let exact = Int64((length * 1e6).rounded())
            var first = TriedScenario { $0.minSecondsSinceFirstEvent = length }
            first.history.eventTimes = [start]
            var last = TriedScenario { $0.minSecondsSinceLastEvent = length }
            last.history.eventTimes = [start - 5, start]
            var between = TriedScenario { $0.minSecondsBetweenExecutions = length }
            between.history.executionTimes = [start]
            for tried in [first, last, between] {
                #expect(try !tried.isDue(start + exact), "\(length)")
                #expect(try tried.isDue(start + exact + 1), "\(length)")
                #expect(try tried.next(start) == start + exact + 1, "\(length)")
                // A clock that was set back, and one that had been wrong.
                let ahead = max(exact, .days(1))
                #expect(try !tried.isDue(start - 1))
                #expect(try !tried.isDue(start - ahead))
                // 5 more for the event before the last.
                #expect(try tried.isDue(start - ahead - 6))
                #expect(try tried.isDue(start - .days(400)))
            }
        }
    }

    /// What happened by a clock that was wrong, and what a rule makes of it when the clock is right.
    struct WrongClock: Sendable {
        var rule: ScenarioRule
        var events: [String]
        var executions: [String]
        /// Whether it holds at noon on 1 November 2026.
        var holds: Bool
        /// When it does otherwise.
        var next = ""
        var counted = ScenarioEvents.visits
    }

    private static let twoDays: TimeInterval = 172_800

    static let wrongClocks: [WrongClock] = [
        // Years ahead, and at the beginning of time.
        WrongClock(rule: .minSecondsBetweenExecutions(twoDays), events: [], executions: ["2035-01-01"], holds: true),
        WrongClock(rule: .minSecondsBetweenExecutions(twoDays), events: [], executions: ["1970-01-01"], holds: true),
        WrongClock(rule: .minSecondsSinceLastEvent(twoDays), events: ["2035-01-01"], executions: [], holds: true),
        WrongClock(rule: .minSecondsSinceLastEvent(twoDays), events: ["1970-01-01"], executions: [], holds: true),
        WrongClock(rule: .minSecondsSinceFirstEvent(twoDays), events: ["2035-01-01"], executions: [], holds: true),
        WrongClock(rule: .minSecondsSinceFirstEvent(twoDays), events: ["1970-01-01"], executions: [], holds: true),
        // What was by the right clock counts as ever.
        WrongClock(
            rule: .minSecondsBetweenExecutions(twoDays),
            events: [],
            executions: ["2035-01-01", "2026-10-31", "2040-01-01"],
            holds: false,
            next: "2026-11-02T00:00:00.000001Z"
        ),
        WrongClock(
            rule: .minSecondsSinceLastEvent(twoDays),
            events: ["2035-01-01", "2026-10-31"],
            executions: [],
            holds: false,
            next: "2026-11-02T00:00:00.000001Z"
        ),
        WrongClock(
            rule: .minSecondsSinceFirstEvent(twoDays),
            events: ["2035-01-01", "2026-10-31"],
            executions: [],
            holds: false,
            next: "2026-11-02T00:00:00.000001Z"
        ),
        // Less than the length ahead, or than a day: nobody gets it twice for a clock that was set back.
        WrongClock(
            rule: .minSecondsBetweenExecutions(twoDays),
            events: [],
            executions: ["2026-11-03"],
            holds: false,
            next: "2026-11-05T00:00:00.000001Z"
        ),
        WrongClock(
            rule: .minSecondsBetweenExecutions(60),
            events: [],
            executions: ["2026-11-02"],
            holds: false,
            next: "2026-11-02T00:01:00.000001Z"
        ),
        WrongClock(rule: .minSecondsBetweenExecutions(60), events: [], executions: ["2026-11-03"], holds: true),
        // The other rules pass over it.
        WrongClock(
            rule: .executions(atMost: 1, within: .days(7)),
            events: [],
            executions: ["2035-01-01", "1970-01-01"],
            holds: true
        ),
        WrongClock(
            rule: .executions(atMost: 1, within: .seconds(twoDays)),
            events: [],
            executions: ["2035-01-01", "1970-01-01"],
            holds: true
        ),
        WrongClock(
            rule: .events(atLeast: nil, atMost: 1, within: .year),
            events: ["2035-01-01", "2000-01-01", "2026-10-31"],
            executions: [],
            holds: true
        ),
        WrongClock(
            rule: .absence(twoDays),
            events: ["2035-01-01", "2026-10-01", "2026-11-01"],
            executions: [],
            holds: true
        ),
        WrongClock(
            rule: .reaches(2, within: .year),
            events: ["2035-01-01", "2026-10-01", "2026-11-01"],
            executions: ["2035-01-01"],
            holds: true
        ),
        // What a program recorded was not used by what a wrong clock dated ahead.
        WrongClock(
            rule: .reaches(2, within: .year),
            events: ["2035-01-01", "2026-10-01", "2026-11-01"],
            executions: ["2035-01-01"],
            holds: true,
            counted: .named("start")
        ),
        WrongClock(
            rule: .absence(twoDays),
            events: ["2026-10-01", "2026-11-01"],
            executions: ["2035-01-01", "2026-11-01"],
            holds: false,
            counted: .named("start")
        ),
    ]

    @Test("A clock that was wrong closes no rule for years", arguments: wrongClocks)
    func wrongClock(row: WrongClock) throws {
        func times(_ days: [String]) -> [Int64] { days.map { .at($0 + "T00:00:00Z") } }
        var tried = TriedScenario {
            $0.events = row.counted
            $0.rules = [row.rule]
        }
        tried.history = ListHistory(eventTimes: times(row.events), executionTimes: times(row.executions))
        let now = Int64.at("2026-11-01T12:00:00Z")
        #expect(try tried.isDue(now) == row.holds)
        #expect(try tried.next(now) == (row.holds ? now : row.next.isEmpty ? nil : .at(row.next)))
    }

    @Test("Without an event, nothing is long enough ago")
    func withoutEvents() throws {
        var tried = TriedScenario {
            $0.minSecondsSinceFirstEvent = 1
            $0.minSecondsSinceLastEvent = 1
        }
        #expect(try !tried.isDue(.days(20_000)))
        #expect(try tried.next(.days(20_000)) == nil)
        tried.scenario.compatibleWithWaitForIt = true
        #expect(try tried.isDue(.days(20_000)))
        tried.history.eventTimes = [.days(20_000)]
        #expect(try !tried.isDue(.days(20_000)))
    }

    @Test("The period of validity includes its beginning and not its end")
    func validity() throws {
        let start = Int64.at("2026-12-01T00:00:00Z")
        let tried = TriedScenario {
            $0.validFrom = Timestamp.date(start)
            $0.validUntil = Timestamp.date(start + .days(24))
        }
        #expect(try !tried.isDue(start - 1))
        #expect(try tried.isDue(start))
        #expect(try tried.isDue(start + .days(24) - 1))
        #expect(try !tried.isDue(start + .days(24)))
        #expect(try tried.next(start - .days(3)) == start)
        #expect(try tried.next(start + .days(24)) == nil)
        #expect(try tried.message(start - 1) == "It is valid from 2026-12-01 00:00 on.")
        #expect(try tried.message(start + .days(24)) == "It was valid until 2026-12-25 00:00.")
    }

    @Test("A rolling window begins after its first moment and ends now")
    func rollingEvents() throws {
        let now = Int64.at("2026-11-22T12:00:00Z")
        let week: TimeInterval = 604_800
        var tried = TriedScenario(.events(atLeast: 3, atMost: 4, within: .seconds(week)))
        tried.history.eventTimes = [now - .days(7), now - .days(6), now - 1]
        #expect(try !tried.isDue(now))
        tried.history.eventTimes.append(now + 1)
        #expect(try !tried.isDue(now))
        // The event that is ahead since the clock was set back will be the third.
        #expect(try tried.next(now) == now + 1)
        tried.history.eventTimes.append(now)
        #expect(try tried.isDue(now))
        tried.history.eventTimes += [now, now]
        #expect(try !tried.isDue(now))
        // The oldest has to leave, and one more for the one that is ahead.
        #expect(try tried.next(now) == now + .days(7) - 1)
        tried.history.eventTimes.removeLast(5)
        #expect(try tried.next(now) == nil)
    }

    @Test("Executions in a rolling window count on both sides, whatever the clock does")
    func rollingExecutions() throws {
        let now = Int64.at("2026-11-22T12:00:00Z")
        var tried = TriedScenario(.executions(atMost: 2, within: .seconds(3600)))
        tried.history.executionTimes = [now]
        for offset in [-3600, -3599, 0, 3599, 3600] as [Int64] {
            #expect(try tried.isDue(now + .seconds(offset)))
        }
        tried.history.executionTimes = [now, now + .seconds(60)]
        #expect(try tried.isDue(now - .seconds(3540)))
        #expect(try !tried.isDue(now - .seconds(3540) + 1))
        #expect(try !tried.isDue(now + .seconds(3600) - 1))
        #expect(try tried.isDue(now + .seconds(3600)))
        #expect(try tried.next(now - .seconds(100)) == now + .seconds(3600))
        tried.scenario.rules = [.executions(atMost: 0, within: .seconds(3600))]
        #expect(try tried.next(now) == nil)
    }

    @Test("A window since a moment includes it, and what is ahead")
    func since() throws {
        let start = Int64.at("2026-11-22T12:00:00Z")
        var tried = TriedScenario(.events(atLeast: 2, atMost: nil, within: .since(Timestamp.date(start))))
        tried.history.eventTimes = [start - 1, start]
        #expect(try !tried.isDue(start + .days(1)))
        tried.history.eventTimes.append(start + .days(9))
        #expect(try tried.isDue(start + .days(1)))
        tried.scenario.rules = [.executions(atMost: 1, within: .since(Timestamp.date(start)))]
        tried.history.executionTimes = [start - 1]
        #expect(try tried.isDue(start))
        tried.history.executionTimes.append(start)
        #expect(try !tried.isDue(start + .days(900)))
        #expect(try tried.next(start) == nil)
    }

    @Test("A stamp card is full with every tenth event")
    func stampCard() throws {
        let start = Int64.at("2026-01-01T12:00:00Z")
        var tried = TriedScenario(.every(10, since: nil))
        var executed: [Int64] = []
        for number in 1...35 as ClosedRange<Int64> {
            tried.history.eventTimes.append(start + .days(number))
            if try tried.tryToExecute(start + .days(number)) { executed.append(number) }
        }
        #expect(executed == [10, 20, 30])
        #expect(try tried.message(start + .days(36)) == "5 of 10 visits for the next time.")
        // A card that begins anew takes no account of what was before.
        let anew = start + .days(31)
        tried.scenario.rules = [.every(5, since: Timestamp.date(anew))]
        #expect(try tried.isDue(start + .days(36)))
        tried.scenario.rules = [.every(6, since: Timestamp.date(anew))]
        #expect(try !tried.isDue(start + .days(36)))
        // Undone visits leave more executions than there should be.
        tried.scenario.rules = [.every(10, since: nil)]
        tried.history.eventTimes.removeLast(20)
        #expect(try tried.message(start) == "15 visits and 3 executions so far; 10 are needed for each.")
    }

    @Test("A tier is reached by one event only")
    func reaches() throws {
        let now = Int64.at("2026-11-22T12:00:00Z")
        var tried = TriedScenario(.reaches(3, within: .seconds(604_800)))
        tried.history.eventTimes = [now - .days(6), now - .days(3)]
        #expect(try !tried.isDue(now))
        tried.history.eventTimes.append(now)
        #expect(try tried.isDue(now))
        // The first has left the window, and the third is still that which made it three.
        #expect(try tried.isDue(now + .days(2)))
        #expect(try !tried.isDue(now + .days(7)))
        tried.history.eventTimes.append(now + .days(2) - 1)
        #expect(try tried.isDue(now + .days(2)), "the first has left: three again")
        tried.history.eventTimes.append(now + .days(2))
        // Four; one of them leaves without an event.
        #expect(try !tried.isDue(now + .days(2)))
        #expect(try !tried.isDue(now + .days(5)))
        #expect(try tried.next(now + .days(2)) == nil)
    }

    @Test("An absence lies between the latest event and the one before")
    func absence() throws {
        let now = Int64.at("2026-11-22T12:00:00Z")
        var tried = TriedScenario(.absence(86_400))
        #expect(try tried.message(now) == "There is no earlier visit.")
        tried.history.eventTimes = [now]
        #expect(try !tried.isDue(now))
        tried.history.eventTimes = [now, now - .days(1)]
        #expect(try !tried.isDue(now))
        #expect(
            try tried.message(now)
                == "1 day lay between the last two visits; more than 1 day is needed; "
                + "a visit after 2026-11-23 12:00 would do."
        )
        tried.history.eventTimes = [now, now - .days(1) - 1]
        #expect(try tried.isDue(now))
        // What lies ahead is not the latest yet.
        tried.history.eventTimes = [now, now - 1, now + .days(2)]
        #expect(try !tried.isDue(now))
        #expect(try tried.next(now) == now + .days(2))
    }

    @Test("What a program recorded brings something once, and again with the next one")
    func usedEvents() throws {
        let now = Int64.at("2026-11-22T12:00:00Z")
        var reaching = TriedScenario {
            $0.events = .named("purchase")
            $0.rules = [.reaches(2, within: .year)]
        }
        reaching.history.eventTimes = [now - .days(90), now]
        var returning = reaching
        returning.scenario.rules = [.absence(86_400)]
        #expect(try reaching.isDue(now + .days(1)))
        #expect(try returning.isDue(now + .days(1)))
        reaching.history.executionTimes = [now + .days(1)]
        returning.history.executionTimes = [now]
        #expect(try reaching.message(now + .days(2)) == "It happened with number 2 this year already.")
        #expect(try returning.message(now + .days(2)) == "It happened after the last absence already.")
        returning.history.eventTimes.append(now + .days(3))
        #expect(try returning.isDue(now + .days(4)))
        // A visit is looked at when it comes, and then alone.
        reaching.scenario.events = .visits
        #expect(try reaching.isDue(now + .days(2)))
    }

    @Test("Lists hold by all or by any of their rules")
    func lists() throws {
        let now = Int64.at("2026-11-22T12:00:00Z")
        let (yes, no) = (ScenarioRule.minEventsRequired(0), ScenarioRule.tagged("vip"))
        for (rule, expected) in [
            (.all([yes, yes]), true), (.all([yes, no]), false), (.all([]), true), (.any([no, yes]), true),
            (.any([no, no]), false), (.any([]), false), (.all([yes, .any([no, .all([yes])])]), true),
        ] as [(ScenarioRule, Bool)] {
            #expect(try TriedScenario(rule).isDue(now) == expected)
            #expect(try TriedScenario(rule).decide(now).isDue == expected)
        }
        var tried = TriedScenario(.any([no, no]))
        #expect(try tried.next(now) == nil)
        tried.tags = ["vip"]
        #expect(try tried.isDue(now))
    }

    @Test("No number makes an evaluation trap")
    func extremes() throws {
        let lengths: [TimeInterval] = [
            .infinity, -.infinity, .nan, -1, 0, 1e300, -1e300, 9.3e12, .leastNonzeroMagnitude,
        ]
        let numbers = [Int.min, -1, 0, 1, .max]
        let moments: [Int64] = [.min, -1, 0, 1, .at("2026-11-22T12:00:00Z"), Timestamp.latest, .max]
        let dates = lengths.map { Date(timeIntervalSince1970: $0) }
        let windows =
            lengths.map { ScenarioWindow.seconds($0) } + numbers.map { .days($0) } + dates.map { .since($0) }
            + [.day, .week, .month, .year]
        var rules: [ScenarioRule] = [.customConditions, .weekdays([]), .openingHours([]), .all([]), .any([])]
        for length in lengths {
            rules += [
                .minSecondsSinceFirstEvent(length), .minSecondsSinceLastEvent(length),
                .minSecondsBetweenExecutions(length), .absence(length),
            ]
        }
        for number in numbers {
            rules += [
                .minEventsRequired(number), .maxEventsPermitted(number), .maxExecutionsPermitted(number),
                .every(number, since: nil), .every(number, since: .distantPast),
                .birthday(field: "birthday", daysBefore: number, daysAfter: number),
            ]
        }
        for date in dates { rules += [.valid(from: date, until: nil), .valid(from: nil, until: date)] }
        for window in windows {
            for number in [-1, 0, 1, 2, .max] {
                rules += [
                    .events(atLeast: number, atMost: nil, within: window),
                    .events(atLeast: nil, atMost: number, within: window),
                    .executions(atMost: number, within: window), .reaches(number, within: window),
                ]
            }
        }
        var deep = ScenarioRule.tagged("vip")
        for _ in 0..<50 { deep = .any([deep]) }
        rules += [deep, .all([deep])]
        for rule in rules {
            var tried = TriedScenario(rule, in: .named("Europe/Berlin"))
            tried.member = Member(userId: "A1", fields: ["birthday": .string("02-29")])
            tried.tags = ["vip"]
            for history in [[], moments] {
                tried.history = ListHistory(eventTimes: history, executionTimes: history)
                for moment in moments {
                    let decision = try tried.decide(moment)
                    #expect(try tried.isDue(moment) == decision.isDue)
                    #expect(decision.failures.allSatisfy { !$0.message.isEmpty })
                }
            }
        }
        #expect(try !TriedScenario(deep).isDue(0), "nested too deep")
        for length in [TimeInterval.infinity, .nan, 1e300] {
            var tried = TriedScenario { $0.minSecondsBetweenExecutions = length }
            tried.history.executionTimes = [0]
            #expect(try !tried.isDue(Timestamp.latest))
            #expect(try tried.next(Timestamp.latest) == nil)
        }
    }
}
