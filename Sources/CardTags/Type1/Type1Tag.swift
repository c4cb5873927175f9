import CardCore
import NDEFCodec

/// A Type 1 tag (NFC Forum, Type 1 Tag): Topaz and Jewel. It is identified and read; writing is not offered.
///
/// Through a PC/SC reader the card's own frames are used where the reader carries them, and blocks of 8 bytes with
/// `FF B0` where the reader reads such cards. PC/SC does not describe what the address counts; blocks are assumed.
public struct Type1Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type1

    private var memory: Type1Memory
    private let messageLength: Int

    /// The capability container's first byte on a formatted tag.
    private static let magic: UInt8 = 0xE1
    /// Where the capability container stands.
    private static let container = 8

    /// A tag at the other end of the channel.
    ///
    /// - Parameters:
    ///   - channel: a reader that exchanges raw frames, or a PC/SC reader's.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default) {
        memory = Type1Memory(channel)
        messageLength = limits.message
    }

    /// Reads the message.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        guard let container = try memory.readContainer(block: Type1Tag.container / 8),
            container[0] == Type1Tag.magic
        else { return .absent(.type1) }
        let version = TagArea.Version(byte: container[1])
        guard version.major == 1 else { throw .unsupportedVersion(.type1, version) }
        let end = (Int(container[2]) + 1) * 8
        var bytes = try Type1Area(&memory, end: end)
        let area = TLVArea(type: .type1, start: 0, end: bytes.size)
        let place = TagArea(
            capacity: area.capacity,
            version: version,
            readAccess: .init(container[3] >> 4, never: 0x0F),
            writeAccess: .init(container[3] & 0x0F, never: 0x0F)
        )
        return try area.read(from: &bytes, into: place, limit: messageLength)
    }

    /// Reads all blocks that can be read.
    ///
    /// - Throws: ``TagError`` if the link to the card fails.
    public mutating func dump() throws(TagError) -> TagDump {
        guard try memory.open() else {
            return TagDump(type: .type1, parts: [.init("block 0", nil, note: "not readable")])
        }
        var parts: [TagDump.Part] = []
        for number in 0..<256 {
            do throws(TagError) {
                parts.append(.init("block \(number)", try memory.block(number), note: Type1Tag.notes[number]))
            } catch {
                guard error.isRefusal || error.isSilence(inFrames: memory.usesRawFrames) else { throw error }
                break
            }
        }
        return TagDump(type: .type1, parts: parts)
    }

    private static let notes = [
        0: "identifier", 1: "capability container and data", 13: "reserved",
        14: "lock bits and one-time-programmable bytes",
    ]
}
