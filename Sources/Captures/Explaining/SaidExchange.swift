import CardCore

/// A command and its answer as those who explain it see them.
struct SaidExchange: Sendable {
    /// By what it was carried.
    enum Carrier: Sendable, Hashable {
        case apdu
        case frame
        case control(UInt32)
    }

    let carrier: Carrier
    let command: [UInt8]
    /// How many bits the last byte of the command has.
    let commandBits: Int
    /// What came back; `nil` if nothing did.
    let answer: [UInt8]?
    let answerBits: Int
    /// The command's parts, where it is an APDU.
    let apdu: Parts?

    /// The parts of a command APDU and of its answer.
    struct Parts: Sendable {
        let cla: UInt8
        let ins: UInt8
        let p1: UInt8
        let p2: UInt8
        let data: [UInt8]
        /// Where the data begin in the command.
        let dataOffset: Int
        let expectedLength: Int?
        /// What is wrong with its lengths.
        let error: APDUError?
        let status: StatusWord?
        /// The answer without its status word.
        let body: [UInt8]

        /// P1 and P2 as one number.
        var parameter: Int { Int(p1) << 8 | Int(p2) }
        var isSuccess: Bool { status?.isSuccess == true }
        /// The name of the application that is selected, if it selects one by name.
        var selectedName: [UInt8]? { ins == 0xA4 && p1 == 0x04 && cla != 0xFF && cla != 0x90 ? data : nil }
    }

    init(_ exchange: Capture.Exchange) {
        switch exchange.request {
        case .apdu(let bytes): (carrier, command, commandBits) = (.apdu, bytes, 8)
        case .raw(let frame): (carrier, command, commandBits) = (.frame, frame.bytes, frame.bitsInLastByte)
        case .control(let code, let bytes): (carrier, command, commandBits) = (.control(code), bytes, 8)
        }
        switch exchange.answer {
        case .bytes(let bytes): (answer, answerBits) = (bytes, 8)
        case .raw(let frame): (answer, answerBits) = (frame.bytes, frame.bitsInLastByte)
        case .fault: (answer, answerBits) = (nil, 8)
        }
        apdu = carrier == .apdu ? Parts(command, answer) : nil
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

extension SaidExchange.Parts {
    /// `nil` for what is shorter than a command's header.
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
