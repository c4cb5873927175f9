/// What came over the lines of a Smart Reader backend and was no tap.
public struct SmartReaderCounts: Sendable, Hashable {
    /// Bytes that belong to no line: noise, or text that no reader sends.
    public var noiseBytes = 0
    /// Lines that were begun and not ended, since the reader was unplugged or bytes were lost.
    public var tornLines = 0
    /// Lines longer than ``SmartReaderLimits/lineLength``.
    public var longLines = 0
    /// Lines that said again what lies on the reader.
    public var repeats = 0
    /// Lines that said that a tag had gone.
    public var departures = 0
    /// Lines by which a reader said that it is there.
    public var greetings = 0

    /// Nothing yet.
    public init() {}

    /// The sums of both.
    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.noiseBytes += right.noiseBytes
        sum.tornLines += right.tornLines
        sum.longLines += right.longLines
        sum.repeats += right.repeats
        sum.departures += right.departures
        sum.greetings += right.greetings
        return sum
    }
}
