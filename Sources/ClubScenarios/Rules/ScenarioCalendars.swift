import Foundation

/// The calendars of time zones, with what was computed with them. They are shared by the scenarios of one attempt, and
/// may be kept for the next ones; not by several threads at once.
package final class ScenarioCalendars {
    private var calendars: [TimeZone: ZoneCalendar] = [:]
    /// Nearly always the one that is asked for.
    private var latest: ZoneCalendar?

    package init() {}

    /// The calendar of a time zone.
    func calendar(_ timeZone: TimeZone) -> ZoneCalendar {
        if let latest, latest.timeZone == timeZone { return latest }
        let calendar = calendars[timeZone] ?? ZoneCalendar(timeZone)
        calendars[timeZone] = calendar
        latest = calendar
        return calendar
    }
}
