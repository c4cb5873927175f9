import CardCore

/// Reading or writing a tag failed.
///
/// It says what was attempted, what happened and what a person can do. A tag without a message, or a card without a
/// place for one, is not an error: see ``TagNDEF``.
public enum TagError: Error, Sendable, Hashable {
    /// The link to the card failed, or the card answers against the protocol.
    case link(ReaderError)

    /// The card refused a command. `attempt` is read after "could not"; `status` is its status word.
    case refused(attempt: String, status: StatusWord)

    /// The message, or a part of it, cannot be read without a key or a password. `status` is the card's status word;
    /// it is `nil` where the card gave other bytes instead (a Type 2 tag begins again with page 0).
    case protected(attempt: String, status: StatusWord?)

    /// What the tag says of itself is not consistent, as after a torn write.
    case corrupt(Corruption)

    /// The tag follows a mapping whose major version this reader does not know.
    case unsupportedVersion(TagType, TagArea.Version)

    /// The message is longer than the reader was told to accept. Nothing of it was read.
    case tooLong(length: Int, limit: Int)

    /// The message to write is longer than the tag has room for. Nothing was written.
    case tooLarge(length: Int, capacity: Int)

    /// The tag may be read only. Nothing was written.
    case readOnly(TagType)

    /// The tag has no place for a message. Nothing was written.
    case notFormatted(TagType)

    /// The tag cannot be formatted without doing harm; `reason` says why, to be read after a colon. Nothing was written.
    case cannotFormat(TagType, reason: String)

    /// This type of tag or this reader cannot do so. `attempt` is read after "could not".
    case unsupported(TagType?, attempt: String)

    /// The key or password that was given is not the card's. `attempt` is read after "could not"; `attemptsLeft` is how
    /// often the card may be asked again, where it tells.
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
            /// The capability container does not say which file holds the message.
            case noFileControl
            /// The file control block has another length than the standard gives it.
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
