import CardCore
import CardPasses

/// A command and its answer as both its explanation and its redaction see them.
struct RecordedExchange: Sendable {
    enum Carrier: Sendable, Hashable {
        case apdu
        case frame
        case control(UInt32)
    }

    /// How deep commands may stand within commands.
    static let depthLimit = 3

    let carrier: Carrier
    let command: [UInt8]
    let commandBits: Int
    /// What came back; `nil` if nothing did.
    let answer: [UInt8]?
    let answerBits: Int
    let apdu: Parts?

    struct Parts: Sendable {
        let cla: UInt8
        let ins: UInt8
        let p1: UInt8
        let p2: UInt8
        let data: [UInt8]
        let dataOffset: Int
        let expectedLength: Int?
        let error: APDUError?
        let status: StatusWord?
        /// The answer without its status word.
        let body: [UInt8]

        var dataRange: Range<Int> { dataOffset..<(dataOffset + data.count) }
        /// P1 and P2 as one number.
        var parameter: Int { Int(p1) << 8 | Int(p2) }
        var isSuccess: Bool { status?.isSuccess == true }
        /// The name of the application that is selected, if it selects one by name.
        var selectedName: [UInt8]? {
            ins == Instruction.select && p1 == 0x04 && cla != 0xFF && cla != 0x90 ? data : nil
        }
    }

    init(_ exchange: Capture.Exchange) {
        let carrier: Carrier
        var (commandBits, answerBits) = (8, 8)
        switch exchange.request {
        case .apdu: carrier = .apdu
        case .raw(let frame): (carrier, commandBits) = (.frame, frame.bitsInLastByte)
        case .control(let code, _): carrier = .control(code)
        }
        var answer: [UInt8]? = exchange.answer.bytes
        switch exchange.answer {
        case .bytes: break
        case .raw(let frame): answerBits = frame.bitsInLastByte
        case .fault: answer = nil
        }
        self.init(carrier, exchange.request.bytes, answer, commandBits: commandBits, answerBits: answerBits)
    }

    init(_ carrier: Carrier, _ command: [UInt8], _ answer: [UInt8]?, commandBits: Int = 8, answerBits: Int = 8) {
        self.carrier = carrier
        self.command = command
        self.commandBits = commandBits
        self.answer = answer
        self.answerBits = answerBits
        apdu = carrier == .apdu ? Parts(command, answer) : nil
    }
}

extension RecordedExchange.Parts {
    init?(_ command: [UInt8], _ answer: [UInt8]?) {
        guard command.count >= CaptureLimits.shortestCommand else { return nil }
        (cla, ins, p1, p2) = (command[0], command[1], command[2], command[3])
        do throws(APDUError) {
            let layout = try APDULayout(command)
            data = Array(command[layout.data])
            dataOffset = layout.data.lowerBound
            expectedLength = layout.expectedLength
            error = nil
        } catch {
            // What stands where the data would: the lengths are wrong, and the rest may be right.
            dataOffset = min(5, command.count)
            data = Array(command[dataOffset...])
            expectedLength = nil
            self.error = error
        }
        let response = answer.flatMap { try? ResponseAPDU(bytes: $0) }
        status = response?.statusWord
        body = response?.data ?? []
    }
}

extension RecordedExchange.Parts {
    /// What carries a frame to the card within a command to the reader, and how many bytes stand before the frame in the
    /// data and before its answer in the body: those of a PN53x's own command.
    var carriedFrame: (carrier: String, data: Int, answer: Int)? {
        switch (cla, ins, data.prefix(2)) {
        case (0xFF, Instruction.encapsulate, _): ("reader: carries a frame (ENCAPSULATE)", 0, 0)
        case (0xFF, Instruction.passThrough, _): ("reader: carries a frame", 0, 0)
        case (0xFF, Instruction.directTransmit, [0xD4, 0x42]): ("reader: carries a frame (InCommunicateThru)", 2, 3)
        case (0xFF, Instruction.directTransmit, [0xD4, 0x40]): ("reader: carries a frame (InDataExchange)", 3, 3)
        default: nil
        }
    }
}

extension RecordedExchange {
    /// The numbers of the blocks that a FeliCa command reads or writes, which begins with its code, and the place behind
    /// each in it. What a command writes, behind its list, may be taken for further blocks.
    static func feliCaBlocks(of command: [UInt8]) -> [(number: Int, end: Int)] {
        guard command.count > 10 else { return [] }
        var place = 11 + 2 * Int(command[9])
        var blocks: [(number: Int, end: Int)] = []
        while place + 1 < command.count {
            let isShort = command[place] & 0x80 != 0
            guard isShort || place + 2 < command.count else { break }
            let number = isShort ? Int(command[place + 1]) : Int(command[place + 2]) << 8 | Int(command[place + 1])
            place += isShort ? 2 : 3
            blocks.append((number, place))
        }
        return blocks
    }
}

extension Capture.Exchange.Request {
    /// The bytes that are sent; setting keeps what they are.
    var bytes: [UInt8] {
        get {
            switch self {
            case .apdu(let bytes): bytes
            case .raw(let frame): frame.bytes
            case .control(_, let data): data
            }
        }
        set {
            switch self {
            case .apdu: self = .apdu(newValue)
            case .raw(let frame): self = .raw(RawFrame(newValue, bitsInLastByte: frame.bitsInLastByte))
            case .control(let code, _): self = .control(code: code, data: newValue)
            }
        }
    }
}

extension Capture.Exchange.Answer {
    /// The bytes that came; setting keeps what they are.
    var bytes: [UInt8] {
        get {
            switch self {
            case .bytes(let bytes): bytes
            case .raw(let frame): frame.bytes
            case .fault: []
            }
        }
        set {
            switch self {
            case .bytes: self = .bytes(newValue)
            case .raw(let frame): self = .raw(RawFrame(newValue, bitsInLastByte: frame.bitsInLastByte))
            case .fault: break
            }
        }
    }
}

extension CardFacts {
    /// The technology that was stated, or else the one that the ATR shows.
    var shownTechnology: Technology? { technology ?? atr.flatMap { try? ATR($0) }?.technology }
}
