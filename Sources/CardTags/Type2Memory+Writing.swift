import CardCore

extension Type2Memory {
    /// What a write is for, which decides where it may go.
    private enum Door {
        /// A message: pages of the data area and nothing else.
        case data
        /// The capability container, when formatting or locking.
        case container
        /// Lock bytes, when locking.
        case locks
    }

    /// Pages that hold lock bytes, configuration or a password on some chip, and the page that shows it is not that chip.
    ///
    /// A capability container can be wrong, and what it has set cannot be undone, so its word is not enough there.
    private static let zones: [(pages: ClosedRange<Int>, proof: Int)] = [
        (0x10...0x13, 0x14), (0x24...0x28, 0x29), (0x28...0x2F, 0x30), (0x82...0x86, 0x87), (0xE2...0xE6, 0xE7),
    ]

    /// The last page that one sector has; the next ones take SECTOR SELECT, which few readers can carry.
    static let lastPage = 255

    mutating func checkWritable(unit page: Int) throws(TagError) { try check(page, .data) }

    mutating func write(_ bytes: [UInt8], atUnit number: Int) throws(TagError) {
        try check(number, .data)
        try put(bytes, page: number)
    }

    /// Sets bits of the capability container, page 3, for ever.
    mutating func writeContainer(_ bytes: [UInt8]) throws(TagError) {
        try check(3, .container)
        try put(bytes, page: 3)
    }

    /// Sets lock bits, for ever: page 2, or the page of the dynamic lock bytes of a chip that is known.
    mutating func writeLocks(_ bytes: [UInt8], page: Int) throws(TagError) {
        try check(page, .locks)
        try put(bytes, page: page)
    }

    /// The one guard before every write.
    private mutating func check(_ page: Int, _ door: Door) throws(TagError) {
        let attempt = Type2Memory.attemptToWrite(page)
        switch door {
        case .container where page == 3, .locks where page == 2: return
        case .locks where page == product?.dynamicLocks?.page: return
        case .container, .locks:
            throw .guarded(attempt: attempt, reason: "it is no page of that kind")
        case .data: break
        }
        guard page >= 4 else {
            throw .guarded(attempt: attempt, reason: "identifier, lock bytes and capability container are there")
        }
        guard page < endPage else { throw .guarded(attempt: attempt, reason: "it is behind the data area") }
        guard page <= Type2Memory.lastPage else { throw .unsupported(.type2, attempt: attempt + ", above page 255") }
        let header = try readWholeHeader()
        if page < 16 {
            let locks = Int(header[11]) << 8 | Int(header[10])
            guard locks >> page & 1 == 0 else { throw .readOnly(.type2) }
        }
        if let product {
            guard page <= product.lastUserPage else {
                throw .guarded(attempt: attempt, reason: "it is behind the user memory of \(product.name)")
            }
            return
        }
        for zone in Type2Memory.zones where zone.pages.contains(page) {
            guard try gives(zone.proof) else {
                throw .guarded(attempt: attempt, reason: "lock bytes, configuration or a password may be there")
            }
        }
    }

    private static func attemptToWrite(_ page: Int) -> String { "write page \(page) of the tag" }

    /// Writes four bytes. What was read of the page is forgotten, whether or not it comes to that.
    private mutating func put(_ bytes: [UInt8], page: Int) throws(TagError) {
        forget(page)
        let attempt = Type2Memory.attemptToWrite(page)
        guard bytes.count == 4, let address = UInt8(exactly: page) else {
            throw .unsupported(.type2, attempt: attempt)
        }
        if usesRawFrames {
            guard try Type2Link(channel).acknowledges([0xA2, address] + bytes, attempt) else {
                // It waits to be selected again.
                try? channel.reset()
                throw .protected(attempt: attempt, status: nil)
            }
            return
        }
        guard let command = try? CommandAPDU.updateBlock(UInt16(address), data: bytes) else {
            throw .unsupported(.type2, attempt: attempt)
        }
        let status: StatusWord
        do {
            status = try channel.exchange(command).statusWord
        } catch {
            throw .link(error)
        }
        guard status.isSuccess else { throw StorageLink.fault(attempt, status) }
    }
}
