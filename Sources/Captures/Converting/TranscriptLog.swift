import CardCore
import CardPasses
import Foundation

/// Commands and answers behind marks, as programs and people write them.
///
/// ```
/// > FF CA 00 00 00                                    people, scriptor, pyscard, readerctl
/// < 04 A1 B2 C3 90 00 : Normal processing.
/// A>> T=1 (4+0008) 00A40400 08 A000000003000000       GlobalPlatformPro, apdu4j
/// Received (SW1=0x90, SW2=0x00):                      opensc-tool, with a dump
/// Outgoing APDU (5 bytes):                            OpenSC, with a dump
/// transmitting <Buffer ff ca 00 00 00> 12             nfc-pcsc
/// [nfc.tag.tt2] >> 3004 (0.005000s)                   nfcpy
///  i bSendBuffer                                      pcsc-spy, with a dump
/// ```
struct TranscriptLog: LogForm {
    enum Tag {
        case command, answer
        /// Commands and answers that the log shows a second time: nfcpy's drivers say again what its tags say, and
        /// opensc-tool what OpenSC's log has.
        case repetition
        case fault(Capture.Fault?)
        case object, statement, atr, found, reset, removed
        case reader(String)
        /// A connection to a reader begins.
        case connecting(String)
        /// A call of pcsc-spy returned.
        case returned(isSuccess: Bool)
        /// The buffer of a call of pcsc-spy that carries no command.
        case otherBuffer
    }

    // MARK: Marks

    private typealias Role = LogLayout.Role

    private static let marks: [(text: StaticString, role: Role)] = [
        ("A>>", .command), ("A<<", .answer), (">>>", .frame), ("<<<", .frameAnswer), (">>", .frame),
        ("<<", .frameAnswer), ("==>", .command), ("<==", .answer), ("=>", .command), ("<=", .answer), ("-->", .command),
        ("<--", .answer), ("->", .command), ("<-", .answer), (">", .command), ("<", .answer), ("→", .command),
        ("←", .answer),
    ]
    private static let words: [String: Role] = [
        "sending": .command, "send": .command, "sent": .command, "command": .command, "c-apdu": .command,
        "capdu": .command, "apdu": .command, "tx": .command, "received": .answer, "recv": .answer, "receive": .answer,
        "response": .answer, "answer": .answer, "r-apdu": .answer, "rapdu": .answer, "sw": .answer, "rx": .answer,
    ]
    /// What programs say when a command got no answer.
    private static let failures: [StaticString] = [
        "transmit failed", "can't get info", "TransmitError", "ControlError", "failed to transmit",
        "nfc.clf.TimeoutError", "TimeoutError after", "TransmissionError after",
        "unable to transmit",
    ]
    private static let readers: [StaticString] = [
        "Using given card reader: ", "Using reader with a card: ", "No reader given: using ", "new reader detected ",
        "szReader ", "mszReaderName ", "pcsc_transmit: reader '", "Reader: ",
    ]
    private static let atrs: [StaticString] = ["ATR: ", "ATR = ", "ATR=", "bAtr ", "card inserted <Buffer "]

    /// scriptor explains each status word: an answer without goes on.
    private let isExplained: Bool
    /// apdu4j's other log has APDUs behind `>>`, and times behind answers.
    private let isBIBO: Bool
    private let hasOpenSC: Bool
    /// nfcpy's tags log their commands, which its drivers log too.
    private let hasTags: Bool
    /// The calls of pcsc-spy by the lines of their buffers: the name, the control code, and how many bytes there are.
    private var calls: [Int: (name: String, code: UInt32, count: Int)] = [:]
    private var reader: String?
    private var spied: LogBytes?
    /// The readers of an nfc-pcsc log of several, which may answer in any order.
    private var channels: Set<String> = []
    private var channel: String { channels.isEmpty ? "" : reader ?? "" }
    /// The lines with the status words of the answers before them, and whether they only say their ends again.
    private var statuses: [Int: Bool] = [:]
    /// The answers that end otherwise than the status word behind them says, in a log where that says the end again.
    private var contradicted: Set<Int> = []

    init(_ lines: [LogLine]) {
        func has(_ text: StaticString) -> Bool { lines.contains { $0.contains(text) } }
        isExplained =
            lines.contains { line in
                let start = line.skippingSpaces(line.endOfStamp)
                return line.text(from: start).hasPrefix("<") && line.end(of: " : ", from: start) != nil
                    && LogBytes.hasPairs(line.bytes[...])
            } || has("Using given file: ") || has("Reading commands from STDIN")
        isBIBO = lines.contains { line in
            let words = line.text(from: line.skippingSpaces(line.start)).split(separator: " ")
            let isHeader = words.count > 2 && words[0] == ">>" && words[1].count == 8
            return isHeader || line.contains("<< ") && line.contains("ms)")
        }
        hasTags = lines.contains { $0.contains("nfc.tag.") && $0.contains(">> ") }
        hasOpenSC = has("Outgoing APDU")
        if has("<Buffer") {
            let sent = Set(lines.compactMap { Self.name($0, "transmitting <Buffer") })
            let isOfSeveral =
                sent.count > 1 && sent == Set(lines.compactMap { Self.name($0, "response received <Buffer") })
            channels = isOfSeveral ? sent : []
        }
        var answers: [(line: Int, isSame: Bool)] = []
        for (index, line) in lines.enumerated() where index > 0 && (line.contains("SW") || line.contains("Status")) {
            guard let place = Self.word(line).flatMap({ Self.isStatus($0.name) ? $0.end : nil }) else { continue }
            let status = LogBytes([(line, place..<line.bytes.count)], isAnswer: true, isFrame: false)
            let before = lines[..<index].last { Self.word($0) != nil || LogBytes.continuation($0) == nil }
            guard status.damage == nil, status.bytes.count == 2, LogBytes.hasStatus(status.bytes), let before,
                let word = Self.word(before), Self.words[word.name] == .answer, !Self.isStatus(word.name)
            else { continue }
            let previous = lines[index - 1]
            let start = Self.word(previous)?.end ?? min(previous.start, previous.bytes.count)
            let end = LogBytes([(previous, start..<previous.bytes.count)], isAnswer: true, isFrame: false).bytes
            let isSame = end.suffix(2) == status.bytes[...]
            statuses[line.number] = isSame
            if !end.isEmpty { answers.append((before.number, isSame)) }
        }
        // Where most lines say the end of an answer again, another has lost its end; else Le decides.
        let isRepeated = answers.count(where: \.isSame) * 2 >= answers.count
        statuses = statuses.mapValues { isRepeated && $0 }
        if isRepeated { contradicted = Set(answers.filter { !$0.isSame }.map(\.line)) }
        var call = (name: "", code: UInt32(0), count: 0)
        for line in lines {
            let words = line.text(from: line.start).lowercased().split(separator: " ")
            let word = words.first { $0 != "i" && $0 != "o" }.map(String.init) ?? ""
            switch word {
            case _ where word.hasPrefix("scar"): call = (word, 0, 0)
            case "dwcontrolcode:":
                let code = words.last.flatMap {
                    UInt32($0.drop { $0 != "x" }.dropFirst().prefix { $0 != ")" }, radix: 16)
                }
                call.code = code ?? 0
            case "bsendlength", "brecvlength":
                let number = words.first { $0.hasPrefix("0x") }.flatMap { Int($0.dropFirst(2), radix: 16) }
                call.count = number ?? 0
            case "bsendbuffer", "brecvbuffer": calls[line.number] = call
            default: break
            }
        }
    }

    func mark(_ line: LogLine) -> LogMark<Tag>? {
        let start = line.skippingSpaces(line.start)
        guard start < line.bytes.count else { return nil }
        if line.bytes[start] == UInt8(ascii: "{"), line.contains("\"command\"") { return .init(.object, from: start) }
        if let mark = buffer(line) ?? dump(line) ?? found(line) { return mark }
        let behind = line.endOfStamp
        for place in behind > start ? [start, behind] : [start] {
            if let mark = plainMark(line, place) { return mark }
        }
        // Behind a logger's name and level.
        if let place = line.end(of: "A>> T=").map({ $0 - 6 }) ?? line.end(of: "A<< (").map({ $0 - 5 }),
            let mark = plainMark(line, place)
        {
            return mark
        }
        return statement(line, start)
    }

    private func plainMark(_ line: LogLine, _ start: Int) -> LogMark<Tag>? {
        guard start < line.bytes.count else { return nil }
        if let place = line.end(ofPrefix: "control 0x", at: start), let end = line.end(of: ">", from: place) {
            let code = UInt32(line.text(from: place, to: end - 1), radix: 16)
            return code.map { _ in .init(.command, .text(.command), from: end) }
        }
        for (text, role) in Self.marks {
            guard let place = line.end(ofPrefix: text, at: start) else { continue }
            return mark(
                line,
                role,
                place,
                isLevel: text.utf8CodeUnitCount == 3 && text.utf8Start[0] == text.utf8Start[1]
            )
        }
        guard let (name, end) = Self.word(line, start) else { return nil }
        if let isRepeated = statuses[line.number] {
            return isRepeated ? .init(.repetition, from: end) : .init(.answer, .text(.status), from: end)
        }
        guard let role = Self.words[name] else { return nil }
        var found = mark(line, role, end, isLevel: false)
        if hasOpenSC { found?.tag = .repetition }
        return found
    }

    /// The word before a colon with which a line begins.
    private static func word(_ line: LogLine, _ start: Int? = nil) -> (name: String, end: Int)? {
        let start = start ?? line.endOfStamp
        guard let colon = line.bytes[start...].prefix(16).firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return (line.text(from: start, to: colon).lowercased(), colon + 1)
    }

    private static func isStatus(_ name: String) -> Bool {
        ["sw", "sw1sw2", "sw1 sw2", "status", "status word"].contains(name)
    }

    /// nfc-pcsc: what stands before its words, if a line has them.
    private static func name(_ line: LogLine, _ words: StaticString) -> String? {
        line.end(of: words).map { end in
            let name = line.text(from: line.endOfStamp, to: end - words.utf8CodeUnitCount)
            return name.hasSuffix("transmit") ? String(name.dropLast(8)).trimmed : name
        }
    }

    private func mark(_ line: LogLine, _ role: Role, _ start: Int, isLevel: Bool) -> LogMark<Tag>? {
        let isAnswer = role == .answer || role == .frameAnswer
        let (place, lengths) = Self.skippingNotes(line, start)
        // Of a command the data are counted, not their length and Le.
        let count = isAnswer ? lengths.map { $0.first + $0.second } : nil
        if isLevel, hasTags || line.contains("nfc.clf.transport") { return .init(.repetition, from: start) }
        let text = line.text(from: place).lowercased()
        if text.isEmpty { return .init(isAnswer ? .answer : .command, .text(role, count: count), from: place) }
        if !isAnswer, text.hasPrefix("reset") { return .init(.reset) }
        if isAnswer, text.hasPrefix("ok:") { return .init(.atr, .text(.stream), from: place + 3) }
        if isAnswer, let announced = ReaderCtlTranscript.announced(line, from: start) {
            let isFrame = role == .frameAnswer
            let status = LogBytes([(line, start..<announced.end)], isAnswer: true, isFrame: true)
            guard status.damage == nil else { return .init(.answer, .text(role), from: start, to: announced.end) }
            return .init(.answer, .dump(total: announced.count, suffix: status.bytes, isFrame: isFrame), from: start)
        }
        let first = text.prefix { $0 != " " && $0 != "," && $0 != ":" && $0 != "]" && $0 != "/" }.drop { $0 == "[" }
            .replacing(
                "-",
                with: ""
            )
        let digits = first.hasPrefix("0x") ? first.dropFirst(2) : first
        let hexes = digits.utf8.count { CaptureCursor.digit($0) != nil }
        let isBytes =
            hexes == digits.utf8.count || digits.utf8.count <= 2 && hexes > 0
            || digits.utf8.count >= 8 && hexes * 4 >= digits.utf8.count * 3
        guard isBytes else {
            // An answer in words: `< KO: …`, `<< None`, `A<< [error] …`.
            let isWords =
                isAnswer && (["ko:", "none", "[error]"].contains { text.hasPrefix($0) } || text.contains("ms)"))
            return isWords ? .init(.fault(Self.fault(text))) : nil
        }
        var role = role
        if isBIBO || line.contains("nfc.tag.tt4"), role == .frame || role == .frameAnswer {
            role = isAnswer ? .answer : .command
        }
        return .init(isAnswer ? .answer : .command, .text(role, count: count), from: place)
    }

    /// GlobalPlatformPro and apdu4j: behind the protocol and the lengths in brackets, with the length that they say.
    private static func skippingNotes(_ line: LogLine, _ start: Int) -> (
        place: Int, lengths: (first: Int, second: Int)?
    ) {
        var (place, lengths) = (start, (first: Int, second: Int)?.none)
        while place < line.bytes.count {
            let byte = line.bytes[place]
            if CaptureCursor.isSpace(byte) {
                place += 1
            } else if byte == UInt8(ascii: "("), let end = line.bytes[place...].firstIndex(of: UInt8(ascii: ")")) {
                let parts = line.text(from: place + 1, to: end).split(separator: "+")
                    .filter { $0.utf8.allSatisfy(CaptureCursor.isDigit) }.map(length)
                if parts.count == 2 { lengths = lengths ?? (parts[0], parts[1]) }
                place = end + 1
            } else if line.end(ofPrefix: "T=", at: place) != nil {
                while place < line.bytes.count, !CaptureCursor.isSpace(line.bytes[place]) { place += 1 }
            } else {
                break
            }
        }
        return (place, lengths)
    }

    /// A number of bytes; more than an answer can have are too many.
    private static func length(_ digits: some StringProtocol) -> Int {
        min(Int(digits) ?? .max, ReaderLimits.responseLength + 1)
    }

    /// nfc-pcsc: Node.js shows fifty bytes of a buffer and says how many more there are.
    private func buffer(_ line: LogLine) -> LogMark<Tag>? {
        guard let place = line.end(of: "<Buffer") else { return nil }
        let isAnswer = line.contains("response received")
        guard isAnswer || line.contains("transmitting") else { return nil }
        let role: Role = isAnswer ? .answer : .command
        guard let end = line.bytes[place...].firstIndex(of: UInt8(ascii: ">")) else {
            var mark = LogMark<Tag>(isAnswer ? .answer : .command, .text(role), from: place)
            mark.isOpen = true
            return mark
        }
        let text = line.text(from: place, to: end)
        let dots = text.range(of: "...")
        let shown = text[..<(dots?.lowerBound ?? text.endIndex)].split(separator: " ").count
        let more = dots.map { Self.length(text[$0.upperBound...].filter(\.isNumber)) }
        let stated = isAnswer ? Int(line.text(from: end + 1)) : nil
        let cut = line.end(of: "...", from: place).map { $0 - 3 } ?? end
        return .init(
            isAnswer ? .answer : .command,
            .text(role, count: stated ?? shown + (more ?? 0)),
            from: place,
            to: cut
        )
    }

    private func dump(_ line: LogLine) -> LogMark<Tag>? {
        if let place = line.end(of: "Outgoing APDU"), let count = line.number(from: place) {
            return .init(.command, .dump(total: count), from: place)
        }
        if let place = line.end(of: "Incoming APDU"), let count = line.number(from: place) {
            return .init(.answer, .dump(total: count), from: place)
        }
        if let call = calls[line.number] {
            let isSend = line.contains("bSendBuffer")
            let isCarrier = call.name == "scardtransmit" || call.name.hasSuffix("control")
            let tag: Tag = !isCarrier ? .otherBuffer : isSend ? .command : .answer
            return .init(tag, .dump(total: call.count), from: line.start)
        }
        if let place = line.end(of: "Received (SW1=0x"), let second = line.end(of: "SW2=0x") {
            let words = [place..<(place + 2), second..<(second + 2)].filter { $0.upperBound <= line.bytes.count }
            let status = LogBytes(words.map { (line, $0) }, isAnswer: false, isFrame: true)
            let rest = line.text(from: (line.end(of: ")", from: second) ?? second))
            let hasDump = rest == ":"
            guard status.damage == nil, status.bytes.count == 2, hasDump || rest.isEmpty else {
                return .init(.answer, .text(.answer, count: 2), from: place, to: place + 2)
            }
            let tag: Tag = hasOpenSC ? .repetition : .answer
            return .init(tag, .dump(total: hasDump ? nil : 0, suffix: status.bytes), from: place)
        }
        return nil
    }

    private func found(_ line: LogLine) -> LogMark<Tag>? {
        guard line.contains("found 106A ") || line.contains("found 212F ") || line.contains("found 106B ") else {
            return nil
        }
        return .init(.found)
    }

    private func statement(_ line: LogLine, _ start: Int) -> LogMark<Tag>? {
        let text = line.text(from: start).lowercased()
        if line.bytes[start] == UInt8(ascii: "!") { return .init(.fault(nil), from: start) }
        if ["card at ", "card 1 at ", "removed at "].contains(where: { text.hasPrefix($0) }) {
            return .init(.statement)
        }
        if let end = line.end(of: "=> "), line.contains("[0x") {
            return .init(.returned(isSuccess: line.contains("[0x00000000]")), from: end)
        }
        if line.contains("SCardConnect(\""), let arrow = line.end(of: "-> T="),
            let comma = line.end(of: ", ", from: arrow)
        {
            return .init(.atr, .text(.stream), from: comma)
        }
        for name in Self.atrs {
            guard let place = line.end(of: name) else { continue }
            let end = line.bytes[place...].firstIndex(of: UInt8(ascii: ">"))
            let bytes = LogBytes([(line, place..<(end ?? line.bytes.count))], isAnswer: false, isFrame: true)
            guard bytes.bytes.first == 0x3B || bytes.bytes.first == 0x3F else { continue }
            return .init(.atr, .text(.stream), from: place, to: end)
        }
        if text.hasPrefix("card removed") || text.hasSuffix(" card removed") { return .init(.removed) }
        if let name = line.text(behind: "disconnecting from "), !name.isEmpty { return .init(.removed) }
        if let name = line.text(behind: "connecting to "), !name.isEmpty { return .init(.connecting(name)) }
        if Self.failures.contains(where: { line.contains($0) }) { return .init(.fault(Self.fault(text))) }
        for name in Self.readers {
            guard let reader = line.text(behind: name), !reader.isEmpty, !reader.hasPrefix("\\"),
                !reader.hasPrefix("NULL")
            else { continue }
            return .init(.reader(reader.hasSuffix("'") ? String(reader.dropLast()) : reader))
        }
        return nil
    }

    private static func fault(_ text: String) -> Capture.Fault {
        let text = text.lowercased()
        let words: [(String, Capture.Fault)] = [
            ("remov", .removed), ("reset", .reset), ("none", .timeout), ("timeout", .timeout), ("timed out", .timeout),
        ]
        return words.first { text.contains($0.0) }?.1 ?? .commError
    }

    // MARK: What they mean

    mutating func take(_ tag: Tag, _ bytes: LogBytes, into builder: inout ConversionBuilder) {
        let line = bytes.line
        if !channels.isEmpty {
            let text = line.text(from: line.endOfStamp)
            let waiting = channels.filter(builder.isWaiting)
            reader =
                channels.filter { !$0.isEmpty && text.hasPrefix($0) }.max { $0.count < $1.count }
                ?? (waiting.count == 1 ? waiting.first : "")
        }
        switch tag {
        case .command: command(bytes, into: &builder)
        case .answer: answer(bytes, into: &builder)
        case .repetition: builder.skip(bytes, .trailingText, "the log says the same in other lines")
        case .fault(let fault): self.fault(fault, line, bytes.place, into: &builder)
        case .object: object(line, bytes.place, into: &builder)
        case .statement: statement(line, into: &builder)
        case .reset: builder.use([line])
        case .atr:
            guard bytes.damage == nil, (2...ReaderLimits.atrLength).contains(bytes.bytes.count) else {
                return builder.skip(line, "this is no whole answer to reset")
            }
            builder.fault(.reset, channel: channel, on: reader)
            if let place = line.end(of: "SCardConnect(\""), builder.soleReader == nil {
                builder.soleReader = line.text(from: place, to: line.bytes[place...].firstIndex(of: UInt8(ascii: "\"")))
            }
            if !builder.isOpen(reader) || builder.hasExchanges(reader) {
                builder.card(on: reader, at: builder.nextTime, line: line.number)
            }
            builder.setATR(bytes.bytes, on: reader)
            builder.use(bytes.lines)
        case .found: found(line, into: &builder)
        case .removed:
            builder.fault(.removed, channel: channel, on: reader)
            builder.removed(from: reader, at: nil)
            builder.use([line])
        case .reader(let name):
            builder.soleReader = builder.soleReader ?? name
            builder.use([line])
        case .connecting(let name):
            builder.fault(.commError, on: reader)
            reader = name
            builder.use([line])
        case .returned(let isSuccess):
            builder.use([line])
            let answer = spied
            spied = nil
            if !isSuccess {
                if let answer, !answer.bytes.isEmpty {
                    builder.skip(answer, .unexpectedAnswer, "the call failed: these bytes are no answer")
                }
                builder.fault(Self.fault(line.text(from: bytes.place)))
            } else if let answer {
                builder.answer(answer)
            }
        case .otherBuffer: for line in bytes.lines { builder.skip(line, CaptureConversion.noConversation) }
        }
    }

    mutating func finish(into builder: inout ConversionBuilder) {
        if let spied { builder.answer(spied, on: reader) }
        builder.fault(.commError, on: reader)
        for name in channels.sorted() { builder.fault(.commError, channel: name, on: name) }
    }

    private mutating func command(_ bytes: LogBytes, into builder: inout ConversionBuilder) {
        var bytes = bytes
        if let call = calls[bytes.line.number], call.name.hasSuffix("control") {
            bytes.carrier = .control(call.code)
        } else if bytes.line.contains("transmitting control") {
            // What nfc-pcsc sends to readers: IOCTL_CCID_ESCAPE of the node binding.
            bytes.carrier = .control(0x42000DAC)
        } else if let place = bytes.line.end(ofPrefix: "control 0x", at: bytes.line.skippingSpaces(bytes.line.start)) {
            let code = UInt32(
                bytes.line.text(from: place, to: bytes.line.end(of: ">", from: place).map { $0 - 1 }),
                radix: 16
            )
            bytes.carrier = .control(code ?? 0)
        } else if bytes.damage == nil, bytes.carrier == .apdu,
            // A command that begins as an APDU is cut.
            (1..<CaptureLimits.shortestCommand).contains(bytes.bytes.count),
            ![0x00, 0x80, 0xFF].contains(bytes.bytes[0])
        {
            if bytes.bytes.count == 2, LogBytes.hasStatus(bytes.bytes) {
                return builder.skip(bytes, .trailingText, "a status word is no command")
            }
            bytes.carrier = .frame
        }
        // GlobalPlatformPro and apdu4j say how many data there are.
        if bytes.damage == nil, let start = bytes.line.end(of: ">>"),
            let data = Self.skippingNotes(bytes.line, start).lengths?.second,
            (try? APDULayout(bytes.bytes))?.data.count != data
        {
            bytes.damage = bytes.error(.wrongLength, "the log says that the command has \(data) bytes of data")
        }
        builder.command(bytes, channel: channel, on: reader)
    }

    private mutating func answer(_ bytes: LogBytes, into builder: inout ConversionBuilder) {
        var bytes = bytes
        let line = bytes.line
        if isExplained, !bytes.isEnded, bytes.carrier == .apdu, bytes.damage == nil, line.contains("<") {
            bytes.damage = bytes.error(.wrongLength, "the line with the end of the answer is missing")
        }
        if contradicted.contains(line.number), bytes.damage == nil {
            bytes.damage = bytes.error(.wrongLength, "the status word behind this is not its end, as it is elsewhere")
        }
        if calls[line.number] != nil { return spied = bytes }
        builder.answer(bytes, channel: channel, on: reader, at: Self.time(line))
    }

    private static func time(_ line: LogLine) -> Duration? {
        line.end(of: "@ ").flatMap { CaptureTime.duration(line.text(from: $0).utf8.map { $0 }[...]) }
    }

    private func fault(_ fault: Capture.Fault?, _ line: LogLine, _ start: Int, into builder: inout ConversionBuilder) {
        var fault = fault
        if fault == nil {
            let word = line.text(from: start + 1).split(separator: " ").first.map(String.init) ?? ""
            fault = Capture.Fault(rawValue: word)
            if fault == nil { builder.skip(line, "'\(word)' is no fault") }
        }
        guard builder.isWaiting(channel) else {
            return builder.skip(line, CaptureConversion.noConversation)
        }
        builder.fault(fault ?? .commError, channel: channel, on: reader, at: Self.time(line))
        builder.use([line])
    }

    private func object(_ line: LogLine, _ start: Int, into builder: inout ConversionBuilder) {
        do throws(CaptureError) {
            guard let (command, answer) = try ReaderCtlTranscript.object(line, start) else {
                return builder.skip(line, CaptureConversion.noConversation)
            }
            builder.command(command)
            builder.answer(answer)
        } catch {
            var bytes = LogBytes(line, at: start)
            bytes.damage = error
            builder.command(bytes)
            builder.fault(.commError)
        }
    }

    /// A capture's own lines: what stands in one without its first line stays the same.
    private func statement(_ line: LogLine, into builder: inout ConversionBuilder) {
        let text = line.text(from: line.start)
        if let time = line.text(behind: "removed at "), let time = CaptureTime.duration(Array(time.utf8)[...]) {
            builder.fault(.removed, on: reader)
            builder.removed(from: reader, at: time)
            return builder.use([line])
        }
        guard let card = try? Capture(parsing: "capture 1\n" + text).presentations.first else {
            return builder.skip(line, CaptureConversion.noConversation)
        }
        builder.fault(.commError, on: reader)
        builder.card(on: reader, at: card.at, facts: card.facts, line: line.number)
        builder.use([line])
    }

    /// What nfcpy found: `106A sdd_res=04… sel_res=00 sens_res=4400`.
    private func found(_ line: LogLine, into builder: inout ConversionBuilder) {
        var values: [String: [UInt8]] = [:]
        for word in line.text(from: line.start).split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0].lowercased()] = try? Hex.decode(String(parts[1])) }
        }
        func fact(_ name: String, _ bytes: ArraySlice<UInt8>?) -> CardFacts.Value? {
            bytes.flatMap { $0.isEmpty ? nil : .init(name, Array($0)) }
        }
        var facts = CardFacts()
        if let sens = values["sens_res"], sens.count == 2 {
            let found = [
                fact("atqa", [sens[1], sens[0]]), fact("sak", values["sel_res"]?[...]),
                fact("uid", values["sdd_res"]?[...]),
            ]
            facts = CardFacts(technology: .iso14443a, values: found.compactMap(\.self))
        } else if let sensf = values["sensf_res"], sensf.count >= 17 {
            let code = sensf.count >= 19 ? fact("syscode", sensf[17..<19]) : nil
            let found = [fact("idm", sensf[1..<9]), fact("pmm", sensf[9..<17]), code]
            facts = CardFacts(technology: .felica, values: found.compactMap(\.self))
        } else {
            return builder.skip(line, "what was found cannot be read")
        }
        builder.fault(.commError, on: reader)
        builder.use([line])
        if !builder.resume(on: reader, facts: facts) {
            builder.card(on: reader, at: builder.nextTime, facts: facts, line: line.number)
        }
    }
}
