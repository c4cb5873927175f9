import ClubKit
import Foundation

/// Scenarios as clubs have them, of all kinds in turn.
enum CommonScenarios {
    static func make(_ count: Int) -> [Scenario] {
        (0..<count).map { number in
            let more = number / kinds.count
            return Scenario("scenario \(number)") { scenario in
                scenario.timeZone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
                kinds[number % kinds.count](&scenario, more)
            }
        }
    }

    private static let kinds: [@Sendable (inout Scenario, Int) -> Void] = [
        { $0.rules = [.every(10 + $1, since: nil)] },
        {
            $0.minEventsRequired = 20 + $1
            $0.maxExecutionsPermitted = 1
        },
        { $0.rules = [.absence(30 * 86_400 + Double($1))] },
        { $0.rules = [.reaches(12 + $1, within: .seconds(90 * 86_400))] },
        {
            $0.minSecondsSinceFirstEvent = 365 * 86_400 + Double($1)
            $0.minSecondsBetweenExecutions = 7 * 86_400
        },
        { $0.rules = [.weekdays([.saturday, .sunday]), .events(atLeast: 5 + $1, atMost: nil, within: .week)] },
        { $0.rules = [.executions(atMost: 1, within: .week), .every(25 + $1, since: nil)] },
        { $0.rules = [.birthday(field: "birthday", daysBefore: $1 % 5, daysAfter: 3)] },
        {
            $0.maxEventsPermitted = 1
            $0.maxExecutionsPermitted = 1 + $1
        },
        { $0.rules = [.events(atLeast: 4 + $1, atMost: nil, within: .seconds(7 * 86_400))] },
    ]
}
