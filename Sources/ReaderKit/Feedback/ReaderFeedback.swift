/// What a reader signals to the person at it by light and sound.
public enum FeedbackSignal: String, Sendable, Hashable, CaseIterable {
    /// The tap counts.
    case accepted
    /// The tap is that of somebody who was counted just before.
    case repeated
    /// The tap does not count.
    case rejected
    /// The card was removed before it was read: it must be held to the reader longer.
    case holdLonger
}

/// Answers taps by light and sound: those of the reader (``ReaderLights``), or an application's own.
public protocol ReaderFeedback: Sendable {
    /// Gives a signal at a reader. A signal that cannot be given is no error of the tap, so this throws nothing.
    ///
    /// A ``FeedbackRelay`` calls this for one signal at a time at each reader, and cancels the task of one that takes
    /// longer than its deadline.
    ///
    /// - Parameters:
    ///   - signal: the signal.
    ///   - reader: the reader, by its name and backend.
    func give(_ signal: FeedbackSignal, at reader: ReaderInfo) async
}
