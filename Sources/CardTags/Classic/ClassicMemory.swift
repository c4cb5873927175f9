import CardCore

/// The data blocks of the sectors that hold the NDEF message, as one run of addresses from 0.
///
/// The manufacturer's block, the directory and the sector trailers are not among them, and are never written here.
struct ClassicMemory: TagMemory {
    let unit = 16
    var usesRawFrames: Bool { link.link.usesRawFrames }

    var link: ClassicLink
    private let keys: ClassicKeys
    private var blocks: [Int] = []
    private var content: [Int: [UInt8]] = [:]
    private var sectors: [Int: ClassicSector] = [:]

    init(_ channel: any CardChannel, keys: ClassicKeys) {
        link = ClassicLink(channel)
        self.keys = keys
    }

    /// How many bytes there are.
    var size: Int { blocks.count * unit }

    /// The data blocks of those sectors from now on; nothing that was read before is kept.
    mutating func cover(_ sectors: [Int]) {
        blocks = sectors.filter { !ClassicSize.directorySectors.contains($0) }.flatMap {
            ClassicSize.blocks(ofSector: $0).dropLast()
        }
        content = [:]
        self.sectors = [:]
    }

    // MARK: Sectors

    /// The contents of the sector's trailer; it is opened with the public key A, or the one specified.
    mutating func sector(_ number: Int) throws(TagError) -> ClassicSector {
        if let known = sectors[number] { return known }
        try open(number)
        guard let sector = ClassicSector(trailer: try link.read(ClassicSize.trailer(ofSector: number))) else {
            throw StorageLink.broken("read the access bits of sector \(number)", "they contradict each other")
        }
        sectors[number] = sector
        return sector
    }

    /// Opens a sector for reading.
    mutating func open(_ number: Int) throws(TagError) {
        if let session = link.session, session.sector == number { return }
        if try link.authenticate(number, .a, keys.readingKeys(number)) { return }
        if let key = keys[number, .b], try link.authenticate(.init(sector: number, side: .b, key: key)) { return }
        try link.confirmPresence()
        throw .protected(attempt: "authenticate to sector \(number)", status: nil)
    }

    /// Opens a sector for writing all its data blocks.
    private mutating func openToWrite(_ number: Int) throws(TagError) {
        let sector = try sector(number)
        guard sector.writeAccess != .never else { throw .readOnly(.mifareClassic) }
        let allowed = sector.dataWrite
        if let session = link.session, session.sector == number, allowed.contains(session.side) { return }
        for side in ClassicKey.Side.allCases where allowed.contains(side) {
            let candidates = side == .a ? keys.readingKeys(number) : keys.candidates(number, .b)
            if try link.authenticate(number, side, candidates) { return }
        }
        throw .wrongKey(attempt: "write to sector \(number)", attemptsLeft: nil)
    }

    // MARK: TagMemory

    mutating func byte(at address: Int) throws(TagError) -> UInt8 {
        guard blocks.indices.contains(address / unit), address >= 0 else {
            throw .protected(attempt: "read behind the end of the card", status: nil)
        }
        let block = blocks[address / unit]
        if let bytes = content[block] { return bytes[address % unit] }
        try open(ClassicSize.sector(ofBlock: block))
        let bytes = try link.read(block)
        content[block] = bytes
        return bytes[address % unit]
    }

    /// Opens the unit's sector for writing, so that a sector that is locked or whose key is not known shows before
    /// anything is written.
    mutating func checkWritable(unit number: Int) throws(TagError) {
        guard blocks.indices.contains(number) else { return }
        try ClassicMemory.guardBlock(blocks[number])
        try openToWrite(ClassicSize.sector(ofBlock: blocks[number]))
    }

    mutating func write(_ bytes: [UInt8], atUnit number: Int) throws(TagError) {
        guard blocks.indices.contains(number), bytes.count == unit else {
            throw .guarded(attempt: "write behind the end of the message's sectors", reason: "it is not the message's")
        }
        let block = blocks[number]
        try ClassicMemory.guardBlock(block)
        content[block] = nil
        try openToWrite(ClassicSize.sector(ofBlock: block))
        try link.write(block, bytes)
    }

    /// Refuses the blocks that ordinary writing never touches.
    static func guardBlock(_ block: Int) throws(TagError) {
        let attempt = "write block \(block) of the card"
        if block == 0 { throw .guarded(attempt: attempt, reason: "it is the manufacturer's") }
        if ClassicSize.isTrailer(block) {
            throw .guarded(attempt: attempt, reason: "it holds the keys and the access bits of a sector")
        }
        if ClassicSize.directorySectors.contains(ClassicSize.sector(ofBlock: block)) {
            throw .guarded(attempt: attempt, reason: "it belongs to the directory of the card")
        }
    }
}

extension ClassicKeys {
    /// The keys A to read with, without the factory's.
    func readingKeys(_ sector: Int) -> [ClassicKey] {
        let given = self[sector, .a]
        return candidates(sector, .a).filter { $0 != .factory || $0 == given }
    }
}
