import CardCore

/// The blocks of an ISO 15693 tag, each read when it is first asked for.
struct Type5Memory: TagMemory {
    /// How many bytes a block has: 4 until it is known better. What was read in other blocks is then forgotten.
    private(set) var unit = 4 {
        didSet { if unit != oldValue { content = [:] } }
    }

    /// How many blocks there are, if the card reported it.
    private(set) var blocks: Int?

    /// The first address that belongs to the message; what is before it is never written.
    var firstWritable = 4

    private let link: StorageLink
    private(set) var usesRawFrames: Bool
    /// What the reader answered to its own command for block 0, if it did not read it.
    private var refusal: TagError?
    private var content: [Int: [UInt8]] = [:]

    /// Read, write and system information, by ISO 15693-3.
    private enum Command {
        static let readSingle: UInt8 = 0x20
        static let writeSingle: UInt8 = 0x21
        static let systemInformation: UInt8 = 0x2B
        static let extendedReadSingle: UInt8 = 0x30
        static let extendedWriteSingle: UInt8 = 0x31
    }

    private enum Flags {
        /// High data rate, to whatever card is there.
        static let anyCard: UInt8 = 0x02
        /// High data rate, to the card whose identifier follows.
        static let addressed: UInt8 = 0x22
        /// The answer to a read reports whether the block is locked.
        static let option: UInt8 = 0x40
    }

    init(_ channel: any CardChannel) {
        link = StorageLink(channel)
        usesRawFrames = link.usesRawFrames
    }

    // MARK: First contact

    /// The first four bytes of block 0; `nil` if neither reader nor card lets them be read, and the card is still there.
    ///
    /// - Parameter ifAnswered: whether every other answer means the same, and not only those that refuse, unless the reader
    ///   has no way to ask, which then throws ``TagError/notAsked(_:attempt:status:)``.
    mutating func readMagic(ifAnswered: Bool = false) throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            return Array(try readFirstBlock(ifAnswered).prefix(4))
        } catch {
            // Reading is an optional command, so that a card that does not know it may stay silent.
            guard
                error.isRefusal || error.isUnknownToReader || error.isSilence(inFrames: usesRawFrames)
                    || (ifAnswered && error.isAnswer(inFrames: usesRawFrames))
            else { throw error }
            try link.confirmPresence()
            if ifAnswered, let error = error.unread(.type5, after: refusal) { throw error }
            return nil
        }
    }

    private mutating func readFirstBlock(_ ifAnswered: Bool) throws(TagError) -> [UInt8] {
        if !usesRawFrames {
            do throws(TagError) {
                return try readFirstThroughReader()
            } catch {
                // Some readers do not read blocks of such cards, but carry frames.
                guard error.isRefusal || error.isUnknownToReader || (ifAnswered && error.isAnswer(inFrames: false))
                else { throw error }
                refusal = error
                usesRawFrames = true
            }
        }
        let bytes = try readRaw(0, attempt: "read block 0 of the tag")
        guard bytes.count >= 4, bytes.count <= 32 else {
            throw StorageLink.broken("read block 0 of the tag", "a block of \(bytes.count) bytes")
        }
        unit = bytes.count
        content = [0: bytes]
        return bytes
    }

    /// Block 0 by the reader's own command. Some readers refuse any length but that of a block.
    private mutating func readFirstThroughReader(length: Int = 4) throws(TagError) -> [UInt8] {
        let attempt = "read block 0 of the tag"
        do throws(TagError) {
            let bytes = try link.read(0, length: length, attempt: attempt)
            guard bytes.count >= 4 else { throw StorageLink.broken("read block 0", "\(bytes.count) bytes") }
            // One that gives several blocks at once cannot be asked for each.
            if length > 4, [0xE1, 0xE2].contains(bytes[0]), try goesOn(bytes, attempt) {
                throw .refused(attempt: attempt, status: .wrongLength)
            }
            if length > 4 || bytes.count == 8 { unit = bytes.count }
            return bytes
        } catch {
            guard error.status == .memoryChanged || error.status == .wrongLength, length < 16 else { throw error }
            return try readFirstThroughReader(length: length * 2)
        }
    }

    /// Whether block 1 begins with the end of what was read of block 0; with bytes that are all alike it shows nothing.
    private func goesOn(_ bytes: [UInt8], _ attempt: String) throws(TagError) -> Bool {
        let next: [UInt8]
        do throws(TagError) {
            next = try link.read(1, length: bytes.count, attempt: attempt)
        } catch {
            guard error.isRefusal else { throw error }
            return false
        }
        return [4, 8].contains { start in
            let end = bytes.dropFirst(start)
            return Set(end).count > 1 && next.starts(with: end)
        }
    }

    /// Finds out how large blocks are and how many there are. Called once, on a tag with a capability container.
    mutating func measure() throws(TagError) {
        if let (count, size) = try systemInformation() {
            blocks = count
            // In its own frames the card returns whole blocks: the length of block 0 counts more than the stated one.
            if !usesRawFrames, (4...32).contains(size) { unit = size }
            return
        }
        guard !usesRawFrames, unit == 4 else { return }
        // Where the card cannot be asked, 8 bytes from block 0 are either one block, or two of which the second can be
        // read alone.
        let attempt = "read block 0 of the tag"
        do throws(TagError) {
            let both = try link.read(0, length: 8, attempt: attempt)
            guard both.count == 8 else { return }
            let second = try link.read(1, length: 4, attempt: "read block 1 of the tag")
            if Array(both[4...]) != Array(second.prefix(4)) { unit = 8 }
        } catch {
            guard error.isRefusal else { throw error }
        }
    }

    /// The number of blocks and their size, or `nil` if neither card nor reader reports them.
    private func systemInformation() throws(TagError) -> (count: Int, size: Int)? {
        let answer: [UInt8]
        do throws(TagError) {
            answer = try exchange(Command.systemInformation, [], attempt: "read the system information")
        } catch {
            guard error.isRefusal || error.isSilence(inFrames: true) || error.isUnknownToReader else { throw error }
            return nil
        }
        // Which fields there are, the identifier, then DSFID, AFI and the memory's size, each if there.
        guard let fields = answer.first, fields & 0x04 != 0 else { return nil }
        let offset = 9 + (fields & 0x01 != 0 ? 1 : 0) + (fields & 0x02 != 0 ? 1 : 0)
        guard answer.count >= offset + 2 else { return nil }
        return (Int(answer[offset]) + 1, Int(answer[offset + 1] & 0x1F) + 1)
    }

    // MARK: Raw frames

    /// Sends a request and returns what follows the flags of the answer.
    private func exchange(
        _ command: UInt8,
        _ parameters: [UInt8],
        option: Bool = false,
        attempt: String
    ) throws(TagError) -> [UInt8] {
        let flags: UInt8 = option ? Flags.option : 0
        var frame: [UInt8]
        if let uid = link.channel.facts["uid"], uid.count == 8 {
            // Least significant byte first, which is E0 last.
            let bytes = CardUID(readerBytes: uid, technology: .iso15693).bytes
            frame = [Flags.addressed | flags, command] + bytes.reversed()
        } else {
            frame = [Flags.anyCard | flags, command]
        }
        frame += parameters
        let answer = try link.transceive(frame, attempt: attempt)
        guard let status = answer.first else { throw StorageLink.broken(attempt, "an empty answer") }
        guard status & 0x01 == 0 else { throw .protected(attempt: attempt, status: nil) }
        return Array(answer.dropFirst())
    }

    /// Blocks above 255 take the extended commands, with two bytes, least significant first.
    private static func address(_ block: Int, _ short: UInt8, _ extended: UInt8) -> (UInt8, [UInt8]) {
        block < 256 ? (short, [UInt8(block)]) : (extended, [UInt8(block & 0xFF), UInt8(block >> 8 & 0xFF)])
    }

    private func readRaw(_ block: Int, attempt: String) throws(TagError) -> [UInt8] {
        let (command, number) = Type5Memory.address(block, Command.readSingle, Command.extendedReadSingle)
        return try exchange(command, number, attempt: attempt)
    }

    // MARK: Blocks

    /// A block, from what was read before or from the card.
    mutating func block(_ number: Int) throws(TagError) -> [UInt8] {
        if let known = content[number], known.count == unit { return known }
        let attempt = "read block \(number) of the tag"
        guard (0...0xFFFF).contains(number) else { throw .protected(attempt: attempt, status: nil) }
        let bytes =
            usesRawFrames
            ? try readRaw(number, attempt: attempt) : try link.read(number, length: unit, attempt: attempt)
        guard bytes.count >= unit else {
            throw StorageLink.broken(attempt, "\(bytes.count) bytes in place of a block of \(unit)")
        }
        let block = Array(bytes.prefix(unit))
        content[number] = block
        return block
    }

    /// Whether a block is locked; `nil` if neither card nor reader reports it.
    func isLocked(_ number: Int) throws(TagError) -> Bool? {
        guard usesRawFrames, (0...0xFFFF).contains(number) else { return nil }
        let (command, address) = Type5Memory.address(number, Command.readSingle, Command.extendedReadSingle)
        do throws(TagError) {
            let answer = try exchange(command, address, option: true, attempt: "read block \(number) of the tag")
            guard answer.count == unit + 1 else { return nil }
            return answer[0] & 0x01 != 0
        } catch {
            guard error.isRefusal || error.isSilence(inFrames: true) else { throw error }
            return nil
        }
    }

    // MARK: TagMemory

    mutating func byte(at address: Int) throws(TagError) -> UInt8 {
        guard address >= 0 else { throw .protected(attempt: "read before the start of the tag", status: nil) }
        let bytes = try block(address / unit)
        guard bytes.indices.contains(address % unit) else {
            throw StorageLink.broken("read block \(address / unit) of the tag", "a block of \(bytes.count) bytes")
        }
        return bytes[address % unit]
    }

    mutating func write(_ bytes: [UInt8], atUnit number: Int) throws(TagError) {
        let attempt = "write block \(number) of the tag"
        guard bytes.count == unit, (0...0xFFFF).contains(number) else {
            throw .guarded(attempt: attempt, reason: "it is no block of the message")
        }
        let start = number * unit
        for address in start..<min(start + unit, max(start, firstWritable)) {
            // A block of 8 bytes may hold the end of the capability container and the start of the message.
            guard try byte(at: address) == bytes[address - start] else {
                throw .guarded(attempt: attempt, reason: "it holds the capability container")
            }
        }
        content[number] = nil
        guard usesRawFrames else {
            try link.write(number, bytes, attempt: attempt)
            return
        }
        let (command, address) = Type5Memory.address(number, Command.writeSingle, Command.extendedWriteSingle)
        _ = try exchange(command, address + bytes, attempt: attempt)
    }
}
