import Foundation

/// Times for people: in the zone of the machine, which `TZ` chooses. JSON has them in UTC.
enum LocalTime {
    /// `2026-11-21 08:30:00`.
    static func text(_ seconds: Double) -> String {
        let style = Date.ISO8601FormatStyle(
            dateSeparator: .dash,
            dateTimeSeparator: .space,
            timeSeparator: .colon,
            timeZone: .current
        )
        return Date(timeIntervalSince1970: seconds).formatted(
            style.year().month().day().time(includingFractionalSeconds: false)
        )
    }
}
