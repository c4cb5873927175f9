/// A MIFARE Classic with a MIFARE application directory.
public struct MIFAREClassicTag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.mifareClassic

    private let channel: any CardChannel

    /// A tag at the other end of the channel.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default, keys: ClassicKeys = .publicKeys) {
        self.channel = channel
    }

    /// Reads the message.
    public mutating func readNDEF() throws(TagError) -> TagContent { .absent(type) }
}
