import ArgumentParser
import Foundation
import ReaderKit

/// A day or a moment that a person entered: `2026-11-21` in the zone of the machine, or ISO 8601 with a zone.
struct DateArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The moment, or the beginning of the day.
    var start: Date
    /// The moment, or the end of the day, which is the beginning of the next.
    var end: Date

    init?(argument: String) {
        let moment = ISO8601.date(argument).map { DateInterval(start: $0, duration: 0) }
        guard let span = moment ?? Self.day(argument) else { return nil }
        (start, end) = (span.start, span.end)
    }

    private static func day(_ text: String) -> DateInterval? {
        guard let match = text.wholeMatch(of: /(\d{4})-(\d{2})-(\d{2})/) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        let parts = DateComponents(year: Int(match.1), month: Int(match.2), day: Int(match.3))
        guard let date = calendar.date(from: parts),
            // 31 February is no day in March.
            calendar.dateComponents([.year, .month, .day], from: date) == parts
        else { return nil }
        return calendar.dateInterval(of: .day, for: date)
    }

    static let form = "A day as in 2026-11-21, in the zone of this machine, or a time as in 2026-11-21T08:30:00Z."
}

struct SpanOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("The first day, or the time of the beginning.", valueName: "date"))
    var from: DateArgument?

    @Option(
        help: ArgumentHelp(
            "The last day, which is included, or the time of the end, which is not.",
            discussion: DateArgument.form,
            valueName: "date"
        )
    )
    var to: DateArgument?

    func validate() throws {
        if let from, let to, from.start >= to.end { throw ValidationError("--from is not before --to.") }
    }
}

/// Times for people: in the zone of the machine, which `TZ` chooses. JSON has them in UTC.
enum LocalTime {
    /// The same in a zone, whose name follows where its clocks show something else than this machine's:
    /// `2026-11-21 09:30:00 Europe/Berlin`.
    static func named(_ date: Date, in zone: TimeZone) -> String {
        let isOurs = zone.secondsFromGMT(for: date) == TimeZone.current.secondsFromGMT(for: date)
        return text(date.timeIntervalSince1970, in: zone) + (isOurs ? "" : " \(zone.identifier)")
    }

    /// The time of the day, with which the kiosk's lines begin.
    static func ofDay(_ date: Date) -> Substring { text(date).suffix(8) }

    static func text(_ date: Date) -> String { text(date.timeIntervalSince1970) }

    /// `2026-11-21 08:30:00`.
    static func text(_ seconds: Double, in zone: TimeZone = .current) -> String {
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
