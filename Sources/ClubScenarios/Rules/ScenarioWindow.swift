import Foundation

/// A stretch of time in which events or executions are counted.
///
/// Calendar periods are those of the scenario's time zone, in the Gregorian calendar: where clocks are changed, a day
/// has 23 or 25 hours.
public enum ScenarioWindow: Sendable, Hashable {
    /// The last so many seconds: later than now minus these, up to now. For executions also those that lie less than
    /// these seconds ahead, so that a clock that was set back permits no more of them.
    case seconds(TimeInterval)
    /// Today and the n - 1 calendar days before it.
    case days(Int)
    /// Today.
    case day
    /// This week, which begins on Monday (ISO 8601).
    case week
    /// This calendar month.
    case month
    /// This calendar year.
    case year
    /// From that moment on, which is included.
    case since(Date)
}
