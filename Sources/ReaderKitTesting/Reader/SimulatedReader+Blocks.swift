import ReaderKit
import Synchronization

/// `FF B0` and `FF D6`: the card's own read and write.
extension SimulatedReader {
    func readBinary(_ command: [UInt8], of card: any SimulatedCard) -> [UInt8] {
        guard command.count <= 5 else { return Status.wrongLength }
        let block = Int(command[2]) << 8 | Int(command[3])
        let expected = command.count == 5 ? Int(command[4]) : 0
        let kind = card.kind
        if kind.isType2 { return readPages(command, expected, of: card) }
        if kind.isClassic { return readSectorBlock(block, expected, of: card) }
        if kind.isFeliCa, readsOtherCards { return readFeliCa(block, expected, of: card) }
        if kind.isVicinity, readsOtherCards { return readVicinity(block, expected, of: card) }
        if kind == .topaz, readsTopaz { return readTopazBlock(block, expected, of: card) }
        if case .isoDEP = kind { return Status.wrongCard }
        return Status.unsupported
    }

    func updateBinary(_ command: [UInt8], of card: any SimulatedCard) -> [UInt8] {
        let kind = card.kind
        if case .isoDEP = kind { return Status.wrongCard }
        guard command.count > 5, command.count == 5 + Int(command[4]) else { return Status.wrongLength }
        let data = Array(command[5...])
        let block = Int(command[2]) << 8 | Int(command[3])
        if kind.isType2 {
            guard command[2] == 0 else { return Status.wrongParameters }
            guard data.count == 4 else { return Status.wrongLength }
            let frame = card.receive(frame: RawFrame([0xA2, command[3]] + data))
            return frame == RawFrame.acknowledgement ? Status.success : Status.failed
        }
        if kind.isClassic {
            guard command[2] == 0 else { return Status.wrongParameters }
            guard data.count == 16 else { return Status.wrongLength }
            let frame = card.receive(frame: RawFrame([0xA0, command[3]] + data))
            return frame == RawFrame.acknowledgement ? Status.success : security
        }
        if kind.isFeliCa, readsOtherCards { return writeFeliCa(block, data, to: card) }
        if kind.isVicinity, readsOtherCards { return writeVicinity(block, data, to: card) }
        return Status.unsupported
    }

    private var security: [UInt8] { [UInt8].bigEndian(Int(securityStatus), 2) }

    /// Cuts an answer to what was asked for, where the reader does not insist on the length.
    private func cut(_ data: [UInt8], _ expected: Int) -> [UInt8] {
        if expected > 0, expected < data.count, !insistsOnLength {
            return Array(data.prefix(expected)) + Status.success
        }
        if expected > data.count, !insistsOnLength { return data + Status.success }
        return answer(data, expected: expected)
    }

    // MARK: Type A

    private func readPages(_ command: [UInt8], _ expected: Int, of card: any SimulatedCard) -> [UInt8] {
        guard command[2] == 0 else { return Status.wrongParameters }
        guard let frame = card.receive(frame: RawFrame([0x30, command[3]])), frame.bytes.count == 16 else {
            return Status.failed
        }
        return cut(Array(frame.bytes.prefix(max(1, min(bytesPerRead, 16)))), expected)
    }

    private func readSectorBlock(_ block: Int, _ expected: Int, of card: any SimulatedCard) -> [UInt8] {
        guard let address = UInt8(exactly: block) else { return Status.wrongParameters }
        // Whether the sector is closed or the block may not be read, the card only refuses.
        guard let frame = card.receive(frame: RawFrame([0x30, address])), frame.bytes.count == 16 else {
            return security
        }
        return cut(frame.bytes, expected)
    }

    private func readTopazBlock(_ block: Int, _ expected: Int, of card: any SimulatedCard) -> [UInt8] {
        guard let address = UInt8(exactly: block) else { return Status.wrongParameters }
        let identifier = card.receive(frame: RawFrame([0x78, 0, 0, 0, 0, 0, 0]))?.bytes ?? []
        guard identifier.count == 6 else { return Status.mute }
        if block < 15 {
            let all = card.receive(frame: RawFrame([0x00, 0, 0] + identifier[2...]))?.bytes ?? []
            guard all.count == 122 else { return Status.mute }
            return cut(Array(all[2 + block * 8..<10 + block * 8]), expected)
        }
        let padding: [UInt8] = Array(repeating: 0, count: 8)
        let frame = card.receive(frame: RawFrame([0x02, address] + padding + identifier[2...]))
        guard let frame, frame.bytes.count == 9 else { return Status.failed }
        return cut(Array(frame.bytes[1...]), expected)
    }

    // MARK: FeliCa

    /// The reader found the card by any of its systems.
    private func identifier(of card: any SimulatedCard) -> [UInt8]? {
        let answer = card.receive(frame: RawFrame([0x06, 0x00, 0xFF, 0xFF, 0x00, 0x00]))?.bytes ?? []
        return answer.count >= 18 ? Array(answer[2..<10]) : nil
    }

    private func feliCa(
        _ code: UInt8,
        _ service: UInt16,
        _ block: Int,
        _ data: [UInt8],
        _ card: any SimulatedCard
    ) -> [UInt8]? {
        guard let idm = identifier(of: card) else { return nil }
        var body = [code] + idm + [0x01] + [UInt8].littleEndian(Int(service), 2) + [0x01]
        body += block < 256 ? [0x80, UInt8(block & 0xFF)] : [0x00] + [UInt8].littleEndian(block, 2)
        body += data
        return card.receive(frame: RawFrame([UInt8(body.count + 1)] + body))?.bytes ?? []
    }

    private func readFeliCa(_ block: Int, _ expected: Int, of card: any SimulatedCard) -> [UInt8] {
        let service = memory[card].service
        if wantsService, service == nil { return Status.notAllowed }
        guard let answer = feliCa(0x06, service ?? 0x000B, block, [], card) else { return Status.unsupported }
        guard !answer.isEmpty else { return Status.mute }
        guard answer.count == 29, answer[10] == 0 else { return Status.failed }
        return cut(Array(answer[13...]), expected)
    }

    private func writeFeliCa(_ block: Int, _ data: [UInt8], to card: any SimulatedCard) -> [UInt8] {
        guard data.count == 16 else { return Status.wrongLength }
        let service = memory[card].service
        if wantsService, service == nil { return Status.notAllowed }
        guard let answer = feliCa(0x08, service ?? 0x0009, block, data, card) else { return Status.unsupported }
        guard !answer.isEmpty else { return Status.mute }
        return answer.count == 12 && answer[10] == 0 ? Status.success : Status.failed
    }

    // MARK: ISO 15693

    /// Sends a command for a block, in its extended form where the number needs it; `nil` if it fails.
    private func command(_ code: UInt8, _ block: Int, _ data: [UInt8] = [], to card: any SimulatedCard) -> [UInt8]? {
        let isShort = block < 256
        let frame = [0x02, isShort ? code : code + 0x10] + [UInt8].littleEndian(block, isShort ? 1 : 2) + data
        guard let answer = card.receive(frame: RawFrame(frame)), answer.bytes.first == 0 else { return nil }
        return Array(answer.bytes.dropFirst())
    }

    private func readVicinity(_ first: Int, _ expected: Int, of card: any SimulatedCard) -> [UInt8] {
        guard card.receive(frame: RawFrame([0x26, 0x01, 0x00])) != nil else { return Status.unsupported }
        guard var data = command(0x20, first, to: card), !data.isEmpty else { return Status.notFound }
        let size = data.count
        if expected > size, expected % size == 0 {
            for number in first + 1..<first + expected / size {
                guard let next = command(0x20, number, to: card) else { break }
                data += next
            }
        }
        return cut(data, expected)
    }

    private func writeVicinity(_ block: Int, _ data: [UInt8], to card: any SimulatedCard) -> [UInt8] {
        guard card.receive(frame: RawFrame([0x26, 0x01, 0x00])) != nil else { return Status.unsupported }
        guard let old = command(0x20, block, to: card) else { return Status.notFound }
        guard data.count == old.count else { return Status.wrongLength }
        return command(0x21, block, data, to: card) == nil ? Status.failed : Status.success
    }
}

extension SimulatedReader {
    /// `FF 82`: a key into one of the volatile slots 00 to 03. The reader keeps it, whatever card is there.
    func loadKey(_ command: [UInt8], for card: any SimulatedCard) -> [UInt8] {
        guard command.count == 11, command[4] == 6 else { return Status.wrongLength }
        guard command[2] == 0x00, command[3] < 4 else { return Status.wrongP1P2 }
        memory[card].keys[command[3]] = Array(command[5...])
        return Status.success
    }

    /// `FF 86`: authenticates to the sector of a block of a MIFARE Classic. The cipher is the reader's part, so the card
    /// gets key and identifier in the frame.
    func authenticate(_ command: [UInt8], to card: any SimulatedCard) -> [UInt8] {
        guard command.count == 10, command[4] == 5 else { return Status.wrongLength }
        guard card.kind.isClassic else { return card.kind == .ultralight ? Status.unsupported : Status.wrongCard }
        guard command[5] == 0x01, command[6] == 0x00, command[8] == 0x60 || command[8] == 0x61 else {
            return Status.wrongData
        }
        guard let key = memory[card].keys[command[9]] else { return Status.notAllowed }
        let frame = RawFrame([command[8], command[7]] + key + card.uid.suffix(4))
        if card.receive(frame: frame) != nil { return Status.success }
        guard selectsAgain else { return Status.failed }
        // The card is selected anew, so that the next key finds it awake.
        card.powerOff()
        card.powerOn()
        return Status.failed
    }

    /// `FF A4 00 01 02`: a service of a FeliCa card, least significant byte first.
    func selectService(_ command: [UInt8], of card: any SimulatedCard) -> [UInt8] {
        guard card.kind.isFeliCa, readsOtherCards else { return Status.unknownInstruction }
        guard command.count == 7, command[4] == 2 else { return Status.wrongLength }
        guard command[2] == 0x00, command[3] == 0x01 else { return Status.wrongP1P2 }
        memory[card].service = UInt16(command[6]) << 8 | UInt16(command[5])
        return Status.success
    }
}

/// What a simulated reader keeps from one command to the next: the keys loaded into it, the FeliCa service selected, and
/// whether a transparent session is open.
///
/// One reader value may serve several slots, so each card has its own; that of cards long gone is dropped.
final class SimulatedReaderMemory: Sendable, Hashable {
    struct Session {
        var keys: [UInt8: [UInt8]] = [:]
        var service: UInt16?
        var isTransparent = false
    }

    private let sessions = Mutex<[ObjectIdentifier: Session]>([:])

    private static let mostCards = 64

    subscript(card: any SimulatedCard) -> Session {
        get { sessions.withLock { $0[ObjectIdentifier(card)] ?? Session() } }
        set {
            sessions.withLock {
                if $0.count >= SimulatedReaderMemory.mostCards { $0 = [:] }
                $0[ObjectIdentifier(card)] = newValue
            }
        }
    }

    /// The memory makes no difference between two readers of the same habits.
    static func == (_: SimulatedReaderMemory, _: SimulatedReaderMemory) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
