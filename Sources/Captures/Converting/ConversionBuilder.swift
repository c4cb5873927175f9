import CardCore
import CardPasses

/// Puts a capture together from what the lines of a log say, and accounts for each of them: it became part of an exchange
/// or of a card's facts, a fault stands for it, or it was skipped and is named.
struct ConversionBuilder {
    let file: String?
    /// The name of the reader where the log has none.
    let reader: String?
    let atr: [UInt8]?

    private var presentations: [Capture.Presentation] = []
    private var names: [String?] = []
    private var latest: [Duration] = []
    private var open: [String?: Int] = [:]
    /// The name that a log states for its only reader.
    var soleReader: String?
    /// Why there may be no conversation, where the form knows.
    var emptiness: String?
    /// The commands that wait for an answer, by the thread or the program that sent them.
    private var pending: [String: LogBytes] = [:]
    /// Where commands were sent while others waited: how many of these have no answer yet, how many commands in a row came
    /// behind an answer since, and what was answered.
    private var overtaken: [String: (count: Int, turns: Int, answered: [(card: Int, exchange: Int, said: LogBytes)])] =
        [:]
    /// An answer that comes behind more than so many others is none of those that are missing.
    private static let mostOvertaking = 8
    private var used: Set<Int> = []
    private var reasons: [Int: CaptureError] = [:]

    init(file: String?, reader: String?, atr: [UInt8]?) {
        self.file = file
        self.reader = reader
        self.atr = atr
    }

    // MARK: Lines

    /// That line says something that the capture holds.
    mutating func use(_ lines: [LogLine]) { used.formUnion(lines.map(\.number)) }

    mutating func skip(_ line: LogLine, _ reason: String) {
        skip(line, line.error(.trailingText, at: line.start, reason))
    }

    private mutating func skip(_ line: LogLine, _ error: CaptureError) {
        if reasons[line.number] == nil { reasons[line.number] = error }
    }

    func isUsed(_ bytes: LogBytes) -> Bool { used.contains(bytes.line.number) }

    mutating func skip(_ bytes: LogBytes, _ code: CaptureError.Code, _ reason: String) {
        skip(bytes, bytes.error(code, reason), "")
    }

    mutating func skip(_ bytes: LogBytes, _ damage: CaptureError, _ end: String = "") {
        for line in bytes.lines {
            var error = damage.line == line.number ? damage : line.error(damage.code, at: line.start, damage.message)
            error.message += end
            skip(line, error)
        }
    }

    /// The lines that are not in the capture, with the reasons.
    func skipped(_ lines: [LogLine]) -> [CaptureError] {
        lines.compactMap { line in
            if let reason = reasons[line.number] { return reason }
            guard !used.contains(line.number), !line.isBlank else { return nil }
            let isBytes = LogBytes.hasPairs(line.bytes[...], atLeast: 3)
            return line.error(.trailingText, at: line.start, isBytes ? Self.loose : CaptureConversion.noConversation)
        }
    }

    static let loose = "these bytes are marked as no command and no answer"

    // MARK: Cards

    /// The time of the next presentation in a log that has no times.
    var nextTime: Duration { presentations.isEmpty ? .zero : .seconds(2 * presentations.count) }

    /// How many commands have an answer.
    var answers: Int {
        presentations.reduce(0) { count, presentation in
            count + presentation.exchanges.count { if case .fault = $0.answer { false } else { true } }
        }
    }

    func isOpen(_ name: String?) -> Bool { open[name] != nil }

    func facts(_ name: String?) -> CardFacts? { open[name].map { presentations[$0].facts } }

    func hasExchanges(_ name: String?) -> Bool { open[name].map { !presentations[$0].exchanges.isEmpty } ?? false }

    mutating func card(on name: String?, at time: Duration, facts: CardFacts = CardFacts(), line: Int) {
        removed(from: name, at: nil)
        let earliest = names.indices.last { names[$0] == name }.map { latest[$0] } ?? .zero
        let at = max(time, earliest, presentations.last?.at ?? .zero)
        open[name] = presentations.count
        presentations.append(.init(at: at, facts: facts, sourceLine: line))
        names.append(name)
        latest.append(at)
    }

    /// The ATR of the card on a reader, if none is known yet.
    mutating func setATR(_ atr: [UInt8], on name: String?) {
        guard let index = open[name], presentations[index].facts.atr == nil else { return }
        presentations[index].facts.atr = atr
    }

    /// The last card of a reader is there again, if nothing was sent to it and it shows the same facts.
    mutating func resume(on name: String?, facts: CardFacts) -> Bool {
        if open[name] != nil { return self.facts(name) == facts }
        guard let index = names.indices.last(where: { names[$0] == name }),
            presentations[index].exchanges.isEmpty, presentations[index].facts == facts
        else { return false }
        presentations[index].removedAt = nil
        open[name] = index
        return true
    }

    mutating func removed(from name: String?, at time: Duration?) {
        guard let index = open.removeValue(forKey: name) else { return }
        // A log without times: one second after it came.
        presentations[index].removedAt = max(time ?? presentations[index].at + .seconds(1), latest[index])
        latest[index] = presentations[index].removedAt ?? latest[index]
    }

    // MARK: Commands and answers

    func isWaiting(_ channel: String = "") -> Bool { pending[channel] != nil }

    /// A command. One before it that has no answer is left with a fault, unless answers to both turn up.
    mutating func command(_ bytes: LogBytes, channel: String = "", on name: String? = nil, at time: Duration? = nil) {
        if isWaiting(channel) {
            let others = overtaken[channel] ?? (0, 0, [])
            overtaken[channel] = (others.count + 1, 0, others.answered)
        } else {
            overtaken[channel]?.turns += 1
            // Commands and answers take turns again: the answers that are missing do not come any more.
            if overtaken[channel]?.turns == 2 { overtaken[channel] = nil }
        }
        fault(.commError, channel: channel, on: name, at: time)
        pending[channel] = bytes
    }

    /// The command that waits gets a fault for an answer.
    mutating func fault(
        _ fault: Capture.Fault,
        _ answer: LogBytes? = nil,
        channel: String = "",
        on name: String? = nil,
        at time: Duration? = nil
    ) {
        guard let command = pending.removeValue(forKey: channel) else { return }
        finish(command, .fault(fault), answer, on: name, at: time)
    }

    /// An answer to the command that waits.
    mutating func answer(_ said: LogBytes, channel: String = "", on name: String? = nil, at time: Duration? = nil) {
        guard let command = pending.removeValue(forKey: channel) else { return late(said, channel) }
        guard command.damage == nil else {
            skip(said, .unexpectedAnswer, "the command of this answer cannot be read")
            return finish(command, .fault(.commError), nil, on: name, at: time)
        }
        let answer = said.chosen(for: command)
        for line in said.lines.dropFirst(answer.lines.count) {
            skip(line, "these bytes stand behind an answer that is complete")
        }
        guard let damage = answer.damage else {
            let isFrame = command.carrier == .frame
            if answer.bytes.isEmpty, command.carrier == .frame || command.carrier == .apdu {
                return finish(command, .fault(isFrame ? .timeout : .commError), answer, on: name, at: time)
            }
            let frame = RawFrame(answer.bytes, bitsInLastByte: answer.bits)
            finish(command, isFrame ? .raw(frame) : .bytes(answer.bytes), answer, on: name, at: time)
            guard var others = overtaken[channel], isUsed(command), let card = open[name] else { return }
            others.answered.append((card, presentations[card].exchanges.count - 1, answer))
            overtaken[channel] = others.answered.count > Self.mostOvertaking ? nil : others
            return
        }
        skip(answer, damage, "; a fault stands for the answer")
        finish(command, .fault(.commError), nil, on: name, at: time)
    }

    /// An answer while no command waits. If commands were under way together, the answers since may be those of others.
    private mutating func late(_ said: LogBytes, _ channel: String) {
        guard var others = overtaken[channel] else {
            return skip(said, .unexpectedAnswer, "there is no command to be answered")
        }
        let reason = "several commands waited: whose answer this is cannot be seen"
        if others.answered.count != 1 || others.answered[0].said.bytes != said.bytes {
            for (card, exchange, answer) in others.answered {
                presentations[card].exchanges[exchange].answer = .fault(.commError)
                skip(answer, .unexpectedAnswer, reason)
            }
            others.answered = []
        }
        skip(said, .unexpectedAnswer, reason)
        (others.count, others.turns) = (others.count - 1, 0)
        overtaken[channel] = others.count > 0 ? others : nil
    }

    private mutating func finish(
        _ command: LogBytes,
        _ answer: Capture.Exchange.Answer,
        _ said: LogBytes?,
        on name: String?,
        at time: Duration?
    ) {
        var command = command
        if command.damage == nil {
            let count = command.bytes.count
            var isControl = false
            if case .control = command.carrier { isControl = true }
            if command.isCut {
                command.damage = command.error(.missingAnswer, "the log ends at this command")
            } else if count == 0, !isControl {
                command.damage = command.error(.missingBytes, "the command has no bytes")
            } else if count > CaptureLimits.longestCommand
                || command.carrier == .apdu && count < CaptureLimits.shortestCommand
            {
                let message = "a command of \(count) byte\(count == 1 ? "" : "s"): 4 to 65544 are possible"
                command.damage = command.error(.wrongLength, message)
            } else if command.carrier == .apdu, LogBytes.lacksData(command.bytes), !Self.isRefusal(answer) {
                command.damage = command.error(.missingBytes, "the command says that it has more data")
            }
        }
        if let damage = command.damage {
            skip(command, damage)
            if let said { skip(said, .unexpectedAnswer, "the command of this answer cannot be read") }
            return
        }
        use(command.lines + (said?.lines ?? []))
        let request: Capture.Exchange.Request =
            switch command.carrier {
            case .apdu: .apdu(command.bytes)
            case .frame: .raw(RawFrame(command.bytes, bitsInLastByte: command.bits))
            case .control(let code): .control(code: code, data: command.bytes)
            }
        exchange(request, answer, on: name, at: time, line: command.line.number)
    }

    /// A card refuses what is no command.
    private static func isRefusal(_ answer: Capture.Exchange.Answer) -> Bool {
        guard case .bytes(let bytes) = answer else { return false }
        return bytes.count == 2 && (0x64...0x6F).contains(bytes[0])
    }

    /// An exchange with the card on a reader; a card is presented if there is none.
    private mutating func exchange(
        _ request: Capture.Exchange.Request,
        _ answer: Capture.Exchange.Answer,
        on name: String?,
        at time: Duration?,
        line: Int
    ) {
        if open[name] == nil { card(on: name, at: time ?? nextTime, line: line) }
        guard let index = open[name] else { return }
        let at = time.map { max($0, latest[index]) }
        latest[index] = at ?? latest[index]
        presentations[index].exchanges.append(.init(request, answer, at: at, sourceLine: line))
    }

    // MARK: The capture

    /// The capture. Cards that were not seen to leave, leave at the end.
    mutating func finish(_ format: CaptureConversion.Format) -> Capture {
        for channel in pending.keys.sorted() { fault(.commError, channel: channel) }
        for name in Array(open.keys) { removed(from: name, at: nil) }
        var capture = Capture(headers: [.init("source", "converted from \(format.title)")], file: file)
        var order: [String?] = []
        for name in names where !order.contains(name) { order.append(name) }
        let titles = order.map { Self.oneLine($0 ?? soleReader ?? reader ?? "") }
        if order.count > 1 {
            capture.readers = titles.enumerated().map {
                .init(number: $0.offset + 1, name: $0.element.isEmpty ? "reader \($0.offset + 1)" : $0.element)
            }
        } else if let title = titles.first, !title.isEmpty {
            capture.readers = [.init(name: title)]
        }
        for index in presentations.indices {
            if order.count > 1 { presentations[index].reader = order.firstIndex(of: names[index]).map { $0 + 1 } }
            let facts = presentations[index].facts
            if facts.atr == nil, facts.technology == nil { presentations[index].facts.atr = atr }
        }
        capture.presentations = presentations
        return capture
    }

    private static func oneLine(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
            .trimmed
    }
}

extension LogBytes {
    /// The answer to a command among what the lines may be: what has the length that was asked for; else all of them, or
    /// the first ones if those are surely the answer and all are none.
    fileprivate func chosen(for command: LogBytes) -> LogBytes {
        func checked(_ choice: LogBytes) -> LogBytes {
            var choice = choice
            choice.check(for: command)
            return choice
        }
        let expected = (try? APDULayout(command.bytes))?.expectedLength
        var all = self
        if isShort, damage == nil, bytes.count - 2 != expected {
            all.damage = error(.missingBytes, "a line of the answer is cut")
        }
        all = checked(all)
        guard !ends.isEmpty, command.carrier == .apdu else { return all }
        if let expected, let end = ends.first(where: { $0.count - 2 == expected }) { return checked(prefix(end)) }
        if all.damage == nil, bytes.count - 2 == expected { return all }
        // The status word, or all of it, stands there once more; a long line of data may have been broken there.
        let (first, again) = (bytes[..<ends[0].count], bytes[ends[0].count...])
        if damage == nil, again.elementsEqual(first.suffix(2)) || again.elementsEqual(first),
            ends[0].count < 12 * ends[0].lines
        {
            return checked(prefix(ends[0]))
        }
        let isSure = ends[0].count == 2 || bytes[..<ends[0].count].suffix(2) == [0x90, 0x00]
        if all.damage != nil, ends.count == 1, isSure { return checked(prefix(ends[0])) }
        var unclear = all
        unclear.damage = error(.wrongLength, "where this answer ends cannot be seen")
        return unclear
    }

    /// How many bytes the answer to a frame has, where the command or the first byte says so.
    private static func length(of answer: [UInt8], to frame: [UInt8]) -> Int? {
        switch (frame.first, frame.count) {
        // NFC Forum Type 2, NTAG21x and MIFARE: READ, FAST_READ, GET_VERSION, READ_SIG, READ_CNT.
        case (0x30, 2): 16
        case (0x3A, 3) where frame[1] <= frame[2]: 4 * (Int(frame[2] - frame[1]) + 1)
        case (0x60, 1): 8
        case (0x3C, 2): 32
        case (0x39, 2): 3
        // JIS X 6319-4: the first byte is the length.
        case (let first?, let count) where Int(first) == count: answer.first.map(Int.init)
        default: nil
        }
    }

    /// Looks whether they can be the whole answer to a command.
    fileprivate mutating func check(for command: LogBytes) {
        guard damage == nil else { return }
        guard bytes.count <= ReaderLimits.responseLength else {
            damage = error(.wrongLength, "an answer of \(bytes.count) bytes is too long")
            return
        }
        guard command.carrier == .apdu, !bytes.isEmpty else {
            // A frame has no end of its own, but for an incomplete byte. What looks as an APDU has a status word.
            let isShort = Self.length(of: bytes, to: command.bytes).map { bytes.count < $0 }
            if isCut, bits == 8, command.carrier == .frame, isShort ?? ((try? APDULayout(command.bytes)) != nil) {
                damage = error(.wrongLength, "the log ends within the answer")
            }
            return
        }
        guard bytes.count >= CaptureLimits.shortestAnswer else {
            damage = error(.wrongLength, "the answer is too short for a status word")
            return
        }
        let status = Array(bytes.suffix(2))
        guard Self.hasStatus(bytes) else {
            damage = error(
                .wrongLength,
                "the answer ends in \(status.hex), which is no status word: its end is missing"
            )
            return
        }
        let expected = (try? APDULayout(command.bytes))?.expectedLength
        let known: [[UInt8]] = [[0x90, 0x00], [0x91, 0x00], [0x91, 0xAF], [0x62, 0x82]]
        let isError = (0x64...0x6F).contains(status[0]) && status[0] != 0x6C
        if isError, !isEnded, bytes.count > 2, bytes.count - 2 != expected {
            // ISO/IEC 7816-4, 5.6
            damage = error(.wrongLength, "the answer ends in \(status.hex), which no data go with: its end is missing")
        } else if isCut, bytes.count > 2, !known.contains(status) {
            damage = error(.wrongLength, "the log ends within the answer")
        } else if mayGoOn, let expected, bytes.count - 2 < expected {
            damage = error(.wrongLength, "the log ends where lines of the answer may be missing")
        } else if lines.count > 1, !isEnded, let expected, bytes.count - 2 > expected {
            damage = error(.wrongLength, "the lines have \(bytes.count - 2) bytes, and \(expected) were asked for")
        }
    }
}
