import CardCore
import NDEFCodec

/// A Type 2 tag (NFC Forum, Type 2 Tag): MIFARE Ultralight, NTAG21x and their kin.
///
/// Only the pages that are needed are read, each once. Writing touches pages of the data area and nothing else, and only
/// where these pages cannot be lock bytes, configuration or a password of some chip, whatever the capability container
/// says.
public struct Type2Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type2

    /// The capability container's first byte on a formatted tag.
    package static let magic: UInt8 = 0xE1
    /// The data area's first byte: page 4.
    static let dataStart = 16

    var memory: Type2Memory
    let channel: any CardChannel
    private let messageLength: Int
    private let password: [UInt8]?
    private let acknowledgement: [UInt8]?
    private var ntag: NTAG
    private var isOpen = false

    /// A tag at the other end of the channel.
    ///
    /// - Parameters:
    ///   - channel: a PC/SC reader's, which reads pages with `FF B0`, or one that exchanges raw frames.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    ///   - password: the 4 bytes of an NTAG21x's or Ultralight EV1's password; it is given once, before the first
    ///     command, see ``NTAG/authenticate(password:expecting:)``.
    ///   - acknowledgement: the 2 bytes that the tag must answer to it; `nil` takes any.
    public init(
        _ channel: any CardChannel,
        limits: NDEFLimits = .default,
        password: [UInt8]? = nil,
        acknowledgement: [UInt8]? = nil
    ) {
        self.channel = channel
        memory = Type2Memory(channel)
        messageLength = limits.message
        self.password = password
        self.acknowledgement = acknowledgement
        ntag = NTAG(channel)
    }

    // MARK: NDEFTag

    /// Reads the message.
    ///
    /// - Throws: ``TagError``.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        try open()
        guard let place = try readContainer() else { return .absent(.type2) }
        let content = try place.area.read(from: &memory, limit: messageLength)
        let area = TagArea(
            capacity: content.capacity,
            version: place.version,
            readAccess: place.readAccess,
            writeAccess: place.writeAccess
        )
        return TagContent(type: .type2, ndef: content.ndef, area: area, isInterrupted: content.isInterrupted)
    }

    /// Writes a message in place of the one that is there; see ``NDEFTag/writeNDEF(_:)``.
    ///
    /// - Throws: ``TagError``; ``TagError/guarded(attempt:reason:)`` if the data area reaches over pages that are not
    ///   user memory.
    public mutating func writeNDEF(_ message: [UInt8]) throws(TagError) {
        let area = try openForWriting()
        try closing { tag throws(TagError) in try area.write(message, to: &tag.memory) }
    }

    /// Makes a tag whose writing was interrupted a clean empty one.
    ///
    /// - Throws: ``TagError``.
    public mutating func repairNDEF() throws(TagError) -> TagRepair {
        try open()
        guard let place = try readContainer() else { throw .notFormatted(.type2) }
        guard let message = try place.area.find(in: &memory) else { throw .notFormatted(.type2) }
        guard try message.isInterrupted(in: &memory) else { return .notNeeded }
        let area = try openForWriting()
        return try closing { tag throws(TagError) in try area.repair(&tag.memory) }
    }

    // MARK: Parts

    /// What the capability container says.
    struct Place {
        var area: TLVArea
        var version: TagArea.Version
        var readAccess: TagArea.Access
        var writeAccess: TagArea.Access
        var sizeByte: UInt8
    }

    /// Gives the password if there is one to give and the tag has not taken it yet.
    mutating func open() throws(TagError) {
        guard let password, !isOpen else { return }
        try ntag.authenticate(password: password, expecting: acknowledgement)
        isOpen = true
        memory.forgetAll()
    }

    /// `nil` if the tag is not formatted.
    mutating func readContainer() throws(TagError) -> Place? {
        let container = try memory.readContainer()
        guard container[0] == Type2Tag.magic else { return nil }
        let version = TagArea.Version(byte: container[1])
        guard version.major == 1 else { throw .unsupportedVersion(.type2, version) }
        let end = Type2Tag.dataStart + 8 * Int(container[2])
        memory.endPage = end / 4
        return Place(
            area: TLVArea(type: .type2, start: Type2Tag.dataStart, end: end),
            version: version,
            readAccess: Type2Tag.access(container[3] >> 4),
            writeAccess: Type2Tag.access(container[3] & 0x0F),
            sizeByte: container[2]
        )
    }

    mutating func openForWriting() throws(TagError) -> TLVArea {
        try open()
        guard let place = try readContainer() else { throw .notFormatted(.type2) }
        switch place.writeAccess {
        case .free: break
        case .proprietary where isOpen: break
        case .proprietary, .never: throw .readOnly(.type2)
        }
        return place.area
    }

    /// Runs something that writes. A tag that refuses a command forgets that it was given the password.
    mutating func closing<Result>(
        _ body: (inout Type2Tag) throws(TagError) -> Result
    ) throws(TagError) -> Result {
        do {
            return try body(&self)
        } catch {
            isOpen = false
            throw error
        }
    }

    static func access(_ nibble: UInt8) -> TagArea.Access {
        switch nibble {
        case 0x0: .free
        case 0xF: .never
        default: .proprietary(nibble)
        }
    }
}
