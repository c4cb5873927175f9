/// What reading a tag gave.
public struct TagContent: Sendable, Hashable {
    /// The kind of tag, or `nil` for a card that is no tag or of a kind that is not read.
    public var type: TagType?

    /// The message.
    public var ndef: TagNDEF

    /// The place for the message, or `nil` if there is none.
    public var area: TagArea?

    /// What reading a tag gave.
    public init(type: TagType?, ndef: TagNDEF, area: TagArea? = nil) {
        self.type = type
        self.ndef = ndef
        self.area = area
    }

    /// A card without a place for a message.
    package static func absent(_ type: TagType?, area: TagArea? = nil) -> TagContent {
        TagContent(type: type, ndef: .absent, area: area)
    }
}
