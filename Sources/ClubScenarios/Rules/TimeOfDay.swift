/// A time on the clock on the wall, to the minute. `24:00` is the end of the day.
public struct TimeOfDay: Sendable, Hashable {
    /// Minutes since midnight, 0...1440, as the clock shows them.
    public let minutes: Int

    /// A time from 00:00 to 24:00; `nil` for anything else.
    public init?(hour: Int, minute: Int) {
        guard (0...24).contains(hour), (0...59).contains(minute), hour < 24 || minute == 0 else { return nil }
        minutes = hour * 60 + minute
    }

    /// Reads `HH:mm`, two digits each; `nil` for anything else.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            let hour = CivilDate.number(bytes[0...1]), let minute = CivilDate.number(bytes[3...4])
        else { return nil }
        self.init(hour: hour, minute: minute)
    }
}

extension TimeOfDay: Comparable {
    /// Whether the left one is earlier.
    public static func < (left: TimeOfDay, right: TimeOfDay) -> Bool { left.minutes < right.minutes }
}

extension TimeOfDay: CustomStringConvertible {
    /// `HH:mm`.
    public var description: String {
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}
