import CardCore
import CardPasses

/// libnfc's debug log (`LIBNFC_LOG_LEVEL=3`): frames to and from a PN53x, or APDUs of its driver for PC/SC.
///
/// ```
/// debug   libnfc.bus.uart TX: 00 00 ff 05 fb d4 40 01 30 00 bb 00
/// debug   libnfc.bus.uart RX: 00 00 ff 00 ff 00
/// debug   libnfc.bus.uart RX: 00 00 ff 13 ed
/// debug   libnfc.bus.uart RX: d5 41
/// debug   libnfc.bus.spi  TX: 03
/// debug   libnfc.bus.spi  RX: 00 00 ff 13
/// debug   libnfc.driver.acr122_usb    RX: 80 15 00 00 00 00 00 00 81 00 d5 41 00 04 5a …
/// debug   libnfc.driver.pcsc  TX: ff ca 00 00 00
/// ```
///
/// What comes in pieces is put together; lengths and checksums decide whether it is whole. On SPI, the first byte that is
/// sent says whether a frame, the state or the answer follows. Of I2C, libnfc 1.8 logs only what is sent.
struct LibNFCLog: LogForm {
    enum Tag {
        case sent, received, connection(String)
        /// What the driver for PC/SC sent and received.
        case apdu, answer
        case failure
    }

    /// Whether a line is a frame of an old version, which has no `debug libnfc…` before it.
    static func isBareFrame(_ line: LogLine) -> Bool {
        let text = line.text(from: line.start, to: line.start + 60).lowercased()
        return (text.hasPrefix("tx:") || text.hasPrefix("rx:")) && text.replacing(" ", with: "").contains("0000ff")
    }

    private struct Target {
        var facts: CardFacts
        var isISODEP: Bool
    }

    private let isI2COnly: Bool
    /// The command under way, and what it is for the chip.
    private var command: [UInt8]?
    private var commandBytes: LogBytes?
    private var received: [LogBytes] = []
    /// What was sent on SPI last: 01 a frame, 02 a question for the state, 03 one for the answer.
    private var operation: UInt8 = 3
    private var target: Target?
    /// An exchange in parts ("more information"), whose next part is to come: the number of its target with the chip's bit
    /// for that, its bytes so far, and their lines.
    private var parts: (number: UInt8, command: [UInt8], answer: [UInt8], said: LogBytes)?
    /// How many bits of the last byte of a raw frame are sent; 0 for all.
    private var bits = 0

    init(_ lines: [LogLine]) {
        isI2COnly = lines.contains { $0.contains("libnfc.bus.i2c") && $0.contains("TX:") }
    }

    func mark(_ line: LogLine) -> LogMark<Tag>? {
        if let place = line.end(of: "connstring: \"") {
            let end = line.bytes[place...].firstIndex(of: UInt8(ascii: "\""))
            return .init(.connection(line.text(from: place, to: end)))
        }
        if line.contains("PCSC transmit failed") { return .init(.failure) }
        let isLog = line.contains("libnfc.")
        let isPCSC = line.contains("libnfc.driver.pcsc")
        let start = max(line.skippingSpaces(line.start), isLog ? 0 : line.endOfStamp)
        for (text, isSent) in [("TX:" as StaticString, true), ("RX:", false)] {
            guard let place = line.end(of: text), isLog || place == start + 3 else { continue }
            let role: LogLayout.Role = isPCSC ? isSent ? .command : .answer : .stream
            return .init(isPCSC ? isSent ? .apdu : .answer : isSent ? .sent : .received, .text(role), from: place)
        }
        return nil
    }

    mutating func take(_ tag: Tag, _ bytes: LogBytes, into builder: inout ConversionBuilder) {
        switch tag {
        case .connection(let name):
            builder.soleReader = builder.soleReader ?? name
            builder.use(bytes.lines)
        case .apdu: builder.command(bytes)
        case .answer: builder.answer(bytes)
        case .failure:
            builder.fault(.commError)
            builder.use(bytes.lines)
        case .sent: send(bytes, into: &builder)
        case .received:
            guard commandBytes != nil else {
                return builder.skip(bytes, .unexpectedAnswer, "there is no command to be answered")
            }
            if bytes.line.contains("libnfc.bus.spi"), operation != 3 { return builder.use(bytes.lines) }
            // Far more than any frame: a log of something else.
            if received.count < 1024 {
                received.append(bytes)
            } else {
                builder.skip(bytes, .wrongLength, "this is no frame")
            }
        }
    }

    mutating func finish(into builder: inout ConversionBuilder) {
        finishCommand(into: &builder)
        breakOff(into: &builder)
        guard isI2COnly else { return }
        builder.emptiness =
            "libnfc 1.8 logs no answers on I2C: record with 'readerctl record', or attach the reader by UART"
    }

    private mutating func send(_ bytes: LogBytes, into builder: inout ConversionBuilder) {
        if bytes.line.contains("libnfc.bus.spi") {
            operation = bytes.bytes.first ?? 0
            if operation != 1 { return builder.use(bytes.lines) }
        }
        // The reader has the answer already: `FF C0` fetches it.
        if let (_, content) = Self.message(bytes.bytes), content.starts(with: [0xFF, 0xC0]), command != nil {
            return builder.use(bytes.lines)
        }
        finishCommand(into: &builder)
        (commandBytes, received) = (bytes, [])
        command = bytes.damage == nil ? Self.payload(bytes.bytes, direction: 0xD4) : nil
    }

    /// The content of a CCID message (`6F` or `6B` to the reader, `80` or `83` from it), if its length is right.
    private static func message(_ bytes: [UInt8]) -> (type: UInt8, content: [UInt8])? {
        guard bytes.count >= 10, [0x6F, 0x6B, 0x80, 0x83].contains(bytes[0]) else { return nil }
        let length = bytes[1...4].reversed().reduce(0) { $0 << 8 | Int($1) }
        return bytes.count == 10 + length ? (bytes[0], Array(bytes[10...])) : nil
    }

    /// The command or answer in some bytes, if all lengths and checksums are right.
    private static func payload(_ bytes: [UInt8], direction: UInt8) -> [UInt8]? {
        let isCCID = bytes.count >= 10 && [0x6F, 0x6B, 0x80, 0x83].contains(bytes[0])
        if isCCID, message(bytes) == nil { return nil }
        let content = message(bytes)?.content ?? bytes
        if content.starts(with: [0xFF, 0x00, 0x00, 0x00]), content.count > 4, content.count != 5 + Int(content[4]) {
            return nil
        }
        return PN53xFrame.payload(bytes, direction: direction)
    }

    /// Whether bytes from the chip are only acknowledgements, so that no answer has begun.
    private static func isAcknowledgement(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while rest.starts(with: [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]) { rest = rest.dropFirst(6) }
        if let (_, content) = message(bytes) { return content.isEmpty || content.count == 2 && content[0] == 0x61 }
        return rest.isEmpty
    }

    private mutating func finishCommand(into builder: inout ConversionBuilder) {
        guard commandBytes != nil else { return }
        let received = self.received
        defer { (command, commandBytes, self.received) = (nil, nil, []) }
        let before = goOn(into: &builder)
        guard let sent = commandBytes else { return }
        guard let command, let code = command.first else {
            let isForChip = sent.damage == nil && !sent.bytes.contains(0xD4)
            if isForChip {
                for bytes in [sent] + received { builder.skip(bytes, .trailingText, Self.chip) }
                return
            }
            builder.skip(sent, sent.damage ?? sent.error(.wrongLength, "this command is not whole: \(Self.wrong)"))
            for bytes in received {
                builder.skip(bytes, .unexpectedAnswer, "the command of this answer cannot be read")
            }
            return
        }
        let whole = received.compactMap { Self.payload($0.bytes, direction: 0xD5) }.first { $0.first == code &+ 1 }
        let joined = received.flatMap(\.bytes)
        let isReadable = received.allSatisfy { $0.damage == nil }
        let answer = isReadable ? whole ?? Self.payload(joined, direction: 0xD5) : nil
        let data = Array(command.dropFirst())
        let isTalk = [0x40, 0x42, 0x4A, 0x60].contains(code)
        guard let said = answered else { return }
        guard let answer, answer.first == code &+ 1 else {
            let isSilent =
                isReadable && received.allSatisfy { Self.isAcknowledgement($0.bytes) } || Self.isAcknowledgement(joined)
            guard isTalk, target != nil || !isSilent else { return builder.skip(said, .trailingText, Self.chip) }
            if !isSilent {
                var lost = received[0]
                lost.lines = received.flatMap(\.lines)
                builder.skip(lost, .wrongLength, "this answer is not whole: \(Self.wrong)")
            }
            return refuse(code, data, isSilent ? .timeout : .commError, into: &builder)
        }
        let result = Array(answer.dropFirst())
        switch code {
        case 0x4A: list(result, kind: data.count > 1 ? data[1] : 0, into: &builder)
        case 0x60: poll(result, into: &builder)
        case 0x40: exchange(data, before, result, into: &builder)
        case 0x42: communicate(data, result, into: &builder)
        case 0x44, 0x52: leave(into: &builder)
        case 0x32 where data.starts(with: [0x01]) && data.count > 1 && data[1] & 1 == 0: leave(into: &builder)
        case 0x08: writeRegisters(data)
        default: break
        }
        if parts == nil, !builder.isUsed(said) { builder.skip(said, .trailingText, Self.chip) }
    }

    private static let wrong = "its length or checksum is wrong"
    private static let chip = "this is between the program and the reader's chip"

    /// Joins a part with those before it, and yields what was answered so far; what is left without its next part is
    /// broken off.
    private mutating func goOn(into builder: inout ConversionBuilder) -> [UInt8] {
        guard let open = parts, let sent = commandBytes else { return [] }
        guard let next = command, next.count > 1, next[0] == 0x40, next[1] & 0x3F == open.number & 0x3F,
            open.number & 0x40 != 0 || next.count == 2
        else {
            breakOff(into: &builder)
            return []
        }
        parts = nil
        command = next.prefix(2) + open.command + next.dropFirst(2)
        commandBytes = open.said
        commandBytes?.lines += sent.lines
        return open.answer
    }

    private mutating func breakOff(into builder: inout ConversionBuilder) {
        guard let open = parts else { return }
        let sent = commandBytes
        (parts, commandBytes) = (nil, open.said)
        // Of a command that is not whole there is no exchange.
        if open.number & 0x40 == 0 { refuse(0x40, [open.number] + open.command, .commError, into: &builder) }
        builder.skip(open.said, .wrongLength, "the next part of this is missing")
        commandBytes = sent
    }

    private mutating func leave(into builder: inout ConversionBuilder) {
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

    private mutating func list(_ result: [UInt8], kind: UInt8, into builder: inout ConversionBuilder) {
        guard let count = result.first, count > 0 else { return leave(into: &builder) }
        select(Array(result.dropFirst(2)), kind: kind, into: &builder)
    }

    /// InAutoPoll: a count, then for each target its type, length and data, which begins with its number.
    private mutating func poll(_ result: [UInt8], into builder: inout ConversionBuilder) {
        guard let count = result.first, count > 0, result.count > 3 else { return leave(into: &builder) }
        let kind = result[1] & 0x0F
        select(Array(result[3...].prefix(Int(result[2])).dropFirst()), kind: kind > 4 ? 0 : kind, into: &builder)
    }

    private mutating func select(_ data: [UInt8], kind: UInt8, into builder: inout ConversionBuilder) {
        guard let found = Self.target(data, kind: kind), let said = answered else { return }
        bits = 0
        if !builder.resume(on: nil, facts: found.facts) {
            builder.card(on: nil, at: builder.nextTime, facts: found.facts, line: said.line.number)
        }
        target = found
        builder.use(said.lines)
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

    /// What a tag of ISO 14443-A answers with an acknowledgement, which the chip keeps to itself: writing, counting,
    /// signing, and MIFARE Classic's values. HALT has no answer; to other commands there is one that is not shown.
    private static let acknowledged: Set<UInt8> = [0xA0, 0xA2, 0xA5, 0xA6, 0xA9, 0xAC, 0xB0, 0xC0, 0xC1, 0xC2]

    /// MIFARE Classic's authentication: block, key and identifier. The chip does it, and says whether it succeeded.
    private static func isAuthentication(_ command: [UInt8]) -> Bool {
        command.count == 12 && [0x60, 0x61].contains(command[0])
    }

    /// InDataExchange: the chip does the protocol.
    private mutating func exchange(
        _ sent: [UInt8],
        _ before: [UInt8],
        _ result: [UInt8],
        into builder: inout ConversionBuilder
    ) {
        let command = Array(sent.dropFirst())
        guard !command.isEmpty, let status = result.first, target != nil || status & 0x3F == 0 else { return }
        let data = before + result.dropFirst()
        if sent[0] & 0x40 != 0 || status & 0x7F == 0x40, let said = answered {
            parts = (sent[0], command, data, said)
            // A part that failed has no next one.
            return status & 0x3F == 0 ? () : breakOff(into: &builder)
        }
        if target == nil {
            // The log began later than the conversation.
            target = Target(facts: CardFacts(), isISODEP: (try? APDULayout(command)) != nil && LogBytes.hasStatus(data))
        }
        let isAPDU = target?.isISODEP == true && command.count >= CaptureLimits.shortestCommand
        let isTypeA = target.map { !$0.isISODEP && [.iso14443a, nil].contains($0.facts.technology) } ?? false
        let isKnown = Self.acknowledged.contains(command[0]) || Self.isAuthentication(command)
        let isAcknowledged = isTypeA && data.isEmpty && isKnown
        // With bit 7 a node's address, for which libnfc never asks, would stand before the data.
        let isGood = status & 0xBF == 0
        if isGood, data.isEmpty, !isAPDU, !isAcknowledged, command != [0x50, 0x00], let said = answered {
            return builder.skip(said, .missingAnswer, "the chip shows no answer to this")
        }
        send(command, isAPDU ? .apdu : .frame, into: &builder)
        guard isGood else { return builder.fault(Self.fault(status), answered) }
        isAcknowledged ? answer([0x0A], bits: 4, into: &builder) : answer(data, into: &builder)
    }

    /// InCommunicateThru: frames as they are.
    private mutating func communicate(_ command: [UInt8], _ result: [UInt8], into builder: inout ConversionBuilder) {
        guard target != nil, !command.isEmpty, let status = result.first else { return }
        var (command, data) = (command, Array(result.dropFirst()))
        if let plain = RadioChecksum.typeA.strip(command) {
            command = plain
            data = RadioChecksum.typeA.strip(data) ?? data
        }
        // A frame of a few bits stands in the low bits of its byte.
        if (1...7).contains(bits), let last = command.last { command[command.count - 1] = last & ((1 << bits) - 1) }
        send(command, .frame, bits: bits == 0 ? 8 : bits, into: &builder)
        guard status == 0, let first = data.first else {
            return builder.fault(status == 0 ? .timeout : Self.fault(status), answered)
        }
        let isAcknowledgement = data.count == 1 && first < 0x10 && target?.facts.technology == .iso14443a
        answer(data, bits: isAcknowledgement ? 4 : 8, into: &builder)
    }

    /// A command without an answer: the host gave up.
    private mutating func refuse(
        _ code: UInt8,
        _ data: [UInt8],
        _ fault: Capture.Fault,
        into builder: inout ConversionBuilder
    ) {
        if code == 0x40, let number = data.first, number & 0x40 != 0, let said = answered {
            parts = (number, [], [], said)
            return breakOff(into: &builder)
        }
        let command = code == 0x40 ? Array(data.dropFirst()) : data
        guard target != nil, code == 0x40 || code == 0x42, !command.isEmpty else { return }
        let isAPDU = code == 0x40 && target?.isISODEP == true && command.count >= CaptureLimits.shortestCommand
        send(command, isAPDU ? .apdu : .frame, into: &builder)
        builder.fault(fault)
    }

    /// The lines of the command and of what the chip said, without bytes.
    private var answered: LogBytes? {
        guard let sent = commandBytes else { return nil }
        var part = LogBytes(sent.line, at: sent.place, bytes: [])
        part.lines += sent.lines.dropFirst() + received.flatMap(\.lines)
        part.isEnded = true
        return part
    }

    private func send(
        _ bytes: [UInt8],
        _ carrier: LogBytes.Carrier,
        bits: Int = 8,
        into builder: inout ConversionBuilder
    ) {
        guard let sent = commandBytes else { return }
        var command = LogBytes(sent.line, at: sent.place, bytes: bytes)
        command.lines = sent.lines
        (command.carrier, command.bits, command.isEnded) = (carrier, bits, true)
        builder.command(command)
    }

    private func answer(_ bytes: [UInt8], bits: Int = 8, into builder: inout ConversionBuilder) {
        guard var answer = answered else { return }
        (answer.bytes, answer.bits) = (bytes, bits)
        builder.answer(answer)
    }

    /// The chip's error codes: 01 is a time-out, 0A no field, the others a failed exchange.
    private static func fault(_ status: UInt8) -> Capture.Fault { status & 0x3F == 0x01 ? .timeout : .commError }
}
