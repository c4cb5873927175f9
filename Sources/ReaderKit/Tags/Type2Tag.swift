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

    private enum Block {
        static let null: UInt8 = 0x00
        static let lockControl: UInt8 = 0x01
        static let memoryControl: UInt8 = 0x02
        static let message: UInt8 = 0x03
        static let terminator: UInt8 = 0xFE
    }

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
        var area = TagArea(
            capacity: 0,
            version: version,
            readAccess: Type2Tag.access(container[3] >> 4),
            writeAccess: Type2Tag.access(container[3] & 0x0F)
        )
        var cursor = Cursor(start: Type2Tag.dataStart, end: end)
        area.capacity = Type2Tag.capacity(of: cursor.left)

        while let position = cursor.advance() {
            let tag = try memory.byte(at: position)
            if tag == Block.null { continue }
            if tag == Block.terminator { break }
            let blockLeft = cursor.left + 1
            let length = try readLength(of: tag, at: position, &cursor)
            let left = cursor.left
            guard length <= left else {
                throw .corrupt(
                    tag == Block.message
                        ? .init(.lengthOverCapacity(length: length, capacity: left), offset: position)
                        : .init(.blockOverrun(tag: tag, length: length, left: left), offset: position)
                )
            }
            switch tag {
            case Block.lockControl, Block.memoryControl:
                guard length == 3 else {
                    throw .corrupt(.init(.controlLength(tag: tag, length: length), offset: position))
                }
                let value = try readValue(3, &cursor)
                cursor.exclude(Type2Tag.controlledBytes(value, locks: tag == Block.lockControl))
            case Block.message:
                area.capacity = Type2Tag.capacity(of: blockLeft)
                guard length > 0 else { return TagContent(type: .type2, ndef: .empty, area: area) }
                guard length <= messageLength else { throw .tooLong(length: length, limit: messageLength) }
                let message = try readValue(length, &cursor)
                return TagContent(type: .type2, ndef: .message(message), area: area)
            default:
                cursor.skip(length)
            }
        }
        return .absent(.type2, area: area)
    }

    /// One byte, or `FF` and two.
    private mutating func readLength(
        of tag: UInt8,
        at position: Int,
        _ cursor: inout Cursor
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
    private mutating func readValue(_ count: Int, _ cursor: inout Cursor) throws(TagError) -> [UInt8] {
        var value: [UInt8] = []
        while value.count < count, let position = cursor.advance() { value.append(try memory.byte(at: position)) }
        return value
    }

    // MARK: What the bytes mean

    static func access(_ nibble: UInt8) -> TagArea.Access {
        switch nibble {
        case 0x0: .free
        case 0xF: .never
        default: .proprietary(nibble)
        }
    }

    /// The longest message in a block that has so many bytes for itself and its header.
    static func capacity(of bytes: Int) -> Int {
        bytes - 2 <= 254 ? max(0, bytes - 2) : max(254, bytes - 4)
    }

    /// The bytes that the three value bytes of a lock control or memory control block keep out of the data area.
    static func controlledBytes(_ value: [UInt8], locks: Bool) -> Range<Int> {
        guard value.count == 3 else { return 0..<0 }
        let start = Int(value[0] >> 4) << Int(value[2] & 0x0F) + Int(value[0] & 0x0F)
        let size = value[1] == 0 ? 256 : Int(value[1])
        return start..<start + (locks ? (size + 7) / 8 : size)
    }

    /// Walks the addresses of the data area, without those that hold something else.
    struct Cursor {
        private var position: Int
        private let start: Int
        private var isExcluded: [Bool]

        init(start: Int, end: Int) {
            self.start = start
            position = 0
            isExcluded = Array(repeating: false, count: max(0, end - start))
        }

        /// How many bytes are left.
        var left: Int { isExcluded[position...].count { !$0 } }

        /// The address of the next byte, or `nil` at the end.
        mutating func advance() -> Int? {
            while position < isExcluded.count {
                position += 1
                if !isExcluded[position - 1] { return start + position - 1 }
            }
            return nil
        }

        mutating func skip(_ count: Int) {
            for _ in 0..<count where advance() == nil { return }
        }

        mutating func exclude(_ addresses: Range<Int>) {
            for address in addresses where isExcluded.indices.contains(address - start) {
                isExcluded[address - start] = true
            }
        }
    }
}
