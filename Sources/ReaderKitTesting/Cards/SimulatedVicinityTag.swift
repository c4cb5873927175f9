import ReaderKit
import Synchronization

/// A vicinity card of ISO 15693, such as ICODE SLIX or ST25TV: a Type 5 tag.
///
/// It takes inventory (of one slot), STAY QUIET, SELECT and RESET TO READY; READ and WRITE SINGLE BLOCK, LOCK BLOCK and
/// READ MULTIPLE BLOCKS, with block numbers of one byte or, in the extended commands, of two; GET MULTIPLE BLOCK
/// SECURITY STATUS, GET SYSTEM INFORMATION, and the writing and locking of AFI and DSFID: to any card, to the selected
/// one, or addressed to this one.
public final class SimulatedVicinityTag: SimulatedCard {
    /// The identifier, 8 bytes, most significant (E0) first.
    public let uid: [UInt8]

    /// What differs between cards.
    public let configuration: Configuration

    private let state: Mutex<State>

    private struct State {
        var memory: [UInt8]
        var locked: Set<Int> = []
        /// The application family (0) and the storage format (1), and which of them are locked.
        var identifiers: [UInt8] = [0, 0]
        var lockedIdentifiers: Set<Int> = []
        var phase = Phase.ready

        /// Quiet cards take addressed commands only; the selected one also those to whoever is selected.
        enum Phase { case ready, quiet, selected }
    }

    /// What differs between cards.
    public struct Configuration: Sendable, Hashable {
        /// How many bytes a block has, 1...32; the nearest of these.
        public var blockSize = 4 { didSet { blockSize = min(max(blockSize, 1), 32) } }
        /// How many blocks there are: 28 on an ICODE SLIX. Above 256 the extended commands are needed.
        /// 1...65 536; the nearest of these.
        public var blocks = 28 { didSet { blocks = min(max(blocks, 1), 65_536) } }
        /// Whether GET SYSTEM INFORMATION is known.
        public var tellsSystemInformation = true
        /// The number that PC/SC assigns to the card.
        public var name: UInt16 = 0x0014

        /// An ICODE SLIX. Change what shall differ.
        public init() {}
    }

    /// The identifier of cards unless specified otherwise.
    public static let sampleUID: [UInt8] = [0xE0, 0x04, 0x01, 0x50, 0x2B, 0x7C, 0x91, 0x3D]

    /// A card whose blocks are all zero.
    public init(configuration: Configuration = .init(), uid: [UInt8] = SimulatedVicinityTag.sampleUID) {
        self.configuration = configuration
        self.uid = uid.padded(to: 8)
        state = Mutex(State(memory: Array(repeating: 0, count: configuration.blockSize * configuration.blocks)))
    }

    /// A formatted tag that holds the message, with a capability container of 4 bytes, or 8 where the size needs it,
    /// which may state that the message may not be written; `nil` if the message is too long for the card.
    public static func formatted(
        message: [UInt8] = [],
        configuration: Configuration = .init(),
        isReadOnly: Bool = false,
        uid: [UInt8] = SimulatedVicinityTag.sampleUID
    ) -> SimulatedVicinityTag? {
        let card = SimulatedVicinityTag(configuration: configuration, uid: uid)
        let total = configuration.blockSize * configuration.blocks
        let magic: UInt8 = configuration.blocks > 256 ? 0xE2 : 0xE1
        let access: UInt8 = isReadOnly ? 0x43 : 0x40
        let isLong = (total - 4) / 8 > 255
        let size = (total - (isLong ? 8 : 4)) / 8
        let container: [UInt8] =
            isLong
            ? [magic, access, 0, 0x01, 0, 0] + [UInt8].bigEndian(size, 2)
            : [magic, access, UInt8(size & 0xFF), 0x01]
        guard let area = [UInt8].dataArea(message, size: size * 8) else { return nil }
        card.overwrite(block: 0, with: container + area)
        return card
    }

    /// A card of ISO 15693, part 3.
    public var kind: SimulatedCardKind { .storage(standard: 0x0B, name: configuration.name) }

    /// All blocks as they are now.
    public var memory: [UInt8] { state.withLock { $0.memory } }

    /// Changes memory as no reader could; what does not fit is left out.
    public func overwrite(block: Int, with bytes: [UInt8]) {
        state.withLock { $0.memory.overwrite(at: block * configuration.blockSize, with: bytes) }
    }

    /// Locks a block, as LOCK BLOCK does.
    public func lock(block: Int) { state.withLock { _ = $0.locked.insert(block) } }

    /// The card is ready: neither quiet nor selected.
    public func powerOn() { state.withLock { $0.phase = .ready } }

    /// Answers a frame of the card's own protocol; `nil` is silence.
    public func receive(frame: RawFrame) -> RawFrame? {
        guard frame.bitsInLastByte == 8, frame.bytes.count >= 2 else { return nil }
        let flags = frame.bytes[0]
        let command = frame.bytes[1]
        var parameters = frame.bytes[2...]
        if flags & 0x04 != 0 {
            guard command == 0x01, flags & 0x20 != 0 else { return nil }
            return inventory(family: flags & 0x10 != 0 ? parameters.first : nil)
        }
        let isAddressed = flags & 0x20 != 0
        var isMeant = true
        if isAddressed {
            isMeant = parameters.count >= 8 && parameters.prefix(8).elementsEqual(uid.reversed())
            parameters = parameters.dropFirst(8)
        }
        let phase = state.withLock { state in
            // Whoever was selected is so no more when another one is.
            if command == 0x25, isAddressed, !isMeant, state.phase == .selected { state.phase = .ready }
            return state.phase
        }
        guard isMeant, isAddressed || (flags & 0x10 != 0 ? phase == .selected : phase != .quiet) else { return nil }
        if let next = SimulatedVicinityTag.phase(after: command, isAddressed: isAddressed), parameters.isEmpty {
            state.withLock { $0.phase = next }
            return next == .quiet ? nil : RawFrame([0x00])
        }
        return RawFrame(answer(command, Array(parameters), option: flags & 0x40 != 0))
    }

    /// Inventory with one slot: the storage format, and the identifier, least significant byte first.
    private func inventory(family: UInt8?) -> RawFrame? {
        let (identifiers, phase) = state.withLock { ($0.identifiers, $0.phase) }
        guard phase != .quiet, family == nil || family == 0 || family == identifiers[0] else { return nil }
        return RawFrame([0x00, identifiers[1]] + uid.reversed())
    }

    private static func phase(after command: UInt8, isAddressed: Bool) -> State.Phase? {
        switch command {
        case 0x02 where isAddressed: .quiet
        case 0x25 where isAddressed: .selected
        case 0x26: .ready
        default: nil
        }
    }

    private enum Failure {
        static let unknownCommand: [UInt8] = [0x01, 0x01]
        static let unknownFormat: [UInt8] = [0x01, 0x02]
        static let noBlock: [UInt8] = [0x01, 0x10]
        static let alreadyLocked: [UInt8] = [0x01, 0x11]
        static let locked: [UInt8] = [0x01, 0x12]
    }

    private func answer(_ command: UInt8, _ parameters: [UInt8], option: Bool) -> [UInt8] {
        switch command {
        case 0x20...0x23: return blocks(command, parameters, addressLength: 1, option: option)
        case 0x30...0x33: return blocks(command - 0x10, parameters, addressLength: 2, option: option)
        case 0x27, 0x29: return setIdentifier(command == 0x27 ? 0 : 1, parameters)
        case 0x28, 0x2A: return parameters.isEmpty ? lockIdentifier(command == 0x28 ? 0 : 1) : Failure.unknownFormat
        case 0x2B where configuration.tellsSystemInformation: return systemInformation
        case 0x2C: return securityStatus(parameters)
        default: return Failure.unknownCommand
        }
    }

    private var systemInformation: [UInt8] {
        // The number of blocks has one byte; a larger card leaves the field out.
        let hasSize = configuration.blocks <= 256
        let size = [UInt8((configuration.blocks - 1) & 0xFF), UInt8((configuration.blockSize - 1) & 0x1F)]
        let identifiers = state.withLock { [$0.identifiers[1], $0.identifiers[0]] }
        return [0x00, hasSize ? 0x0F : 0x0B] + uid.reversed() + identifiers + (hasSize ? size : []) + [0x01]
    }

    private func setIdentifier(_ index: Int, _ parameters: [UInt8]) -> [UInt8] {
        guard parameters.count == 1 else { return Failure.unknownFormat }
        return state.withLock { state in
            guard !state.lockedIdentifiers.contains(index) else { return Failure.locked }
            state.identifiers[index] = parameters[0]
            return [0x00]
        }
    }

    private func lockIdentifier(_ index: Int) -> [UInt8] {
        state.withLock { $0.lockedIdentifiers.insert(index).inserted ? [0x00] : Failure.alreadyLocked }
    }

    private func securityStatus(_ parameters: [UInt8]) -> [UInt8] {
        guard parameters.count == 2 else { return Failure.unknownFormat }
        let (first, count) = (Int(parameters[0]), Int(parameters[1]) + 1)
        guard first + count <= configuration.blocks else { return Failure.noBlock }
        return state.withLock { state in
            [0x00] + (first..<first + count).map { state.locked.contains($0) ? 0x01 : 0x00 }
        }
    }

    private func blocks(_ command: UInt8, _ parameters: [UInt8], addressLength: Int, option: Bool) -> [UInt8] {
        guard parameters.count >= addressLength else { return Failure.unknownFormat }
        let number = parameters.prefix(addressLength).littleEndianNumber
        let data = Array(parameters.dropFirst(addressLength))
        let size = configuration.blockSize
        return state.withLock { state in
            func read(_ block: Int) -> [UInt8] {
                let security: [UInt8] = option ? [state.locked.contains(block) ? 0x01 : 0x00] : []
                return security + state.memory[block * size..<(block + 1) * size]
            }
            guard number < configuration.blocks else { return Failure.noBlock }
            switch command {
            case 0x20:
                return data.isEmpty ? [0x00] + read(number) : Failure.unknownFormat
            case 0x21:
                guard data.count == size else { return Failure.unknownFormat }
                guard !state.locked.contains(number) else { return Failure.locked }
                state.memory.replaceSubrange(number * size..<(number + 1) * size, with: data)
                return [0x00]
            case 0x22:
                guard data.isEmpty else { return Failure.unknownFormat }
                return state.locked.insert(number).inserted ? [0x00] : Failure.alreadyLocked
            default:
                guard data.count == addressLength else { return Failure.unknownFormat }
                let count = data.littleEndianNumber + 1
                guard number + count <= configuration.blocks else { return Failure.noBlock }
                return [0x00] + (number..<number + count).flatMap(read)
            }
        }
    }
}
