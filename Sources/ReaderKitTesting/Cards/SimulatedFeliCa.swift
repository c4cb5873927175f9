import ReaderKit
import Synchronization

/// A FeliCa card whose blocks may be read and written without encryption, as FeliCa Lite's: a Type 3 tag.
///
/// It takes polling with its request codes, Request Service (`02`), Request Response (`04`), Read Without Encryption
/// (`06`) and Write Without Encryption (`08`) with the services 000B and 0009, and Request System Code (`0C`). Frames
/// begin with their length. A command that asks for more blocks than the card allows, for a service or a block
/// that it does not have is answered with the status flags of the standard.
public final class SimulatedFeliCa: SimulatedCard {
    /// The IDm, 8 bytes.
    public let uid: [UInt8]

    /// What differs between cards.
    public let configuration: Configuration

    private let state: Mutex<[UInt8]>

    /// What differs between cards.
    public struct Configuration: Sendable, Hashable {
        /// How many blocks of 16 bytes there are, block 0 included: 14 on a FeliCa Lite.
        public var blocks = 14
        /// Nbr: the most blocks in one read.
        public var blocksPerRead = 4
        /// Nbw: the most blocks in one write.
        public var blocksPerWrite = 1
        /// The systems that answer a poll; `12FC` is NDEF's.
        public var systems: [UInt16] = [0x88B4, 0x12FC]
        /// Whether the card states that it is there and what it has (`02`, `04`, `0C`). A FeliCa Standard does and a
        /// FeliCa Lite does not, but libnfc and others ask by nothing else whether a card is still there.
        public var answersRequests = true

        /// A FeliCa Lite with NDEF. Change what shall differ.
        public init() {}
    }

    /// The IDm of cards unless specified otherwise.
    public static let sampleIDm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE7, 0x91, 0x83, 0x5A, 0x06]

    /// A card whose blocks are all zero.
    public init(configuration: Configuration = .init(), uid: [UInt8] = SimulatedFeliCa.sampleIDm) {
        self.configuration = configuration
        self.uid = uid.padded(to: 8)
        state = Mutex(Array(repeating: 0, count: max(1, configuration.blocks) * 16))
    }

    /// A formatted tag that holds the message; `nil` if it is too long for the card.
    public static func formatted(
        message: [UInt8] = [],
        configuration: Configuration = .init(),
        uid: [UInt8] = SimulatedFeliCa.sampleIDm
    ) -> SimulatedFeliCa? {
        let card = SimulatedFeliCa(configuration: configuration, uid: uid)
        let blocks = max(1, configuration.blocks) - 1
        guard message.count <= blocks * 16 else { return nil }
        var first: [UInt8] = [0x10, UInt8(configuration.blocksPerRead & 0xFF)]
        first += [UInt8(configuration.blocksPerWrite & 0xFF)] + [UInt8].bigEndian(blocks, 2)
        first += [0, 0, 0, 0, 0x00, 0x01] + [UInt8].bigEndian(message.count, 3)
        card.overwrite(block: 0, with: first + [UInt8].bigEndian(first.reduce(0) { $0 + Int($1) }, 2))
        card.overwrite(block: 1, with: message)
        return card
    }

    /// A FeliCa card.
    public var kind: SimulatedCardKind { .feliCa }

    /// All blocks as they are now.
    public var memory: [UInt8] { state.withLock { $0 } }

    /// Changes memory as no reader could; what does not fit is left out.
    public func overwrite(block: Int, with bytes: [UInt8]) {
        state.withLock { $0.overwrite(at: block * 16, with: bytes) }
    }

    /// Answers a frame of the card's own protocol; `nil` is silence.
    public func receive(frame: RawFrame) -> RawFrame? {
        let bytes = frame.bytes
        guard frame.bitsInLastByte == 8, bytes.count >= 2, Int(bytes[0]) == bytes.count else { return nil }
        switch bytes[1] {
        case 0x00: return poll(bytes)
        case 0x02, 0x04, 0x0C: return configuration.answersRequests ? request(bytes) : nil
        case 0x06, 0x08: return command(bytes)
        default: return nil
        }
    }

    private func poll(_ bytes: [UInt8]) -> RawFrame? {
        guard bytes.count == 6 else { return nil }
        let systems = configuration.systems.map { [UInt8].bigEndian(Int($0), 2) }
        guard let system = systems.first(where: { zip(bytes[2..<4], $0).allSatisfy { $0 == 0xFF || $0 == $1 } })
        else { return nil }
        var answer = [0x01] + uid + [0x00, 0xF1, 0x00, 0x00, 0x00, 0x01, 0x43, 0x00]
        // The system, or how fast the card can be talked to: 212 and 424 kbit/s, which it finds out itself.
        if bytes[4] == 0x01 { answer += system }
        if bytes[4] == 0x02 { answer += [0x00, 0x83] }
        return RawFrame([UInt8(answer.count + 1)] + answer)
    }

    private func request(_ bytes: [UInt8]) -> RawFrame? {
        guard bytes.count >= 10, Array(bytes[2..<10]) == uid else { return nil }
        let data: [UInt8]
        switch bytes[1] {
        case 0x02:
            guard bytes.count > 10, (1...32).contains(bytes[10]), bytes.count == 11 + 2 * Int(bytes[10]) else {
                return nil
            }
            // The version of each node's key; a service without one has 0000, and FFFF is not there.
            let nodes = stride(from: 11, to: bytes.count, by: 2).map { UInt16(bytes[$0 + 1]) << 8 | UInt16(bytes[$0]) }
            data = [bytes[10]] + nodes.flatMap { [0x0009, 0x000B].contains($0) ? [0x00, 0x00] : [0xFF, 0xFF] }
        case 0x04:
            guard bytes.count == 10 else { return nil }
            // Mode 0, in which a card is that nobody has authenticated to.
            data = [0x00]
        default:
            guard bytes.count == 10 else { return nil }
            let systems = configuration.systems.prefix(15).flatMap { [UInt8].bigEndian(Int($0), 2) }
            data = [UInt8(configuration.systems.count & 0x0F)] + systems
        }
        let answer = [bytes[1] + 1] + uid + data
        return RawFrame([UInt8(answer.count + 1)] + answer)
    }

    /// What a command names, of one service as on these cards: blocks, and the data behind them.
    private static func request(_ bytes: [UInt8]) -> (service: UInt16, blocks: [Int], data: [UInt8])? {
        guard bytes.count >= 14, bytes[10] == 1 else { return nil }
        let service = UInt16(bytes[12]) << 8 | UInt16(bytes[11])
        var rest = bytes[14...]
        var blocks: [Int] = []
        for _ in 0..<Int(bytes[13]) {
            guard let first = rest.popFirst(), let low = rest.popFirst() else { return nil }
            if first & 0x80 != 0 {
                blocks.append(Int(low))
            } else {
                guard let high = rest.popFirst() else { return nil }
                blocks.append(Int(high) << 8 | Int(low))
            }
        }
        return (service, blocks, Array(rest))
    }

    private func command(_ bytes: [UInt8]) -> RawFrame? {
        guard bytes.count >= 10, Array(bytes[2..<10]) == uid else { return nil }
        let isRead = bytes[1] == 0x06
        func answer(_ flags: [UInt8], _ data: [UInt8] = []) -> RawFrame {
            let body = [bytes[1] + 1] + uid + flags + data
            return RawFrame([UInt8(body.count + 1)] + body)
        }
        guard let request = SimulatedFeliCa.request(bytes) else { return nil }
        guard request.service == 0x0009 || (isRead && request.service == 0x000B) else { return answer([0x01, 0xA6]) }
        let most = isRead ? configuration.blocksPerRead : configuration.blocksPerWrite
        guard (1...max(1, most)).contains(request.blocks.count) else { return answer([0xFF, 0xA2]) }
        guard isRead || request.data.count == request.blocks.count * 16 else { return nil }
        return state.withLock { memory in
            if request.blocks.contains(where: { $0 * 16 >= memory.count }) { return answer([0x01, 0xA8]) }
            if isRead {
                let data = request.blocks.flatMap { memory[$0 * 16..<$0 * 16 + 16] }
                return answer([0, 0], [UInt8(request.blocks.count)] + data)
            }
            for (index, block) in request.blocks.enumerated() {
                memory.overwrite(at: block * 16, with: Array(request.data[index * 16..<index * 16 + 16]))
            }
            return answer([0, 0])
        }
    }
}
