/// Hours on days of the week, by the clock on the wall in the scenario's time zone.
///
/// Where clocks are changed, a time that a day does not have counts as the next that it has, and one that a day has
/// twice counts both times.
public struct OpeningHours: Sendable, Hashable {
    /// The days on which the hours begin.
    public var weekdays: Set<Weekday>

    /// When they begin.
    public var from: TimeOfDay

    /// When they are over: the first moment that does not belong to them. If it is no later than ``from``, they go on
    /// to that time of the next day.
    public var until: TimeOfDay

    /// Hours from one time until another on these days.
    public init(weekdays: Set<Weekday>, from: TimeOfDay, until: TimeOfDay) {
        self.weekdays = weekdays
        self.from = from
        self.until = until
    }
}

extension OpeningHours {
    /// Whether they go on to the next day.
    var crossesMidnight: Bool { until <= from }

    /// Whether they include that time of a day, in microseconds since midnight.
    func include(_ time: Int64, on weekday: Weekday, after yesterday: Weekday) -> Bool {
        let (from, until) = (CivilDate.microseconds(from), CivilDate.microseconds(until))
        guard crossesMidnight else { return time >= from && time < until && weekdays.contains(weekday) }
        return time >= from && weekdays.contains(weekday) || time < until && weekdays.contains(yesterday)
    }
}

extension OpeningHours: CustomStringConvertible {
    /// Such as `Saturday and Sunday 09:00-17:30`, or `every day 09:00-17:30`.
    public var description: String {
        let days = weekdays.count == Weekday.allCases.count ? "every day" : Weekday.list(weekdays)
        return "\(days) \(from)-\(until)"
    }
}
