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
