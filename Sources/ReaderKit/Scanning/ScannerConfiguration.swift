import Foundation

/// How a ``CardScanner`` reads cards.
public struct ScannerConfiguration: Sendable {
    /// Limits for the NDEF message of a tag.
    public var limits: NDEFLimits

    /// What passes are read and accepted; without it what is written on a card, and its identifier.
    public var site: PassSite?

    /// How often a card is read again after it was reset by another program or the radio link failed, 0 to 10.
    public var retries: Int

    /// How long a tap may take, all its readings included: a card that is not read by then is a tap with the problem
    /// `readFailed`. One exchange that is under way comes to its end first. 0 s, with which nothing is read, to
    /// ``ReaderLimits/workDuration``; what lies outside becomes the nearest.
    public var timeLimit: Duration { didSet { timeLimit = Self.limited(timeLimit) } }

    private static func limited(_ duration: Duration) -> Duration {
        min(max(duration, .zero), ReaderLimits.workDuration)
    }

    /// Which readers to serve; the others' events are passed on and their cards left alone.
    public var serves: @Sendable (ReaderInfo) -> Bool

    /// Makes the ids of events.
    public var makeID: @Sendable () -> UUID

    /// How to read cards.
    public init(
        limits: NDEFLimits = .default,
        site: PassSite? = nil,
        retries: Int = 2,
        timeLimit: Duration = ReaderLimits.tapDuration,
        serves: @escaping @Sendable (ReaderInfo) -> Bool = { _ in true },
        makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) {
        self.limits = limits
        self.site = site
        self.retries = min(max(retries, 0), 10)
        self.timeLimit = Self.limited(timeLimit)
        self.serves = serves
        self.makeID = makeID
    }
}
