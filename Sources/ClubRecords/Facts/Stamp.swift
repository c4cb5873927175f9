import Foundation

/// The time and device of a change to a member. Stamps have the same order everywhere, and are unique unless two
/// devices have one identifier, such as after a disk was copied.
public struct Stamp: Sendable, Hashable {
    /// The moment of the device's hybrid logical clock: milliseconds since 1970 in the upper 48 bits, a counter below.
    public var time: Int64

    /// The device that made the change; all zero for a file without such times (see ``legacy(at:)``).
    public var device: UUID

    /// Creates a stamp.
    public init(time: Int64, device: UUID) {
        self.time = time
        self.device = device
    }

    /// The device of files without logical times.
    public static let legacyDevice = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The latest time that is believed, in the year 4199: a clock that takes note of it can still go on for ever.
    package static let latestTime: Int64 = 1 << 62

    /// How far ahead of this device's clock a moment may be that is taken in, in milliseconds: a day, so that clocks in
    /// another time zone are heard, and no file runs this device's clock to its end.
    package static let tolerance = day

    package static let day: Int64 = 86_400_000

    /// The time of a moment of a logical clock. Milliseconds before 1970 count as its beginning, and more than fit as the
    /// most that do: SQLite's integers are signed.
    package static func time(milliseconds: Int64, counter: UInt16) -> Int64 {
        min(max(milliseconds, 0), 1 << 47 - 1) << 16 | Int64(counter)
    }

    /// Whether the time is that of an old record, which was rounded to the beginning or the end of its day (UTC).
    package var isRounded: Bool { time & 0xFFFF == 0 && [0, Self.day - 1].contains((time >> 16) % Self.day) }

    var dayNumber: Int64 { (time >> 16) / Self.day }

    /// The stamp of a file without logical times, as of then (microseconds since 1970): the same wherever imported.
    ///
    /// - Parameter limit: the latest time that is believed. What claims to be later does not state when, and so counts
    ///   as of the beginning of time: nothing that people enter has to be later than it, which no clock could.
    package static func legacy(at microseconds: Int64, believedUpTo limit: Int64 = latestTime - 1) -> Stamp {
        let time = isBelieved(at: microseconds, upTo: limit) ? legacyTime(microseconds) : Int64(UInt16.max)
        return Stamp(time: time, device: legacyDevice)
    }

    /// Whether a time in microseconds since 1970 is no later than a moment of a clock.
    package static func isBelieved(at microseconds: Int64, upTo limit: Int64) -> Bool {
        legacyTime(microseconds) <= limit
    }

    private static func legacyTime(_ microseconds: Int64) -> Int64 {
        time(milliseconds: microseconds / 1000, counter: .max)
    }

    /// Whether a time alone is that of a file without logical times: no clock counts that far, so that a visit that
    /// names the creation with which it ends also identifies its kind.
    package static func isLegacy(time: Int64) -> Bool { time & 0xFFFF == 0xFFFF }

    /// Whether the change comes from a file without logical times.
    public var isLegacy: Bool { device == Self.legacyDevice }

    /// Whether no deletion or erasure ends what has this stamp and leaves what has the other. What a file states never
    /// outlives what a device states, since an erasure does not let files in again.
    func outlives(_ other: Stamp) -> Bool { self >= other && (!isLegacy || other.isLegacy) }

    /// The wall-clock part of the time.
    public var date: Date { Date(timeIntervalSince1970: Double(time >> 16) / 1000) }
}

extension Stamp: Comparable {
    /// Orders by time, then by device.
    public static func < (left: Stamp, right: Stamp) -> Bool {
        guard left.time == right.time else { return left.time < right.time }
        return withUnsafeBytes(of: left.device.uuid) { left in
            withUnsafeBytes(of: right.device.uuid) { right in left.lexicographicallyPrecedes(right) }
        }
    }
}

extension Stamp: Codable {
    /// Decodes `[time, "device"]`; `[time]` is from a file without logical times.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        time = max(try container.decode(Int64.self), 0)
        device = container.isAtEnd ? Self.legacyDevice : try container.decode(UUID.self)
    }

    /// Encodes `[time, "device"]`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(time)
        if !isLegacy { try container.encode(device) }
    }
}

/// Times as the store keeps them: whole microseconds since 1970, so that comparing and adding them is exact.
package enum Timestamp {
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

    package static func date(_ microseconds: Int64) -> Date { Date(timeIntervalSince1970: seconds(microseconds)) }

    package static func seconds(_ microseconds: Int64) -> Double { Double(microseconds) / Double(second) }

    /// A length of time in microseconds; negative ones are 0, overlong ones the largest that can be added to a time.
    package static func microseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < latest / second else { return latest }
        return seconds * second + attoseconds / 1_000_000_000_000
    }
}
