import Foundation

/// Times as the store keeps them: whole microseconds since 1970, so that comparing and adding them is exact.
enum Timestamp {
    /// Microseconds in a second.
    static let second: Int64 = 1_000_000

    /// 31 December 9999, 23:59:59.999999 UTC.
    static let latest: Int64 = 253_402_300_799_999_999

    /// The time, or `nil` if it is outside the years 1970 to 9999 (also infinite, or no number).
    static func microseconds(_ date: Date) -> Int64? {
        let value = (date.timeIntervalSince1970 * Double(second)).rounded()
        guard value >= 0, value <= Double(latest) else { return nil }
        return Int64(exactly: value).map { min($0, latest) }
    }

    static func date(_ microseconds: Int64) -> Date {
        Date(timeIntervalSince1970: seconds(microseconds))
    }

    /// Seconds since 1970.
    static func seconds(_ microseconds: Int64) -> Double {
        Double(microseconds) / Double(second)
    }

    /// A length of time in microseconds; negative ones are 0, overlong ones the largest that can be added to a time.
    static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < latest / second else { return latest }
        return seconds * second + attoseconds / 1_000_000_000_000
    }

    /// ISO 8601 in UTC with milliseconds, rounded to the nearest; times outside the years 1970 to 9999 become the
    /// nearest of these.
    static func iso8601(_ date: Date) -> String {
        let clamped = microseconds(date) ?? (date.timeIntervalSince1970 > 0 ? latest : 0)
        let milliseconds = min((clamped + 500) / 1000, latest / 1000)
        let (days, inDay) = (milliseconds / 86_400_000, milliseconds % 86_400_000)
        // Days since 1970 to a date of the Gregorian calendar, in eras of 400 years that begin on 1 March.
        let shifted = days + 719_468
        let (era, inEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let dayOfYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T"
            + padded(inDay / 3_600_000, 2) + ":" + padded(inDay / 60_000 % 60, 2) + ":"
            + padded(inDay / 1000 % 60, 2) + "." + padded(inDay % 1000, 3) + "Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}
