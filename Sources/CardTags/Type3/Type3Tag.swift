import CardCore
import NDEFCodec

/// A Type 3 tag (NFC Forum, Type 3 Tag): a FeliCa card with the NDEF system `12FC`.
public struct Type3Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type3

    private var link: Type3Link
    private let messageLength: Int

    /// A tag at the other end of the channel.
    ///
    /// - Parameters:
    ///   - channel: a PC/SC reader's, which reads blocks of 16 bytes with `FF B0`, or one that exchanges raw frames.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default) {
        link = Type3Link(channel)
        messageLength = limits.message
    }

    /// Reads the attribute block; `nil` for a card that has none.
    private mutating func readAttributes(ifAnswered: Bool = false) throws(TagError) -> Type3Attributes? {
        guard let block = try link.readFirst(ifAnswered: ifAnswered) else { return nil }
        guard let attributes = Type3Attributes(block: block) else {
            // A reader that reads blocks of any system returns those of cards without NDEF too.
            guard Type3Attributes.isDamaged(block, inSystem: link.hasSystem) else { return nil }
            throw .corrupt(.init(.wrongChecksum, offset: 14))
        }
        // A block of zeros has the right checksum, too.
        guard block.contains(where: { $0 != 0 }) else { return nil }
        let version = TagArea.Version(byte: attributes.version)
        guard version.major == 1 else { throw .unsupportedVersion(.type3, version) }
        guard attributes.blocksPerRead > 0 else { throw .corrupt(.init(.smallCommands(length: 0), offset: 1)) }
        return attributes
    }

    /// Reads the message.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        guard let attributes = try readAttributes(ifAnswered: true) else { return .absent(.type3) }
        let area = attributes.area
        if attributes.isInterrupted { return TagContent(type: .type3, ndef: .empty, area: area, isInterrupted: true) }
        let length = attributes.length
        guard length > 0 else { return TagContent(type: .type3, ndef: .empty, area: area) }
        guard length <= area.capacity else {
            throw .corrupt(.init(.lengthOverCapacity(length: length, capacity: area.capacity), offset: 11))
        }
        guard length <= messageLength else { throw .tooLong(length: length, limit: messageLength) }
        let bytes = try link.read(1, count: (length + 15) / 16, limit: Int(attributes.blocksPerRead))
        return TagContent(type: .type3, ndef: .message(Array(bytes.prefix(length))), area: area)
    }

    /// Writes a message in place of the one that is there.
    ///
    /// The tag's own flag states that it is being written (WriteF): the attribute block with it comes first, then the
    /// data, which is read back, then the attribute block with the new length.
    public mutating func writeNDEF(_ message: [UInt8]) throws(TagError) {
        guard var attributes = try readAttributes() else { throw .notFormatted(.type3) }
        guard attributes.writeAccess == .free else { throw .readOnly(.type3) }
        guard message.count <= attributes.capacity else {
            throw .tooLarge(length: message.count, capacity: attributes.capacity)
        }
        guard attributes.blocksPerWrite > 0 else { throw .corrupt(.init(.smallCommands(length: 0), offset: 2)) }
        if !message.isEmpty {
            attributes.writeFlag = Type3Attributes.writing
            try write(attributes)
            let blocks = (message.count + 15) / 16
            let data = message + Array(repeating: 0, count: blocks * 16 - message.count)
            try link.write(1, data, limit: Int(attributes.blocksPerWrite))
            let written = try link.read(1, count: blocks, limit: Int(attributes.blocksPerRead))
            if let offset = zip(written, data).enumerated().first(where: { $1.0 != $1.1 })?.offset {
                throw .notWritten(offset: offset)
            }
        }
        attributes.writeFlag = 0
        attributes.length = message.count
        try write(attributes)
    }

    private mutating func write(_ attributes: Type3Attributes) throws(TagError) {
        try link.write(0, attributes.block)
        guard try link.read(0, count: 1) == attributes.block else { throw .notWritten(offset: 0) }
    }

    /// Makes a tag whose writing was interrupted a clean empty one.
    public mutating func repairNDEF() throws(TagError) -> TagRepair {
        guard var attributes = try readAttributes() else { throw .notFormatted(.type3) }
        guard attributes.isInterrupted else { return .notNeeded }
        guard attributes.writeAccess == .free else { throw .readOnly(.type3) }
        attributes.writeFlag = 0
        attributes.length = 0
        try write(attributes)
        return .repaired
    }

    /// Reads the attribute block, the blocks of the message and, where the card has it, the configuration block of a
    /// FeliCa Lite (`88`), which describes what is locked.
    ///
    /// - Throws: ``TagError`` if the link to the card fails.
    public mutating func dump() throws(TagError) -> TagDump {
        guard let first = try link.readFirst() else {
            return TagDump(type: .type3, parts: [.init("block 0", nil, note: "not readable")])
        }
        var parts = [TagDump.Part("block 0", first, note: "attributes")]
        let count = Type3Attributes(block: first).map { min(Int($0.blocks), messageLength / 16) } ?? 0
        for block in 1..<count + 1 {
            guard let bytes = try readIfGiven(block) else {
                parts.append(.init("block \(block)", nil, note: "not readable"))
                break
            }
            parts.append(.init("block \(block)", bytes))
        }
        if count < Type3Tag.configurationBlock, let bytes = try readIfGiven(Type3Tag.configurationBlock) {
            parts.append(.init("block 136", bytes, note: "configuration, says what is locked"))
        }
        return TagDump(type: .type3, parts: parts)
    }

    /// The memory configuration of a FeliCa Lite.
    private static let configurationBlock = 0x88

    private mutating func readIfGiven(_ block: Int) throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            return try link.read(block, count: 1)
        } catch {
            guard error.isRefusal else { throw error }
            return nil
        }
    }
}
