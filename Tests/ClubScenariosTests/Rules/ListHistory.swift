import ClubRecords
import Foundation

@testable import ClubScenarios

/// What happened to a subject, as two lists of times in any order.
struct ListHistory: ScenarioHistory {
    var eventTimes: [Int64] = []
    var executionTimes: [Int64] = []

    func events() -> (count: Int, first: Int64?, last: Int64?) {
        (eventTimes.count, eventTimes.min(), eventTimes.max())
    }

    func countEvents(after: Int64, through: Int64) -> Int {
        eventTimes.count { $0 > after && $0 <= through }
    }

    func event(fromLatest k: Int, through: Int64) -> Int64? {
        let latest = eventTimes.filter { $0 <= through }.sorted(by: >)
        return k < latest.count ? latest[k] : nil
    }

    func executions() -> (count: Int, last: Int64?) {
        (executionTimes.count, executionTimes.max())
    }

    func countExecutions(after: Int64, before: Int64) -> Int {
        executionTimes.count { $0 > after && $0 < before }
    }

    func execution(fromLatest k: Int) -> Int64? {
        k < executionTimes.count ? executionTimes.sorted(by: >)[k] : nil
    }
}

/// A history that must not be asked.
struct ForbiddenHistory: ScenarioHistory {
    struct Asked: Error {}

    func events() throws -> (count: Int, first: Int64?, last: Int64?) { throw Asked() }
    func countEvents(after: Int64, through: Int64) throws -> Int { throw Asked() }
    func event(fromLatest k: Int, through: Int64) throws -> Int64? { throw Asked() }
    func executions() throws -> (count: Int, last: Int64?) { throw Asked() }
    func countExecutions(after: Int64, before: Int64) throws -> Int { throw Asked() }
    func execution(fromLatest k: Int) throws -> Int64? { throw Asked() }
}
