/// The configuration of readers in Smart Reader mode: the readers to serve, and their settings.
public struct SmartReaderConfiguration: Sendable, Hashable {
    /// The sources of their lines, which need not be connected yet. Duplicates are served once.
    public var sources: [SmartReaderSource]

    /// A folder in which connected readers get a name, which may be absent; `nil` for none. The udev rules create
    /// `/dev/clubkit` (``SmartReaderFolder/standard``).
    public var folder: SmartReaderFolder?

    /// The speed of serial lines, in bits per second: one of ``speeds``. A reader on USB accepts any.
    public var speed: Int

    /// The valid speeds.
    public static let speeds = [9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800]

    /// The only format of the readers' lines; `nil` to detect it for each line. Plain text then counts only if it can
    /// hardly be noise: an identifier of a card, a membership text, an address; and an MK1 line also with a word of
    /// four characters or more that has a digit.
    public var format: SmartReaderFormat?

    /// The prefix of each identifier in plain text (register 02A8). Text without it is no line of the reader.
    public var prefix: [UInt8]

    /// The suffix of each identifier in plain text (register 02A9). CR and LF end a line in any case; if it is empty, a
    /// pause does too where ``format`` is plain.
    public var suffix: [UInt8]

    /// The types of the reader's templates (registers 03t0: D1 Apple VAS, D2 Smart Tap, 4E NDEF, …), by their numbers 1
    /// to 4. A line has only the number, which does not determine the type.
    public var templates: [UInt8: UInt8]

    /// The time in which a repeated line is the same tap, from the last repetition on.
    ///
    /// A reader that does not report when a tag leaves repeats the line of a resting one, every 3 s unless register
    /// 02A1 sets another time. Zero makes every line a tap. Lines that report an arriving tag are always a tap.
    public var repeatInterval: Duration

    /// The pause after which an unfinished line is discarded.
    public var silence: Duration

    /// The first pause before opening a failed reader is retried; each further pause is twice as long.
    public var firstBackOff: Duration

    /// The longest pause between two attempts to open a reader.
    public var lastBackOff: Duration

    /// Creates a configuration.
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

/// The counters of input on the lines of a Smart Reader backend that was no tap.
public struct SmartReaderCounts: Sendable, Hashable {
    /// The bytes outside lines: noise, or text that no reader sends.
    public var noiseBytes = 0
    /// The unfinished lines, because the reader was disconnected or bytes were lost.
    public var tornLines = 0
    /// The lines longer than ``SmartReaderLimits/lineLength``.
    public var longLines = 0
    /// The lines that repeat what rests on the reader.
    public var repeats = 0
    /// The lines that report the removal of a tag.
    public var departures = 0
    /// The lines that report the presence of a reader.
    public var greetings = 0

    /// Creates counters of zero.
    public init() {}

    static func + (left: Self, right: Self) -> Self {
        var sum = left
        for count in [\Self.noiseBytes, \.tornLines, \.longLines, \.repeats, \.departures, \.greetings] {
            sum[keyPath: count] += right[keyPath: count]
        }
        return sum
    }
}
