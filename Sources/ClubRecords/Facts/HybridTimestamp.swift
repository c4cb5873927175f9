import Foundation

/// A moment of a device's hybrid logical clock: the milliseconds since 1970 in the upper 48 bits and a counter in the
/// lower 16. Of two moments of one device, the later one is always the greater.
package struct HybridTimestamp: Sendable, Hashable, Comparable {
    /// The largest number of milliseconds that keeps the raw value positive, as SQLite's integers are signed.
    package static let latestMilliseconds: Int64 = 1 << 47 - 1

    /// Both parts in one number, which sorts like the timestamp.
    package let rawValue: Int64

    /// The moment with that raw value; a negative one counts as the beginning of time.
    package init(rawValue: Int64) {
        self.rawValue = max(rawValue, 0)
    }

    /// A moment; milliseconds outside 0 to ``latestMilliseconds`` become the nearest of these.
    package init(milliseconds: Int64, counter: UInt16) {
        rawValue = min(max(milliseconds, 0), Self.latestMilliseconds) << 16 | Int64(counter)
    }

    package var milliseconds: Int64 { rawValue >> 16 }

    package var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    package static func < (left: HybridTimestamp, right: HybridTimestamp) -> Bool {
        left.rawValue < right.rawValue
    }
}
