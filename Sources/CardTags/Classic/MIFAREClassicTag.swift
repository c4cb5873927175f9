import CardCore
import NDEFCodec

/// A MIFARE Classic whose application directory gives sectors to an NDEF message (NXP AN10787, AN1305).
///
/// The public keys are tried, and those that are given; no key is ever guessed. Ordinary writing touches the data blocks
/// of the message's sectors only, never the manufacturer's block, the directory or a sector trailer.
///
/// The cipher of these cards is broken: whoever has the card near can read and copy it. What it says is no proof.
public struct MIFAREClassicTag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.mifareClassic

    /// The size of the card, as the reader tells it; `nil` if it tells none.
    public let size: ClassicSize?

    let keys: ClassicKeys
    var memory: ClassicMemory
    private let messageLength: Int

    /// A card at the other end of the channel.
    ///
    /// - Parameters:
    ///   - channel: a PC/SC reader's, which authenticates with `FF 82` and `FF 86`, or one that takes the card's own
    ///     frames and knows its identifier. It should be able to reset the card, which halts after a wrong key.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    ///   - keys: the keys to try.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default, keys: ClassicKeys = .publicKeys) {
        size = ClassicSize(facts: channel.facts)
        self.keys = keys
        memory = ClassicMemory(channel, keys: keys)
        messageLength = limits.message
    }

    // MARK: The directory

    /// Reads the application directory; `nil` if the card has none that the known keys open.
    ///
    /// - Throws: ``TagError``; ``TagError/corrupt(_:)`` if it has one whose checksum is wrong.
    public mutating func readDirectory() throws(TagError) -> MAD? {
        guard try memory.link.authenticate(0, .a, keys.readingKeys(0)) else { return nil }
        guard let trailer = ClassicSector(trailer: try memory.link.read(3)) else { return nil }
        let version = trailer.directoryVersion
        guard version == 1 || version == 2 else { return nil }
        let first = try memory.link.read(1) + memory.link.read(2)
        var second: [UInt8]?
        if version == 2, (size?.sectors ?? 40) > 16 {
            guard try memory.link.authenticate(16, .a, keys.readingKeys(16)) else {
                try memory.link.confirmPresence()
                throw .protected(attempt: "authenticate to sector 16", status: nil)
            }
            second = try memory.link.read(64) + memory.link.read(65) + memory.link.read(66)
        }
        do {
            return try MAD(first: first, second: second)
        } catch {
            throw .corrupt(.init(.wrongChecksum, offset: (try? MAD(first: first)) == nil ? 16 : 1024))
        }
    }

    /// The sectors of the message, in order; none without a directory or an entry in it.
    private mutating func messageSectors() throws(TagError) -> [Int] {
        guard let directory = try readDirectory() else { return [] }
        return directory.firstRun(of: .ndef).filter { $0 < (size?.sectors ?? 40) }
    }

    /// Where the message is; `nil` for a card that has no place for one.
    mutating func openArea() throws(TagError) -> (sectors: [Int], area: TLVArea, first: ClassicSector)? {
        try openArea(in: try messageSectors())
    }

    private mutating func openArea(
        in sectors: [Int]
    ) throws(TagError) -> (sectors: [Int], area: TLVArea, first: ClassicSector)? {
        guard let number = sectors.first else { return nil }
        memory.cover(sectors)
        let first = try memory.sector(number)
        guard first.mappingVersion.major == 1 else {
            throw .unsupportedVersion(.mifareClassic, first.mappingVersion)
        }
        return (sectors, TLVArea(type: .mifareClassic, start: 0, end: memory.size), first)
    }

    /// The sectors of the message, of which the first is open; none if nothing was seen that belongs to a message.
    private mutating func sectorsToRead() throws(TagError) -> [Int] {
        let sectors: [Int]
        do throws(TagError) {
            sectors = try messageSectors()
        } catch {
            // Sector 0 of a card that is no tag may hold anything, and be answered for in any way.
            if case .corrupt = error { return [] }
            guard error.isAnswer(inFrames: memory.usesRawFrames) else { throw error }
            return []
        }
        guard let first = sectors.first else { return [] }
        do throws(TagError) {
            try memory.open(first)
        } catch .protected(let attempt, nil) {
            throw .protected(attempt: attempt, status: nil)
        } catch {
            guard error.isAnswer(inFrames: memory.usesRawFrames) else { throw error }
            return []
        }
        return sectors
    }

    // MARK: NDEFTag

    /// Reads the message.
    ///
    /// A card without a directory, or whose directory the known keys do not open, has no place for a message. Nor has one
    /// whose directory is damaged or cannot be read, for whatever reason: ``readDirectory()`` tells it.
    ///
    /// - Throws: ``TagError``.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        let sectors = try sectorsToRead()
        guard let (_, area, first) = try openArea(in: sectors) else {
            // To be without a place for a message and to be gone looks the same so far.
            if memory.link.wasRefused { try memory.link.confirmPresence() }
            return .absent(.mifareClassic)
        }
        let content = try area.read(from: &memory, limit: messageLength)
        return TagContent(
            type: .mifareClassic,
            ndef: content.ndef,
            area: TagArea(
                capacity: content.capacity,
                version: first.mappingVersion,
                readAccess: first.readAccess,
                writeAccess: first.writeAccess
            ),
            isInterrupted: content.isInterrupted
        )
    }

    /// Writes a message in place of the one that is there.
    ///
    /// - Throws: ``TagError``; ``TagError/readOnly(_:)`` before anything was written if any sector that the message needs
    ///   is locked.
    public mutating func writeNDEF(_ message: [UInt8]) throws(TagError) {
        guard let (_, area, first) = try openArea() else { throw .notFormatted(.mifareClassic) }
        guard first.writeAccess == .free else { throw .readOnly(.mifareClassic) }
        try area.write(message, to: &memory)
    }

    /// Makes a card whose writing was interrupted a clean empty one.
    ///
    /// - Throws: ``TagError``.
    public mutating func repairNDEF() throws(TagError) -> TagRepair {
        guard let (_, area, _) = try openArea() else { throw .notFormatted(.mifareClassic) }
        return try area.repair(&memory)
    }

    /// Reads all sectors that a key opens. Keys are left out: their bytes are shown as zero.
    ///
    /// - Throws: ``TagError`` if the link to the card fails.
    public mutating func dump() throws(TagError) -> TagDump {
        var parts: [TagDump.Part] = []
        for sector in 0..<(size ?? .oneK).sectors { parts += try dump(sector) }
        return TagDump(type: .mifareClassic, parts: parts)
    }

    private mutating func dump(_ sector: Int) throws(TagError) -> [TagDump.Part] {
        let blocks = ClassicSize.blocks(ofSector: sector)
        var content: [Int: [UInt8]] = [:]
        var isOpen = false
        for side in ClassicKey.Side.allCases where content.count < blocks.count {
            guard try memory.link.authenticate(sector, side, keys.candidates(sector, side)) else { continue }
            isOpen = true
            for block in blocks where content[block] == nil {
                guard try memory.link.authenticate(sector, side, keys.candidates(sector, side)) else { break }
                do {
                    content[block] = try memory.link.read(block)
                } catch {
                    guard error.isRefusal else { throw error }
                }
            }
        }
        return blocks.map { block in
            var bytes = content[block]
            var note: String?
            if block == 0 { note = "manufacturer's block" }
            if ClassicSize.isTrailer(block) {
                note = "sector trailer, keys left out"
                if let known = bytes, known.count == 16 {
                    bytes = Array(repeating: 0, count: 6) + known[6..<10] + Array(repeating: 0, count: 6)
                }
            }
            if bytes == nil { note = isOpen ? "not readable with the keys known" : "no key" }
            return TagDump.Part("sector \(sector), block \(block)", bytes, note: note)
        }
    }
}
