import CardCore

/// Reading or writing a tag failed.
///
/// It describes what was attempted, what happened and what a person can do. A tag without a message, or a card without
/// a place for one, is not an error: see ``TagNDEF``.
public enum TagError: Error, Sendable, Hashable {
    /// The link to the card failed, or the card answers against the protocol.
    case link(ReaderError)

    /// The card refused a command. `attempt` is read after "could not"; `status` is its status word.
    case refused(attempt: String, status: StatusWord)

    /// It could not be asked whether there is a message: the kind of the card is not known, the reader has no way to carry
    /// the question, or the card refused it for its form (``status``). A card without a message is another thing, see
    /// ``TagNDEF/absent``.
    case notAsked(TagType?, attempt: String, status: StatusWord?)

    /// The message, or a part of it, cannot be read without a key or a password. `status` is the card's status word;
    /// it is `nil` if the card returned other bytes instead (a Type 2 tag begins again with page 0).
    case protected(attempt: String, status: StatusWord?)

    /// The tag's description of itself is not consistent, as after a torn write.
    case corrupt(Corruption)

    /// The tag follows a mapping whose major version this reader does not know.
    case unsupportedVersion(TagType, TagArea.Version)

    /// The message is longer than the specified limit. Nothing of it was read.
    case tooLong(length: Int, limit: Int)

    /// The message to write is longer than the tag has room for. Nothing was written.
    case tooLarge(length: Int, capacity: Int)

    /// The tag may be read only. Nothing was written.
    case readOnly(TagType)

    /// The tag has no place for a message. Nothing was written.
    case notFormatted(TagType)

    /// The tag cannot be formatted without doing harm; `reason` explains why, to be read after a colon. Nothing was
    /// written.
    case cannotFormat(TagType, reason: String)

    /// This type of tag or this reader cannot do so. `attempt` is read after "could not".
    case unsupported(TagType?, attempt: String)

    /// The specified key or password is not the card's. `attempt` is read after "could not"; `attemptsLeft` is how
    /// often the card may be asked again, if it reports that.
    case wrongKey(attempt: String, attemptsLeft: Int?)

    /// The card on the reader is not the one that was named. Nothing was written.
    case wrongCard(expected: CardUID)

    /// An address that ordinary writing never touches, since it cannot be undone or cuts off access. Nothing was written.
    case guarded(attempt: String, reason: String)

    /// What was read back is not what was written, at that byte of the message.
    case notWritten(offset: Int)

    /// What is wrong with the content of a tag, and where.
    public struct Corruption: Sendable, Hashable {
        /// What is wrong.
        public var reason: Reason

        /// Where the bytes stand that are wrong: in the memory of a Type 2 tag (page times 4), else in the file.
        public var offset: Int

        /// The file in which they stand, or `nil` for tags without files.
        public var file: UInt16?

        /// Something wrong at that place.
        public init(_ reason: Reason, offset: Int, file: UInt16? = nil) {
            self.reason = reason
            self.offset = offset
            self.file = file
        }

        /// The ways in which the content of a tag can be wrong.
        public enum Reason: Sendable, Hashable {
            /// The capability container is shorter than the standard allows.
            case shortContainer(length: Int)
            /// The capability container allows commands of fewer bytes than the standard does.
            case smallCommands(length: Int)
            /// The capability container does not name which file holds the message.
            case noFileControl
            /// The file control block has another length than the standard specifies.
            case fileControlLength(Int)
            /// The file identifier is one that the standard keeps for something else.
            case reservedFile(UInt16)
            /// The file is too small for any message.
            case smallFile(size: Int)
            /// The message is longer than the place for it.
            case lengthOverCapacity(length: Int, capacity: Int)
            /// A block of the data area is longer than what is left of the area.
            case blockOverrun(tag: UInt8, length: Int, left: Int)
            /// The header of a block of the data area is cut off by the area's end.
            case cutHeader(tag: UInt8)
            /// A lock or memory control block has another length than three bytes.
            case controlLength(tag: UInt8, length: Int)
            /// The file or the memory ends before the message does.
            case endsEarly(missing: Int)
            /// The checksum of the directory (MIFARE Classic) or of the attribute block (Type 3) is wrong.
            case wrongChecksum
        }
    }
}

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
        case .notAsked: true
        case .tooLarge, .readOnly, .notFormatted, .cannotFormat, .unsupported, .guarded: true
        case .wrongKey, .wrongCard, .notWritten: false
        }
    }

    /// The card's status word, if it returned one.
    public var status: StatusWord? {
        switch self {
        case .refused(_, let status): status
        case .protected(_, let status), .notAsked(_, _, let status): status
        default: nil
        }
    }

    /// What was attempted, to be read after "could not".
    public var attempt: String {
        switch self {
        case .link(let error): error.attempt
        case .refused(let attempt, _), .protected(let attempt, _), .notAsked(_, let attempt, _): attempt
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
        case .notAsked(_, _, let status?): "the question was refused (\(status)), so a message may be there or not"
        case .notAsked(let type?, _, nil): "this reader has no way to ask cards of \(type.name)"
        case .notAsked(nil, _, nil): "what the reader reports of the card is missing or cannot be read"
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
        case .notAsked:
            "Use another reader or card; or let the card's own number count: uidDespite in Documentation/passes.md."
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
