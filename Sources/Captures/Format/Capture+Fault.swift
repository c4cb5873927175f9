import CardCore

extension Capture {
    /// A fault in place of an answer.
    public enum Fault: String, Sendable, Hashable, CaseIterable {
        /// The card left the field; nothing after it succeeds.
        case removed
        /// The card was reset: what was selected is gone.
        case reset
        /// No answer came in time.
        case timeout
        /// The radio link failed.
        case commError = "comm-error"

        /// The fault under which a recording keeps an error. What has no name of its own is a failure of the link.
        public init(_ error: ReaderError) {
            switch error.kind {
            case .cardRemoved: self = .removed
            case .cardReset: self = .reset
            case .timeout: self = .timeout
            default: self = .commError
            }
        }

        /// The error that a replay throws for it.
        public var kind: ReaderError.Kind {
            switch self {
            case .removed: .cardRemoved
            case .reset: .cardReset
            case .timeout: .timeout
            case .commError: .communication
            }
        }
    }
}
