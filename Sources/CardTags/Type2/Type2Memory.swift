import CardCore

/// The pages of a Type 2 tag, read when they are first asked for.
///
/// A tag's READ returns four pages and begins again with page 0 behind the last page that it may return, the end of
/// its memory or of what is readable without a password. What was read is therefore compared with pages 0 to 3, and
/// pages that only repeat them are never taken for content.
struct Type2Memory: TagMemory {
    let unit = 4
    /// The first page behind the data area. Nothing behind it is kept.
    var endPage = 4
    /// The chip, where somebody has found it out.
    var product: Type2Product?

    let link: StorageLink
    var usesRawFrames: Bool { link.usesRawFrames }
    /// How many bytes to ask for: 16, or 4 from a reader that returns a page at a time.
    private var step = 16
    private(set) var header: [UInt8] = []
    private var pages: [Int: ArraySlice<UInt8>] = [:]
    private var hasProbedHighPages = false

    init(_ channel: any CardChannel) {
        link = StorageLink(channel)
    }

    /// Page 3, the capability container. Pages 0 to 2 are read with it if the tag returns them.
    mutating func readContainer() throws(TagError) -> [UInt8] {
        if header.isEmpty { header = try readHeader() }
        return Array(header.suffix(4))
    }

    /// Pages 0 to 3, or page 3 alone if pages 0 to 2 are refused: then nothing can be compared with them. That is so in
    /// a recording made by a program that did not read them.
    private mutating func readHeader() throws(TagError) -> [UInt8] {
        do {
            var bytes: [UInt8] = []
            while bytes.count < 16 { bytes += try fetch(bytes.count / 4) }
            return Array(bytes.prefix(16))
        } catch {
            guard isRefusal(error), let block = try fetchIfGiven(3) else { throw error }
            for index in 1..<max(1, block.count / 4) { pages[3 + index] = block[4 * index..<4 * index + 4] }
            return Array(block.prefix(4))
        }
    }

    /// A byte of the data area.
    mutating func byte(at address: Int) throws(TagError) -> UInt8 {
        let bytes = try page(address / 4)
        return bytes[bytes.startIndex + address % 4]
    }

    /// The four bytes of a page from 4 on.
    mutating func page(_ number: Int) throws(TagError) -> ArraySlice<UInt8> {
        if let known = pages[number] { return known }
        return try load(number)
    }

    /// Whether the tag returns that page, from 4 on.
    ///
    /// A tag that was asked for a page that it does not return waits to be selected again, which PC/SC readers do by
    /// themselves. Its refusal counts only if it still returns page 0 and then refuses once more: a tag that is leaving
    /// the field must not look like a smaller one.
    mutating func gives(_ number: Int) throws(TagError) -> Bool {
        for _ in 0..<2 {
            do {
                _ = try page(number)
                return true
            } catch {
                guard isRefusal(error) else { throw error }
                if usesRawFrames { try? link.channel.reset() }
                let block = try fetch(0)
                guard block.elementsEqual(header.prefix(block.count)) else {
                    throw .link(ReaderError(.cardReset, attempting: attempt(0), detail: "another tag answers"))
                }
            }
        }
        return false
    }

    /// Forgets what was read of a page, or of pages 0 to 3 together.
    mutating func forget(_ page: Int) {
        if page < 4 { header = [] }
        pages[page] = nil
    }

    /// Forgets all that was read.
    mutating func forgetAll() {
        header = []
        pages = [:]
    }

    /// Pages 0 to 3; without all of them nothing can be written, since a roll-over could not be noticed.
    mutating func readWholeHeader() throws(TagError) -> [UInt8] {
        _ = try readContainer()
        guard header.count == 16 else { throw .protected(attempt: attempt(0), status: nil) }
        return header
    }

    private mutating func load(_ page: Int) throws(TagError) -> ArraySlice<UInt8> {
        // A reader that drops the high byte of the address would return page 0 for page 256, and so on.
        if page >= 256, !hasProbedHighPages {
            hasProbedHighPages = true
            if try startsOver(at: 256) { throw .protected(attempt: attempt(256), status: nil) }
        }
        let block: ArraySlice<UInt8>
        do {
            block = try fetch(page)
        } catch {
            guard isRefusal(error), let bytes = try findInBlock(before: page) else { throw error }
            return bytes
        }
        let count = block.count / 4
        var kept = min(count, max(1, endPage - page))
        for index in 0..<kept {
            let tail = block[(4 * index)...]
            guard header.count == 16, tail.elementsEqual(header.prefix(tail.count)) else { continue }
            // Content may look like page 0 by chance. Then the page itself can be read, and does not go on like it.
            var isRepeated = tail.count == 16
            if !isRepeated { isRepeated = try startsOver(at: page + index) }
            if isRepeated {
                kept = index
                break
            }
        }
        guard kept > 0 else { throw .protected(attempt: attempt(page), status: nil) }
        for index in 0..<kept { pages[page + index] = block[4 * index..<4 * index + 4] }
        return block[0..<4]
    }

    /// The page out of a block that begins up to three pages before it, for a tag or a recording that returns blocks
    /// but does not let one begin with every page.
    private mutating func findInBlock(before page: Int) throws(TagError) -> ArraySlice<UInt8>? {
        for start in stride(from: page - 1, through: max(4, page - 3), by: -1) {
            guard let block = try fetchIfGiven(start), block.count >= 4 * (page - start + 1) else { continue }
            let tail = block[(4 * (page - start))...]
            guard !tail.elementsEqual(header.prefix(tail.count)) else { return nil }
            for index in (page - start)..<block.count / 4 where start + index < max(endPage, page + 1) {
                pages[start + index] = block[4 * index..<4 * index + 4]
            }
            return pages[page]
        }
        return nil
    }

    /// Whether reading from that page on returns pages 0 to 3 again, or is refused.
    private mutating func startsOver(at page: Int) throws(TagError) -> Bool {
        var bytes: [UInt8] = []
        do {
            while bytes.count < 16 { bytes += try fetch(page + bytes.count / 4) }
        } catch .link(let error) {
            throw .link(error)
        } catch {
            return true
        }
        return header.count == 16 && bytes.prefix(16).elementsEqual(header)
    }

    /// A block, or `nil` if it is refused. A broken link is never taken for that.
    private mutating func fetchIfGiven(_ page: Int) throws(TagError) -> ArraySlice<UInt8>? {
        do {
            return try fetch(page)
        } catch {
            guard isRefusal(error) else { throw error }
            return nil
        }
    }

    func attempt(_ page: Int) -> String { "read page \(page) of the tag" }

    /// Reads 1 to 4 pages, as many as the reader returns.
    private mutating func fetch(_ page: Int) throws(TagError) -> ArraySlice<UInt8> {
        let data = usesRawFrames ? try fetchRaw(page) : try fetchThroughReader(page)
        guard data.count >= 4 else { throw StorageLink.broken(attempt(page), "\(data.count) bytes in place of a page") }
        return data.prefix(min(16, data.count / 4 * 4))
    }

    private func fetchRaw(_ page: Int) throws(TagError) -> [UInt8] {
        guard let address = UInt8(exactly: page) else { throw .protected(attempt: attempt(page), status: nil) }
        let answer = try link.exchange([0x30, address])
        // A refusal is four bits: 1 and 5 state that the command arrived damaged, the others that it is not allowed.
        guard answer.bitsInLastByte == 8 else {
            guard let code = answer.bytes.last, code & 0x0F == 1 || code & 0x0F == 5 else {
                throw .protected(attempt: attempt(page), status: nil)
            }
            throw .link(ReaderError(.communication, attempting: attempt(page), detail: "the card received it damaged"))
        }
        return answer.bytes
    }

    private mutating func fetchThroughReader(_ page: Int) throws(TagError) -> [UInt8] {
        var answer = try send(page, length: step)
        if step == 16, answer.statusWord == .wrongLength || isRefusedAsBlock(answer, page) {
            // Only single pages are returned, or none of a block that reaches over the end of the memory.
            answer = try send(page, length: 4)
            if answer.isSuccess, page < 4 { step = 4 }
        }
        guard answer.isSuccess || (answer.statusWord == .endReached && answer.data.count >= 4) else {
            throw StorageLink.fault(attempt(page), answer.statusWord)
        }
        if (4..<16).contains(answer.data.count), page < 4 { step = 4 }
        return answer.data
    }

    private func isRefusedAsBlock(_ answer: ResponseAPDU, _ page: Int) -> Bool {
        !answer.isSuccess && answer.data.isEmpty && (page < 4 || (page < endPage && page + 4 > endPage))
    }

    private func send(_ page: Int, length: Int) throws(TagError) -> ResponseAPDU {
        guard let block = UInt16(exactly: page), let command = try? CommandAPDU.readBlock(block, length: length) else {
            throw .protected(attempt: attempt(page), status: nil)
        }
        return try link.send(command)
    }
}

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
        case .locks where page == product?.lockPage: return
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
        guard bytes.count == 4, let address = UInt8(exactly: page) else { throw .unsupported(.type2, attempt: attempt) }
        if usesRawFrames {
            guard try Type2Link(link.channel).acknowledges([0xA2, address] + bytes, attempt) else {
                // It waits to be selected again.
                try? link.channel.reset()
                throw .protected(attempt: attempt, status: nil)
            }
            return
        }
        guard let command = try? CommandAPDU.updateBlock(UInt16(address), data: bytes) else {
            throw .unsupported(.type2, attempt: attempt)
        }
        let status: StatusWord
        do {
            status = try link.channel.exchange(command).statusWord
        } catch {
            throw .link(error)
        }
        guard status.isSuccess else { throw StorageLink.fault(attempt, status) }
    }
}
