import CardCore
import CardPasses

/// The table that a Proxmark prints of what it heard (`hf 14a list`, `trace list`).
///
/// ```
///       Start |        End | Src | Data (! denotes parity error)    | CRC | Annotation
///       93184 |     103712 | Rdr |93  70  04  5a  2b  3a  4f  …     |  ok | SELECT_UID
///      104884 |     108404 | Tag |20  fc  70                        |     |
/// ```
///
/// Frames lose their checksum; one that the list marks as wrong (`!!`) is a damage. How a card was found becomes its
/// facts; the blocks of ISO-DEP are put together to commands and answers.
struct ProxmarkLog: LogForm {
    enum Tag { case frame(isTag: Bool), more, rest }

    private struct Frame {
        var isTag: Bool
        var bytes: LogBytes
        /// Whether the row ended before its column did.
        var isOpen = false
        /// What the list says of the checksum, in the last row.
        var verdict = ""
    }

    static func isOne(_ line: LogLine) -> Bool { columns(line) != nil || line.contains("| Src | Data") }

    private var frame: Frame?
    private var reader: LogBytes?
    private var atqa: [UInt8] = []
    private var uid: [UInt8] = []
    private var facts: CardFacts?
    private var factLines: [LogLine] = []
    private var isISODEP = false
    /// Whether MIFARE Classic's authentication began, behind which the checksums are encrypted too.
    private var isEncrypted = false
    private var chained: LogBytes?
    private var answered: LogBytes?
    private var lastBlock: UInt8?
    /// The lines that have bytes of a row that was broken.
    private var rests: Set<Int> = []

    init(_ lines: [LogLine]) {
        var isOpen = false
        for line in lines where !line.isBlank {
            if isOpen, Self.columns(line) == nil { rests.insert(line.number) }
            isOpen = Self.columns(line).map { $0.isOpen } ?? false
        }
    }

    /// The source of a row (`nil` for one that goes on), and the place of its bytes.
    private static func columns(_ line: LogLine) -> (source: Bool?, data: Range<Int>, isOpen: Bool)? {
        let bars = line.bytes[line.start...].indices.filter { line.bytes[$0] == UInt8(ascii: "|") }
        for (index, bar) in bars.enumerated() {
            let from = index == 0 ? line.start : bars[index - 1] + 1
            let words = line.text(from: from, to: bar).lowercased().split(separator: " ")
            let source = words.last.map(String.init) ?? ""
            let isFirst = index == 0 && words.count == 1 && line.skippingSpaces(line.start) < bar
            guard source == "rdr" || source == "tag" || source.isEmpty && index == 2 else { continue }
            guard !source.isEmpty || !isFirst else { continue }
            let end = index + 1 < bars.count ? bars[index + 1] : line.bytes.count
            return (source.isEmpty ? nil : source == "tag", (bar + 1)..<end, index + 1 == bars.count)
        }
        return nil
    }

    /// The bytes of a column: `93`, `00!` with a wrong parity, `26(7)` of seven bits, `[2d` and `5e]` of a checksum.
    private static func bytes(_ line: LogLine, _ range: Range<Int>) -> LogBytes? {
        var result = LogBytes(line, at: range.lowerBound)
        result.carrier = .frame
        let words = line.bytes[range].split(whereSeparator: CaptureCursor.isSpace)
        for word in words {
            let text = word.filter { ![0x5B, 0x5D, 0x21, 0x27].contains($0) }
            guard !text.isEmpty else { continue }
            guard text.count >= 2, let high = CaptureCursor.digit(text[0]), let low = CaptureCursor.digit(text[1]),
                text.count == 2 || text.count == 5 && text[2] == 0x28 && text[4] == 0x29
            else {
                if result.bytes.isEmpty, text.count != 1 { return nil }
                result.damage = line.error(.invalidHex, at: word.startIndex, "this is no byte in hexadecimal")
                return result
            }
            result.bytes.append(high << 4 | low)
            if text.count == 5, let bits = CaptureCursor.digit(text[3]), (1...7).contains(bits) {
                result.bits = Int(bits)
            }
        }
        return result.bytes.isEmpty ? nil : result
    }

    func mark(_ line: LogLine) -> LogMark<Tag>? {
        guard let (source, data, _) = Self.columns(line) else {
            return rests.contains(line.number) ? .init(.rest) : nil
        }
        guard Self.bytes(line, data) != nil else { return nil }
        return source.map { .init(.frame(isTag: $0)) } ?? .init(.more)
    }

    mutating func take(_ tag: Tag, _ bytes: LogBytes, into builder: inout ConversionBuilder) {
        let line = bytes.line
        switch tag {
        case .frame(let isTag):
            finishFrame(into: &builder)
            guard let (_, data, isOpen) = Self.columns(line), let bytes = Self.bytes(line, data) else { return }
            frame = Frame(isTag: isTag, bytes: bytes, isOpen: isOpen, verdict: Self.verdict(line, data.upperBound))
        case .more:
            guard let (_, data, isOpen) = Self.columns(line), let bytes = Self.bytes(line, data), frame != nil else {
                return builder.skip(line, "the row before is missing")
            }
            append(bytes, isOpen, Self.verdict(line, data.upperBound))
        case .rest:
            let end = line.bytes[line.start...].firstIndex(of: UInt8(ascii: "|")) ?? line.bytes.count
            guard frame?.isOpen == true, let bytes = Self.bytes(line, line.start..<end) else { return }
            append(bytes, end == line.bytes.count, Self.verdict(line, end))
        }
    }

    /// The column behind a bar: `ok`, `!!` or, of older programs, `!crc`; nothing where there is no checksum.
    private static func verdict(_ line: LogLine, _ bar: Int) -> String {
        String(line.text(from: bar + 1, to: bar + 8).prefix { $0 != "|" }).trimmed
    }

    private mutating func append(_ bytes: LogBytes, _ isOpen: Bool, _ verdict: String) {
        frame?.verdict = verdict
        frame?.bytes.bytes += bytes.bytes
        frame?.bytes.lines += bytes.lines
        frame?.bytes.bits = bytes.bits
        frame?.isOpen = isOpen
        if let damage = bytes.damage, frame?.bytes.damage == nil { frame?.bytes.damage = damage }
    }

    mutating func finish(into builder: inout ConversionBuilder) {
        finishFrame(into: &builder)
        if let reader { unanswered(reader, into: &builder) }
        reader = nil
        finishBlocks(into: &builder)
        present(into: &builder)
    }

    // MARK: Frames

    private mutating func finishFrame(into builder: inout ConversionBuilder) {
        guard var frame else { return }
        self.frame = nil
        if frame.bytes.isCut || frame.isOpen && frame.bytes.damage == nil && Self.plain(frame.bytes.bytes) == nil {
            frame.bytes.damage = frame.bytes.error(.wrongLength, "the row is cut")
        } else if !isEncrypted, frame.bytes.damage == nil, Self.plain(frame.bytes.bytes) == nil {
            if frame.verdict.hasPrefix("!") {
                frame.bytes.damage = frame.bytes.error(.wrongLength, "its checksum is wrong")
            } else if frame.verdict.isEmpty, frame.bytes.bytes.count >= 16 {
                // Of a frame in several rows the last one says it.
                frame.bytes.damage = frame.bytes.error(.wrongLength, "the row with its end is missing")
            }
        }
        frame.bytes.isEnded = true
        guard frame.isTag else {
            if let reader { unanswered(reader, into: &builder) }
            reader = frame.bytes
            return
        }
        guard let command = reader else {
            return builder.skip(frame.bytes, .unexpectedAnswer, "there is no command to be answered")
        }
        reader = nil
        exchange(command, frame.bytes, into: &builder)
    }

    /// A frame without its checksum, or `nil` if it has none.
    private static func plain(_ frame: [UInt8]) -> [UInt8]? {
        RadioChecksum.typeA.strip(frame) ?? RadioChecksum.typeB.strip(frame)
    }

    private mutating func unanswered(_ command: LogBytes, into builder: inout ConversionBuilder) {
        let bytes = Self.plain(command.bytes) ?? command.bytes
        switch bytes.first {
        case 0x50 where bytes == [0x50, 0x00]:
            leave(into: &builder)
            builder.use(command.lines)
        case 0x26 where bytes.count == 1, 0x52 where bytes.count == 1, 0xC2 where bytes.count == 1 && !isISODEP:
            builder.use(command.lines)
        default: exchange(command, nil, into: &builder)
        }
    }

    private mutating func leave(into builder: inout ConversionBuilder) {
        finishBlocks(into: &builder)
        present(into: &builder)
        builder.removed(from: nil, at: nil)
        (isISODEP, isEncrypted, lastBlock) = (false, false, nil)
    }

    private mutating func exchange(_ command: LogBytes, _ answer: LogBytes?, into builder: inout ConversionBuilder) {
        let sent = Self.plain(command.bytes) ?? command.bytes
        let said = answer.map { Self.plain($0.bytes) ?? $0.bytes } ?? []
        let isWhole = command.damage == nil && answer?.damage == nil && answer != nil
        let lines = command.lines + (answer?.lines ?? [])
        let isLevel = [0x93, 0x95, 0x97].contains(sent.first)
        let isRATS = sent.first == 0xE0 && sent.count == 2
        if isWhole, sent == [0x26] || sent == [0x52], said.count == 2 {
            leave(into: &builder)
            (atqa, uid, factLines) = ([said[1], said[0]], [], lines)
        } else if isWhole, isLevel, sent.count == 2 || sent.count < 7, answer?.bytes.count ?? 0 <= 5 {
            factLines += lines
        } else if isWhole, isLevel, sent.count == 7, sent[1] == 0x70, let sak = said.first, said.count == 1 {
            if sent[0] == 0x93 { uid = [] }
            uid += sent[2] == 0x88 && sak & 0x04 != 0 ? sent[3...5] : sent[2...5]
            factLines += lines
            guard sak & 0x04 == 0 else { return }
            var values = [CardFacts.Value("sak", [sak]), .init("uid", uid)]
            if !atqa.isEmpty { values.insert(.init("atqa", atqa), at: 0) }
            facts = CardFacts(technology: .iso14443a, values: values)
            (atqa, isISODEP, isEncrypted) = ([], false, false)
        } else if isWhole, isRATS, let length = said.first, Int(length) == said.count {
            if said.count > 1 { facts?.values.append(.init("ats", Array(said.dropFirst()))) }
            factLines += lines
            isISODEP = true
        } else if isWhole, isISODEP, sent.first.map({ $0 & 0xF0 == 0xD0 }) == true, said == [sent[0]] {
            factLines += lines
        } else if !isWhole, !isISODEP, isLevel || [[0x26], [0x52]].contains(sent) || isRATS {
            // How a card is found is no conversation with it.
            let damage = command.damage ?? answer?.damage ?? command.error(.missingAnswer, "no card answers to this")
            for bytes in [command, answer].compactMap(\.self) { builder.skip(bytes, damage) }
            isISODEP = isRATS && answer != nil
        } else if isISODEP {
            present(into: &builder)
            block(command, answer, into: &builder)
        } else {
            present(into: &builder)
            var (command, answer) = (command, answer)
            if command.damage == nil { command.bytes = sent }
            builder.command(command)
            guard answer != nil else { return builder.fault(.timeout) }
            answer?.bytes = said
            // A tag acknowledges in four bits; older programs do not say so.
            if said.count == 1, answer?.bits == 8, said[0] < 0x10 { answer?.bits = 4 }
            if let answer { builder.answer(answer) }
            isEncrypted = isEncrypted || [0x60, 0x61].contains(sent.first) && sent.count == 2 && said.count == 4
        }
    }

    /// The card that was selected, when something is said to it.
    private mutating func present(into builder: inout ConversionBuilder) {
        builder.use(factLines)
        factLines = []
        guard let found = facts else { return }
        facts = nil
        builder.card(on: nil, at: builder.nextTime, facts: found, line: 0)
    }

    // MARK: ISO-DEP (ISO/IEC 14443-4)

    /// The content of an I-block behind its protocol bytes.
    private static func content(_ block: [UInt8]) -> (bytes: ArraySlice<UInt8>, isChained: Bool)? {
        guard let first = block.first, first & 0xE2 == 0x02 else { return nil }
        let start = 1 + (first & 0x08 != 0 ? 1 : 0) + (first & 0x04 != 0 ? 1 : 0)
        return (block.dropFirst(start), first & 0x10 != 0)
    }

    private mutating func block(_ command: LogBytes, _ answer: LogBytes?, into builder: inout ConversionBuilder) {
        let sent = Self.plain(command.bytes)
        if let sent, command.damage == nil, let (content, isChained) = Self.content(sent) {
            if chained == nil || answered != nil { finishBlocks(into: &builder) }
            var bytes = command
            (bytes.bytes, bytes.carrier) = (Array(content), .apdu)
            if var chain = chained {
                chain.bytes += bytes.bytes
                chain.lines += bytes.lines
                bytes = chain
            }
            chained = bytes
            guard let answer else { return isChained ? () : finishBlocks(into: &builder) }
            return received(answer, into: &builder)
        }
        // Blocks that ask for more, for time, or say good-bye.
        let isProtocol = sent.map { $0.first.map { $0 & 0xC0 >= 0x80 } ?? false } ?? false
        guard command.damage == nil, isProtocol else {
            finishBlocks(into: &builder)
            builder.skip(command, .wrongLength, "this block is not whole: its checksum is wrong")
            if let answer { builder.skip(answer, .unexpectedAnswer, "the command of this answer cannot be read") }
            return
        }
        builder.use(command.lines)
        if sent?.first.map({ $0 & 0xF7 == 0xC2 }) == true {
            if let answer { builder.use(answer.lines) }
            return leave(into: &builder)
        }
        // The reader asks again for the block that it did not understand.
        let isRepeated = sent?.first.map { $0 & 0xF0 == 0xB0 } == true && answer?.bytes.first == lastBlock
        if let answer { isRepeated && answered != nil ? builder.use(answer.lines) : received(answer, into: &builder) }
    }

    private mutating func received(_ answer: LogBytes, into builder: inout ConversionBuilder) {
        guard answer.damage == nil, let said = Self.plain(answer.bytes) else {
            builder.skip(
                answer,
                answer.damage ?? answer.error(.wrongLength, "this block is not whole: its checksum is wrong")
            )
            if answered == nil { answered = answer }
            answered?.damage = answer.damage ?? answer.error(.wrongLength, "a block is not whole")
            return
        }
        lastBlock = said.first
        guard let (content, isChained) = Self.content(said), chained != nil else { return builder.use(answer.lines) }
        var bytes = answer
        (bytes.bytes, bytes.carrier) = (Array(content), .apdu)
        if var before = answered {
            before.bytes += bytes.bytes
            before.lines += bytes.lines
            bytes = before
        }
        bytes.isEnded = true
        answered = bytes
        if !isChained { finishBlocks(into: &builder) }
    }

    private mutating func finishBlocks(into builder: inout ConversionBuilder) {
        guard var command = chained else { return }
        let answer = answered
        (chained, answered) = (nil, nil)
        if command.bytes.count < CaptureLimits.shortestCommand { command.carrier = .frame }
        builder.command(command)
        if let answer { builder.answer(answer) } else { builder.fault(.timeout) }
    }
}
