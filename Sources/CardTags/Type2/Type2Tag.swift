import CardCore
import NDEFCodec

/// A Type 2 tag (NFC Forum, Type 2 Tag): MIFARE Ultralight, NTAG21x and their kin.
///
/// Only the pages needed are read, each once. Writing touches pages of the data area and nothing else, and only where
/// these cannot be lock bytes, configuration or a password of some chip, whatever the capability container states.
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
    ///   - password: the 4 bytes of an NTAG21x's or Ultralight EV1's password; it is sent once, before the first
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
    public mutating func readNDEF() throws(TagError) -> TagContent {
        try open()
        guard let place = try readContainer() else { return .absent(.type2) }
        return try place.area.read(from: &memory, into: place.access, limit: messageLength)
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
    public mutating func repairNDEF() throws(TagError) -> TagRepair {
        try open()
        guard let place = try readContainer() else { throw .notFormatted(.type2) }
        guard let message = try place.area.find(in: &memory) else { throw .notFormatted(.type2) }
        guard try message.isInterrupted(in: &memory) else { return .notNeeded }
        let area = try openForWriting()
        return try closing { tag throws(TagError) in try area.repair(&tag.memory) }
    }

    // MARK: Parts

    /// The contents of the capability container.
    struct Place {
        var area: TLVArea
        var access: TagArea
        var sizeByte: UInt8
    }

    /// Sends the password if there is one and the tag has not taken it yet.
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
        let area = TLVArea(type: .type2, start: Type2Tag.dataStart, end: end)
        let access = TagArea(
            capacity: area.capacity,
            version: version,
            readAccess: .init(container[3] >> 4, never: 0x0F),
            writeAccess: .init(container[3] & 0x0F, never: 0x0F)
        )
        return Place(area: area, access: access, sizeByte: container[2])
    }

    mutating func openForWriting() throws(TagError) -> TLVArea {
        try open()
        guard let place = try readContainer() else { throw .notFormatted(.type2) }
        switch place.access.writeAccess {
        case .free: break
        case .proprietary where isOpen: break
        case .proprietary, .never: throw .readOnly(.type2)
        }
        return place.area
    }

    /// Runs something that writes. A tag that refuses a command forgets that it was sent the password.
    mutating func closing<Result>(_ body: (inout Type2Tag) throws(TagError) -> Result) throws(TagError) -> Result {
        do {
            return try body(&self)
        } catch {
            isOpen = false
            throw error
        }
    }
}

extension Type2Tag {
    /// Reads all pages. A password or key is never shown, even where a chip would return it.
    ///
    /// - Throws: ``TagError`` if the link to the tag fails.
    public mutating func dump() throws(TagError) -> TagDump {
        try open()
        let header = try memory.readWholeHeader()
        let place = try? readContainer()
        let product = try memory.identify()
        var parts: [TagDump.Part] = []
        let notes = [
            "identifier", "identifier", "check byte, internal byte, static lock bytes", "capability container",
        ]
        for (page, note) in notes.enumerated() {
            parts.append(.init("page \(page)", Array(header[4 * page..<4 * page + 4]), note: note))
        }
        let end = product?.pages ?? Type2Memory.lastPage + 1
        for page in 4..<end {
            let name = "page \(page)"
            if let secret = product?.secret(page) {
                parts.append(.init(name, nil, note: secret))
                continue
            }
            guard try memory.gives(page) else {
                // Without knowing the chip, the first page that is missing is taken for the end.
                if product == nil { break }
                parts.append(.init(name, nil, note: "protected"))
                continue
            }
            let dataEnd = place.map { $0.area.end / 4 } ?? 4
            let note = product?.note(page) ?? (page < dataEnd ? "data" : nil)
            parts.append(.init(name, Array(try memory.page(page)), note: note))
        }
        return TagDump(type: .type2, parts: parts)
    }
}

extension Type2Product {
    /// Why a page is never shown, or `nil`.
    func secret(_ page: Int) -> String? {
        if let first = configurationPage {
            if page == first + 2 { return "password, never shown" }
            if page == first + 3 { return "password acknowledgement, never shown" }
        }
        if let pages = authenticationPages, page > pages.lowerBound + 2, pages.contains(page) {
            return "key, never shown"
        }
        return nil
    }

    /// What a page behind user memory is for, or `nil`.
    func note(_ page: Int) -> String? {
        if page == lockPage { return "dynamic lock bytes" }
        if page == configurationPage || page == configurationPage.map({ $0 + 1 }) { return "configuration" }
        guard let pages = authenticationPages, pages.contains(page) else { return nil }
        return page == pages.lowerBound ? "counter" : "authentication settings"
    }
}

extension Type2Tag {
    /// Makes an unformatted tag one that can hold a message.
    ///
    /// A formatted tag is left as it is, with its message. One whose data area has no block for a message, or is damaged,
    /// gets an empty one.
    ///
    /// A tag whose capability container is all zero gets the one of its chip, after the blocks that the factory would
    /// put into its data area and an empty message; the first bytes of user memory are overwritten. The container's bits
    /// can be set but never cleared, so a tag with anything else there, and a chip that is not known, are refused.
    ///
    /// - Throws: ``TagError``; ``TagError/cannotFormat(_:reason:)`` before anything was written.
    public mutating func formatNDEF() throws(TagError) {
        try open()
        let header = try memory.readWholeHeader()
        if header[12] == Type2Tag.magic { return try mendFormatted() }
        guard header[12..<16].allSatisfy({ $0 == 0 }) else {
            throw Type2Tag.cannotFormat(
                "page 3 holds \(Array(header[12..<16]).hex), and its bits can be set but never cleared"
            )
        }
        guard header[10] & 0xF8 == 0, header[11] == 0 else {
            throw Type2Tag.cannotFormat("some of its pages are locked")
        }
        guard let product = try memory.identify() else {
            throw Type2Tag.cannotFormat("its chip is not known, nor therefore how much memory it has")
        }
        let end = Type2Tag.dataStart + 8 * Int(product.sizeByte)
        memory.endPage = end / 4
        let area = TLVArea(type: .type2, start: Type2Tag.dataStart, end: end)
        try closing { tag throws(TagError) in
            // The container comes last: with it the tag is a whole one at once.
            try area.format(&tag.memory, blocks: product.blocks)
            try tag.memory.writeContainer(product.container)
            guard try tag.memory.readContainer() == product.container else { throw TagError.notWritten(offset: 0) }
        }
    }

    private mutating func mendFormatted() throws(TagError) {
        guard let place = try readContainer() else { return }
        do {
            guard try place.area.find(in: &memory) == nil else { return }
        } catch .corrupt {
            // There is no message in it.
        }
        let area = try openForWriting()
        let product = try memory.identify()
        if let product, area.end > Type2Tag.dataStart + 8 * Int(product.sizeByte) {
            throw Type2Tag.cannotFormat("its container says more memory than \(product.name) has, for ever")
        }
        try closing { tag throws(TagError) in try area.format(&tag.memory, blocks: product?.blocks ?? []) }
    }

    private static func cannotFormat(_ reason: String) -> TagError { .cannotFormat(.type2, reason: reason) }

    /// Makes the message unchangeable for ever: the access nibble of the capability container, then the dynamic lock
    /// bits, the static ones, and last the bits that make lock bits themselves unchangeable.
    ///
    /// A tag that leaves in the middle can be read as before, and locked again to the end. Configuration and password
    /// are not touched: whoever may change those can still protect the message against reading.
    ///
    /// - Throws: ``TagError``; ``TagError/wrongCard(expected:)``, ``TagError/notFormatted(_:)`` and, for a chip that is
    ///   not known, ``TagError/guarded(attempt:reason:)`` before anything was written.
    public mutating func lock(_ confirmation: PermanentLock) throws(TagError) {
        try checkIdentifier(confirmation)
        try open()
        guard let place = try readContainer() else { throw .notFormatted(.type2) }
        guard let message = try place.area.find(in: &memory) else { throw .notFormatted(.type2) }
        guard try !message.isInterrupted(in: &memory) else {
            throw Type2Tag.cannotLock("writing it was interrupted: write or repair it first")
        }
        let header = try memory.readWholeHeader()
        guard let product = try memory.identify() else {
            throw Type2Tag.cannotLock("its chip is not known, nor therefore all of its lock bits")
        }
        guard product.sizeByte == place.sizeByte else {
            throw Type2Tag.cannotLock("it has the memory of \(product.name) and says another size")
        }
        guard header[15] & 0x0F == 0x0F || header[10] & 0x08 == 0 else {
            throw Type2Tag.cannotLock("its capability container is locked and says that it may be written")
        }
        try closing { tag throws(TagError) in try tag.setLocks(of: product) }
    }

    /// Compares the identifier that the tag contains, and the one that the reader reports, if any.
    private mutating func checkIdentifier(_ confirmation: PermanentLock) throws(TagError) {
        let header = try memory.readWholeHeader()
        let own = Array(header[0..<3] + header[4..<8])
        let told = try PermanentLock.identifier(over: channel)?.bytes ?? own
        guard own == confirmation.uid.bytes, told == own else { throw .wrongCard(expected: confirmation.uid) }
    }

    private static func cannotLock(_ reason: String) -> TagError { .guarded(attempt: "lock the tag", reason: reason) }

    private mutating func setLocks(of product: Type2Product) throws(TagError) {
        let header = try memory.readWholeHeader()
        var container = Array(header[12..<16])
        container[3] |= 0x0F
        if container != Array(header[12..<16]) { try memory.writeContainer(container) }
        guard try memory.readContainer() == container else { throw .notWritten(offset: 3) }
        if let locks = product.locks, let page = product.lockPage { try setBits(locks.pages + [0], page: page) }
        // Lock bits of page 3 and of pages 4 to 15; the three lowest bits block them.
        try setBits([0, 0, 0xF8, 0xFF], page: 2)
        if let locks = product.locks, let page = product.lockPage {
            try setBits(zip(locks.pages, locks.blocks).map { $0 | $1 } + [0], page: page)
        }
        try setBits([0, 0, 0xFF, 0xFF], page: 2)
    }

    /// Sets bits in a page of lock bytes where they are not set, and reads them back.
    private mutating func setBits(_ bits: [UInt8], page: Int) throws(TagError) {
        func hasAll(_ bytes: [UInt8]) -> Bool { zip(bits, bytes).allSatisfy { $0 & ~$1 == 0 } }
        var old = try lockBytes(page)
        guard !hasAll(old) else { return }
        // The fourth byte behind user memory is reserved, and to be written as zero.
        if page != 2 { old[3] = 0 }
        try memory.writeLocks(zip(old, bits).map { $0 | $1 }, page: page)
        let new = try lockBytes(page)
        guard hasAll(new) else {
            throw .notWritten(offset: zip(bits, new).enumerated().first { $1.0 & ~$1.1 != 0 }?.offset ?? 0)
        }
    }

    private mutating func lockBytes(_ page: Int) throws(TagError) -> [UInt8] {
        if page == 2 { return Array(try memory.readWholeHeader()[8..<12]) }
        memory.forget(page)
        return Array(try memory.page(page))
    }
}
