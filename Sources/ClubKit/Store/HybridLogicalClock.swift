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

/// A hybrid logical clock: as near to the physical time as is possible without ever standing still or going back, also
/// when the physical clock does.
package struct HybridLogicalClock: Sendable, Hashable {
    /// The latest moment that was given or seen.
    package private(set) var last: HybridTimestamp

    /// A clock that goes on from there.
    package init(last: HybridTimestamp = HybridTimestamp(rawValue: 0)) {
        self.last = last
    }

    /// The next moment: the physical time if that is later than all before, else the smallest step on.
    package mutating func next(now: Date) -> HybridTimestamp {
        let physical = HybridTimestamp(milliseconds: Self.milliseconds(now), counter: 0)
        // A full counter carries over into the milliseconds, which is the smallest step on as well.
        last = physical > last ? physical : HybridTimestamp(rawValue: min(last.rawValue, Int64.max - 2) + 1)
        // The largest counter is that of files (see Stamp.isLegacy(time:)).
        if last.counter == .max { last = HybridTimestamp(rawValue: min(last.rawValue, Int64.max - 2) + 1) }
        return last
    }

    /// Takes note of another device's moment, so that what follows here is later than it.
    package mutating func observe(_ other: HybridTimestamp) {
        last = max(last, other)
    }

    private static func milliseconds(_ date: Date) -> Int64 {
        // What is before 1970 or no time at all does not move the clock; what is after 9999 is not believed.
        (Timestamp.microseconds(date) ?? 0) / 1000
    }
}
