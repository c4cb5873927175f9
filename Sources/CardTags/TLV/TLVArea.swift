/// A data area of blocks with type, length and value, as Type 2 and Type 5 tags and MIFARE Classic cards have it.
///
/// The blocks are NULL (`00`) and terminator (`FE`) without length or value, lock and memory control (`01` and `02`,
/// Type 2 only), the message (`03`) and proprietary ones (`FD`). A length has one byte, or `FF` and two bytes, most
/// significant first. The first message block counts; blocks of unknown types are skipped.
package struct TLVArea {
    /// The block types.
    enum Block {
        static let null: UInt8 = 0x00
        static let lockControl: UInt8 = 0x01
        static let memoryControl: UInt8 = 0x02
        static let message: UInt8 = 0x03
        static let proprietary: UInt8 = 0xFD
        static let terminator: UInt8 = 0xFE
    }

    /// The kind of tag, for errors and for the blocks that it has.
    let type: TagType
    /// The address of the first byte.
    let start: Int
    /// The address behind the last byte.
    let end: Int

    /// An area of those addresses.
    package init(type: TagType, start: Int, end: Int) {
        self.type = type
        self.start = start
        self.end = max(start, end)
    }

    /// The longest message if nothing but it were in the area.
    var capacity: Int { TLVArea.capacity(of: end - start) }

    /// The longest message in a block that has so many bytes for itself and its header.
    static func capacity(of bytes: Int) -> Int {
        bytes - 2 <= 254 ? max(0, bytes - 2) : min(max(254, bytes - 4), 65_534)
    }

    // MARK: What is done with it

    /// Reads the message.
    ///
    /// - Parameters:
    ///   - memory: where the area is.
    ///   - place: the area as the tag describes it. Its capacity becomes that of the message's block, foreign blocks
    ///     behind it not counted, since reading stops before them.
    ///   - limit: the longest message to accept.
    /// - Throws: ``TagError``; ``TagError/corrupt(_:)`` with the address of the block that is wrong.
    func read(from memory: inout some TagMemory, into place: TagArea, limit: Int) throws(TagError) -> TagContent {
        var content = TagContent(type: type, ndef: .absent, area: place)
        content.area?.capacity = capacity
        guard let message = try find(in: &memory) else { return content }
        content.area?.capacity = message.capacity
        guard message.length > 0 else {
            content.ndef = .empty
            do throws(TagError) {
                content.isInterrupted = try message.isInterrupted(in: &memory)
            } catch {
                // The byte behind may be one that the reader or a recording does not return: the message is empty all
                // the same. That the card left is another matter.
                guard memory.isRefusal(error) else { throw error }
            }
            return content
        }
        guard message.length <= limit else { throw .tooLong(length: message.length, limit: limit) }
        content.ndef = .message(try message.read(from: &memory))
        return content
    }

    /// Writes a message in place of the one that is there, so that a tear leaves the old one, the new one, or an empty
    /// tag that is known to be interrupted. See ``TLVMessage/write(_:to:)``.
    ///
    /// Whether the tag may be written is for the caller to know.
    ///
    /// - Throws: ``TagError``; ``TagError/notFormatted(_:)`` without a block for a message and
    ///   ``TagError/tooLarge(length:capacity:)`` come before anything was written.
    func write(_ message: [UInt8], to memory: inout some TagMemory) throws(TagError) {
        guard let place = try find(in: &memory) else { throw .notFormatted(type) }
        try place.write(message, to: &memory)
    }

    /// Makes a tag whose writing was interrupted a clean empty one.
    ///
    /// - Throws: ``TagError``; ``TagError/notFormatted(_:)`` without a block for a message.
    func repair(_ memory: inout some TagMemory) throws(TagError) -> TagRepair {
        guard let place = try find(in: &memory) else { throw .notFormatted(type) }
        guard try place.isInterrupted(in: &memory) else { return .notNeeded }
        try place.write([], to: &memory)
        return .repaired
    }

    /// Writes those blocks and an empty message at the start of the area, whatever was there, the first unit last.
    ///
    /// - Parameters:
    ///   - memory: where the area is.
    ///   - blocks: whole blocks that come before the message, such as lock control.
    func format(_ memory: inout some TagMemory, blocks: [UInt8] = []) throws(TagError) {
        let content = blocks + [Block.message, 0x00, Block.terminator]
        guard content.count <= end - start else {
            throw .cannotFormat(type, reason: "its data area has only \(end - start) bytes")
        }
        var cursor = TLVCursor(start: start, end: end)
        let plan = try TLVPlan(content, along: &cursor, in: &memory)
        try plan.check(in: &memory)
        for unit in plan.units.reversed() where unit.isChanged { try memory.write(unit.new, atUnit: unit.number) }
        if let offset = try plan.firstDifference(in: &memory, where: { _ in true }) {
            throw .notWritten(offset: offset)
        }
    }

    /// How many bytes are looked at for the block of the message: NULLs, and the headers of other blocks. What an area
    /// claims to hold must not keep a reader busy for minutes.
    static let longestSearch = 1_024

    /// Looks for the block of the message; `nil` if absent within ``longestSearch``.
    package func find(in memory: inout some TagMemory) throws(TagError) -> TLVMessage? {
        var cursor = TLVCursor(start: start, end: end)
        var looked = 0
        while looked < TLVArea.longestSearch {
            let before = cursor
            guard let position = cursor.advance() else { return nil }
            let tag = try memory.byte(at: position)
            looked += 1
            if tag == Block.null { continue }
            if tag == Block.terminator { return nil }
            let length = try TLVArea.readLength(of: tag, at: position, &cursor, in: &memory)
            looked += length < 0xFF ? 1 : 3
            let left = cursor.left
            guard length <= left else {
                throw .corrupt(
                    tag == Block.message
                        ? .init(.lengthOverCapacity(length: length, capacity: left), offset: position)
                        : .init(.blockOverrun(tag: tag, length: length, left: left), offset: position)
                )
            }
            switch tag {
            case Block.message:
                return TLVMessage(length: length, block: before, value: cursor)
            case Block.lockControl where type == .type2, Block.memoryControl where type == .type2:
                guard length == 3 else {
                    throw .corrupt(.init(.controlLength(tag: tag, length: length), offset: position))
                }
                let value = try TLVArea.readValue(3, &cursor, in: &memory)
                cursor.exclude(TLVArea.controlledBytes(value, locks: tag == Block.lockControl))
            default:
                cursor.skip(length)
            }
        }
        return nil
    }

    // MARK: Parts of blocks

    /// One byte, or `FF` and two.
    static func readLength(
        of tag: UInt8,
        at position: Int,
        _ cursor: inout TLVCursor,
        in memory: inout some TagMemory
    ) throws(TagError) -> Int {
        guard let first = cursor.advance() else { throw .corrupt(.init(.cutHeader(tag: tag), offset: position)) }
        let short = try memory.byte(at: first)
        guard short == 0xFF else { return Int(short) }
        guard let second = cursor.advance(), let third = cursor.advance() else {
            throw .corrupt(.init(.cutHeader(tag: tag), offset: position))
        }
        let high = try memory.byte(at: second)
        return Int(high) << 8 | Int(try memory.byte(at: third))
    }

    /// The caller has checked that so many bytes are left.
    static func readValue(
        _ count: Int,
        _ cursor: inout TLVCursor,
        in memory: inout some TagMemory
    ) throws(TagError) -> [UInt8] {
        var value: [UInt8] = []
        while value.count < count, let position = cursor.advance() { value.append(try memory.byte(at: position)) }
        return value
    }

    /// The bytes that the three value bytes of a lock control or memory control block keep out of the data area.
    static func controlledBytes(_ value: [UInt8], locks: Bool) -> Range<Int> {
        guard value.count == 3 else { return 0..<0 }
        let start = Int(value[0] >> 4) << Int(value[2] & 0x0F) + Int(value[0] & 0x0F)
        let size = value[1] == 0 ? 256 : Int(value[1])
        return start..<start + (locks ? (size + 7) / 8 : size)
    }
}
