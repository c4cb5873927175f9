import CardCore

/// The memory of a Type 1 tag, in blocks of 8 bytes, each read when it is first asked for.
struct Type1Memory {
    private let link: StorageLink
    private(set) var usesRawFrames: Bool
    private var blocks: [Int: [UInt8]] = [:]

    /// What the reader answered to its own command for block 0, if it did not read it.
    private var refusal: TagError?

    /// HR0 and HR1, where they are known: `11` is a tag of 96 bytes, other values with a high nibble of 1 are larger.
    private(set) var header: [UInt8]?
    /// The first four bytes of the identifier, which every command carries.
    private var echo: [UInt8] = []

    private enum Command {
        static let readIdentifier: UInt8 = 0x78
        static let readAll: UInt8 = 0x00
        static let readSegment: UInt8 = 0x10
        static let readBlock: UInt8 = 0x02
    }

    init(_ channel: any CardChannel) {
        link = StorageLink(channel)
        usesRawFrames = link.usesRawFrames
    }

    // MARK: First contact

    /// Reads a block or, in raw frames, all of the static memory; `false` if neither reader nor card lets it be read.
    ///
    /// - Parameter ifAnswered: whether anything but a block means the same, and not only what refuses, unless the reader has
    ///   no way to ask, which then throws ``TagError/notAsked(_:attempt:status:)``.
    mutating func open(block number: Int = 0, ifAnswered: Bool = false) throws(TagError) -> Bool {
        do throws(TagError) {
            if !usesRawFrames {
                do throws(TagError) {
                    _ = try block(number)
                    return true
                } catch {
                    // Many readers do not read blocks of such cards, but carry frames.
                    guard error.isRefusal || (ifAnswered && error.isAnswer(inFrames: false)) else { throw error }
                    refusal = error
                    usesRawFrames = true
                }
            }
            try openRaw()
            return true
        } catch {
            guard
                error.isRefusal || error.isUnknownToReader || error.isSilence(inFrames: usesRawFrames)
                    || (ifAnswered && error.isAnswer(inFrames: usesRawFrames))
            else { throw error }
            try link.confirmPresence()
            if ifAnswered, let error = error.unread(.type1, after: refusal) { throw error }
            return false
        }
    }

    /// The block with the capability container; `nil` if anything but a block comes of it. The card is then still there.
    mutating func readContainer(block number: Int) throws(TagError) -> [UInt8]? {
        try open(block: number, ifAnswered: true) ? block(number) : nil
    }

    private mutating func openRaw() throws(TagError) {
        let attempt = "read the identifier of the tag"
        let identifier = try link.transceive([Command.readIdentifier] + Array(repeating: 0, count: 6), attempt: attempt)
        guard identifier.count == 6, identifier[0] >> 4 == 1 else {
            throw StorageLink.broken(attempt, "\(identifier.count) bytes that are no identifier")
        }
        echo = Array(identifier[2...])
        let all = try link.transceive([Command.readAll, 0, 0] + echo, attempt: "read the tag")
        guard all.count >= 2 + 15 * 8 else {
            throw StorageLink.broken("read the tag", "\(all.count) bytes in place of 122")
        }
        header = Array(all[0..<2])
        for number in 0..<15 { blocks[number] = Array(all[2 + number * 8..<10 + number * 8]) }
    }

    // MARK: Blocks

    /// Whether the tag has no more than the static memory, as far as that is known.
    var isStatic: Bool { header.map { $0[0] & 0x0F == 0x01 } ?? false }

    /// A block of 8 bytes.
    mutating func block(_ number: Int) throws(TagError) -> [UInt8] {
        if let known = blocks[number] { return known }
        let attempt = "read block \(number) of the tag"
        guard (0..<256).contains(number) else { throw .protected(attempt: attempt, status: nil) }
        let bytes: [UInt8]
        if usesRawFrames {
            bytes = try readRaw(number, attempt: attempt)
        } else {
            // PC/SC part 3 does not describe what the address of a Type 1 tag counts. It is taken to be blocks.
            bytes = try link.read(number, length: 8, attempt: attempt)
        }
        guard bytes.count >= 8 else { throw StorageLink.broken(attempt, "\(bytes.count) bytes in place of a block") }
        let block = Array(bytes.prefix(8))
        blocks[number] = block
        return block
    }

    private mutating func readRaw(_ number: Int, attempt: String) throws(TagError) -> [UInt8] {
        guard !isStatic else { throw .protected(attempt: attempt, status: nil) }
        let padding: [UInt8] = Array(repeating: 0, count: 8)
        // A segment is 16 blocks; a card that does not return it may return the block.
        let segment = UInt8((number / 16) << 4)
        do throws(TagError) {
            let answer = try link.transceive([Command.readSegment, segment] + padding + echo, attempt: attempt)
            if answer.count == 129, answer[0] == segment {
                let first = number / 16 * 16
                for index in 0..<16 where blocks[first + index] == nil {
                    blocks[first + index] = Array(answer[1 + index * 8..<9 + index * 8])
                }
                return blocks[number] ?? []
            }
        } catch {
            guard error.isRefusal || error.isSilence(inFrames: true) else { throw error }
        }
        let address = UInt8(truncatingIfNeeded: number)
        let answer = try link.transceive([Command.readBlock, address] + padding + echo, attempt: attempt)
        guard answer.count == 9, answer[0] == address else {
            throw StorageLink.broken(attempt, "\(answer.count) bytes in place of a block")
        }
        return Array(answer[1...])
    }

    mutating func byte(at address: Int) throws(TagError) -> UInt8 { try block(address / 8)[address % 8] }
}
