import Foundation
import ReaderKit
import Testing

@testable import KioskKit

@Suite("Months and dates")
struct DatesTests {
    private func date(_ text: String) throws -> Date { try #require(ISO8601.date(text)) }

    @Test("A month begins and ends by the calendar's zone, also where clocks are changed")
    func months() throws {
        /// A zone, a time, and the first moments of its month and of the month's last day.
        let table = [
            ("UTC", "2026-11-24T09:05:00Z", "2026-11-01T00:00:00Z", "2026-11-30T00:00:00Z"),
            ("UTC", "2028-02-01T00:00:00Z", "2028-02-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("Europe/Berlin", "2026-10-31T22:59:59Z", "2026-09-30T22:00:00Z", "2026-10-30T23:00:00Z"),
            ("Europe/Berlin", "2026-10-31T23:00:00Z", "2026-10-31T23:00:00Z", "2026-11-29T23:00:00Z"),
            // Clocks go forward at midnight of the first: the day begins at one.
            ("America/Asuncion", "2017-10-15T12:00:00Z", "2017-10-01T04:00:00Z", "2017-10-31T03:00:00Z"),
        ]
        for (zone, text, start, end) in table {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try #require(TimeZone(identifier: zone))
            let time = try date(text)
            let found = [time.startOfMonth(in: calendar), time.endOfMonth(in: calendar)]
            #expect(try found == [date(start), date(end)], "\(zone) \(text)")
        }
    }

    @Test("Days of the week are numbered from Sunday, and named")
    func weekdays() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let sunday = try date("2026-11-22T12:00:00Z")
        let numbers = (0..<7).map { sunday.addingTimeInterval(86_400 * Double($0)).dayNumberOfWeek(in: calendar) }
        #expect(numbers == Array(1...7))
        let names = Language.allCases.map { sunday.dayOfWeek(in: calendar, language: $0) }
        #expect(names == ["Sunday", "Sonntag", "星期日", "الأحد"])
    }

    @Test("A date is read in its format, or an error names the text and the format")
    func parsing() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let good = [
            ("2026-11-24", "yyyy-MM-dd", "2026-11-23T23:00:00Z"), ("24 Nov 2026", "d MMM yyyy", "2026-11-23T23:00:00Z"),
            ("11/24/2026 09:05", "MM/dd/yyyy HH:mm", "2026-11-24T08:05:00Z"),
            ("2026-11-24T09:05:00Z", nil, "2026-11-24T09:05:00Z"),
            ("2026-11-24T09:05:00+01:00", nil, "2026-11-24T08:05:00Z"),
        ]
        for (text, format, expected) in good {
            #expect(try Date(value: text, dateFormat: format, timeZone: zone) == date(expected), "\(text)")
        }
        let bad = [
            ("", "yyyy-MM-dd"), ("today", "yyyy-MM-dd"), ("2026-02-31", "yyyy-MM-dd"), ("2026-11-24x", "yyyy-MM-dd"),
            ("24 Nov. 2026", "yyyy-MM-dd"), ("2026-11-24", nil), ("2026-02-31T00:00:00Z", nil),
        ]
        for (text, format) in bad {
            let error = DateParsingError(value: text, dateFormat: format)
            #expect(throws: error, "\(text)") { try Date(value: text, dateFormat: format, timeZone: zone) }
            #expect(error.description.contains(format ?? "ISO 8601"))
        }
    }
}
