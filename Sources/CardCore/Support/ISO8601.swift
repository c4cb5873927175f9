import Foundation

/// Times as text: ISO 8601 in UTC with milliseconds, the one form in which captures and tools write them.
package enum ISO8601 {
    /// Milliseconds from 1970 to the first and the last moment of the years 1 to 9999.
    private static let earliest: Int64 = -62_135_596_800_000
    private static let latest: Int64 = 253_402_300_799_999

    /// `2026-11-21T08:30:00.000Z`: the millisecond in which it was, so that the last moment of a day stays in that day;
    /// times outside the years 1 to 9999 become the nearest of these.
    package static func text(_ date: Date) -> String {
        let time = date.timeIntervalSince1970
        let value = time.isNaN ? 0 : min(max(time * 1000, Double(earliest)), Double(latest))
        // Of a whole number of milliseconds a floating-point time may lack its last digits, which are less than a
        // microsecond. Foundation counts from 2001.
        let missing = (abs(value) + Date.timeIntervalBetween1970AndReferenceDate * 1000).ulp
        let milliseconds = Int64((value + missing).rounded(.down))
        let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
        let rest = Int(milliseconds - days * 86_400_000)
        let (year, month, day) = civil(days: Int(days))
        func pad(_ value: Int, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(rest / 3_600_000, 2)):"
            + "\(pad(rest / 60_000 % 60, 2)):\(pad(rest / 1000 % 60, 2)).\(pad(rest % 1000, 3))Z"
    }

    /// Reads `2026-01-31T09:00:00[.123](Z|+01:00)`, or returns `nil`: Foundation's own reader also takes 31 February
    /// and whatever stands behind the time.
    package static func date(_ text: String) -> Date? {
        var rest = Array(text.utf8)[...]
        func take(_ count: Int) -> Int? {
            guard rest.count >= count, let value = number(rest.prefix(count)) else { return nil }
            rest = rest.dropFirst(count)
            return value
        }
        func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = take(4), skip("-"), let month = take(2), skip("-"), let day = take(2), skip("T"),
            let hour = take(2), skip(":"), let minute = take(2), skip(":"), let second = take(2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var nanoseconds = 0
        if skip(".") {
            let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard var value = number(digits) else { return nil }
            for _ in digits.count..<9 { value *= 10 }
            nanoseconds = value
            rest = rest.dropFirst(digits.count)
        }
        var offset = 0
        if !skip("Z") {
            let sign = skip("+") ? 1 : skip("-") ? -1 : 0
            guard sign != 0, let hours = take(2), skip(":"), let minutes = take(2), hours < 24, minutes < 60 else {
                return nil
            }
            offset = sign * (hours * 60 + minutes)
        }
        let days = Self.days(year: year, month: month, day: day)
        guard rest.isEmpty, civil(days: days) == (year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3600 + (minute - offset) * 60 + second
        return Date(timeIntervalSince1970: Double(seconds * 1_000_000 + nanoseconds / 1000) / 1e6)
    }

    /// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, years counted from March.
    package static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of ``days(year:month:day:)``.
    package static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let civilMonth = month < 10 ? month + 3 : month - 9
        return (yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfYear - (153 * month + 2) / 5 + 1)
    }

    /// The number that at most nine digits write.
    package static func number(_ digits: some Collection<UInt8>) -> Int? {
        guard (1...9).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}
