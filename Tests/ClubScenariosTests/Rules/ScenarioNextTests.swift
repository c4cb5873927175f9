import ClubRecords
import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubScenarios

/// When a scenario could next be due, against trying all moments.
@Suite struct ScenarioNextTests {
    /// A rule of random kind, whose borders are at whole half hours.
    private static func rule(_ random: inout SeededNumbers, around start: Int64, depth: Int = 0) -> ScenarioRule {
        func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
        func seconds() -> TimeInterval { TimeInterval(number(1...200) * 1800) }
        func window() -> ScenarioWindow {
            switch number(0...6) {
            case 0: .days(number(1...9))
            case 1: .day
            case 2: .week
            case 3: .month
            case 4: .since(Timestamp.date(start + .seconds(Int64(number(-200...200)) * 1800)))
            default: .seconds(seconds())
            }
        }
        func weekdays() -> Set<Weekday> { Set((0...2).compactMap { _ in Weekday(rawValue: number(1...7)) }) }
        func time() -> TimeOfDay { TimeOfDay(hour: number(0...23), minute: number(0...1) * 30)! }
        switch number(0...(depth < 2 ? 17 : 14)) {
        case 0: return .minEventsRequired(number(0...6))
        case 1: return .maxEventsPermitted(number(2...12))
        case 2: return .minSecondsSinceFirstEvent(seconds())
        case 3: return .minSecondsSinceLastEvent(seconds())
        case 4: return .minSecondsBetweenExecutions(seconds())
        case 5: return .events(atLeast: number(0...3), atMost: number(3...9), within: window())
        case 6: return .events(atLeast: nil, atMost: number(0...3), within: window())
        case 7, 8: return .executions(atMost: number(1...3), within: window())
        case 9: return .reaches(number(1...4), within: window())
        case 10: return .absence(seconds())
        case 11: return .weekdays(weekdays())
        case 12: return .openingHours([OpeningHours(weekdays: weekdays(), from: time(), until: time())])
        case 13:
            return .birthday(field: "born", daysBefore: number(0...2), daysAfter: number(0...2))
        case 14: return .valid(from: Timestamp.date(start + .seconds(Int64(number(-9...200)) * 1800)), until: nil)
        case 15: return .all((0...number(0...2)).map { _ in rule(&random, around: start, depth: depth + 1) })
        default: return .any((0...number(0...2)).map { _ in rule(&random, around: start, depth: depth + 1) })
        }
    }

    @Test(
        "When it is next possible is the first moment that is found by trying all",
        arguments: [
            ("Europe/Berlin", "2026-03-24T12:00:00Z"), ("Europe/Berlin", "2026-10-20T12:00:00Z"),
            ("Australia/Lord_Howe", "2026-10-01T12:00:00Z"), ("Pacific/Apia", "2011-12-27T12:00:00Z"),
        ]
    )
    func nextPossible(name: String, from: String) throws {
        let start = Int64.at(from)
        let step = Int64.seconds(1800)
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededNumbers(seed: seed)
            var tried = TriedScenario { $0.timeZone = .named(name) }
            let count = Int.random(in: 1...3, using: &random)
            tried.scenario.rules = (0..<count).map { _ in Self.rule(&random, around: start) }
            // Some by a clock that was days ahead.
            let latest: Int64 = seed < 30 ? 20 : 400
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                tried.history.eventTimes.append(start + Int64.random(in: -400...latest, using: &random) * step)
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                tried.history.executionTimes.append(start + Int64.random(in: -200...latest, using: &random) * step)
            }
            tried.member = Member(userId: "A1", fields: ["born": .string(name == "Pacific/Apia" ? "12-31" : "10-05")])
            // All changes are at half hours or, where more than so many seconds must have passed, just after.
            var expected: Int64?
            search: for number in 0..<500 as Range<Int64> {
                for moment in [start + number * step, start + number * step + 1]
                where try tried.isDue(moment) {
                    expected = moment
                    break search
                }
            }
            let next = try tried.next(start)
            if let expected {
                #expect(next == expected, "seed \(seed): \(tried.scenario.rules)")
            } else {
                #expect(next ?? .max > start + 499 * step, "seed \(seed): \(tried.scenario.rules)")
            }
            #expect(try tried.decide(start).isDue == tried.isDue(start))
        }
    }
}
