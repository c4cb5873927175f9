import CardCore

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

    /// The tag's own word, and the reader's where it gives one.
    private mutating func checkIdentifier(_ confirmation: PermanentLock) throws(TagError) {
        let header = try memory.readWholeHeader()
        let own = Array(header[0..<3] + header[4..<8])
        let told = try PermanentLock.identifier(over: channel)?.bytes ?? own
        guard own == confirmation.uid.bytes, told == own else { throw .wrongCard(expected: confirmation.uid) }
    }

    private static func cannotLock(_ reason: String) -> TagError {
        .guarded(attempt: "lock the tag", reason: reason)
    }

    private mutating func setLocks(of product: Type2Product) throws(TagError) {
        let header = try memory.readWholeHeader()
        var container = Array(header[12..<16])
        container[3] |= 0x0F
        if container != Array(header[12..<16]) { try memory.writeContainer(container) }
        guard try memory.readContainer() == container else { throw .notWritten(offset: 3) }
        let dynamic = product.dynamicLocks
        if let dynamic { try setBits(dynamic.locks + [0], page: dynamic.page) }
        // Lock bits of page 3 and of pages 4 to 15; the three lowest bits block them.
        try setBits([0, 0, 0xF8, 0xFF], page: 2)
        if let dynamic { try setBits(zip(dynamic.locks, dynamic.blockLocks).map { $0 | $1 } + [0], page: dynamic.page) }
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
