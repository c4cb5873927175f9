import CardCore
import CardPasses
import CardTags

/// The log of `pcscd --apdu`.
///
/// A line is the time since the one before in microseconds, with colours a thread's number, and a message. Under syslog
/// there is the message alone:
///
/// ```
/// 00000003 [140587230598848] APDU: FF CA 00 00 00
/// 00041834 [140587230598848] SW: 04 44 71 2A 90 5F 80 90 00
/// May 14 18:41:50 kiosk pcscd[815]: APDU: FF CA 00 00 00
/// ```
///
/// Only messages with `--info` or `--debug` name the reader. With thread numbers, conversations on several readers are
/// distinguished; without, exchanges belong to the reader that was connected last. If the log names a single reader,
/// all belong to that one.
struct PCSCDLog: LogForm {
    enum Tag {
        case apdu, answer, atr, controlCommand, controlAnswer, inserted(String), removed(String), connecting(String)
        case code(UInt32), noATR
    }

    private static let marks: [(text: StaticString, tag: Tag)] = [
        ("APDU:", .apdu), ("SW:", .answer), ("Card ATR:", .atr), ("Control TxBuffer:", .controlCommand),
        ("Control RxBuffer:", .controlAnswer),
    ]

    static func isOne(_ line: LogLine) -> Bool {
        let message = Message(line)
        guard message.delta != nil || line.contains("pcscd[") || line.contains("pcscd: ") || line.contains("() ") else {
            return false
        }
        // Its place in pcscd's sources, with the function: `winscard.c:278:SCardConnect()`.
        let word = line.text(from: message.start, to: message.start + 60).lowercased()
        let isPlace = (word.contains(".c:") || word.contains(".l:")) && word.prefix { $0 != " " }.hasSuffix("()")
        return isPlace || marks.contains { line.end(ofPrefix: $0.text, at: message.start) != nil }
    }

    private struct Message {
        var delta: Int?
        var thread = ""
        var start: Int

        init(_ line: LogLine) {
            start = line.skippingSpaces(line.start)
            for name: StaticString in ["pcscd[", "pcscd: "] {
                guard let place = line.end(of: name), let colon = line.end(of: ": ", from: place - 2) else { continue }
                start = line.skippingSpaces(colon)
                break
            }
            var place = start
            func word() -> ArraySlice<UInt8> { line.bytes[place...].prefix { !CaptureCursor.isSpace($0) } }
            // Somebody's own times may stand before.
            for _ in 0..<8 where place < line.bytes.count {
                if (8...12).contains(word().count), word().allSatisfy(CaptureCursor.isDigit) { break }
                place = line.skippingSpaces(place + word().count)
            }
            if (8...12).contains(word().count), word().allSatisfy(CaptureCursor.isDigit) {
                delta = Int(String(decoding: word(), as: UTF8.self))
                start = line.skippingSpaces(place + word().count)
            } else {
                start = max(start, line.endOfStamp)
            }
            if start < line.bytes.count, line.bytes[start] == UInt8(ascii: "["),
                let end = line.bytes[start...].firstIndex(of: UInt8(ascii: "]"))
            {
                thread = line.text(from: start + 1, to: end)
                start = line.skippingSpaces(end + 1)
            }
        }
    }

    private var times: [Int: Duration] = [:]
    private var connected: [String: String] = [:]
    /// The reader into which each thread saw a card inserted.
    private var inserted: [String: String] = [:]
    /// ATRs of which no reader is known yet.
    private var loose: [[UInt8]] = []
    /// When the last of them was reported, and where.
    private var looseTime: Duration?
    private var looseLine = 0
    /// The reader of a log that names only one.
    private var sole: String?
    private var hasNames = false
    private var codes: [String: UInt32] = [:]
    private var threads: Set<String> = []

    init(_ lines: [LogLine]) {
        var now: Duration?
        for line in lines {
            let delta = Message(line).delta
            if let delta { now = now.map { $0 + .microseconds(delta) } ?? .zero }
            times[line.number] = now
        }
        let names = Set(lines.compactMap(Self.readerName))
        sole = names.count == 1 ? names.first : nil
        hasNames = !names.isEmpty
    }

    private static func readerName(_ line: LogLine) -> String? {
        line.text(behind: "Card inserted into ") ?? line.text(behind: "Card Removed From ") ?? connecting(line)
    }

    private static func connecting(_ line: LogLine) -> String? {
        line.text(behind: "Attempting Connect to ", to: line.end(of: " using protocol").map { $0 - 15 })
    }

    func mark(_ line: LogLine) -> LogMark<Tag>? {
        let start = Message(line).start
        for (text, tag) in Self.marks {
            guard let place = line.end(ofPrefix: text, at: start) else { continue }
            if case .atr = tag, line.bytes[line.skippingSpaces(place)...].first == UInt8(ascii: "(") {
                return .init(.noATR)
            }
            switch tag {
            case .apdu: return .init(tag, .text(.command), from: place)
            case .answer: return .init(tag, .text(.answer), from: place)
            default: return .init(tag, .text(.stream), from: place)
            }
        }
        if let name = line.text(behind: "Card inserted into ") { return .init(.inserted(name)) }
        if let name = line.text(behind: "Card Removed From ") { return .init(.removed(name)) }
        if let name = Self.connecting(line) { return .init(.connecting(name)) }
        if let place = line.end(of: "ControlCode: 0x") {
            let digits = line.bytes[place...].prefix { CaptureCursor.digit($0) != nil }
            return UInt32(String(decoding: digits, as: UTF8.self), radix: 16).map { .init(.code($0)) }
        }
        return nil
    }

    private func reader(_ thread: String) -> String? { connected[thread] ?? sole }

    mutating func take(_ tag: Tag, _ bytes: LogBytes, into builder: inout ConversionBuilder) {
        let line = bytes.line
        let thread = Message(line).thread
        let now = times[line.number]
        switch tag {
        case .apdu: command(bytes, thread, now, into: &builder)
        case .answer: answer(bytes, thread, now, into: &builder)
        case .controlCommand:
            guard let code = codes[thread], builder.isOpen(reader(thread)) else {
                return builder.skip(bytes, .noCard, "this is for the reader: its card or its code is not known")
            }
            var bytes = bytes
            bytes.carrier = .control(code)
            command(bytes, thread, now, into: &builder)
        case .controlAnswer:
            guard builder.isWaiting(thread) else {
                return builder.skip(bytes, .unexpectedAnswer, "there is no command to be answered")
            }
            answer(bytes, thread, now, into: &builder)
        case .atr: atr(bytes, thread, now, into: &builder)
        case .noATR:
            inserted[thread] = nil
            builder.use([line])
        case .inserted(let name):
            builder.card(on: name, at: now ?? builder.nextTime, line: line.number)
            inserted[thread] = name
            builder.use([line])
        case .removed(let name):
            for (thread, reader) in connected.sorted(by: { $0.key < $1.key }) where reader == name {
                builder.fault(.removed, channel: thread, on: name, at: now)
            }
            builder.removed(from: name, at: now)
            builder.use([line])
        case .connecting(let name):
            connected[thread] = name
            // The card was there before the log began.
            if !builder.isOpen(name) {
                builder.card(
                    on: name,
                    at: now ?? builder.nextTime,
                    facts: CardFacts(atr: loose.popLast()),
                    line: line.number
                )
            }
            builder.use([line])
        case .code(let code):
            codes[thread] = code
            builder.use([line])
        }
    }

    private mutating func command(
        _ bytes: LogBytes,
        _ thread: String,
        _ now: Duration?,
        into builder: inout ConversionBuilder
    ) {
        present(thread, now, bytes.line.number, into: &builder, isNeeded: builder.isWaiting(thread))
        threads.insert(thread)
        builder.command(bytes, channel: thread, on: reader(thread), at: now)
    }

    private mutating func answer(
        _ bytes: LogBytes,
        _ thread: String,
        _ now: Duration?,
        into builder: inout ConversionBuilder
    ) {
        present(thread, now, bytes.line.number, into: &builder, isNeeded: builder.isWaiting(thread))
        builder.answer(bytes, channel: thread, on: reader(thread), at: now)
    }

    /// A card whose ATR was reported without its reader is the one that is spoken to.
    private mutating func present(
        _ thread: String,
        _ now: Duration?,
        _ line: Int,
        into builder: inout ConversionBuilder,
        isNeeded: Bool
    ) {
        guard isNeeded, !builder.isOpen(reader(thread)), let atr = loose.popLast() else { return }
        builder.card(on: reader(thread), at: now ?? builder.nextTime, facts: CardFacts(atr: atr), line: line)
    }

    private mutating func atr(
        _ bytes: LogBytes,
        _ thread: String,
        _ now: Duration?,
        into builder: inout ConversionBuilder
    ) {
        guard bytes.damage == nil, (2...ReaderLimits.atrLength).contains(bytes.bytes.count) else {
            return builder.skip(bytes, .wrongLength, "this is no whole answer to reset")
        }
        builder.use(bytes.lines)
        let name = inserted.removeValue(forKey: thread) ?? reader(thread)
        if builder.isOpen(name) {
            builder.setATR(bytes.bytes, on: name)
        } else if name != nil || !hasNames {
            // Its insertion was not reported: the log began later, or omits it.
            builder.card(
                on: name,
                at: now ?? builder.nextTime,
                facts: CardFacts(atr: bytes.bytes),
                line: bytes.line.number
            )
        } else {
            loose = [bytes.bytes]
            (looseTime, looseLine) = (now, bytes.line.number)
        }
    }

    mutating func finish(into builder: inout ConversionBuilder) {
        let end = times.values.max()
        // pcscd logs no answer when the driver reports an error.
        for thread in threads.sorted() where builder.isWaiting(thread) {
            present(thread, end, 0, into: &builder, isNeeded: true)
            builder.fault(.commError, channel: thread, on: reader(thread), at: end)
        }
        guard let atr = loose.popLast() else { return }
        // The log does not state which of the readers it is from.
        builder.card(on: nil, at: looseTime ?? builder.nextTime, facts: CardFacts(atr: atr), line: looseLine)
    }
}
