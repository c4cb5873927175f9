import Foundation
import ReaderKit

extension Date {
    /// The first moment of the month.
    public func startOfMonth(in calendar: Calendar) -> Date {
        calendar.dateInterval(of: .month, for: self)?.start ?? self
    }

    /// The first moment of the month's last day.
    public func endOfMonth(in calendar: Calendar) -> Date {
        guard let end = calendar.dateInterval(of: .month, for: self)?.end else { return self }
        return calendar.startOfDay(for: end.addingTimeInterval(-1))
    }

    /// The number of the day in its week: 1 is Sunday, 7 is Saturday.
    public func dayNumberOfWeek(in calendar: Calendar) -> Int { calendar.component(.weekday, from: self) }

    /// The name of the day of the week, such as "Tuesday".
    public func dayOfWeek(in calendar: Calendar, language: Language = .english) -> String {
        formatted(
            Date.FormatStyle(locale: language.locale(), calendar: calendar, timeZone: calendar.timeZone).weekday(.wide)
        )
    }

    /// Reads a date and time by a format, whatever this machine's language is.
    ///
    /// - Parameters:
    ///   - value: the text.
    ///   - dateFormat: a format of Unicode TR 35, such as `yyyy-MM-dd`; `nil` for ISO 8601 with a zone, such as
    ///     `2026-11-24T09:05:00Z`.
    ///   - timeZone: the zone of times for which the text has none.
    /// - Throws: ``DateParsingError`` where the text is no date of that format, or none that exists.
    public init(value: String, dateFormat: String? = nil, timeZone: TimeZone) throws(DateParsingError) {
        var date: Date?
        if let dateFormat {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = timeZone
            formatter.isLenient = false
            formatter.dateFormat = dateFormat
            date = formatter.date(from: value)
        } else {
            date = ISO8601.date(value)
        }
        guard let date else { throw DateParsingError(value: value, dateFormat: dateFormat) }
        self = date
    }
}

/// A text is no date of the expected format.
public struct DateParsingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text.
    public var value: String
    /// The expected format; `nil` for ISO 8601.
    public var dateFormat: String?

    /// What is wrong, and what is expected.
    public var description: String {
        let expected = dateFormat.map { "the format '\($0)'" } ?? "ISO 8601, as 2026-11-24T09:05:00Z"
        return "'\(value.prefix(40))' is no date that exists. Write it in \(expected)."
    }
}
