import Foundation

/// Times in captures: seconds since the start with up to nine decimals, and the ISO 8601 date of the start.
enum CaptureTime {
    private static let attosecondsPerNanosecond: Int64 = 1_000_000_000

    /// Seconds with three to nine decimals, as many as are needed. A negative time, which the format has not, is 0.
    static func text(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        guard seconds >= 0, attoseconds >= 0 else { return "0.000" }
        let digits = String(attoseconds / attosecondsPerNanosecond)
        var decimals = String(repeating: "0", count: max(0, 9 - digits.count)) + digits
        while decimals.count > 3, decimals.last == "0" { decimals.removeLast() }
        return "\(seconds).\(decimals)"
    }

    /// Reads seconds with up to nine decimals, or `nil`.
    static func duration(_ text: some Collection<UInt8>) -> Duration? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...10).contains(whole.count), let seconds = number(whole) else { return nil }
        guard parts.count == 2 else { return .seconds(seconds) }
        guard (1...9).contains(parts[1].count), var nanoseconds = number(parts[1]) else { return nil }
        for _ in parts[1].count..<9 { nanoseconds *= 10 }
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }

    /// The number that at most ten digits write.
    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    // MARK: Dates

    /// The moment that lies so long after a start, exact to the microsecond, so that the same start and time always
    /// give the same `Date`.
    static func moment(_ start: Date, plus time: Duration) -> Date {
        let (seconds, attoseconds) = time.components
        let micro = Double(microseconds(start)) + Double(seconds) * 1e6 + Double(attoseconds / 1_000_000_000_000)
        return Date(timeIntervalSince1970: micro / 1e6)
    }

    /// The time from a start to a moment in whole milliseconds, 0 if the moment is before the start.
    static func milliseconds(from start: Date, to moment: Date) -> Duration {
        .milliseconds(max(0, (microseconds(moment) - microseconds(start)) / 1000))
    }

    /// The time from a start to a moment in tenths of a millisecond, 0 if the moment is before the start.
    static func fine(from start: Date, to moment: Date) -> Duration {
        .microseconds(max(0, (microseconds(moment) - microseconds(start)) / 100 * 100))
    }

    /// The moment without what is finer than a millisecond.
    static func wholeMilliseconds(_ date: Date) -> Date {
        Date(timeIntervalSince1970: Double(microseconds(date) / 1000) / 1000)
    }

    private static func microseconds(_ date: Date) -> Int64 {
        let value = (date.timeIntervalSince1970 * 1e6).rounded()
        guard value.isFinite else { return 0 }
        // Some 280 000 years around 1970: far from where a Double or an Int64 ends.
        return Int64(min(max(value, -9e18), 9e18))
    }

    /// ISO 8601 in UTC with milliseconds.
    static func text(_ date: Date) -> String {
        let total = microseconds(date)
        let milliseconds = total >= 0 ? total / 1000 : (total - 999) / 1000
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

    /// Reads `2026-01-31T09:00:00[.123](Z|+01:00)`, or gives `nil`.
    static func date(_ text: String) -> Date? {
        var rest = Array(text.utf8)[...]
        func take(_ count: Int) -> Int? {
            guard rest.count >= count, let value = number(rest.prefix(count)) else { return nil }
            rest = rest.dropFirst(count)
            return Int(value)
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
            guard (1...9).contains(digits.count), var value = number(digits) else { return nil }
            for _ in digits.count..<9 { value *= 10 }
            nanoseconds = Int(value)
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
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of ``days(year:month:day:)``.
    private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let civilMonth = month < 10 ? month + 3 : month - 9
        return (
            yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
