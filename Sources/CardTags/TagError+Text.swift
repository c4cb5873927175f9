import CardCore

extension TagError {
    /// The link fault, if that is what it is.
    public var readerError: ReaderError? {
        if case .link(let error) = self { error } else { nil }
    }

    /// Whether the tag answers so at every tap: it keeps its message to itself, or is of a kind that is not known. Any
    /// other failure may be one of this tap alone.
    public var isPermanent: Bool {
        switch self {
        case .protected(_, nil), .unsupportedVersion: true
        case .protected(_, let status?): status == .securityStatusNotSatisfied
        case .link, .refused, .corrupt, .tooLong: false
        case .tooLarge, .readOnly, .notFormatted, .cannotFormat, .unsupported, .guarded: true
        case .wrongKey, .wrongCard, .notWritten: false
        }
    }

    /// The card's status word, if it gave one.
    public var status: StatusWord? {
        switch self {
        case .refused(_, let status): status
        case .protected(_, let status): status
        default: nil
        }
    }

    /// What was attempted, to be read after "could not".
    public var attempt: String {
        switch self {
        case .link(let error): error.attempt
        case .refused(let attempt, _), .protected(let attempt, _): attempt
        case .corrupt, .unsupportedVersion, .tooLong: "read the message of the tag"
        case .tooLarge, .readOnly, .notFormatted, .notWritten: "write the message to the tag"
        case .cannotFormat: "format the tag"
        case .wrongCard: "lock the tag"
        case .unsupported(_, let attempt), .wrongKey(let attempt, _), .guarded(let attempt, _): attempt
        }
    }

    /// What happened.
    public var meaning: String {
        switch self {
        case .link(let error): error.kind.meaning
        case .refused(_, let status): "the card refused it (\(status))"
        case .protected(_, let status?): "it is protected or not there (\(status))"
        case .protected(_, nil): "it is protected or not there"
        case .corrupt(let corruption): corruption.description
        case .unsupportedVersion(_, let version): "it follows mapping version \(version), which is not known"
        case .tooLong(let length, let limit): "it has \(length) bytes, the limit is \(limit)"
        case .tooLarge(let length, let capacity): "it has \(length) bytes, the tag has room for \(capacity)"
        case .readOnly: "the tag may be read only"
        case .notFormatted: "the tag has no place for a message"
        case .cannotFormat(_, let reason), .guarded(_, let reason): reason
        case .unsupported(let type?, _): "tags of \(type.name) cannot do so, or not with this reader"
        case .unsupported(nil, _): "this card or this reader cannot do so"
        case .wrongKey(_, let left?): "the card does not take this key or password (\(left) attempts left)"
        case .wrongKey(_, nil): "the card does not take this key or password"
        case .wrongCard: "the card on the reader is another than the one that was named"
        case .notWritten(let offset): "byte \(offset) of what was read back is not what was written"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .link(let error): error.hint
        case .refused: "Present the card again; if it happens each time, record it with 'readerctl record'."
        case .protected: "Use a tag whose message may be read freely, or remove its password."
        case .corrupt: "Write the tag anew; it may have left the reader while it was being written."
        case .unsupportedVersion: "Use a tag that was formatted for NDEF."
        case .tooLong: "Write a shorter message, or allow longer ones."
        case .tooLarge: "Nothing was changed. Write a shorter message, or use a larger tag."
        case .readOnly: "Nothing was changed. Use a tag that is not locked."
        case .notFormatted: "Nothing was changed. Format the tag first ('readerctl ndef format')."
        case .cannotFormat, .guarded: "Nothing was changed. Use another tag."
        case .unsupported: "Use a tag or a reader that can."
        case .wrongKey: "Do not try other keys: some cards block for ever after a few. Ask whoever issued the card."
        case .wrongCard: "Nothing was changed. Present the card that was named, and nothing else."
        case .notWritten: "Write the tag again; if it happens each time, the tag is worn out or a copy."
        }
    }
}

extension TagError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String {
        if case .link(let error) = self { return error.description }
        return "could not \(attempt): \(meaning). \(hint)"
    }
}

extension TagError.Corruption: CustomStringConvertible {
    /// What is wrong, and where.
    public var description: String {
        let place = file.map { "byte \(offset) of file \([$0].hex)" } ?? "byte \(offset) of its memory"
        return "\(reason) (at \(place))"
    }
}

extension TagError.Corruption.Reason: CustomStringConvertible {
    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .shortContainer(let length): "its capability container says that it has only \(length) bytes"
        case .smallCommands(let length): "its capability container allows answers of only \(length) bytes"
        case .noFileControl: "its capability container does not name the file of the message"
        case .fileControlLength(let length): "its file control block has \(length) bytes"
        case .reservedFile(let file): "its capability container names the reserved file \([file].hex)"
        case .smallFile(let size): "the file of the message has only \(size) bytes"
        case .lengthOverCapacity(let length, let capacity):
            "the message claims \(length) bytes where \(capacity) have room"
        case .blockOverrun(let tag, let length, let left):
            "a block of type \([tag].hex) claims \(length) bytes where \(left) are left"
        case .cutHeader(let tag): "the header of a block of type \([tag].hex) is cut off"
        case .controlLength(let tag, let length): "a control block of type \([tag].hex) has \(length) bytes, not 3"
        case .endsEarly(let missing): "the file ends \(missing) bytes before the message does"
        case .wrongChecksum: "what it says of its content fails its checksum"
        }
    }
}
