/// A Type 3 tag (FeliCa).
public struct Type3Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type3

    private let channel: any CardChannel

    /// A tag at the other end of the channel.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default) {
        self.channel = channel
    }

    /// Reads the message.
    public mutating func readNDEF() throws(TagError) -> TagContent { .absent(type) }
}
