import CardCore
import CardPasses

/// libnfc's debug log (`LIBNFC_LOG_LEVEL=3`): frames to and from a PN53x.
///
/// ```
/// debug   libnfc.bus.uart TX: 00 00 ff 05 fb d4 40 01 30 00 bb 00
/// debug   libnfc.bus.uart RX: 00 00 ff 00 ff 00
/// debug   libnfc.bus.uart RX: 00 00 ff 13 ed
/// debug   libnfc.bus.uart RX: d5 41
/// ```
///
/// What comes in pieces is put together. Frames of the ACR122 (CCID messages with `FF 00 00 00` inside) are taken too.
enum LibNFCLog {
    /// Whether a line is a frame of an old version, which has no `debug libnfc…` before it.
    static func isBareFrame(_ line: LogLine) -> Bool {
        let text = line.text(from: 0, to: 60).lowercased()
        return (text.hasPrefix("tx:") || text.hasPrefix("rx:")) && text.replacing(" ", with: "").contains("0000ff")
    }

    static func read(_ lines: [LogLine], into builder: inout ConversionBuilder) throws(CaptureError) {
        var reading = Reading(builder: builder)
        for line in lines {
            if try reading.take(line) { reading.builder.usedLines += 1 }
        }
        reading.finishCommand()
        builder = reading.builder
    }

    private struct Target {
        var facts: CardFacts
        var isISODEP: Bool
    }

    private struct Reading {
        var builder: ConversionBuilder
        /// The command under way, and the line that it stands on.
        var command: [UInt8]?
        var commandLine = 0
        var received: [UInt8] = []
        var target: Target?
        /// How many bits of the last byte of a raw frame are sent; 0 for all.
        var bits = 0

        mutating func take(_ line: LogLine) throws(CaptureError) -> Bool {
            if let place = line.end(of: "connstring: \""), builder.soleReader == nil {
                let end = line.bytes[place...].firstIndex(of: UInt8(ascii: "\""))
                builder.soleReader = line.text(from: place, to: end)
                return true
            }
            let isLog = line.contains("libnfc.")
            let start = line.bytes.firstIndex { !CaptureCursor.isSpace($0) } ?? 0
            if let place = line.end(of: "TX:"), isLog || place == start + 3 {
                let bytes = try line.hex(from: place)
                finishCommand()
                command = PN53xFrame.payload(bytes, direction: 0xD4)
                (commandLine, received) = (line.number, [])
                return command != nil
            }
            if let place = line.end(of: "RX:"), isLog || place == start + 3 {
                let bytes = try line.hex(from: place)
                // Far more than any frame: a log of something else.
                if received.count < 8192 { received += bytes }
                return command != nil
            }
            return false
        }

        mutating func finishCommand() {
            guard let command, let code = command.first else { return }
            let answer = PN53xFrame.payload(received, direction: 0xD5)
            self.command = nil
            received = []
            let data = Array(command.dropFirst())
            guard let answer, answer.first == code &+ 1 else { return refuse(code, data) }
            let result = Array(answer.dropFirst())
            switch code {
            case 0x4A: list(result, kind: data.count > 1 ? data[1] : 0)
            case 0x60: poll(result)
            case 0x40: exchange(Array(data.dropFirst()), result)
            case 0x42: communicate(data, result)
            case 0x44, 0x52: leave()
            case 0x32 where data.starts(with: [0x01]) && data.count > 1 && data[1] & 1 == 0: leave()
            case 0x08: writeRegisters(data)
            default: break
            }
        }

        private mutating func leave() {
            builder.removed(from: nil, at: nil)
            target = nil
            bits = 0
        }

        private mutating func writeRegisters(_ data: [UInt8]) {
            for place in stride(from: 0, through: data.count - 3, by: 3)
            where data[place] == 0x63 && data[place + 1] == 0x3D {
                // CIU_BitFraming: TxLastBits.
                bits = Int(data[place + 2] & 0x07)
            }
        }

        // MARK: Targets

        private mutating func list(_ result: [UInt8], kind: UInt8) {
            guard let count = result.first, count > 0 else { return leave() }
            select(Array(result.dropFirst(2)), kind: kind)
        }

        /// InAutoPoll: a count, then for each target its type, length and data, which begins with its number.
        private mutating func poll(_ result: [UInt8]) {
            guard let count = result.first, count > 0, result.count > 3 else { return leave() }
            let kind = result[1] & 0x0F
            select(Array(result[3...].prefix(Int(result[2])).dropFirst()), kind: kind > 4 ? 0 : kind)
        }

        private mutating func select(_ data: [UInt8], kind: UInt8) {
            guard let found = Self.target(data, kind: kind) else { return }
            bits = 0
            if !builder.resume(on: nil, facts: found.facts) {
                builder.card(on: nil, at: builder.nextTime, facts: found.facts, line: commandLine)
            }
            target = found
        }

        /// What a target shows (PN532 user manual, InListPassiveTarget).
        private static func target(_ data: [UInt8], kind: UInt8) -> Target? {
            func fact(_ name: String, _ range: Range<Int>) -> CardFacts.Value? {
                range.upperBound <= data.count && !range.isEmpty ? .init(name, Array(data[range])) : nil
            }
            func target(_ technology: Technology, _ values: [CardFacts.Value?], isISODEP: Bool = false) -> Target {
                Target(facts: CardFacts(technology: technology, values: values.compactMap(\.self)), isISODEP: isISODEP)
            }
            switch kind {
            case 0:
                // SENS_RES, SEL_RES, the identifier behind its length, and the ATS behind its own.
                guard data.count >= 4, data.count >= 4 + Int(data[3]) else { return nil }
                let end = 4 + Int(data[3])
                let values = [fact("atqa", 0..<2), fact("sak", 2..<3), fact("uid", 4..<end)]
                let length = end < data.count ? Int(data[end]) : 0
                let ats = length > 1 ? fact("ats", (end + 1)..<min(end + length, data.count)) : nil
                return target(.iso14443a, values + [ats], isISODEP: data[2] & 0x20 != 0)
            case 1, 2:
                // POL_RES behind its length: 01, NFCID2, PAD, perhaps the system code.
                guard data.count >= 18 else { return nil }
                let code = data[0] >= 20 ? fact("syscode", 18..<20) : nil
                return target(.felica, [fact("idm", 2..<10), fact("pmm", 10..<18), code])
            case 3:
                // ATQB: 50, PUPI, application data, protocol info.
                guard data.count >= 12 else { return nil }
                let values = [fact("pupi", 1..<5), fact("appdata", 5..<9), fact("protinfo", 9..<12)]
                return target(.iso14443b, values, isISODEP: true)
            default:
                // Jewel: SENS_RES and four bytes of identifier.
                guard data.count >= 6 else { return nil }
                return target(.iso14443a, [fact("atqa", 0..<2), fact("uid", 2..<6)])
            }
        }

        // MARK: Exchanges

        /// InDataExchange: the chip does the protocol.
        private mutating func exchange(_ command: [UInt8], _ result: [UInt8]) {
            guard target != nil, !command.isEmpty, let status = result.first else { return }
            let data = Array(result.dropFirst())
            if target?.isISODEP == true, command.count >= CaptureLimits.shortestCommand {
                let answer = status & 0x3F == 0 ? ConversionBuilder.answer(data) : .fault(Self.fault(status))
                return note(.apdu(command), answer)
            }
            guard status & 0x3F == 0 else { return note(.raw(RawFrame(command)), .fault(Self.fault(status))) }
            // The chip keeps a tag's acknowledgement to itself.
            let frame = data.isEmpty ? RawFrame([0x0A], bitsInLastByte: 4) : RawFrame(data)
            note(.raw(RawFrame(command)), .raw(frame))
        }

        /// InCommunicateThru: frames as they are.
        private mutating func communicate(_ command: [UInt8], _ result: [UInt8]) {
            guard target != nil, !command.isEmpty, let status = result.first else { return }
            var (command, data) = (command, Array(result.dropFirst()))
            if let plain = RadioChecksum.typeA.strip(command) {
                command = plain
                data = RadioChecksum.typeA.strip(data) ?? data
            }
            // A frame of a few bits stands in the low bits of its byte.
            if (1...7).contains(bits), let last = command.last { command[command.count - 1] = last & (1 << bits) - 1 }
            let request = RawFrame(command, bitsInLastByte: bits == 0 ? 8 : bits)
            guard status & 0x3F == 0, let first = data.first else {
                return note(.raw(request), .fault(status & 0x3F == 0 ? .timeout : Self.fault(status)))
            }
            let isAcknowledgement = data.count == 1 && first < 0x10 && target?.facts.technology == .iso14443a
            note(.raw(request), .raw(RawFrame(data, bitsInLastByte: isAcknowledgement ? 4 : 8)))
        }

        /// A command without an answer: the host gave up.
        private mutating func refuse(_ code: UInt8, _ data: [UInt8]) {
            guard target != nil else { return }
            let command = code == 0x40 ? Array(data.dropFirst()) : data
            guard code == 0x40 || code == 0x42, !command.isEmpty else { return }
            let isAPDU = code == 0x40 && target?.isISODEP == true && command.count >= CaptureLimits.shortestCommand
            note(isAPDU ? .apdu(command) : .raw(RawFrame(command)), .fault(.timeout))
        }

        private mutating func note(_ request: Capture.Exchange.Request, _ answer: Capture.Exchange.Answer) {
            builder.exchange(request, answer, on: nil, at: nil, line: commandLine)
        }

        /// The chip's error codes: 01 is a time-out, 0A no field, the others a failed exchange.
        private static func fault(_ status: UInt8) -> Capture.Fault { status & 0x3F == 0x01 ? .timeout : .commError }
    }
}
