import CardCore

/// A conversation with a DESFire card failed.
///
/// It describes what was attempted, what happened and what a person can do. Keys and the content of files are never in
/// it.
public enum DESFireError: Error, Sendable, Hashable {
    /// The link to the card failed.
    case link(ReaderError)

    /// The card refused the command. `status` is its status word: `91xx` for native commands (see ``DESFireStatus``).
    case refused(attempt: String, status: StatusWord)

    /// The key that was given is not the card's. It was tried once.
    case wrongKey(attempt: String)

    /// The card's answer to the authentication shows that it does not know the key, or its answer to a later command
    /// carries a wrong message authentication code: somebody stands between, or it is not the card that it claims to be.
    case forged(attempt: String)

    /// The card's answer breaks the protocol; `detail` describes how.
    case invalidAnswer(attempt: String, detail: String)

    /// The answer, or the number of its parts, is over a limit of ``ReaderLimits``.
    case limitExceeded(attempt: String, detail: String)

    /// What was asked for cannot be put into a command; `detail` explains why. Nothing was sent.
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
            "the card refused it (\(DESFireStatus(status).map { "91\($0)" } ?? "\(status)"))"
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

/// The status byte of a DESFire card's native commands, which the ISO wrapping gives as status word `91xx`.
public struct DESFireStatus: RawRepresentable, Sendable, Hashable {
    /// The byte.
    public var rawValue: UInt8

    /// A status of that number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The status in a status word, or `nil` if the word is not `91xx` and so not that of a native command.
    public init?(_ word: StatusWord) {
        guard word.sw1 == 0x91 else { return nil }
        rawValue = word.sw2
    }

    /// `00`: done.
    public static let done = DESFireStatus(rawValue: 0x00)
    /// `0E`: the card's memory is full.
    public static let outOfMemory = DESFireStatus(rawValue: 0x0E)
    /// `1C`: the card does not know the command.
    public static let illegalCommand = DESFireStatus(rawValue: 0x1C)
    /// `40`: there is no key of that number.
    public static let noSuchKey = DESFireStatus(rawValue: 0x40)
    /// `9D`: not allowed as things stand.
    public static let permissionDenied = DESFireStatus(rawValue: 0x9D)
    /// `A0`: there is no application of that number.
    public static let applicationNotFound = DESFireStatus(rawValue: 0xA0)
    /// `A1`: the application is damaged and shut off.
    public static let applicationIntegrityError = DESFireStatus(rawValue: 0xA1)
    /// `AD`: keys were wrong too often; the card waits before it lets anybody try again.
    public static let authenticationDelay = DESFireStatus(rawValue: 0xAD)
    /// `AE`: the key is wrong, or nobody has shown one.
    public static let authenticationError = DESFireStatus(rawValue: 0xAE)
    /// `AF`: there is more to come, or more is expected.
    public static let additionalFrame = DESFireStatus(rawValue: 0xAF)
    /// `C1`: the card is damaged and shut off.
    public static let cardIntegrityError = DESFireStatus(rawValue: 0xC1)
    /// `CD`: the card is shut off.
    public static let cardDisabled = DESFireStatus(rawValue: 0xCD)
    /// `CE`: there is no room for another application.
    public static let countError = DESFireStatus(rawValue: 0xCE)
    /// `F0`: there is no file of that number.
    public static let fileNotFound = DESFireStatus(rawValue: 0xF0)
    /// `F1`: the file is damaged and shut off.
    public static let fileIntegrityError = DESFireStatus(rawValue: 0xF1)

    /// The error of a command that the card refused so.
    func refusal(_ attempt: String) -> DESFireError {
        .refused(attempt: attempt, status: StatusWord(sw1: 0x91, sw2: rawValue))
    }

    /// The name, in words.
    public var name: String { Self.names[rawValue] ?? "unknown status" }

    private static let names: [UInt8: String] = [
        0x00: "done", 0x0C: "nothing to change", 0x0E: "memory is full", 0x1C: "command not known",
        0x1E: "integrity error", 0x40: "no such key", 0x7E: "wrong length", 0x97: "cryptographic error",
        0x9D: "permission denied", 0x9E: "parameter not allowed", 0xA0: "application not found",
        0xA1: "application is damaged", 0xAD: "authentication delayed", 0xAE: "authentication error",
        0xAF: "more to come", 0xBE: "beyond the end of the file", 0xC1: "card is damaged",
        0xCA: "command before was not finished", 0xCD: "card is shut off", 0xCE: "too many applications",
        0xDE: "exists already", 0xEE: "writing to memory failed", 0xF0: "file not found", 0xF1: "file is damaged",
    ]
}

extension DESFireStatus: CustomStringConvertible {
    /// The two digits and the name, as `AE authentication error`.
    public var description: String { "\([rawValue].hex) \(name)" }
}
