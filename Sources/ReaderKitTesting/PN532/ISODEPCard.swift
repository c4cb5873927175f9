/// A card's side of the block protocol of ISO/IEC 14443-4, before whatever answers its APDUs.
///
/// It knows chaining in both directions, repetition, CID, and being deselected. It never asks for more time.
struct ISODEPCard: Sendable {
    private(set) var isActive = false

    private var blockNumber: UInt8 = 1
    private var identifier: UInt8 = 0
    private var longestBlock = 256
    private var command: [UInt8] = []
    private var pending: [UInt8] = []
    private var last: [UInt8] = []

    /// The most bytes of one command, however many blocks it takes: no APDU is longer.
    private static let longestCommand = 65_544

    /// The frame sizes of FSDI and FSCI.
    static func size(_ code: Int) -> Int {
        let sizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]
        return sizes[min(max(code, 0), sizes.count - 1)]
    }

    /// The reader describes how long its blocks may be (the code of FSD) and which number the card gets.
    mutating func activate(sizeCode: Int, identifier: UInt8) {
        self = ISODEPCard()
        isActive = true
        longestBlock = ISODEPCard.size(sizeCode)
        self.identifier = identifier
    }

    mutating func receive(_ block: [UInt8], answer: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
        guard isActive, let control = block.first else { return nil }
        let hasIdentifier = control & 0x08 != 0
        if hasIdentifier {
            guard block.count >= 2, block[1] & 0x0F == identifier else { return nil }
        } else if identifier != 0 {
            return nil
        }
        let content = Array(block.dropFirst(hasIdentifier ? 2 : 1))
        if control & 0xE2 == 0x02 {
            // A node address would follow; the card takes none.
            guard control & 0x04 == 0 else { return nil }
            return information(control, content, hasIdentifier, answer)
        }
        if control & 0xE6 == 0xA2 { return acknowledgement(control, hasIdentifier) }
        if control & 0xF7 == 0xC2 {
            isActive = false
            return block
        }
        return nil
    }

    private mutating func information(
        _ control: UInt8,
        _ content: [UInt8],
        _ hasIdentifier: Bool,
        _ answer: ([UInt8]) -> [UInt8]?
    ) -> [UInt8]? {
        guard command.count + content.count <= ISODEPCard.longestCommand else { return nil }
        blockNumber ^= 1
        pending = []
        command += content
        if control & 0x10 != 0 { return send(0xA2 | blockNumber, hasIdentifier) }
        defer { command = [] }
        guard let response = answer(command) else { return nil }
        pending = response
        return sendPart(hasIdentifier)
    }

    private mutating func acknowledgement(_ control: UInt8, _ hasIdentifier: Bool) -> [UInt8]? {
        if control & 0x01 == blockNumber { return last.isEmpty ? nil : last }
        // Asked whether it is there, the card acknowledges; its last answer can still be repeated.
        if control & 0x10 != 0 { return block(0xA2 | blockNumber, hasIdentifier) }
        guard !pending.isEmpty else { return nil }
        blockNumber ^= 1
        return sendPart(hasIdentifier)
    }

    private mutating func sendPart(_ hasIdentifier: Bool) -> [UInt8] {
        // Control byte, identifier and checksum take their places in the block.
        let room = max(1, longestBlock - (hasIdentifier ? 4 : 3))
        let part = Array(pending.prefix(room))
        pending.removeFirst(part.count)
        return send(0x02 | blockNumber | (pending.isEmpty ? 0x00 : 0x10), hasIdentifier, part)
    }

    private mutating func send(_ control: UInt8, _ hasIdentifier: Bool, _ content: [UInt8] = []) -> [UInt8] {
        last = block(control, hasIdentifier) + content
        return last
    }

    private func block(_ control: UInt8, _ hasIdentifier: Bool) -> [UInt8] {
        hasIdentifier ? [control | 0x08, identifier] : [control]
    }
}
