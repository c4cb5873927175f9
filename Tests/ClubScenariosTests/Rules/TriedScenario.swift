import ClubRecords
import Foundation
import ReaderKit

@testable import ClubScenarios

/// A scenario with a history of its own that is tried at given times, as the original library's tests do it.
struct TriedScenario {
    var scenario: Scenario
    var history = ListHistory()
    var member: Member?
    var tags: [String] = []
    var customConditionsHold = true
    let calendars = ScenarioCalendars()

    init(_ configure: (inout Scenario) -> Void) {
        scenario = Scenario("test") { scenario in
            scenario.timeZone = .gmt
            configure(&scenario)
        }
    }

    /// One rule, in a time zone.
    init(_ rule: ScenarioRule, in timeZone: TimeZone = .gmt) {
        self.init { scenario in
            scenario.rules = [rule]
            scenario.timeZone = timeZone
        }
    }

    func attempt(_ now: Int64) -> ScenarioAttempt {
        ScenarioAttempt(
            now: now,
            history: history,
            member: member,
            tags: tags,
            customConditionsHold: customConditionsHold,
            calendars: calendars
        )
    }

    func isDue(_ now: Int64) throws -> Bool { try scenario.isDue(attempt(now)) }

    func isDue(_ text: String) throws -> Bool { try isDue(.at(text)) }

    func decide(_ now: Int64) throws -> ScenarioDecision { try scenario.decide(attempt(now), for: .member("A1")) }

    func decide(_ text: String) throws -> ScenarioDecision { try decide(.at(text)) }

    /// The only failure's sentence.
    func message(_ now: Int64) throws -> String? {
        let failures = try decide(now).failures
        return failures.count == 1 ? failures[0].message : nil
    }

    /// When it could next be, in microseconds.
    func next(_ now: Int64) throws -> Int64? { try decide(now).nextPossible.map(ScenarioTime.microseconds) }

    func next(_ text: String) throws -> Int64? { try next(.at(text)) }

    /// Executes if it is due.
    mutating func tryToExecute(_ now: Int64) throws -> Bool {
        let isDue = try isDue(now)
        if isDue { history.executionTimes.append(now) }
        return isDue
    }
}

extension Int64 {
    /// A time of ISO 8601 in microseconds; what is no time is 0.
    static func at(_ text: String) -> Int64 { ISO8601.date(text).map(ScenarioTime.microseconds) ?? 0 }

    /// Seconds in microseconds.
    static func seconds(_ value: Int64) -> Int64 { value * Timestamp.second }

    /// Days of 24 hours in microseconds.
    static func days(_ value: Int64) -> Int64 { value * 86_400 * Timestamp.second }
}

extension TimeZone {
    /// The time zone with that name.
    static func named(_ name: String) -> TimeZone { TimeZone(identifier: name)! }
}
