/// Which readers in Smart Reader mode to serve, and how they are set.
public struct SmartReaderConfiguration: Sendable, Hashable {
    /// Where their lines come from. None need be there yet. One that stands twice is served once.
    public var sources: [SmartReaderSource]

    /// A folder in which readers get a name as they are plugged in, and which need not be there; `nil` for none. The udev
    /// rules make `/dev/clubkit` (``SmartReaderFolder/standard``).
    public var folder: SmartReaderFolder?

    /// The speed of serial lines, in bits per second: one of ``speeds``. A reader on USB takes any.
    public var speed: Int

    /// The speeds that there are.
    public static let speeds = [9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800]

    /// The one format that the readers send, or `nil` to take each line as what it looks like. Then plain text counts only
    /// where it can hardly be noise: an identifier of a card, a membership text, an address; and an MK1 line also with a
    /// word of four characters or more that has a digit.
    public var format: SmartReaderFormat?

    /// What stands before each identifier in plain text (register 02A8). Text without it is no line of the reader.
    public var prefix: [UInt8]

    /// What stands behind each identifier in plain text (register 02A9). CR and LF end a line in any case; empty, a pause
    /// does too where ``format`` is plain.
    public var suffix: [UInt8]

    /// What the reader's templates look for (registers 03t0: D1 Apple VAS, D2 Smart Tap, 4E NDEF, …), by their numbers 1
    /// to 4. A line has the number only, which states nothing by itself.
    public var templates: [UInt8: UInt8]

    /// For how long the same line again is the same tap, counted from the last time.
    ///
    /// A reader that does not tell when a tag leaves repeats the line of one that rests on it, every 3 s unless register
    /// 02A1 says otherwise. Zero makes every line a tap. Lines that state that a tag came always are one.
    public var repeatInterval: Duration

    /// After how long a pause a line that was begun is not waited for any more.
    public var silence: Duration

    /// The first pause before a reader that cannot be opened is tried again; each further pause is twice as long.
    public var firstBackOff: Duration

    /// The longest pause between two attempts to open a reader.
    public var lastBackOff: Duration

    /// Which readers to serve, and how they are set.
    public init(
        sources: [SmartReaderSource] = [],
        folder: SmartReaderFolder? = nil,
        speed: Int = 115_200,
        format: SmartReaderFormat? = nil,
        prefix: [UInt8] = [],
        suffix: [UInt8] = [0x0A],
        templates: [UInt8: UInt8] = [:],
        repeatInterval: Duration = .seconds(4),
        silence: Duration = .seconds(1),
        firstBackOff: Duration = .milliseconds(100),
        lastBackOff: Duration = .seconds(1)
    ) {
        self.sources = sources
        self.folder = folder
        self.speed = speed
        self.format = format
        self.prefix = prefix
        self.suffix = suffix
        self.templates = templates
        self.repeatInterval = repeatInterval
        self.silence = silence
        self.firstBackOff = firstBackOff
        self.lastBackOff = lastBackOff
    }
}

extension SmartReaderConfiguration {
    /// How the lines of a source look. What is typed or read from standard input is text, whatever it is.
    func rules(for source: SmartReaderSource) -> SmartReaderRules {
        var rules = SmartReaderRules(format: format, prefix: prefix, suffix: suffix)
        if case .serial = source { return rules }
        if format == nil, !prefix.isEmpty { rules.format = .plain }
        return rules
    }
}

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
