import CardCore
import CardPasses
import CardTags

/// The log of `pcscd --apdu`.
///
/// A line is the time since the one before in microseconds, with colours a thread's number, and a message:
///
/// ```
/// 00000003 [140587230598848] APDU: FF CA 00 00 00
/// 00041834 [140587230598848] SW: 04 44 71 2A 90 5F 80 90 00
/// ```
///
/// Only messages with `--info` or `--debug` name the reader. With thread numbers, conversations on several readers are
/// distinguished; without, exchanges belong to the reader that was connected last. If the log names a single reader,
/// all belong to that one.
enum PCSCDLog {
    static func isOne(_ line: LogLine) -> Bool {
        guard let message = Message(line) else { return false }
        return ["APDU:", "SW:", "Card ATR:"].contains { message.word.hasPrefix($0) } || message.word.contains(".c:")
            || message.word.contains(".l:")
    }

    static func read(_ lines: [LogLine], into builder: inout ConversionBuilder) throws(CaptureError) {
        var reading = Reading(builder: builder)
        let names = Set(lines.compactMap(readerName))
        reading.sole = names.count == 1 ? names.first : nil
        reading.hasNames = !names.isEmpty
        for line in lines {
            if try reading.take(line) { reading.builder.usedLines += 1 }
        }
        reading.flush()
        builder = reading.builder
    }

    private static func readerName(_ line: LogLine) -> String? {
        line.text(behind: "Card inserted into ") ?? line.text(behind: "Card Removed From ") ?? connecting(line)
    }

    private static func connecting(_ line: LogLine) -> String? {
        line.text(behind: "Attempting Connect to ", to: line.end(of: " using protocol").map { $0 - 15 })
    }

    private struct Message {
        var delta: Int
        var thread: String
        var start: Int
        /// Its first 40 bytes.
        var word: String

        init?(_ line: LogLine) {
            // Behind the journal's prefix it is not the first word.
            let words = line.bytes.split(whereSeparator: CaptureCursor.isSpace)
            let time = words.first { (8...12).contains($0.count) && $0.allSatisfy(CaptureCursor.isDigit) }
            guard let time else { return nil }
            delta = Int(String(decoding: time, as: UTF8.self)) ?? 0
            start = line.skippingSpaces(time.endIndex)
            thread = ""
            if start < line.bytes.count, line.bytes[start] == UInt8(ascii: "["),
                let end = line.bytes[start...].firstIndex(of: UInt8(ascii: "]"))
            {
                thread = line.text(from: start + 1, to: end)
                start = line.skippingSpaces(end + 1)
            }
            word = line.text(from: start, to: start + 40)
        }
    }

    private typealias Pending = (request: Capture.Exchange.Request, line: Int)

    private struct Reading {
        var builder: ConversionBuilder
        var now: Duration = .zero
        var hasBegun = false
        var connected: [String: String] = [:]
        /// The reader into which each thread saw a card inserted.
        var inserted: [String: String] = [:]
        /// ATRs of which no reader is known yet.
        var loose: [[UInt8]] = []
        /// When the last of them was reported, and where.
        var looseTime: Duration = .zero
        var looseLine = 0
        /// The reader of a log that names only one.
        var sole: String?
        var hasNames = false
        var pending: [String: Pending] = [:]
        var codes: [String: UInt32] = [:]

        mutating func take(_ line: LogLine) throws(CaptureError) -> Bool {
            // Somebody may have cut off the time.
            guard let message = Message(line) else { return try take(line, from: line.skippingSpaces(0), thread: "") }
            if hasBegun { now += .microseconds(message.delta) }
            hasBegun = true
            return try take(line, from: message.start, thread: message.thread)
        }

        private mutating func take(_ line: LogLine, from start: Int, thread: String) throws(CaptureError) -> Bool {
            func begins(_ text: StaticString) -> Int? {
                guard let end = line.end(of: text, from: start), end - text.utf8CodeUnitCount == start else {
                    return nil
                }
                return end
            }
            if let place = begins("APDU:") {
                let bytes = try line.hex(from: place)
                guard (CaptureLimits.shortestCommand...CaptureLimits.longestCommand).contains(bytes.count) else {
                    let message = "a command of \(bytes.count) bytes: 4 to 65544 are possible"
                    throw line.error(.wrongLength, at: place, message)
                }
                abandon(thread)
                pending[thread] = (.apdu(bytes), line.number)
            } else if let place = begins("SW:") {
                let bytes = try line.hex(from: place)
                guard let sent = pending.removeValue(forKey: thread), case .apdu = sent.request else {
                    throw line.error(.unexpectedAnswer, at: start, "there is no command to be answered")
                }
                finish(sent, ConversionBuilder.answer(bytes), thread)
            } else if let place = begins("Card ATR:") {
                try takeATR(line.hex(from: place), thread, line.number)
            } else if let place = begins("Control TxBuffer:") {
                let bytes = try line.hex(from: place)
                abandon(thread)
                guard let code = codes[thread], builder.isOpen(reader(thread)),
                    bytes.count <= CaptureLimits.longestCommand
                else { return false }
                pending[thread] = (.control(code: code, data: bytes), line.number)
            } else if let place = begins("Control RxBuffer:") {
                let bytes = try line.hex(from: place)
                guard let sent = pending.removeValue(forKey: thread), case .control = sent.request else { return false }
                finish(sent, .bytes(Array(bytes.prefix(ReaderLimits.responseLength))), thread)
            } else {
                return takeDebug(line, thread)
            }
            return true
        }

        private mutating func takeATR(_ atr: [UInt8], _ thread: String, _ line: Int) {
            let atr = Array(atr.prefix(ReaderLimits.atrLength))
            guard !atr.isEmpty else { return }
            let name = inserted.removeValue(forKey: thread) ?? reader(thread)
            if builder.isOpen(name) {
                builder.setATR(atr, on: name)
            } else if name != nil || !hasNames {
                // Its insertion was not reported: the log began later, or omits it.
                builder.card(on: name, at: now, facts: CardFacts(atr: atr), line: line)
            } else {
                loose = [atr]
                (looseTime, looseLine) = (now, line)
            }
        }

        private mutating func takeDebug(_ line: LogLine, _ thread: String) -> Bool {
            if let name = line.text(behind: "Card inserted into ") {
                builder.card(on: name, at: now, line: line.number)
                inserted[thread] = name
            } else if let name = line.text(behind: "Card Removed From ") {
                for (thread, reader) in connected where reader == name { abandon(thread, .removed) }
                builder.removed(from: name, at: now)
            } else if let name = PCSCDLog.connecting(line) {
                connected[thread] = name
                // The card was there before the log began.
                if !builder.isOpen(name) {
                    builder.card(on: name, at: now, facts: CardFacts(atr: loose.popLast()), line: line.number)
                }
            } else if let place = line.end(of: "ControlCode: 0x") {
                let digits = line.bytes[place...].prefix { CaptureCursor.digit($0) != nil }
                codes[thread] = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
            } else {
                return false
            }
            return true
        }

        private func reader(_ thread: String) -> String? { connected[thread] ?? sole }

        private mutating func finish(_ sent: Pending, _ answer: Capture.Exchange.Answer, _ thread: String) {
            let name = reader(thread)
            if !builder.isOpen(name) {
                builder.card(on: name, at: now, facts: CardFacts(atr: loose.popLast()), line: sent.line)
            }
            builder.exchange(sent.request, answer, on: name, at: now, line: sent.line)
        }

        /// A command that got no answer: pcscd logs none when the driver reports an error.
        private mutating func abandon(_ thread: String, _ fault: Capture.Fault = .commError) {
            guard let sent = pending.removeValue(forKey: thread) else { return }
            finish(sent, .fault(fault), thread)
        }

        mutating func flush() {
            for thread in pending.keys.sorted() { abandon(thread) }
            guard let atr = loose.popLast() else { return }
            // The log does not state which of the readers it is from.
            builder.card(on: nil, at: looseTime, facts: CardFacts(atr: atr), line: looseLine)
        }
    }
}
