import ArgumentParser
import Foundation
import ReaderKit

/// A day or a moment that a person gave: `2026-11-21` in the zone of the machine, or ISO 8601 with a zone.
struct DateArgument: ExpressibleByArgument, Sendable, Hashable {
    /// The moment, or the beginning of the day.
    var start: Date
    /// The moment, or the end of the day, which is the beginning of the next.
    var end: Date

    init?(argument: String) {
        if let date = ISO8601.date(argument) {
            start = date
            end = date
            return
        }
        guard let day = Self.day(argument) else { return nil }
        start = day.start
        end = day.end
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

    /// What is said in help texts.
    static let form = "A day as in 2026-11-21, in the zone of this machine, or a time as in 2026-11-21T08:30:00Z."
}

/// A stretch of time.
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
