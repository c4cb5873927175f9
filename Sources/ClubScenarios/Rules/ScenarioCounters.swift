import CardCore
import ClubRecords
import Foundation

/// The counters of a scenario for a subject.
///
/// In JSON the times are ISO 8601 in UTC; absent values are omitted.
public struct ScenarioCounters: Sendable, Hashable {
    /// The number of events.
    public var eventsCount = 0

    /// The number of executions, without refunded ones.
    public var executionsCount = 0

    /// The time of the first event; `nil` if there is none.
    public var firstEventDate: Date?

    /// The time of the last event; `nil` if there is none.
    public var lastEventDate: Date?

    /// The time of the last execution; `nil` if there is none.
    public var lastExecutionDate: Date?
}

extension ScenarioCounters: Encodable {
    /// Encodes an object whose keys are the names of the values.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeObject([
            "eventsCount": eventsCount, "executionsCount": executionsCount,
            "firstEventDate": firstEventDate.map(ISO8601.text), "lastEventDate": lastEventDate.map(ISO8601.text),
            "lastExecutionDate": lastExecutionDate.map(ISO8601.text),
        ])
    }
}

/// What happened so far to one subject for one scenario. Implemented on the database, and in memory by tests.
///
/// Times are microseconds since 1970. A stretch that ends before it begins has nothing in it.
package protocol ScenarioHistory {
    /// How many events there were, the first and the last (`nil` while there is none).
    func events() throws -> (count: Int, first: Int64?, last: Int64?)

    /// How many events lie after a moment (exclusive), up to another (inclusive).
    func countEvents(after: Int64, through: Int64) throws -> Int

    /// The k-th latest event no later than a moment (0 is the latest), `nil` if there are not so many.
    func event(fromLatest k: Int, through: Int64) throws -> Int64?

    /// How many executions there were, and the last (`nil` while there is none).
    func executions() throws -> (count: Int, last: Int64?)

    /// How many executions lie between two moments, both exclusive.
    func countExecutions(after: Int64, before: Int64) throws -> Int

    /// The k-th latest execution (0 is the latest), `nil` if there are not so many.
    func execution(fromLatest k: Int) throws -> Int64?
}

/// The events that a scenario counts.
public enum ScenarioEvents: Sendable, Hashable {
    /// Counted visits.
    case visits
    /// Events that the application triggers under that name.
    case named(String)
}
