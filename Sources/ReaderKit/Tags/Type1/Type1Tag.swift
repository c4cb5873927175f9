/// A Type 1 tag (Topaz).
public struct Type1Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type1

    private let channel: any CardChannel

    /// A tag at the other end of the channel.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default) {
        self.channel = channel
    }

    /// Reads the message.
    public mutating func readNDEF() throws(TagError) -> TagContent { .absent(type) }
}
