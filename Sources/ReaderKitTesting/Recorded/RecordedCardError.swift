/// No card could be made from a capture.
public enum RecordedCardError: Error, Sendable, Hashable {
    /// The recording says that no conversation with the card was possible.
    case unreadable
    /// The recording does not tell what card it was: neither an answer to reset nor the facts of anticollision.
    case unknownCard
    /// The capture has no cards.
    case noCards
}

extension RecordedCardError: CustomStringConvertible {
    /// What was attempted, what happened, what to do.
    public var description: String {
        let reason =
            switch self {
            case .unreadable: "no conversation with it was possible when it was recorded"
            case .unknownCard: "the capture has neither its answer to reset nor what anticollision told"
            case .noCards: "the capture has none"
            }
        return "could not make a card from the capture: \(reason). Record a card that is read, and take that capture."
    }
}
