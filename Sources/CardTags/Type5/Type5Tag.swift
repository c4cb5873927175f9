import CardCore
import NDEFCodec

/// A Type 5 tag (NFC Forum, Type 5 Tag): a vicinity card of ISO 15693 with a capability container in block 0.
public struct Type5Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type5

    private var memory: Type5Memory
    private var isMeasured = false
    private let messageLength: Int

    /// A tag at the other end of the channel.
    ///
    /// - Parameters:
    ///   - channel: a PC/SC reader's, which reads blocks with `FF B0`, or one that exchanges raw frames. Where it carries
    ///     both, the card is asked for the size of its blocks.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default) {
        memory = Type5Memory(channel)
        messageLength = limits.message
    }

    /// The capability container: where the message is, and who may do what.
    private struct Container {
        var area: TLVArea
        var access: TagArea
    }

    /// The first byte of a capability container: blocks with numbers of one byte, or of two.
    private static let magics: Set<UInt8> = [0xE1, 0xE2]
    /// A feature of tags before the standard: the memory is larger than the size byte can state.
    private static let overflow: UInt8 = 0x04

    private mutating func readContainer(ifAnswered: Bool = false) throws(TagError) -> Container? {
        guard let first = try memory.readMagic(ifAnswered: ifAnswered), first.count == 4,
            Type5Tag.magics.contains(first[0])
        else { return nil }
        try measure()
        let version = TagArea.Version(major: Int(first[1] >> 6), minor: Int(first[1] >> 4 & 0x03))
        guard version.major == 1 else { throw .unsupportedVersion(.type5, version) }
        var start = 4
        var size = Int(first[2]) * 8
        if first[2] == 0 {
            start = 8
            let (high, low) = (try memory.byte(at: 6), try memory.byte(at: 7))
            size = (Int(high) << 8 | Int(low)) * 8
        } else if first[2] == 0xFF, first[3] & Type5Tag.overflow != 0, let blocks = memory.blocks {
            size = max(size, blocks * memory.unit - start)
        }
        memory.firstWritable = start
        let area = TLVArea(type: .type5, start: start, end: start + size)
        let access = TagArea(
            capacity: area.capacity,
            version: version,
            readAccess: .init(first[1] >> 2 & 0x03, never: 0x03),
            writeAccess: .init(first[1] & 0x03, never: 0x03)
        )
        return Container(area: area, access: access)
    }

    private mutating func measure() throws(TagError) {
        guard !isMeasured else { return }
        try memory.measure()
        isMeasured = true
    }

    /// Reads the message.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        guard let container = try readContainer(ifAnswered: true) else { return .absent(.type5) }
        return try container.area.read(from: &memory, into: container.access, limit: messageLength)
    }

    /// Writes a message in place of the one that is there.
    public mutating func writeNDEF(_ message: [UInt8]) throws(TagError) {
        try openForWriting().write(message, to: &memory)
    }

    /// Makes a tag whose writing was interrupted a clean empty one.
    public mutating func repairNDEF() throws(TagError) -> TagRepair { try openForWriting().repair(&memory) }

    private mutating func openForWriting() throws(TagError) -> TLVArea {
        guard let container = try readContainer() else { throw .notFormatted(.type5) }
        guard container.access.writeAccess == .free else { throw .readOnly(.type5) }
        return container.area
    }

    /// Reads all blocks that can be read, with a note on those that are locked where the reader lets the card be asked.
    ///
    /// - Throws: ``TagError`` if the link to the card fails.
    public mutating func dump() throws(TagError) -> TagDump {
        guard try memory.readMagic() != nil else {
            return TagDump(type: .type5, parts: [.init("block 0", nil, note: "not readable")])
        }
        try measure()
        var parts: [TagDump.Part] = []
        for number in 0..<min(memory.blocks ?? Type5Tag.mostBlocks, Type5Tag.mostBlocks) {
            let bytes: [UInt8]
            do throws(TagError) {
                bytes = try memory.block(number)
            } catch {
                guard error.isRefusal || error.isSilence(inFrames: memory.usesRawFrames) else { throw error }
                // Where the card did not describe how many blocks it has, this is the end.
                guard memory.blocks != nil else { break }
                parts.append(.init("block \(number)", nil, note: "not readable"))
                continue
            }
            let isLocked = try memory.isLocked(number) ?? false
            parts.append(.init("block \(number)", bytes, note: isLocked ? "locked" : nil))
        }
        return TagDump(type: .type5, parts: parts)
    }

    /// The most blocks to read of a tag that does not describe how many it has: 16 KiB of 4 bytes each.
    private static let mostBlocks = 4096
}
