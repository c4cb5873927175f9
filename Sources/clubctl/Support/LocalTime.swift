import Foundation

/// Times for people: in the zone of the machine, which `TZ` chooses. JSON has them in UTC.
enum LocalTime {
    /// `2026-11-21 08:30:00`.
    static func text(_ seconds: Double) -> String { text(seconds, in: .current) }

    /// The same in a zone, whose name follows where its clocks show something else than this machine's:
    /// `2026-11-21 09:30:00 Europe/Berlin`.
    static func named(_ date: Date, in zone: TimeZone) -> String {
        let isOurs = zone.secondsFromGMT(for: date) == TimeZone.current.secondsFromGMT(for: date)
        return text(date.timeIntervalSince1970, in: zone) + (isOurs ? "" : " \(zone.identifier)")
    }

    private static func text(_ seconds: Double, in zone: TimeZone) -> String {
        let style = Date.ISO8601FormatStyle(
            dateSeparator: .dash,
            dateTimeSeparator: .space,
            timeSeparator: .colon,
            timeZone: zone
        )
        return Date(timeIntervalSince1970: seconds).formatted(
            style.year().month().day().time(includingFractionalSeconds: false)
        )
    }
}
