import ReaderKit

/// A simulated PN532: takes the commands of a program and answers them with a card that lies before it.
///
/// It is a state machine without a line, a thread or a clock: frames go in, frames come out (NXP's user manual UM0701).
/// ``PN532Terminal`` puts it behind a pseudo-terminal, where libnfc and other programs find it. It reads and writes cards
/// of ISO/IEC 14443 type A (with ISO/IEC 14443-4, and MIFARE Classic with its keys) and type B, FeliCa and Topaz. It has
/// no ISO 15693, as the real chip has none, and cannot be a card itself.
public struct PN532Chip: Sendable {
    /// In what chips and their firmware differ.
    public struct Habits: Sendable, Hashable {
        /// What GetFirmwareVersion answers: chip, version, revision, and what it supports (1 type A, 2 type B, 4
        /// ISO 18092).
        public var firmware: [UInt8] = [0x32, 0x01, 0x06, 0x07]

        /// Whether InCommunicateThru reports an acknowledgement of four bits as a checksum error (status 02) as long as the
        /// chip takes checksums off, and not as a byte.
        public var refusesShortAnswers = false

        /// The usual chip.
        public init() {}
    }

    /// In what this chip differs from others.
    public let habits: Habits

    /// How many commands were taken.
    public private(set) var commands = 0

    /// Whether nothing but an acknowledgement frame, by which a program gives up a command, gets the chip to listen again.
    public var isHanging = false

    /// How long the command under way still waits for a card if none comes: then ``giveUp()``. `nil` is for ever, or
    /// that no command waits.
    public var patience: Duration? { wait?.patience }

    /// Whether a command waits for a card.
    public var isWaiting: Bool { wait != nil }

    /// Whether the field is on.
    public var isFieldOn: Bool { field.isOn }

    /// How many APDUs and frames have reached cards, without those by which cards are found.
    public var exchanges: Int { field.exchanges }

    /// Whether a card lies before the chip.
    public var hasCard: Bool { field.card != nil }

    var field = PN532Field()
    var registers = PN532Registers()
    var selection: Selection?
    var wait: Wait?
    /// The parameters of SetParameters; the chip starts with `14`, which activates ISO/IEC 14443-4 by itself.
    var parameters: UInt8 = 0x14
    /// How often InListPassiveTarget tries again; `FF` is for ever.
    var retries: UInt8 = 0xFF
    /// What of a long answer the program has not fetched.
    var rest: [UInt8] = []
    /// What of a long command has come.
    var chained: [UInt8] = []

    private var lastAnswer: PN532Frame?

    struct Selection: Sendable {
        var face: RadioFace
        /// What the field counted when the card was selected; another number means that the card knows of nothing.
        var activation: Int
        var brTy: UInt8
        /// Whether it was put to sleep, and can be selected again.
        var isAsleep = false
        var blocks = ISODEPCard()
        /// The chip's own block number, in ISO/IEC 14443-4.
        var blockNumber: UInt8 = 0
        var identifier: UInt8?
    }

    struct Wait: Sendable {
        enum Command: Sendable {
            case list(brTy: UInt8, data: [UInt8])
            case poll(types: [UInt8])

            var code: UInt8 {
                if case .list = self { 0x4A } else { 0x60 }
            }
        }

        var command: Command
        var patience: Duration?
    }

    enum Reply {
        case data([UInt8])
        case syntaxError
        /// The answer comes when there is a card.
        case later
    }

    /// A chip without a card, its field off.
    public init(_ habits: Habits = Habits()) {
        self.habits = habits
    }

    // MARK: The line

    /// Takes a frame from the program and returns what the chip sends: to a command an acknowledgement and, unless it
    /// waits for a card, the answer. A new command, or an acknowledgement frame, ends a command that waits.
    public mutating func receive(_ frame: PN532Frame) -> [PN532Frame] {
        switch frame {
        case .acknowledgement:
            isHanging = false
            wait = nil
            return []
        case .refusal:
            return isHanging || wait != nil ? [] : lastAnswer.map { [$0] } ?? []
        case .answer, .error:
            return []
        case .command(let bytes):
            guard !isHanging else { return [] }
            wait = nil
            commands += 1
            guard let code = bytes.first else { return [.acknowledgement, .error] }
            return [.acknowledgement] + answer(code, reply(to: code, Array(bytes.dropFirst())))
        }
    }

    /// Lays a card before the chip, in place of one that is there; a command that waited for it is answered.
    public mutating func insert(_ card: any SimulatedCard) -> [PN532Frame] {
        field.insert(card)
        guard let wait, let found = find(wait.command) else { return [] }
        self.wait = nil
        return answer(wait.command.code, .data(found))
    }

    /// Takes the card away.
    public mutating func remove() { field.remove() }

    /// Plans that the card is taken away at an exchange, counted from 0 over those to come, or after it carried that
    /// out, its answer being lost.
    public mutating func tear(atExchange exchange: Int, afterwards: Bool) {
        field.planTear(at: exchange, afterwards: afterwards)
    }

    /// The time of a command that waits for a card is over: it is answered that there is none.
    public mutating func giveUp() -> [PN532Frame] {
        guard let wait = wait.take() else { return [] }
        return answer(wait.command.code, .data([0]))
    }

    private mutating func answer(_ code: UInt8, _ reply: Reply) -> [PN532Frame] {
        switch reply {
        case .data(let data): lastAnswer = .answer([code &+ 1] + data)
        case .syntaxError: lastAnswer = .error
        case .later: lastAnswer = nil
        }
        return lastAnswer.map { [$0] } ?? []
    }

    // MARK: Commands

    private mutating func reply(to code: UInt8, _ data: [UInt8]) -> Reply {
        if code != 0x40 { (rest, chained) = ([], []) }
        switch code {
        case 0x00: return diagnose(data)
        case 0x02: return .data(Array(habits.firmware.prefix(4)))
        case 0x04: return .data(generalStatus)
        case 0x06: return readRegisters(data)
        case 0x08: return writeRegisters(data)
        // The line has no speed here, so another one is as good.
        case 0x10: return data.count == 1 && data[0] <= 0x08 ? .data([]) : .syntaxError
        case 0x12:
            guard data.count == 1 else { return .syntaxError }
            parameters = data[0]
            return .data([])
        case 0x14: return (1...3).contains(data.count) && (1...4).contains(data[0]) ? .data([]) : .syntaxError
        case 0x16:
            guard (1...2).contains(data.count) else { return .syntaxError }
            field.switchOff()
            selection = nil
            return .data([Status.success])
        case 0x32: return configureField(data)
        case 0x40: return exchange(data)
        case 0x42: return communicate(data)
        case 0x44: return deselect(data, forgets: false)
        case 0x4A: return list(data)
        case 0x52: return deselect(data, forgets: true)
        case 0x54: return select(data)
        case 0x60: return autoPoll(data)
        default: return .data([Status.timeOut])
        }
    }

    /// The status bytes of UM0701, section 7.1.
    enum Status {
        static let success: UInt8 = 0x00
        static let timeOut: UInt8 = 0x01
        static let checksum: UInt8 = 0x02
        static let overflow: UInt8 = 0x0E
        static let parameter: UInt8 = 0x10
        static let authentication: UInt8 = 0x14
        static let context: UInt8 = 0x27
        /// More of the answer is to be fetched.
        static let more: UInt8 = 0x40
    }

    private func diagnose(_ data: [UInt8]) -> Reply {
        switch data.first {
        // The line: everything comes back.
        case 0x00: .data(data)
        // ROM, RAM and antenna are in order.
        case 0x01, 0x02, 0x07: .data([Status.success])
        // Whether the card is still there.
        case 0x06: .data([isSelected ? Status.success : Status.timeOut])
        default: .syntaxError
        }
    }

    private var generalStatus: [UInt8] {
        let header: [UInt8] = [0x00, field.isOn ? 1 : 0]
        guard let selection else { return header + [0, 0] }
        let speed: UInt8 = selection.brTy == 1 || selection.brTy == 2 ? selection.brTy : 0
        let type: UInt8 = selection.face.technology == .feliCa ? 0x10 : 0x00
        return header + [1, 1, speed, speed, type, 0]
    }

    private func readRegisters(_ data: [UInt8]) -> Reply {
        guard !data.isEmpty, data.count.isMultiple(of: 2) else { return .syntaxError }
        return .data(
            stride(from: 0, to: data.count, by: 2).map { registers[UInt16(data[$0]) << 8 | UInt16(data[$0 + 1])] }
        )
    }

    private mutating func writeRegisters(_ data: [UInt8]) -> Reply {
        guard !data.isEmpty, data.count.isMultiple(of: 3) else { return .syntaxError }
        for index in stride(from: 0, to: data.count, by: 3) {
            registers[UInt16(data[index]) << 8 | UInt16(data[index + 1])] = data[index + 2]
        }
        return .data([])
    }

    private mutating func configureField(_ data: [UInt8]) -> Reply {
        guard let item = data.first else { return .syntaxError }
        switch item {
        case 0x01:
            guard data.count == 2 else { return .syntaxError }
            if data[1] & 0x01 != 0 { field.switchOn() } else { field.switchOff() }
        case 0x05:
            guard data.count == 4 else { return .syntaxError }
            retries = data[3]
        // Times and analogue settings mean nothing without a radio.
        default: break
        }
        return .data([])
    }
}

/// The registers of a PN532 that programs read and write. Those without a meaning here keep what was written.
struct PN532Registers: Sendable {
    /// The last so many bits of a frame to be sent, in BitFraming; 0 is all.
    var sentBits: Int { Int(values[0x633D, default: 0] & 0x07) }
    /// Whether the chip adds the checksum to frames that it sends.
    var addsChecksum: Bool { values[0x6302, default: 0] & 0x80 != 0 }
    /// Whether the chip takes the checksum off frames that it receives.
    var takesChecksum: Bool { values[0x6303, default: 0] & 0x80 != 0 }
    /// The modulation of frames that are sent: 0 type A, 2 FeliCa, 3 type B.
    var framing: UInt8 { values[0x6302, default: 0] & 0x03 }

    private var values: [UInt16: UInt8] = [:]

    subscript(address: UInt16) -> UInt8 {
        get { values[address, default: 0] }
        set { values[address] = newValue }
    }

    /// As the chip's firmware sets them when it has found a card.
    mutating func set(_ technology: RadioFace.Technology, speed: UInt8) {
        values[0x6302] = 0x80 | speed << 4 | technology.framing
        values[0x6303] = 0x80 | speed << 4 | technology.framing
        values[0x633D] = 0
    }

    /// What the receiver left: how many bits of the last byte count.
    mutating func setReceivedBits(_ bits: Int) {
        values[0x633C] = values[0x633C, default: 0] & 0xF8 | UInt8(bits & 0x07)
    }

    /// What lies in the FIFO after the request for a card: the request (`26`) if nothing answered it.
    mutating func setRequestAnswered(_ isAnswered: Bool) { values[0x6339] = isAnswered ? 0x00 : 0x26 }
}
