import CardCore
import CardPasses

/// Commands and answers behind marks, as people and other programs write them.
///
/// | line | meaning |
/// |---|---|
/// | `> HEX`, `=> HEX`, `-> HEX`, `Sending: HEX`, `A>> T=1 (4+0000) HEX` | a command; under four bytes it is a raw frame |
/// | `< HEX`, `<= HEX`, `<- HEX`, `Received: HEX`, `A<< (0018+2) (12ms) HEX` | its answer |
/// | `>> HEX`, `<< HEX` | a raw frame and its answer |
/// | `Received (SW1=0x90, SW2=0x00):` | an answer of opensc-tool; its data follows in lines of sixteen bytes |
/// | `ATR: HEX` | a card, if something was sent to the one before |
/// | `! removed` | a fault in place of an answer |
///
/// What `readerctl apdu` prints is one too: `< HEX 9000 (success)`, the lines of `--hexdump`, and those of `--json`.
///
/// Lines of bytes alone go on with the line above. Behind an answer, what follows ` :` is a comment (scriptor).
enum TranscriptLog {
    static func read(_ lines: [LogLine], into builder: inout ConversionBuilder) throws(CaptureError) {
        var reading = Reading(builder: builder)
        for line in lines {
            if try reading.take(line) { reading.builder.usedLines += 1 }
        }
        try reading.flush()
        builder = reading.builder
    }

    private enum Mark { case command, answer, rawCommand, rawAnswer }

    private static let marks: [(text: StaticString, mark: Mark)] = [
        ("A>>", .command), ("A<<", .answer), (">>", .rawCommand), ("<<", .rawAnswer), ("==>", .command),
        ("<==", .answer), ("=>", .command), ("<=", .answer), ("-->", .command), ("<--", .answer), ("->", .command),
        ("<-", .answer), (">", .command), ("<", .answer),
    ]
    private static let words: [String: Mark] = [
        "sending": .command, "send": .command, "sent": .command, "command": .command, "c-apdu": .command,
        "capdu": .command, "apdu": .command, "tx": .command, "received": .answer, "recv": .answer, "receive": .answer,
        "response": .answer, "answer": .answer, "r-apdu": .answer, "rapdu": .answer, "sw": .answer, "rx": .answer,
    ]

    private struct Part {
        var bytes: [UInt8]
        var isRaw: Bool
        var line: LogLine
        var place: Int
        /// How many bits of the last byte of a raw frame count.
        var bits = 8

        var isFrame: Bool { isRaw || bytes.count < CaptureLimits.shortestCommand }
    }

    private struct Reading {
        var builder: ConversionBuilder
        var command: Part?
        var answer: Part?
        /// A status word that stands before the data: opensc-tool's, or readerctl's before lines of a dump.
        var status: [UInt8]?
        /// How many bytes are still to come in lines of readerctl's dump.
        var dumped = 0
        var hasSpoken = false
        var canContinue = false

        mutating func take(_ line: LogLine) throws(CaptureError) -> Bool {
            guard !line.isBlank else {
                canContinue = false
                return false
            }
            if dumped > 0 {
                let data = try ReaderCtlTranscript.dump(line, at: answer?.bytes.count ?? 0)
                dumped -= min(dumped, data.count)
                answer?.bytes += data
                return true
            }
            if status != nil, let data = TranscriptLog.dump(line) {
                answer?.bytes += data
                return true
            }
            var start = line.bytes.firstIndex { !CaptureCursor.isSpace($0) } ?? 0
            if let exchange = try ReaderCtlTranscript.object(line, start) {
                try flush()
                builder.exchange(exchange.request, exchange.answer, on: nil, at: nil, line: line.number)
                hasSpoken = true
                return true
            }
            start = TranscriptLog.skippingTime(line, start)
            if let (mark, place) = TranscriptLog.mark(line, start) {
                try take(line, mark, place)
                return true
            }
            if try takeStatement(line, start) { return true }
            guard canContinue, let bytes = TranscriptLog.continuation(line) else {
                canContinue = false
                return false
            }
            if answer != nil { answer?.bytes += bytes } else { command?.bytes += bytes }
            return true
        }

        private mutating func take(_ line: LogLine, _ mark: Mark, _ place: Int) throws(CaptureError) {
            let isRaw = mark == .rawCommand || mark == .rawAnswer
            let isAnswer = mark == .answer || mark == .rawAnswer
            let announced = isAnswer ? ReaderCtlTranscript.announced(line, from: place) : nil
            let end = announced?.end ?? line.bytes.count
            let (bytes, bits) = try TranscriptLog.bytes(line, from: place, to: end, isRaw: isRaw, isAnswer: isAnswer)
            var part = Part(bytes: bytes, isRaw: isRaw, line: line, place: place, bits: bits)
            canContinue = true
            guard isAnswer else {
                try flush()
                guard !bytes.isEmpty else { throw line.error(.missingBytes, at: place, "the command has no bytes") }
                command = part
                return
            }
            try expectCommand(line, place)
            if let announced {
                // The bytes of the line are the status word; a frame has none.
                dumped = announced.count
                status = bytes
                part.bytes = []
                canContinue = false
            }
            answer = part
        }

        private func expectCommand(_ line: LogLine, _ place: Int) throws(CaptureError) {
            guard command == nil || answer != nil else { return }
            throw line.error(.unexpectedAnswer, at: place, "there is no command to be answered")
        }

        private mutating func takeStatement(_ line: LogLine, _ start: Int) throws(CaptureError) -> Bool {
            if line.end(of: "Received (SW1=0x", from: start) == start + 16 {
                try expectCommand(line, start)
                var cursor = line.cursor(at: start + 16)
                let first = try cursor.hexByte()
                var second = line.cursor(at: line.end(of: "SW2=0x") ?? line.bytes.count)
                status = [first, try second.hexByte()]
                answer = Part(bytes: [], isRaw: false, line: line, place: start)
                return true
            }
            if line.bytes[start] == UInt8(ascii: "!") {
                let word = line.text(from: start + 1).split(separator: " ").first.map(String.init) ?? ""
                guard let fault = Capture.Fault(rawValue: word) else {
                    throw line.error(.unknownFault, at: start, "'\(word)' is no fault")
                }
                try expectCommand(line, start)
                if let command = command.take() { note(command, .fault(fault)) }
                return true
            }
            if let place = line.end(of: "ATR: ") ?? line.end(of: "ATR = ") ?? line.end(of: "ATR="),
                let atr = try? line.hex(from: place), atr.first == 0x3B || atr.first == 0x3F,
                atr.count <= ReaderLimits.atrLength
            {
                try flush()
                if !builder.isOpen(nil) || hasSpoken {
                    builder.card(on: nil, at: builder.nextTime, line: line.number)
                    hasSpoken = false
                }
                builder.setATR(atr, on: nil)
                return true
            }
            let names: [StaticString] = ["Using given card reader: ", "Using reader with a card: ", "Reader: "]
            guard builder.soleReader == nil else { return false }
            builder.soleReader = names.lazy.compactMap { line.text(behind: $0) }.first
            return builder.soleReader != nil
        }

        mutating func flush() throws(CaptureError) {
            guard let command else { return }
            let (answer, status) = (self.answer, self.status)
            (self.command, self.answer, self.status) = (nil, nil, nil)
            if let answer, dumped > 0 {
                throw answer.line.error(.wrongLength, at: answer.place, "\(dumped) bytes of the answer are missing")
            }
            guard var answer else {
                throw command.line.error(.missingAnswer, at: command.place, "the command has no answer")
            }
            answer.bytes += status ?? []
            guard answer.bytes.count <= ReaderLimits.responseLength, command.bytes.count <= CaptureLimits.longestCommand
            else { throw answer.line.error(.wrongLength, at: answer.place, "the command or its answer is too long") }
            if command.isFrame {
                guard !answer.bytes.isEmpty else { return note(command, .fault(.timeout)) }
                return note(command, .raw(RawFrame(answer.bytes, bitsInLastByte: answer.bits)))
            }
            guard answer.bytes.count >= CaptureLimits.shortestAnswer else {
                throw answer.line.error(.wrongLength, at: answer.place, "the answer is too short for a status word")
            }
            note(command, .bytes(answer.bytes))
        }

        private mutating func note(_ command: Part, _ answer: Capture.Exchange.Answer) {
            let request: Capture.Exchange.Request =
                command.isFrame ? .raw(RawFrame(command.bytes, bitsInLastByte: command.bits)) : .apdu(command.bytes)
            builder.exchange(request, answer, on: nil, at: nil, line: command.line.number)
            hasSpoken = true
        }
    }

    // MARK: Lines

    /// The mark at a place, and where the bytes begin.
    private static func mark(_ line: LogLine, _ start: Int) -> (Mark, Int)? {
        for (text, mark) in marks where line.end(of: text, from: start) == start + text.utf8CodeUnitCount {
            var place = start + text.utf8CodeUnitCount
            // GlobalPlatformPro: the protocol and lengths in brackets.
            if text.utf8Start.pointee == UInt8(ascii: "A") { place = skippingNotes(line, place) }
            return (mark, place)
        }
        guard let colon = line.bytes[start...].prefix(16).firstIndex(of: UInt8(ascii: ":")),
            let mark = words[line.text(from: start, to: colon).lowercased()]
        else { return nil }
        return (mark, colon + 1)
    }

    private static func skippingNotes(_ line: LogLine, _ start: Int) -> Int {
        var place = start
        while place < line.bytes.count {
            let byte = line.bytes[place]
            if CaptureCursor.isSpace(byte) {
                place += 1
            } else if byte == UInt8(ascii: "("), let end = line.bytes[place...].firstIndex(of: UInt8(ascii: ")")) {
                place = end + 1
            } else if byte == UInt8(ascii: "T") {
                while place < line.bytes.count, !CaptureCursor.isSpace(line.bytes[place]) { place += 1 }
            } else {
                break
            }
        }
        return place
    }

    /// Past a time of day, or a word in square brackets.
    private static func skippingTime(_ line: LogLine, _ start: Int) -> Int {
        var place = start
        while place < line.bytes.count {
            let end = line.bytes[place...].firstIndex(where: CaptureCursor.isSpace) ?? line.bytes.count
            let word = line.bytes[place..<end]
            let isTime =
                word.contains(UInt8(ascii: ":"))
                && word.allSatisfy { (0x30...0x3A).contains($0) || [0x2E, 0x2C, 0x2D, 0x54, 0x5A].contains($0) }
            let isBracket = word.count > 2 && word.first == UInt8(ascii: "[") && word.last == UInt8(ascii: "]")
            guard isTime || isBracket else { return place }
            place = line.skippingSpaces(end)
        }
        return start
    }

    /// Bytes in the ways in which they are written: with or without spaces, colons, commas and `0x`; what is in round
    /// brackets ends them. A single digit is malformed but at the end of an answer, where pyscard writes a status word of
    /// `90 00` as `90 0`. Frames may end in an incomplete byte, `0A/4`.
    private static func bytes(
        _ line: LogLine,
        from start: Int,
        to limit: Int,
        isRaw: Bool,
        isAnswer: Bool
    ) throws(CaptureError) -> (bytes: [UInt8], bits: Int) {
        var result: [UInt8] = []
        var bits = 8
        var place = start
        let bytes = Array(line.bytes[..<limit])
        func isSeparator(_ byte: UInt8) -> Bool {
            CaptureCursor.isSpace(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":")
        }
        while place < bytes.count {
            let isEnd =
                bytes[place] == UInt8(ascii: "#") || bytes[place] == UInt8(ascii: "(") && isAnswer
                || bytes[place] == UInt8(ascii: ":") && (place + 1 == bytes.count || bytes[place + 1] == 0x20)
            if isEnd { break }
            if isSeparator(bytes[place]) || bytes[place] == UInt8(ascii: "[") || bytes[place] == UInt8(ascii: "]") {
                place += 1
                continue
            }
            var end = place
            while end < bytes.count, !isSeparator(bytes[end]), bytes[end] != UInt8(ascii: "]") { end += 1 }
            var from = place
            if end - from > 2, bytes[from] == UInt8(ascii: "0"), bytes[from + 1] | 0x20 == UInt8(ascii: "x") {
                from += 2
            }
            if isAnswer, !isRaw, end - from == 1, let digit = CaptureCursor.digit(bytes[from]), let last = result.last,
                (0x61...0x6F).contains(last) || (0x90...0x9F).contains(last), bytes[end...].allSatisfy(isSeparator)
            {
                result.append(digit)
                break
            }
            let slash = bytes[from..<end].firstIndex(of: UInt8(ascii: "/"))
            var cursor = line.cursor(at: from)
            while cursor.position < slash ?? end {
                result.append(try cursor.hexByte(stops: [UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "/")]))
            }
            if let slash {
                let count = slash + 2 == end ? CaptureCursor.digit(bytes[slash + 1]).map(Int.init) : nil
                guard isRaw, let count, (1...7).contains(count), bytes[end...].allSatisfy(isSeparator) else {
                    throw line.error(.invalidBits, at: slash, "an incomplete byte has 1 to 7 bits and ends a frame")
                }
                bits = count
            }
            place = end
        }
        return (result, bits)
    }

    /// A line of pairs of digits alone.
    private static func continuation(_ line: LogLine) -> [UInt8]? {
        var result: [UInt8] = []
        for word in line.bytes.split(whereSeparator: CaptureCursor.isSpace) {
            guard word.count == 2, let high = word.first.flatMap(CaptureCursor.digit),
                let low = word.last.flatMap(CaptureCursor.digit)
            else { return nil }
            result.append(high << 4 | low)
        }
        return result.isEmpty ? nil : result
    }

    /// A line of opensc-tool's dump: up to sixteen `HH `, then as many characters.
    private static func dump(_ line: LogLine) -> [UInt8]? {
        let bytes = line.bytes
        for count in stride(from: min(16, bytes.count / 3), through: 1, by: -1) where bytes.count >= 3 * count {
            var result: [UInt8] = []
            for index in 0..<count {
                guard let high = CaptureCursor.digit(bytes[3 * index]),
                    let low = CaptureCursor.digit(bytes[3 * index + 1]), bytes[3 * index + 2] == UInt8(ascii: " ")
                else { break }
                result.append(high << 4 | low)
            }
            let rest = bytes.count - 3 * count
            // Editors take away spaces at the end of a line, which may be characters.
            if result.count == count, rest == count || rest < count && bytes.last != UInt8(ascii: " ") { return result }
        }
        return nil
    }
}
