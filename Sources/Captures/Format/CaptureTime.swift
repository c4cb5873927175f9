import CardCore
import CardPasses
import Foundation

/// Times in captures: seconds since the start, with up to nine decimals.
package enum CaptureTime {
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

    static func duration(_ text: some Collection<UInt8>) -> Duration? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...10).contains(whole.count), let seconds = number(whole) else { return nil }
        guard parts.count == 2 else { return .seconds(seconds) }
        guard (1...9).contains(parts[1].count), var nanoseconds = number(parts[1]) else { return nil }
        for _ in parts[1].count..<9 { nanoseconds *= 10 }
        return .seconds(seconds) + .nanoseconds(nanoseconds)
    }

    private static func number(_ digits: some Collection<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard CaptureCursor.isDigit(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    // MARK: Dates

    /// The moment that lies so long after a start, exact to the microsecond, so that the same start and time always
    /// yield the same `Date`.
    package static func moment(_ start: Date, plus time: Duration) -> Date {
        let (seconds, attoseconds) = time.components
        let micro = Double(microseconds(start)) + Double(seconds) * 1e6 + Double(attoseconds / 1_000_000_000_000)
        return Date(timeIntervalSince1970: micro / 1e6)
    }

    /// The time from a start to a moment in whole milliseconds, 0 if the moment is before the start.
    package static func milliseconds(from start: Date, to moment: Date) -> Duration {
        .milliseconds(max(0, (microseconds(moment) - microseconds(start)) / 1000))
    }

    /// The time from a start to a moment in tenths of a millisecond, 0 if the moment is before the start.
    package static func fine(from start: Date, to moment: Date) -> Duration {
        .microseconds(max(0, (microseconds(moment) - microseconds(start)) / 100 * 100))
    }

    /// The moment without what is finer than a millisecond.
    package static func wholeMilliseconds(_ date: Date) -> Date {
        Date(timeIntervalSince1970: Double(microseconds(date) / 1000) / 1000)
    }

    private static func microseconds(_ date: Date) -> Int64 {
        let value = (date.timeIntervalSince1970 * 1e6).rounded()
        guard value.isFinite else { return 0 }
        // Some 280 000 years around 1970: far from where a Double or an Int64 ends.
        return Int64(min(max(value, -9e18), 9e18))
    }
}
