/// All that could be read of a tag's memory.
public struct TagDump: Sendable, Hashable {
    /// The kind of tag.
    public var type: TagType

    /// The parts of the memory, in the order of their addresses.
    public var parts: [Part]

    /// A page, a block or a piece of a file.
    public struct Part: Sendable, Hashable {
        /// What it is: "page 4", "sector 1, block 4", "file E104, byte 0".
        public var name: String

        /// Its bytes, or `nil` if they may not be read.
        public var bytes: [UInt8]?

        /// What it is for, or why it cannot be read: "capability container", "sector trailer, no key".
        public var note: String?

        /// Creates a part of a memory.
        public init(_ name: String, _ bytes: [UInt8]?, note: String? = nil) {
            self.name = name
            self.bytes = bytes
            self.note = note
        }
    }

    /// Creates a dump of those parts.
    public init(type: TagType, parts: [Part]) {
        self.type = type
        self.parts = parts
    }
}

/// The result of reading a tag.
public struct TagContent: Sendable, Hashable {
    /// The kind of tag, or `nil` for a card that is no tag or of a kind that is not read.
    public var type: TagType?

    /// The message.
    public var ndef: TagNDEF

    /// The place for the message, or `nil` if absent.
    public var area: TagArea?

    /// Whether writing was interrupted: the tag is empty only because a message was being written when it left. It can
    /// be written again, or made a clean empty tag with ``NDEFTag/repairNDEF()``.
    public var isInterrupted: Bool

    /// Creates the result of reading a tag.
    public init(type: TagType?, ndef: TagNDEF, area: TagArea? = nil, isInterrupted: Bool = false) {
        self.type = type
        self.ndef = ndef
        self.area = area
        self.isInterrupted = isInterrupted
    }

    /// A card without a place for a message.
    static func absent(_ type: TagType?) -> TagContent { TagContent(type: type, ndef: .absent) }
}
