import CardCore
import NDEFCodec

/// A MIFARE Classic whose application directory assigns sectors to an NDEF message (NXP AN10787, AN1305).
///
/// The public keys are tried, and those specified; no key is ever guessed. Ordinary writing touches the data blocks
/// of the message's sectors only, never the manufacturer's block, the directory or a sector trailer.
///
/// The cipher of these cards is broken: whoever has the card near can read and copy it. Its contents are no proof.
public struct MIFAREClassicTag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.mifareClassic

    /// The size of the card, as the reader reports it; `nil` if it reports none.
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
    /// - Throws: ``TagError``; ``TagError/corrupt(_:)`` if it has one whose checksum is wrong,
    ///   ``TagError/unsupportedVersion(_:_:)`` if its version is not known.
    public mutating func readDirectory() throws(TagError) -> MAD? {
        guard try memory.link.authenticate(0, .a, keys.readingKeys(0)) else { return nil }
        guard let trailer = ClassicSector(trailer: try memory.link.read(3)) else {
            throw StorageLink.broken("read the access bits of sector 0", "they contradict each other")
        }
        guard let version = trailer.directoryVersion else { return nil }
        guard version == 1 || version == 2 else {
            throw .unsupportedVersion(.mifareClassic, .init(major: version, minor: 0))
        }
        let first = try memory.link.read(1) + memory.link.read(2)
        // Sector 0 may be marked before anything is in it.
        guard Set(first) != [0x00], Set(first) != [0xFF] else { return nil }
        var second: [UInt8]?
        // Without its second half the directory is that of the first sectors.
        if version == 2, (size?.sectors ?? 40) > 16, try memory.link.authenticate(16, .a, keys.readingKeys(16)) {
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
    ///
    /// - Parameter sectors: the sectors of the message, where they are known.
    mutating func openArea(
        in sectors: [Int]? = nil
    ) throws(TagError) -> (sectors: [Int], area: TLVArea, first: ClassicSector)? {
        let sectors = if let sectors { sectors } else { try messageSectors() }
        guard let number = sectors.first else { return nil }
        memory.cover(sectors)
        let first = try memory.sector(number)
        guard first.mappingVersion.major == 1 else { throw .unsupportedVersion(.mifareClassic, first.mappingVersion) }
        return (sectors, TLVArea(type: .mifareClassic, start: 0, end: memory.size), first)
    }

    /// The sectors of the message; none if nothing was seen that belongs to a message.
    ///
    /// - Throws: ``TagError``; ``TagError/notAsked(_:attempt:status:)`` if the reader has no way to open the directory, or
    ///   does not read it.
    private mutating func sectorsToRead() throws(TagError) -> [Int] {
        do throws(TagError) {
            return try messageSectors()
        } catch {
            guard error.isRefusal || error.isUnusable else { throw error }
            try memory.link.confirmPresence()
            throw .notAsked(.mifareClassic, attempt: error.attempt, status: error.status)
        }
    }

    // MARK: NDEFTag

    /// Reads the message.
    ///
    /// A card without a directory, or whose directory the known keys do not open, has no place for a message.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        let sectors = try sectorsToRead()
        guard let (_, area, first) = try openArea(in: sectors) else {
            // To be without a place for a message and to be gone looks the same so far.
            if memory.link.wasRefused { try memory.link.confirmPresence() }
            return .absent(.mifareClassic)
        }
        let place = TagArea(
            capacity: area.capacity,
            version: first.mappingVersion,
            readAccess: first.readAccess,
            writeAccess: first.writeAccess
        )
        return try area.read(from: &memory, into: place, limit: messageLength)
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

extension MIFAREClassicTag {
    /// Makes a card from the factory one that can hold a message: with a directory that assigns all its sectors to
    /// NDEF, the public keys A, and ``ClassicKeys/newKeyB`` as key B.
    ///
    /// Every sector must open with the factory's or the public NDEF key, or with those specified, and let its trailer
    /// be changed; otherwise nothing is written. Sector 0 is written last: a card that was taken away meanwhile is not
    /// yet a formatted one, and can be formatted again. A card that is formatted is left as it is, with its message.
    ///
    /// - Throws: ``TagError``; ``TagError/cannotFormat(_:reason:)`` before anything was written.
    public mutating func formatNDEF() throws(TagError) {
        guard let size else { throw cannotFormat("the reader does not tell how large it is") }
        if let directory = try directoryBeforeFormat() {
            guard !directory.firstRun(of: .ndef).isEmpty else {
                throw cannotFormat("its directory gives it to other applications")
            }
            return
        }

        var directory = MAD(hasSecondHalf: size.sectors > 16)
        let dataSectors = (1..<size.sectors).filter { $0 != 16 }
        for sector in dataSectors { directory[sector] = .ndef }
        let target = FormatTarget(directory: directory)
        var sessions: [Int: ClassicLink.Session] = [:]
        for sector in 0..<size.sectors { sessions[sector] = try survey(sector, target) }

        // From the last sector to the first, and sector 0 at the very end.
        for sector in dataSectors.reversed() + (size.sectors > 16 ? [16, 0] : [0]) {
            guard let session = sessions[sector] else { continue }
            try format(sector, session, target)
        }
    }

    private func cannotFormat(_ reason: String) -> TagError { .cannotFormat(.mifareClassic, reason: reason) }

    private mutating func directoryBeforeFormat() throws(TagError) -> MAD? {
        do {
            return try readDirectory()
        } catch .corrupt {
            throw cannotFormat("its directory is damaged")
        } catch .protected {
            throw cannotFormat("its directory does not open with the keys known")
        }
    }

    /// What a formatted card has in each sector.
    private struct FormatTarget {
        var directory: MAD

        func sector(_ number: Int) -> ClassicSector {
            number == 0 || number == 16 ? .directory(version: directory.version) : .ndef
        }

        func keyA(_ number: Int) -> ClassicKey { number == 0 || number == 16 ? .directory : .ndef }

        /// The data blocks that are written: an empty message in sector 1, the directory in 0 and 16.
        func blocks(_ number: Int) -> [(block: Int, bytes: [UInt8])] {
            func parts(_ bytes: [UInt8], from first: Int) -> [(block: Int, bytes: [UInt8])] {
                stride(from: 0, to: bytes.count, by: 16).map { (first + $0 / 16, Array(bytes[$0..<$0 + 16])) }
            }
            switch number {
            case 0: return parts(directory.firstBytes, from: 1)
            case 1: return [(4, [0x03, 0x00, 0xFE] + Array(repeating: 0, count: 13))]
            case 16: return parts(directory.secondBytes ?? [], from: 64)
            default: return []
            }
        }
    }

    /// Finds out how a sector can be formatted. Nothing is written.
    ///
    /// - Throws: ``TagError/cannotFormat(_:reason:)`` if it cannot.
    private mutating func survey(_ sector: Int, _ target: FormatTarget) throws(TagError) -> ClassicLink.Session {
        var isOpen = false
        for side in ClassicKey.Side.allCases {
            for key in surveyKeys(sector, side) {
                let session = ClassicLink.Session(sector: sector, side: side, key: key)
                guard try memory.link.authenticate(session) else { continue }
                isOpen = true
                if try mayFormat(sector, session, target) { return session }
            }
        }
        throw cannotFormat(
            isOpen
                ? "the keys of sector \(sector) cannot be changed with the keys known"
                : "sector \(sector) does not open with the keys known"
        )
    }

    /// No key twice, and of keys A the factory's first: most sectors are as it made them.
    private func surveyKeys(_ sector: Int, _ side: ClassicKey.Side) -> [ClassicKey] {
        let candidates = keys.candidates(sector, side)
        return side == .a ? [.factory] + candidates.filter { $0 != .factory } : candidates
    }

    private mutating func mayFormat(
        _ sector: Int,
        _ session: ClassicLink.Session,
        _ target: FormatTarget
    ) throws(TagError) -> Bool {
        do throws(TagError) {
            let trailer = try memory.link.read(ClassicSize.trailer(ofSector: sector))
            guard let found = ClassicSector(trailer: trailer) else { return false }
            if try isDone(sector, session, found, target) { return true }
            return found.access.trailer.write.contains(session.side)
                && (target.blocks(sector).isEmpty || found.dataWrite.contains(session.side))
        } catch {
            guard error.isRefusal else { throw error }
            return false
        }
    }

    /// Whether the sector is what it should be, but for what key A may still write.
    private mutating func isDone(
        _ sector: Int,
        _ session: ClassicLink.Session,
        _ found: ClassicSector,
        _ target: FormatTarget
    ) throws(TagError) -> Bool {
        guard session.side == .a, session.key == target.keyA(sector), found == target.sector(sector) else {
            return false
        }
        if found.dataWrite.contains(.a) { return true }
        for (block, bytes) in target.blocks(sector) where try memory.link.read(block) != bytes { return false }
        return true
    }

    private mutating func format(
        _ sector: Int,
        _ session: ClassicLink.Session,
        _ target: FormatTarget
    ) throws(TagError) {
        try reopen(session)
        for (block, bytes) in target.blocks(sector) where try memory.link.read(block) != bytes {
            try memory.link.write(block, bytes)
            guard try memory.link.read(block) == bytes else { throw .notWritten(offset: 0) }
        }
        let trailer = ClassicSize.trailer(ofSector: sector)
        guard let found = ClassicSector(trailer: try memory.link.read(trailer)) else {
            throw cannotFormat("the access bits of sector \(sector) contradict each other")
        }
        if try isDone(sector, session, found, target) { return }
        try writeTrailer(target.sector(sector), ofSector: sector, target.keyA(sector), keys.newKeyB)
    }

    private mutating func reopen(_ session: ClassicLink.Session) throws(TagError) {
        guard try memory.link.authenticate(session) else {
            throw .wrongKey(attempt: "authenticate to sector \(session.sector) again", attemptsLeft: nil)
        }
    }

    /// Writes a trailer to the open sector, and proves it by opening the sector with its new key A.
    ///
    /// The access bits are encoded from their meaning and decoded again first: bits that contradict each other would
    /// block the sector for ever.
    mutating func writeTrailer(
        _ new: ClassicSector,
        ofSector sector: Int,
        _ keyA: ClassicKey,
        _ keyB: ClassicKey
    ) throws(TagError) {
        let block = ClassicSize.trailer(ofSector: sector)
        let bytes = new.trailer(keyA, keyB)
        guard ClassicSector(trailer: bytes) == new else {
            throw .guarded(attempt: "write block \(block) of the card", reason: "its access bits would block it")
        }
        try memory.link.write(block, bytes)
        memory.link.close(isHalted: false)
        try reopen(.init(sector: sector, side: .a, key: keyA))
        guard ClassicSector(trailer: try memory.link.read(block)) == new else { throw .notWritten(offset: 0) }
    }

    // MARK: Locking

    /// Makes the message unchangeable for ever: the access bits of its sectors become `078F0F`, with which no key writes
    /// anything, and their general purpose byte `43`. The directory is left as it is.
    ///
    /// It takes the key B of each sector: the one specified for it, ``ClassicKeys/newKeyB`` or the factory's. All of
    /// them are tried before anything is written. A card that was taken away meanwhile can be locked again.
    public mutating func lock(_ confirmation: PermanentLock) throws(TagError) {
        try confirmation.check(over: memory.link.link.channel, type: type)
        guard let (sectors, area, _) = try openArea() else { throw .notFormatted(.mifareClassic) }
        guard let message = try area.find(in: &memory) else { throw .notFormatted(.mifareClassic) }
        if try message.isInterrupted(in: &memory) {
            throw .guarded(attempt: "lock the tag", reason: "writing its message was interrupted; repair it first")
        }
        var plans: [LockPlan] = []
        for sector in sectors {
            if let plan = try lockPlan(sector) { plans.append(plan) }
        }
        // The first sector reports whether the message may be written, so it comes last: until then locking goes on.
        for plan in plans.reversed() {
            try reopen(plan.session)
            try writeTrailer(.locked, ofSector: plan.session.sector, plan.keyA, plan.keyB)
        }
    }

    private struct LockPlan {
        var session: ClassicLink.Session
        var keyA: ClassicKey
        var keyB: ClassicKey
    }

    /// How to lock a sector; `nil` if it is locked.
    private mutating func lockPlan(_ sector: Int) throws(TagError) -> LockPlan? {
        let found = try memory.sector(sector)
        if found == .locked { return nil }
        guard try memory.link.authenticate(sector, .a, keys.readingKeys(sector)), let keyA = memory.link.session?.key
        else { throw .wrongKey(attempt: "lock sector \(sector)", attemptsLeft: nil) }
        for side in ClassicKey.Side.allCases.reversed() where found.access.trailer.write.contains(side) {
            let candidates = side == .a ? [keyA] : keys.candidates(sector, .b)
            guard try memory.link.authenticate(sector, side, candidates), let session = memory.link.session else {
                continue
            }
            return LockPlan(session: session, keyA: keyA, keyB: side == .b ? session.key : keys.newKeyB)
        }
        throw .wrongKey(attempt: "lock sector \(sector)", attemptsLeft: nil)
    }
}

/// Bytes of a MIFARE Classic that cannot be what they should be.
public enum ClassicFormatError: Error, Sendable, Hashable {
    /// There are so many bytes where another number is needed.
    case length(Int, expected: Int)
    /// An access bit contradicts its inverted copy. A card with such a trailer blocks its sector for ever.
    case contradictoryAccessBits
    /// The checksum of an application directory is another.
    case checksum(found: UInt8, computed: UInt8)
}

extension ClassicFormatError: CustomStringConvertible {
    /// One line: what was attempted, what is wrong, and what to do.
    public var description: String {
        switch self {
        case .length(let count, let expected):
            "could not read the bytes: there are \(count) in place of \(expected). Give all of the block."
        case .contradictoryAccessBits:
            "could not read the access bits: they contradict their inverted copies. Do not write them to a card."
        case .checksum(let found, let computed):
            "could not read the directory: its checksum is \([found].hex) where \([computed].hex) fits. "
                + "It may have been torn while it was written; format the card again."
        }
    }
}
