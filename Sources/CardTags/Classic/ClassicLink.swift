import CardCore

/// Authenticates to sectors of a MIFARE Classic and reads and writes their blocks.
///
/// A card halts after a wrong key and after a refused command, so it is powered anew before it is asked again.
struct ClassicLink {
    let link: StorageLink

    /// What the card is open for.
    private(set) var session: Session?

    private var isHalted = false
    /// The key in the reader's volatile slot 0. It stays there when the card is reset.
    private var loadedKey: ClassicKey?

    /// A sector that was authenticated, and how.
    struct Session: Hashable {
        var sector: Int
        var side: ClassicKey.Side
        var key: ClassicKey
    }

    init(_ channel: any CardChannel) {
        link = StorageLink(channel)
    }

    // MARK: Authentication

    /// Whether the card refused the last key, which it does by silence, like a card that was taken away.
    var wasRefused: Bool { isHalted }

    /// Makes sure that the card is still there after a refusal.
    ///
    /// - Throws: ``TagError`` if it is not.
    mutating func confirmPresence() throws(TagError) {
        session = nil
        try link.confirmPresence()
        isHalted = false
    }

    /// Opens a sector with a key; `false` if the key is not the card's.
    ///
    /// - Throws: ``TagError``; ``TagError/unsupported(_:attempt:)`` if the reader does not know how.
    mutating func authenticate(_ wanted: Session) throws(TagError) -> Bool {
        if session == wanted, !isHalted { return true }
        session = nil
        if isHalted { try confirmPresence() }
        guard let block = UInt8(exactly: ClassicSize.trailer(ofSector: wanted.sector)) else { return false }
        // Should the exchange fail, nobody knows what state the card is in.
        isHalted = true
        let isOpen =
            link.usesRawFrames
            ? try authenticateRaw(block, wanted) : try authenticateThroughReader(block, wanted)
        guard isOpen else { return false }
        isHalted = false
        session = wanted
        return true
    }

    /// Opens a sector with the first key that fits.
    mutating func authenticate(_ sector: Int, _ side: ClassicKey.Side, _ keys: [ClassicKey]) throws(TagError) -> Bool {
        if let session, session.sector == sector, session.side == side, keys.contains(session.key), !isHalted {
            return true
        }
        for key in keys where try authenticate(Session(sector: sector, side: side, key: key)) { return true }
        return false
    }

    private mutating func authenticateThroughReader(_ block: UInt8, _ wanted: Session) throws(TagError) -> Bool {
        let attempt = "authenticate to sector \(wanted.sector)"
        if loadedKey != wanted.key {
            let answer = try link.send(CommandAPDU(trusted: 0xFF, Instruction.loadKey, 0x00, 0x00, wanted.key.bytes))
            guard MessageQuestion.key.meaning(of: answer.statusWord) == .present else {
                throw .unsupported(.mifareClassic, attempt: "load a key into the reader (\(answer.statusWord))")
            }
            loadedKey = wanted.key
        }
        let data: [UInt8] = [0x01, 0x00, block, wanted.side.rawValue, 0x00]
        let command = CommandAPDU(trusted: 0xFF, Instruction.generalAuthenticate, 0x00, 0x00, data)
        var status = try link.send(command).statusWord
        if MessageQuestion.directory.meaning(of: status) == .failed {
            // A weak field must not make a card one without a message, so it gets another chance.
            try confirmPresence()
            status = try link.send(command).statusWord
        }
        switch MessageQuestion.directory.meaning(of: status) {
        case .present: return true
        case .absent: return false
        case .failed: throw StorageLink.fault(attempt, status)
        case .notAsked, .protected, .unsupported, .corrupt:
            throw .unsupported(.mifareClassic, attempt: "\(attempt) (\(status))")
        }
    }

    private func authenticateRaw(_ block: UInt8, _ wanted: Session) throws(TagError) -> Bool {
        guard let uid = link.channel.facts["uid"], uid.count >= 4 else {
            throw .unsupported(.mifareClassic, attempt: "authenticate without the card's identifier")
        }
        let answer: RawFrame
        do {
            answer = try link.exchange([wanted.side.rawValue, block] + wanted.key.bytes + uid.suffix(4))
        } catch {
            // Silence is the card's no. libnfc has a code of its own for it, NFC_EMFCAUTHFAIL.
            if error.isSilence(inFrames: true) { return false }
            if case .link(let fault) = error, fault.code?.rawValue == -30 { return false }
            throw error
        }
        return answer.bytes.isEmpty || ClassicLink.isAcknowledgement(answer)
    }

    private static func isAcknowledgement(_ frame: RawFrame) -> Bool {
        frame.bytes.count == 1 && frame.bytes[0] & 0x0F == 0x0A
    }

    // MARK: Blocks

    /// Reads a block of the open sector: 16 bytes.
    mutating func read(_ block: Int) throws(TagError) -> [UInt8] {
        let attempt = "read block \(block) of the card"
        do throws(TagError) {
            let bytes: [UInt8]
            if link.usesRawFrames {
                guard let address = UInt8(exactly: block) else { throw .protected(attempt: attempt, status: nil) }
                bytes = try link.transceive([0x30, address], attempt: attempt)
            } else {
                bytes = try link.read(block, length: 16, isOpened: true, attempt: attempt)
            }
            guard bytes.count >= 16 else {
                throw StorageLink.broken(attempt, "\(bytes.count) bytes in place of a block")
            }
            return Array(bytes.prefix(16))
        } catch {
            close()
            // A card that was taken away looks the same to many readers as one that does not let the block be read.
            if error.isRefusal { try confirmPresence() }
            throw error
        }
    }

    /// Writes a block of the open sector. Whether it may be written is for the caller to know.
    mutating func write(_ block: Int, _ bytes: [UInt8]) throws(TagError) {
        let attempt = "write block \(block) of the card"
        do throws(TagError) {
            guard link.usesRawFrames else {
                try link.write(block, bytes, attempt: attempt)
                return
            }
            guard let address = UInt8(exactly: block) else { throw .protected(attempt: attempt, status: nil) }
            let answer = try link.exchange([0xA0, address] + bytes)
            guard answer.bytes.isEmpty || ClassicLink.isAcknowledgement(answer) else {
                throw .protected(attempt: attempt, status: nil)
            }
        } catch {
            close()
            throw error
        }
    }

    /// Forgets the session: after a refusal, and after the keys of a sector were changed.
    mutating func close(isHalted: Bool = true) {
        session = nil
        if isHalted { self.isHalted = true }
    }
}
