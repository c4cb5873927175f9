import CardCore

/// A conversation with a DESFire card failed.
///
/// It says what was attempted, what happened and what a person can do. Keys and the content of files are never in it.
public enum DESFireError: Error, Sendable, Hashable {
    /// The link to the card failed.
    case link(ReaderError)

    /// The card refused the command. `status` is its status word: `91xx` for native commands (see ``DESFireStatus``).
    case refused(attempt: String, status: StatusWord)

    /// The key that was given is not the card's. It was tried once.
    case wrongKey(attempt: String)

    /// The card's answer to the authentication shows that it does not know the key, or its answer to a later command
    /// carries a wrong message authentication code: somebody stands between, or it is not the card that it says it is.
    case forged(attempt: String)

    /// The card's answer breaks the protocol; `detail` says how.
    case invalidAnswer(attempt: String, detail: String)

    /// The answer, or the number of its parts, is over a limit of ``ReaderLimits``.
    case limitExceeded(attempt: String, detail: String)

    /// What was asked for cannot be put into a command; `detail` says why. Nothing was sent.
    case invalidRequest(attempt: String, detail: String)
}

extension DESFireError {
    /// The link fault, if that is what it is.
    public var readerError: ReaderError? {
        if case .link(let error) = self { error } else { nil }
    }

    /// The card's native status, if it gave one.
    public var status: DESFireStatus? {
        if case .refused(_, let status) = self { DESFireStatus(status) } else { nil }
    }

    /// What was attempted, to be read after "could not".
    public var attempt: String {
        switch self {
        case .link(let error): error.attempt
        case .refused(let attempt, _), .wrongKey(let attempt), .forged(let attempt), .invalidAnswer(let attempt, _),
            .limitExceeded(let attempt, _), .invalidRequest(let attempt, _):
            attempt
        }
    }

    /// What happened.
    public var meaning: String {
        switch self {
        case .link(let error): error.kind.meaning
        case .refused(_, let status):
            if let native = DESFireStatus(status) {
                "the card refused it (\([status.sw1, status.sw2].hex) \(native.name))"
            } else {
                "the card refused it (\(status))"
            }
        case .wrongKey: "the card does not take this key (91AE authentication error)"
        case .forged: "the card's answer does not prove that it knows the key"
        case .invalidAnswer(_, let detail): "the answer breaks the protocol, \(detail)"
        case .limitExceeded(_, let detail): "the answer is over a limit, \(detail)"
        case .invalidRequest(_, let detail): detail
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .link(let error): error.hint
        case .wrongKey: "Do not try other keys: some cards delay or block after a few. Ask whoever issued the card."
        case .forged: "Present the card again, alone; if it happens each time, do not trust it."
        case .invalidAnswer:
            "Present the card again; if it happens each time, record it with 'readerctl record' and report it."
        case .limitExceeded: "The card sends more than any card of its kind does; do not trust it."
        case .invalidRequest: "Nothing was sent. Ask for something that the card can have."
        case .refused: refusalHint
        }
    }

    private var refusalHint: String {
        switch status {
        case .authenticationError?, .permissionDenied?: "It takes a key, or another one; ask whoever issued the card."
        case .authenticationDelay?:
            "Leave the card on the reader for a while, then present it again with the right key."
        case .applicationNotFound?, .fileNotFound?, .noSuchKey?:
            "List what the card has, and ask for something of that."
        case .outOfMemory?, .countError?: "Use a card with more room."
        case .illegalCommand?: "Use a card of a newer make, or another way to authenticate."
        case .cardDisabled?, .cardIntegrityError?, .applicationIntegrityError?, .fileIntegrityError?:
            "Use another card; this one has shut itself off."
        case nil: "Check that it is a DESFire or NTAG 4xx card: it does not answer as one."
        default: "Present the card again; if it happens each time, record it with 'readerctl record'."
        }
    }

    /// The same as an error of a tag, for what reads and writes NDEF on such a card.
    package var tagError: TagError {
        switch self {
        case .link(let error): .link(error)
        case .refused(let attempt, let status):
            status == StatusWord(0x919D) || status == StatusWord(0x91AE)
                ? .protected(attempt: attempt, status: status) : .refused(attempt: attempt, status: status)
        case .wrongKey(let attempt): .wrongKey(attempt: attempt, attemptsLeft: nil)
        case .forged, .invalidAnswer:
            .link(ReaderError(.invalidAnswer, attempting: attempt, detail: meaning, advice: hint))
        case .limitExceeded(let attempt, let detail):
            .link(ReaderError(.limitExceeded, attempting: attempt, detail: detail))
        case .invalidRequest(let attempt, let detail): .guarded(attempt: attempt, reason: detail)
        }
    }
}

extension DESFireError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String {
        if case .link(let error) = self { return error.description }
        return "could not \(attempt): \(meaning). \(hint)"
    }
}
