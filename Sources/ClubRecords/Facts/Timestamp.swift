import Foundation

/// Times as the store keeps them: whole microseconds since 1970, so that comparing and adding them is exact.
package enum Timestamp {
    /// Microseconds in a second.
    package static let second: Int64 = 1_000_000

    /// 31 December 9999, 23:59:59.999999 UTC.
    package static let latest: Int64 = 253_402_300_799_999_999

    /// The time, or `nil` if it is outside the years 1970 to 9999 (also infinite, or no number).
    package static func microseconds(_ date: Date) -> Int64? {
        let value = (date.timeIntervalSince1970 * Double(second)).rounded()
        // As a Double, the latest time is rounded up to the first that is too late.
        guard value >= 0, value < Double(latest) else { return nil }
        return Int64(exactly: value)
    }

    package static func date(_ microseconds: Int64) -> Date {
        Date(timeIntervalSince1970: seconds(microseconds))
    }

    /// Seconds since 1970.
    package static func seconds(_ microseconds: Int64) -> Double {
        Double(microseconds) / Double(second)
    }

    /// A length of time in microseconds; negative ones are 0, overlong ones the largest that can be added to a time.
    package static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < latest / second else { return latest }
        return seconds * second + attoseconds / 1_000_000_000_000
    }
}
