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
/// distinguished; without, what is said goes to the reader that was connected last. Where the log names a single
/// reader, all is said to that one.
enum PCSCDLog {
    /// Whether a line has the form of this log.
    static func isOne(_ line: LogLine) -> Bool {
        guard let message = Message(line) else { return false }
        return ["APDU:", "SW:", "Card ATR:"].contains { message.word.hasPrefix($0) } || message.word.contains(".c:")
            || message.word.contains(".l:")
    }

    static func read(_ lines: [LogLine], into builder: inout ConversionBuilder) throws(CaptureError) {
        var reading = Reading(builder: builder)
        var names: Set<String> = []
        for line in lines { if let name = readerName(line) { names.insert(name) } }
        reading.sole = names.count == 1 ? names.first : nil
        reading.hasNames = !names.isEmpty
        for line in lines {
            if try reading.take(line) { reading.builder.usedLines += 1 }
        }
        reading.flush()
        builder = reading.builder
    }

    /// The reader that a line names.
    private static func readerName(_ line: LogLine) -> String? {
        if let place = line.end(of: "Card inserted into ") ?? line.end(of: "Card Removed From ") {
            return line.text(from: place)
        }
        guard let place = line.end(of: "Attempting Connect to ") else { return nil }
        return line.text(from: place, to: line.end(of: " using protocol").map { $0 - 15 })
    }

    /// A line taken apart.
    private struct Message {
        var delta: Int
        var thread: String
        /// Where the message begins.
        var start: Int
        /// Its first 40 bytes.
        var word: String

        init?(_ line: LogLine) {
            // Behind the journal's prefix it is not the first word.
            let bytes = line.bytes
            var place = 0
            var found: (Range<Int>, Int)?
            while found == nil, place < bytes.count {
                while place < bytes.count, CaptureCursor.isSpace(bytes[place]) { place += 1 }
                let start = place
                while place < bytes.count, !CaptureCursor.isSpace(bytes[place]) { place += 1 }
                let isNumber = bytes[start..<place].allSatisfy { (0x30...0x39).contains($0) }
                if isNumber, (8...12).contains(place - start) {
                    found = (start..<place, Int(String(decoding: bytes[start..<place], as: UTF8.self)) ?? 0)
                }
            }
            guard let found else { return nil }
            delta = found.1
            start = found.0.upperBound
            while start < bytes.count, CaptureCursor.isSpace(bytes[start]) { start += 1 }
            thread = ""
            if start < bytes.count, bytes[start] == UInt8(ascii: "["),
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "]"))
            {
                thread = line.text(from: start + 1, to: end)
                start = end + 1
                while start < bytes.count, CaptureCursor.isSpace(bytes[start]) { start += 1 }
            }
            word = line.text(from: start, to: start + 40)
        }
    }

    private struct Pending {
        var request: Capture.Exchange.Request
        var line: Int
    }

    private struct Reading {
        var builder: ConversionBuilder
        var now: Duration = .zero
        var hasBegun = false
        /// The reader to which each thread is connected.
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
            guard let message = Message(line) else {
                return try takeBare(line)
            }
            if hasBegun { now += .microseconds(message.delta) }
            hasBegun = true
            return try take(line, from: message.start, thread: message.thread)
        }

        /// A line of which somebody cut off the time.
        private mutating func takeBare(_ line: LogLine) throws(CaptureError) -> Bool {
            let start = line.bytes.firstIndex { !CaptureCursor.isSpace($0) } ?? 0
            return try take(line, from: start, thread: "")
        }

        private mutating func take(
            _ line: LogLine,
            from start: Int,
            thread: String
        ) throws(CaptureError) -> Bool {
            func begins(_ text: StaticString) -> Int? {
                guard let end = line.end(of: text, from: start), end - text.utf8CodeUnitCount == start else {
                    return nil
                }
                return end
            }
            if let place = begins("APDU:") {
                let bytes = try line.hex(from: place)
                guard (CaptureLimits.shortestCommand...CaptureLimits.longestCommand).contains(bytes.count) else {
                    throw line.error(
                        .wrongLength,
                        at: place,
                        "a command of \(bytes.count) bytes: 4 to 65544 are possible"
                    )
                }
                abandon(thread)
                pending[thread] = Pending(request: .apdu(bytes), line: line.number)
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
                pending[thread] = Pending(request: .control(code: code, data: bytes), line: line.number)
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
                // Nobody told that it was inserted: the log began later, or leaves it out.
                var facts = CardFacts()
                facts.atr = atr
                builder.card(on: name, at: now, facts: facts, line: line)
            } else {
                loose = [atr]
                (looseTime, looseLine) = (now, line)
            }
        }

        private mutating func takeDebug(_ line: LogLine, _ thread: String) -> Bool {
            if let place = line.end(of: "Card inserted into ") {
                let name = line.text(from: place)
                builder.card(on: name, at: now, line: line.number)
                inserted[thread] = name
            } else if let place = line.end(of: "Card Removed From ") {
                let name = line.text(from: place)
                for (thread, reader) in connected where reader == name { abandon(thread, .removed) }
                builder.removed(from: name, at: now)
            } else if let place = line.end(of: "Attempting Connect to ") {
                let end = line.end(of: " using protocol").map { $0 - 15 }
                let name = line.text(from: place, to: end)
                connected[thread] = name
                // The card was there before the log began.
                if !builder.isOpen(name) {
                    var facts = CardFacts()
                    facts.atr = loose.popLast()
                    builder.card(on: name, at: now, facts: facts, line: line.number)
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
                var facts = CardFacts()
                facts.atr = loose.popLast()
                builder.card(on: name, at: now, facts: facts, line: sent.line)
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
            // Of which of the readers it is nobody told.
            var facts = CardFacts()
            facts.atr = atr
            builder.card(on: nil, at: looseTime, facts: facts, line: looseLine)
        }
    }
}
