/// Reads the NDEF message of a Type 2 tag (NFC Forum, Type 2 Tag): MIFARE Ultralight, NTAG21x and their kin.
///
/// Only the pages that are needed are read, each once.
public struct Type2Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type2

    /// The capability container's first byte on a formatted tag.
    static let magic: UInt8 = 0xE1
    /// The data area's first byte: page 4.
    static let dataStart = 16

    private var memory: Type2Memory
    private let messageLength: Int

    /// A tag at the other end of the channel.
    ///
    /// - Parameters:
    ///   - channel: a PC/SC reader's, which reads pages with `FF B0`, or one that exchanges raw frames.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default) {
        memory = Type2Memory(channel)
        messageLength = limits.message
    }

    /// Reads the message.
    ///
    /// - Throws: ``TagError``.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        let container = try memory.readContainer()
        guard container[0] == Type2Tag.magic else { return .absent(.type2) }
        let version = TagArea.Version(byte: container[1])
        guard version.major == 1 else { throw .unsupportedVersion(.type2, version) }
        let end = Type2Tag.dataStart + 8 * Int(container[2])
        memory.endPage = end / 4
        let content = try TLVArea(type: .type2, start: Type2Tag.dataStart, end: end)
            .read(from: &memory, limit: messageLength)
        let area = TagArea(
            capacity: content.capacity,
            version: version,
            readAccess: Type2Tag.access(container[3] >> 4),
            writeAccess: Type2Tag.access(container[3] & 0x0F)
        )
        return TagContent(type: .type2, ndef: content.ndef, area: area, isInterrupted: content.isInterrupted)
    }

    // MARK: What the bytes mean

    static func access(_ nibble: UInt8) -> TagArea.Access {
        switch nibble {
        case 0x0: .free
        case 0xF: .never
        default: .proprietary(nibble)
        }
    }
}
