/// What reading a tag gave.
public struct TagContent: Sendable, Hashable {
    /// The kind of tag, or `nil` for a card that is no tag or of a kind that is not read.
    public var type: TagType?

    /// The message.
    public var ndef: TagNDEF

    /// The place for the message, or `nil` if there is none.
    public var area: TagArea?

    /// Whether writing was interrupted: the tag is empty only because a message was being written when it left. It can
    /// be written again, or made a clean empty tag with ``NDEFTag/repairNDEF()``.
    public var isInterrupted: Bool

    /// What reading a tag gave.
    public init(type: TagType?, ndef: TagNDEF, area: TagArea? = nil, isInterrupted: Bool = false) {
        self.type = type
        self.ndef = ndef
        self.area = area
        self.isInterrupted = isInterrupted
    }

    /// A card without a place for a message.
    package static func absent(_ type: TagType?, area: TagArea? = nil) -> TagContent {
        TagContent(type: type, ndef: .absent, area: area)
    }
}
