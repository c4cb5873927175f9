import CardCore

/// Reads and writes the blocks of a FeliCa card's NDEF service, without encryption.
struct Type3Link {
    let link: StorageLink

    /// Whether the card is spoken to in its own frames.
    private(set) var usesRawFrames: Bool
    /// The card's IDm in the NDEF system, once it was polled for, or else the one that the reader found.
    private var idm: [UInt8] = []

    /// Whether the card has the NDEF system: it was polled for, and answered.
    private(set) var hasSystem = false

    /// What the reader answered to its own command for the first block, if it did not read it.
    private var refusal: TagError?

    /// The service selected in the reader, if the reader requires that.
    private var selectedService: UInt16?

    /// The system that cards with NDEF answer to.
    static let system: [UInt8] = [0x12, 0xFC]
    /// The service that reads only.
    static let readService: UInt16 = 0x000B
    /// The service that reads and writes.
    static let writeService: UInt16 = 0x0009
    /// The most blocks in one frame: its length byte counts itself.
    private static let longestRead = 15
    private static let longestWrite = 12

    init(_ channel: any CardChannel) {
        link = StorageLink(channel)
        usesRawFrames = link.usesRawFrames
    }

    // MARK: First contact

    /// Reads block 0; `nil` if the card has no NDEF system, or neither reader nor card lets it be read, and the card is
    /// still there.
    ///
    /// - Parameter ifAnswered: whether every other answer means the same, and not only those that refuse, unless the reader
    ///   has no way to ask, which then throws ``TagError/notAsked(_:attempt:status:)``.
    mutating func readFirst(ifAnswered: Bool = false) throws(TagError) -> [UInt8]? {
        do throws(TagError) {
            return try connect(ifAnswered)
        } catch {
            guard
                error.isRefusal || error.isUnknownToReader
                    || (ifAnswered && error.isAnswer(inFrames: usesRawFrames))
            else { throw error }
            try link.confirmPresence()
            if ifAnswered, let error = error.unread(.type3, after: refusal) { throw error }
            return nil
        }
    }

    private mutating func connect(_ ifAnswered: Bool) throws(TagError) -> [UInt8]? {
        if !usesRawFrames {
            do throws(TagError) {
                return try read(0, count: 1)
            } catch {
                guard error.isRefusal || (ifAnswered && error.isAnswer(inFrames: false)) else { throw error }
                refusal = error
            }
            // Some readers require the service to be selected first.
            let status = try select(Type3Link.readService)
            // The service is not on the card.
            if status == .fileNotFound {
                refusal = .protected(attempt: "select the service that reads", status: status)
            }
            if status.isSuccess {
                do throws(TagError) {
                    return try read(0, count: 1)
                } catch {
                    guard error.isRefusal || (ifAnswered && error.isAnswer(inFrames: false)) else { throw error }
                    refusal = error
                }
            }
            // Others do not read blocks of such cards, but carry frames.
            usesRawFrames = true
        }
        if try !poll() {
            // A card of one system answers by the identifier that the reader found, too.
            guard ifAnswered, let found = try PermanentLock.identifier(over: link.channel), found.bytes.count == 8
            else { return nil }
            idm = found.bytes
        }
        return try read(0, count: 1)
    }

    /// Asks for the NDEF system; `false` if the card has none. A reader finds the card by any of its systems, and each
    /// may have an IDm of its own.
    private mutating func poll() throws(TagError) -> Bool {
        let attempt = "look for the NDEF system of the card"
        let answer: [UInt8]
        do throws(TagError) {
            answer = try link.transceive([0x06, 0x00] + Type3Link.system + [0x00, 0x00], attempt: attempt)
        } catch {
            // A card without this system does not answer. One that was taken away does not come back either.
            guard error.isSilence(inFrames: true) else { throw error }
            try link.confirmPresence()
            return false
        }
        guard answer.count >= 18, Int(answer[0]) == answer.count, answer[1] == 0x01 else {
            throw StorageLink.broken(attempt, "\(answer.count) bytes that are no answer to a poll")
        }
        idm = Array(answer[2..<10])
        hasSystem = true
        return true
    }

    private mutating func select(_ service: UInt16) throws(TagError) -> StatusWord {
        let data = [UInt8(service & 0xFF), UInt8(service >> 8)]
        let command = CommandAPDU(trusted: 0xFF, Instruction.select, 0x00, 0x01, data)
        let status = try link.send(command, asIs: true).statusWord
        if status.isSuccess { selectedService = service }
        return status
    }

    // MARK: Blocks

    /// Reads `count` blocks, as many at once as the way and `limit` allow.
    mutating func read(_ first: Int, count: Int, limit: Int = 1) throws(TagError) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = first
        while block < first + count {
            let many = usesRawFrames ? min(max(1, limit), Type3Link.longestRead, first + count - block) : 1
            bytes += usesRawFrames ? try readRaw(block, many) : try readThroughReader(block)
            block += many
        }
        return bytes
    }

    private mutating func readThroughReader(_ block: Int) throws(TagError) -> [UInt8] {
        let attempt = "read block \(block) of the tag"
        let bytes = try link.read(block, length: 16, attempt: attempt)
        guard bytes.count == 16 else { throw StorageLink.broken(attempt, "\(bytes.count) bytes in place of a block") }
        return bytes
    }

    private func readRaw(_ first: Int, _ count: Int) throws(TagError) -> [UInt8] {
        let attempt = "read block \(first) of the tag"
        let list = Type3Link.blockList(first, count)
        let answer = try command(0x06, Type3Link.readService, count, list, [], attempt: attempt)
        guard answer.count == 13 + 16 * count, answer[12] == UInt8(count) else {
            throw StorageLink.broken(attempt, "\(answer.count) bytes for \(count) blocks")
        }
        return Array(answer[13...])
    }

    /// Writes blocks, as many at once as the way and `limit` allow.
    mutating func write(_ first: Int, _ bytes: [UInt8], limit: Int = 1) throws(TagError) {
        let count = bytes.count / 16
        var index = 0
        while index < count {
            let many = usesRawFrames ? min(max(1, limit), Type3Link.longestWrite, count - index) : 1
            let data = Array(bytes[index * 16..<(index + many) * 16])
            let block = first + index
            let attempt = "write block \(block) of the tag"
            if usesRawFrames {
                let list = Type3Link.blockList(block, many)
                _ = try command(0x08, Type3Link.writeService, many, list, data, attempt: attempt)
            } else {
                if let selectedService, selectedService != Type3Link.writeService {
                    guard try select(Type3Link.writeService).isSuccess else {
                        throw .unsupported(.type3, attempt: "select the service that writes")
                    }
                }
                try link.write(block, data, attempt: attempt)
            }
            index += many
        }
    }

    /// Two bytes a block, or three for numbers above 255, least significant first.
    private static func blockList(_ first: Int, _ count: Int) -> [UInt8] {
        var list: [UInt8] = []
        for block in first..<first + count {
            let low = UInt8(block & 0xFF)
            if block < 256 {
                list += [0x80, low]
            } else {
                list += [0x00, low, UInt8(block >> 8 & 0xFF)]
            }
        }
        return list
    }

    /// Sends a command without encryption and checks that the answer is this card's and states that it was done.
    private func command(
        _ code: UInt8,
        _ service: UInt16,
        _ count: Int,
        _ list: [UInt8],
        _ data: [UInt8],
        attempt: String
    ) throws(TagError) -> [UInt8] {
        var body = [code] + idm
        body += [0x01, UInt8(service & 0xFF), UInt8(service >> 8), UInt8(truncatingIfNeeded: count)]
        body += list + data
        guard let length = UInt8(exactly: body.count + 1) else {
            throw StorageLink.broken(attempt, "\(body.count) bytes do not fit into a frame")
        }
        let answer = try link.transceive([length] + body, attempt: attempt)
        guard answer.count >= 12, Int(answer[0]) == answer.count, answer[1] == code + 1, Array(answer[2..<10]) == idm
        else { throw StorageLink.broken(attempt, "\(answer.count) bytes that are no answer to it") }
        guard answer[10] == 0 else {
            // The card's two status flags, of which the second is the reason.
            throw .protected(attempt: attempt, status: StatusWord(UInt16(answer[10]) << 8 | UInt16(answer[11])))
        }
        return answer
    }
}
