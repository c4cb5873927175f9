/// A reader, its service or the link to a card failed.
///
/// It describes what was attempted, what happened (with the raw code of the library below, where there is one) and what
/// a person can do about it. States that are no failure (no reader, no card) are never reported this way.
public struct ReaderError: Error, Sendable, Hashable {
    /// What happened.
    public var kind: Kind

    /// What was attempted, to be read after "could not": "connect to the card".
    public var attempt: String

    /// The code of the library below, with its name.
    public var code: Code?

    /// Details that the kind does not contain, or `nil`.
    public var detail: String?

    /// Advice that is closer to the case than the kind's own, or `nil`.
    public var advice: String?

    /// A code of an underlying library, as reported.
    public struct Code: Sendable, Hashable {
        /// The number, in its usual width: PC/SC codes are 32-bit numbers such as `0x80100069`.
        public var rawValue: Int64
        /// The name in the library's header, such as `SCARD_W_REMOVED_CARD`.
        public var name: String

        /// A code and its name.
        public init(rawValue: Int64, name: String) {
            self.rawValue = rawValue
            self.name = name
        }
    }

    /// What can happen between this program and a card.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The card left the field (or another card took its place).
        case cardRemoved
        /// Somebody reset the card: what was selected or authenticated is gone.
        case cardReset
        /// A card is there and does not answer its reset.
        case cardUnresponsive
        /// The card has no power.
        case cardUnpowered
        /// The radio link failed although the card may still be there.
        case communication
        /// No answer came in the time allowed for it.
        case timeout
        /// The conversation with the card took longer than it may (``ReaderLimits/tapDuration``).
        case overTime
        /// A call into the library below did not return in the time allowed; its thread was abandoned.
        case stuck
        /// So many threads are stuck that no more is started; the process should end and be started anew.
        case exhausted
        /// The reader is not there (any more).
        case readerUnavailable
        /// Another program holds the reader for itself.
        case sharingViolation
        /// The service (pcscd) is not running, or refuses this program.
        case serviceUnavailable
        /// The service ended while the call was under way.
        case serviceStopped
        /// This program is not allowed to use the reader.
        case accessDenied
        /// The operation was cancelled.
        case cancelled
        /// The reader or its driver cannot do this.
        case unsupported
        /// What came back breaks the protocol.
        case invalidAnswer
        /// The answer, or the number of rounds it takes, is over a limit of ``ReaderLimits``.
        case limitExceeded
        /// The conversation differs from the recorded one.
        case replayMismatch
        /// Anything else; ``ReaderError/code`` contains the details.
        case other
    }

    /// An error of that kind; `attempt` is read after "could not".
    public init(
        _ kind: Kind,
        attempting attempt: String,
        code: Code? = nil,
        detail: String? = nil,
        advice: String? = nil
    ) {
        self.kind = kind
        self.attempt = attempt
        self.code = code
        self.detail = detail
        self.advice = advice
    }

    /// What a person can do about it.
    public var hint: String { advice ?? kind.advice }
}
extension ReaderError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String {
        var text = "could not \(attempt): \(kind.meaning)"
        if let detail { text += ", \(detail)" }
        if let code { text += " (\(code))" }
        return text + ". " + hint
    }
}

extension ReaderError.Code: CustomStringConvertible {
    /// The name and the number, as `SCARD_W_REMOVED_CARD 0x80100069`.
    public var description: String {
        rawValue < 0 ? "\(name) \(rawValue)" : "\(name) 0x" + String(rawValue, radix: 16, uppercase: true)
    }
}

extension ReaderError.Kind {
    /// What happened, in words.
    public var meaning: String {
        switch self {
        case .cardRemoved: "the card was removed"
        case .cardReset: "the card was reset"
        case .cardUnresponsive: "the card does not answer"
        case .cardUnpowered: "the card has no power"
        case .communication: "the link to the card failed"
        case .timeout: "no answer in time"
        case .overTime: "the conversation with the card took too long"
        case .stuck: "the reader is stuck"
        case .exhausted: "too many stuck calls"
        case .readerUnavailable: "the reader is not there"
        case .sharingViolation: "another program holds the reader"
        case .serviceUnavailable: "the reader service is not available"
        case .serviceStopped: "the reader service stopped"
        case .accessDenied: "access was denied"
        case .cancelled: "it was cancelled"
        case .unsupported: "this reader cannot do it"
        case .invalidAnswer: "the answer breaks the protocol"
        case .limitExceeded: "the answer is over a limit"
        case .replayMismatch: "the recording has something else here"
        case .other: "an unexpected failure"
        }
    }
}

extension ReaderError.Kind {
    /// What a person can do about it in general.
    package var advice: String {
        switch self {
        case .cardRemoved: "Hold the card to the reader until it signals."
        case .cardReset: "Another program used the card at the same time; present it again."
        case .cardUnresponsive: "Turn the card over or try another one; if no card works, check the reader."
        case .cardUnpowered: "Present the card again."
        case .communication: "Hold the card still and closer to the reader."
        case .timeout: "Present the card again; if it happens with every card, replug the reader."
        case .overTime: "Present the card again, still and close; one that is as slow each time cannot be used."
        case .stuck: "Take the card away; if the reader does not come back, replug it or restart pcscd."
        case .exhausted: "Restart this program; a service supervisor does so on exit code 69."
        case .readerUnavailable:
            "Check that the reader is plugged in; 'readerctl list' shows the readers that are there."
        case .sharingViolation: "Another program holds the reader (often scdaemon or a browser); close it."
        case .serviceUnavailable:
            "Start pcscd ('systemctl start pcscd.socket'); if it runs, polkit may refuse this user ('journalctl -u pcscd')."
        case .serviceStopped: "pcscd ended; it is used again as soon as it is back."
        case .accessDenied: "Allow this user to use PC/SC in a polkit rule (action org.debian.pcsc-lite.access_pcsc)."
        case .cancelled: "Nothing needs to be done."
        case .unsupported: "Use a reader or a backend that offers this."
        case .invalidAnswer:
            "Present the card again; if it happens each time, record it with 'readerctl record' and report it."
        case .limitExceeded: "The card sends more than any card of its kind does; do not trust it."
        case .replayMismatch: "Record the conversation anew, or replay it by command instead of strictly."
        case .other: "Look the code up in the documentation of the library that reported it."
        }
    }
}
