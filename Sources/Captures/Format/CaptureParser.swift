import CardCore
import CardPasses

/// Reads the text of a capture, line by line.
struct CaptureParser {
    let file: String?
    var capture: Capture
    private var hasVersion = false
    /// Whether a card or a line came, so that the header is over.
    var isInBody = false
    var readers: Set<Int?> = []
    var current: Int?
    var open: [Int?: Int] = [:]
    /// The last time of a card or a line, and the last removal of each reader.
    var latest: Duration = .zero
    var removals: [Int?: Duration] = [:]
    /// The last time of each open presentation: of its card or an answer.
    var times: [Int: Duration] = [:]
    /// A command whose answer has not come yet, and its place.
    var pending: (request: Capture.Exchange.Request, cursor: CaptureCursor)?

    init(file: String?) {
        self.file = file
        capture = Capture(file: file)
    }

    mutating func parse(_ bytes: [UInt8]) throws(CaptureError) -> Capture {
        guard bytes.count <= CaptureLimits.fileLength else {
            throw error(.fileTooLong, "the file has \(bytes.count) bytes, \(CaptureLimits.fileLength) are allowed")
        }
        var lines = LineSequence(bytes)
        while let line = lines.next() {
            try check(line, number: lines.number)
            try statement(CaptureCursor(Array(line), line: lines.number, file: file))
        }
        try finishCommand()
        guard hasVersion else {
            let message = "the file is empty; a capture begins with 'capture \(CaptureLimits.version)'"
            throw error(.notACapture, line: max(lines.number, 1), message)
        }
        return capture
    }

    private func error(_ code: CaptureError.Code, line: Int = 1, column: Int = 1, _ message: String) -> CaptureError {
        CaptureError(file: file, line: line, column: column, code: code, message: message)
    }

    private func check(_ line: ArraySlice<UInt8>, number: Int) throws(CaptureError) {
        guard line.count <= CaptureLimits.lineLength else {
            let message = "the line has \(line.count) bytes, \(CaptureLimits.lineLength) are allowed"
            throw error(.lineTooLong, line: number, column: CaptureLimits.lineLength + 1, message)
        }
        guard line.contains(where: { $0 >= 0x80 }) else { return }
        var decoder = UTF8()
        var iterator = line.makeIterator()
        var column = 1
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: column += 1
            case .emptyInput: return
            case .error: throw error(.invalidUTF8, line: number, column: column, "the text is not UTF-8")
            }
        }
    }

    private mutating func statement(_ whole: CaptureCursor) throws(CaptureError) {
        guard let first = whole.current, first != UInt8(ascii: "#") else { return }
        var (whole, line) = (whole, whole.withoutComment())
        guard hasVersion else { return try version(&line) }
        switch first {
        case UInt8(ascii: ">"): return try command(&line)
        case UInt8(ascii: "<"): return try answer(&line)
        case UInt8(ascii: "!"): return try fault(&line)
        default: break
        }
        try finishCommand()
        let word = String(decoding: whole.peekWord(stops: [UInt8(ascii: ":")]), as: UTF8.self)
        var words = whole
        words.advance(word.utf8.count)
        switch word {
        case _ where words.current == UInt8(ascii: ":"): try header(&whole)
        case "card": try card(&line)
        case "removed": try removed(&line)
        case "line": try smartReaderLine(&whole)
        case "control": try command(&line)
        case "reader" where isInBody && !line.rest.contains(UInt8(ascii: ":")): try change(&line)
        default:
            if whole.rest.contains(UInt8(ascii: ":")) { return try header(&whole) }
            guard isInBody else {
                throw whole.error(.invalidHeader, "'\(CaptureCursor.text(whole.rest))' is no header 'key: value'")
            }
            throw whole.error(.unknownStatement, "'\(CaptureCursor.text(whole.peekWord()))' is not known")
        }
    }
}

/// Cards and their facts, removals, and the lines of Smart Readers.
extension CaptureParser {
    private mutating func card(_ line: inout CaptureCursor) throws(CaptureError) {
        _ = line.skipWord("card")
        let reader = try reader(&line, of: "a card")
        let (time, place) = try time(&line, of: "a card")
        guard time >= max(latest, earliest(reader)) else {
            throw backwards(line, at: place, time, before: max(latest, earliest(reader)))
        }
        let facts = try facts(&line)
        isInBody = true
        latest = time
        let index = capture.presentations.count
        if let before = open.updateValue(index, forKey: reader) { times[before] = nil }
        current = index
        times[index] = time
        capture.presentations.append(.init(reader: reader, at: time, facts: facts, sourceLine: line.line))
    }

    /// The earliest time at which another card can come to a reader.
    private func earliest(_ reader: Int?) -> Duration {
        guard let index = open[reader] else { return removals[reader] ?? .zero }
        return times[index] ?? .zero
    }

    private mutating func removed(_ line: inout CaptureCursor) throws(CaptureError) {
        let start = line.position
        _ = line.skipWord("removed")
        let reader = try reader(&line, of: "a removal")
        let (time, place) = try time(&line, of: "a removal")
        try line.expectEnd()
        guard let index = open[reader] else { throw line.error(.noCard, at: start, "there is no card to be removed") }
        guard time >= earliest(reader) else { throw backwards(line, at: place, time, before: earliest(reader)) }
        capture.presentations[index].removedAt = time
        removals[reader] = time
        open[reader] = nil
        times[index] = nil
        if current == index { current = nil }
    }

    /// `reader N`: what follows belongs to the card on that reader.
    private mutating func change(_ line: inout CaptureCursor) throws(CaptureError) {
        let start = line.position
        _ = line.skipWord("reader")
        let reader = try reader(&line, of: "this line")
        try line.expectEnd()
        guard let index = open[reader] else { throw line.error(.noCard, at: start, "there is no card on that reader") }
        current = index
    }

    private mutating func smartReaderLine(_ line: inout CaptureCursor) throws(CaptureError) {
        _ = line.skipWord("line")
        let reader = try reader(&line, of: "a line")
        guard line.skipWord("at") else { throw line.error(.invalidTime, "a line has no 'at' with a time") }
        let word = line.peekWord()
        let place = line.position
        // The text is taken as it is, a '#' and white space included: it begins after one space.
        let text = line.rest.dropFirst(word.count + 1)
        let time = try line.time("a line")
        guard time >= latest else { throw backwards(line, at: place, time, before: latest) }
        isInBody = true
        latest = time
        capture.lines.append(.init(reader: reader, at: time, text: String(decoding: text, as: UTF8.self)))
    }

    private func reader(_ line: inout CaptureCursor, of what: String) throws(CaptureError) -> Int? {
        let word = line.peekWord()
        guard word.first.map(CaptureCursor.isDigit) ?? false else {
            guard readers.isEmpty || readers.contains(nil) else {
                throw line.error(.unknownReader, "\(what) does not say on which of the readers")
            }
            return nil
        }
        guard let number = Self.readerNumber(word), readers.contains(number) else {
            throw line.error(.unknownReader, "the header names no reader '\(CaptureCursor.text(word))'")
        }
        line.advance(word.count)
        return number
    }

    static func readerNumber(_ digits: some Collection<UInt8>) -> Int? {
        guard let number = Int(String(decoding: digits, as: UTF8.self)), digits.count <= 3 else { return nil }
        return (0...CaptureLimits.readerNumber).contains(number) ? number : nil
    }

    /// `at T`, and the place of the time.
    private func time(_ line: inout CaptureCursor, of what: String) throws(CaptureError) -> (Duration, place: Int) {
        guard line.skipWord("at") else { throw line.error(.invalidTime, "\(what) has no 'at' with a time") }
        let place = line.position
        return (try line.time(what), place)
    }

    private func backwards(_ line: CaptureCursor, at place: Int, _ time: Duration, before: Duration) -> CaptureError {
        let (text, earlier) = (CaptureTime.text(time), CaptureTime.text(before))
        return line.error(.timeBackwards, at: place, "the time goes backwards, from \(earlier) to \(text)")
    }

    private func facts(_ line: inout CaptureCursor) throws(CaptureError) -> CardFacts {
        var facts = CardFacts()
        while !line.isAtEnd {
            let word = line.peekWord()
            let name = String(decoding: word, as: UTF8.self)
            let place = line.position
            if let technology = Technology(rawValue: name) {
                if facts.technology != nil { throw line.error(.duplicateFact, "the card has two technologies") }
                facts.technology = technology
                line.advance(word.count)
                continue
            }
            guard name == "atr" || CaptureFacts.allows(name, of: facts.technology) else {
                throw line.error(.unknownFact, "'\(CaptureCursor.text(word))' is no fact of a card")
            }
            line.advance(word.count)
            let bytes = try factBytes(&line)
            guard !bytes.isEmpty else { throw line.error(.missingBytes, "'\(name)' has no bytes") }
            guard name == "atr" ? facts.atr == nil : facts[name] == nil else {
                throw line.error(.duplicateFact, at: place, "'\(name)' stands twice")
            }
            guard name == "atr" else {
                facts.values.append(.init(name, bytes))
                continue
            }
            guard bytes.count <= ReaderLimits.atrLength else {
                let limit = ReaderLimits.atrLength
                throw line.error(.wrongLength, at: place, "the ATR has \(bytes.count) bytes, \(limit) are allowed")
            }
            facts.atr = bytes
        }
        return facts
    }

    /// The bytes of a fact: words of digits, up to the name of the next one.
    private func factBytes(_ line: inout CaptureCursor) throws(CaptureError) -> [UInt8] {
        var bytes: [UInt8] = []
        while !line.isAtEnd {
            let word = line.peekWord()
            let name = String(decoding: word, as: UTF8.self)
            let isName = name == "atr" || Technology(rawValue: name) != nil || CaptureFacts.names.contains(name)
            let isDigits = word.allSatisfy { CaptureCursor.digit($0) != nil }
            // A word of letters is the name of a fact, which is for the caller to know or not; with a decimal digit in
            // it, it is meant as bytes.
            guard !isName, isDigits || word.contains(where: CaptureCursor.isDigit) else { break }
            while let byte = line.current, !CaptureCursor.isSpace(byte) { bytes.append(try line.hexByte()) }
            line.skipSpaces()
        }
        return bytes
    }
}

extension CaptureParser {
    private mutating func command(_ line: inout CaptureCursor) throws(CaptureError) {
        try finishCommand()
        let start = line
        guard current != nil else { throw line.error(.noCard, "a command stands where there is no card") }
        if line.skipWord("control") {
            let word = line.peekWord(stops: [UInt8(ascii: ">")])
            guard let code = Self.controlCode(word) else {
                throw line.error(.invalidControlCode, "'\(CaptureCursor.text(word))' is no control code")
            }
            line.advance(word.count)
            guard line.skip(">") else { throw line.error(.missingBytes, "a control code has no '>' after it") }
            pending = (.control(code: code, data: try line.hex()), start)
            return
        }
        _ = line.skip(">")
        if line.skip(">") {
            pending = (.raw(try frame(&line)), start)
            try line.expectEnd()
            return
        }
        let bytes = try line.hex()
        guard !bytes.isEmpty else { throw line.error(.missingBytes, "the command has no bytes") }
        guard (CaptureLimits.shortestCommand...CaptureLimits.longestCommand).contains(bytes.count) else {
            throw start.error(.wrongLength, "a command of \(bytes.count) bytes: 4 to 65544 are possible")
        }
        pending = (.apdu(bytes), start)
    }

    private mutating func answer(_ line: inout CaptureCursor) throws(CaptureError) {
        let start = line
        let request = try pendingRequest(line)
        _ = line.skip("<")
        let isRaw = line.skip("<")
        let isRawRequest = if case .raw = request { true } else { false }
        guard isRaw == isRawRequest else {
            let message = isRaw ? "'<<' answers a command that is no raw frame" : "'<' answers a raw frame"
            throw start.error(.answerKind, message)
        }
        if isRaw { return try finish(.raw(try frame(&line)), &line) }
        let bytes = try line.hex(stops: [UInt8(ascii: "@")])
        if case .apdu = request {
            guard !bytes.isEmpty else { throw line.error(.missingBytes, "the answer has no bytes") }
            guard bytes.count >= CaptureLimits.shortestAnswer else {
                throw start.error(.wrongLength, "the answer is too short for a status word")
            }
        }
        guard bytes.count <= ReaderLimits.responseLength else {
            let limit = ReaderLimits.responseLength
            throw start.error(.wrongLength, "the answer has \(bytes.count) bytes, \(limit) are allowed")
        }
        try finish(.bytes(bytes), &line)
    }

    private mutating func fault(_ line: inout CaptureCursor) throws(CaptureError) {
        let start = line
        _ = line.skip("!")
        line.skipSpaces()
        let word = line.peekWord(stops: [UInt8(ascii: "@")])
        guard let fault = Capture.Fault(rawValue: String(decoding: word, as: UTF8.self)) else {
            throw line.error(.unknownFault, "'\(CaptureCursor.text(word))' is no fault")
        }
        line.advance(word.count)
        if pending == nil, let current, capture.presentations[current].connectFault == nil,
            capture.presentations[current].exchanges.isEmpty
        {
            // Directly after the card: no conversation with it was possible.
            try line.expectEnd()
            capture.presentations[current].connectFault = fault
            return
        }
        _ = try pendingRequest(start)
        try finish(.fault(fault), &line)
    }

    private func pendingRequest(_ line: CaptureCursor) throws(CaptureError) -> Capture.Exchange.Request {
        if let pending { return pending.request }
        guard let current else { throw line.error(.noCard, "an answer stands where there is no card") }
        let isSecond = !capture.presentations[current].exchanges.isEmpty
        let message = isSecond ? "the command above has its answer" : "there is no command to be answered"
        throw line.error(.unexpectedAnswer, message)
    }

    private mutating func finish(_ answer: Capture.Exchange.Answer, _ line: inout CaptureCursor) throws(CaptureError) {
        line.skipSpaces()
        var at: Duration?
        let place = line.position
        if line.skip("@") {
            line.skipSpaces()
            at = try line.time("'@'")
        }
        try line.expectEnd()
        guard let pending, let current else { return }
        if let at {
            let before = times[current] ?? .zero
            guard at >= before else { throw backwards(line, at: place, at, before: before) }
            times[current] = at
        }
        let exchange = Capture.Exchange(pending.request, answer, at: at, sourceLine: pending.cursor.line)
        capture.presentations[current].exchanges.append(exchange)
        self.pending = nil
    }

    /// Refuses a command that has no answer yet.
    func finishCommand() throws(CaptureError) {
        guard let pending else { return }
        throw pending.cursor.error(.missingAnswer, "the command has no answer")
    }

    private func frame(_ line: inout CaptureCursor) throws(CaptureError) -> RawFrame {
        let bytes = try line.hex(stops: [UInt8(ascii: "/"), UInt8(ascii: "@")])
        guard let last = bytes.last else { throw line.error(.missingBytes, "the frame has no bytes") }
        guard bytes.count <= ReaderLimits.responseLength else {
            throw line.error(.wrongLength, "the frame has \(bytes.count) bytes")
        }
        guard line.skip("/") else { return RawFrame(bytes) }
        let word = line.peekWord(stops: [UInt8(ascii: "@")])
        guard word.count == 1, let bits = word.first.flatMap(CaptureCursor.digit).map(Int.init), (1...8).contains(bits)
        else { throw line.error(.invalidBits, "'\(CaptureCursor.text(word))' is no number of bits from 1 to 8") }
        guard Int(last) < 1 << bits else {
            throw line.error(.invalidBits, "the last byte holds more than \(bits) bits")
        }
        line.advance(word.count)
        return RawFrame(bytes, bitsInLastByte: bits)
    }

    private static func controlCode(_ word: ArraySlice<UInt8>) -> UInt32? {
        let text = String(decoding: word, as: UTF8.self).lowercased()
        guard !text.contains("+"), !text.contains("-") else { return nil }
        return text.hasPrefix("0x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
    }
}

/// `capture 1` and the header.
extension CaptureParser {
    private mutating func version(_ line: inout CaptureCursor) throws(CaptureError) {
        guard line.skipWord("capture") else {
            throw line.error(.notACapture, "a capture begins with 'capture \(CaptureLimits.version)'")
        }
        let word = line.peekWord()
        guard !word.isEmpty, word.allSatisfy(CaptureCursor.isDigit) else {
            throw line.error(.notACapture, "a capture begins with 'capture \(CaptureLimits.version)'")
        }
        guard Int(String(decoding: word, as: UTF8.self)) == CaptureLimits.version else {
            let text = CaptureCursor.text(word)
            throw line.error(.unsupportedVersion, "version \(text) of the capture format is not known")
        }
        line.advance(word.count)
        try line.expectEnd()
        hasVersion = true
    }

    private mutating func header(_ line: inout CaptureCursor) throws(CaptureError) {
        guard !isInBody else { throw line.error(.headerAfterCard, "a header line stands after the first card") }
        let start = line.position
        let raw = line.rest.prefix { $0 != UInt8(ascii: ":") }
        let key = Self.trimmed(raw)
        guard !key.isEmpty, key.utf8.allSatisfy(Self.keyCharacters.contains) else {
            throw line.error(.invalidHeader, "'\(CaptureCursor.text(raw))' cannot be the key of a header")
        }
        line.advance(raw.count)
        _ = line.skip(":")
        line.skipSpaces()
        let place = line.position
        if let control = line.rest.first(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) {
            throw line.error(.invalidHeader, "a header cannot hold the control character 0x\([control].hex)")
        }
        let value = Self.value(line.rest)
        let words = key.lowercased().split(separator: " ").map(String.init)
        switch (words.first ?? "", words.count) {
        case ("reader", 1), ("reader", 2):
            try declare(words.count == 2 ? words[1] : nil, name: value, at: start, in: line)
        case ("started", 1):
            try expectFirst(key, at: start, in: line)
            guard ISO8601.date(value) != nil else {
                throw line.error(.invalidHeader, at: place, "'\(value)' is no moment such as 2026-01-31T09:00:00Z")
            }
        case ("title", 1), ("source", 1), ("license", 1): try expectFirst(key, at: start, in: line)
        default: break
        }
        guard capture.headers.count < CaptureLimits.headers else {
            throw line.error(.invalidHeader, at: start, "the header has more than \(CaptureLimits.headers) lines")
        }
        capture.headers.append(Capture.Header(key, value))
    }

    private mutating func declare(
        _ number: String?,
        name: String,
        at place: Int,
        in line: CaptureCursor
    ) throws(CaptureError) {
        guard !name.isEmpty else { throw line.error(.invalidHeader, "a reader has no name") }
        var value: Int?
        if let number {
            value = Self.readerNumber(number.utf8)
            guard value != nil else { throw line.error(.unknownReader, at: place, "'\(number)' is no reader's number") }
        }
        guard readers.isEmpty || readers.contains(nil) == (value == nil) else {
            throw line.error(.invalidHeader, at: place, "one reader has a number and another has none")
        }
        guard readers.insert(value).inserted else {
            throw line.error(.duplicateHeader, at: place, "the reader is named twice")
        }
    }

    private func expectFirst(_ key: String, at place: Int, in line: CaptureCursor) throws(CaptureError) {
        guard capture[header: key] == nil else {
            throw line.error(.duplicateHeader, at: place, "'\(key)' stands twice")
        }
    }

    private static let keyCharacters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. ".utf8)

    /// A header's value: up to a `#` after white space, with `\\` and `\#` as they are meant.
    private static func value(_ bytes: ArraySlice<UInt8>) -> String {
        let (backslash, hash) = (UInt8(ascii: "\\"), UInt8(ascii: "#"))
        var result: [UInt8] = []
        var isEscaped = false
        var previous = UInt8(ascii: " ")
        for byte in bytes {
            if isEscaped {
                if byte != backslash && byte != hash { result.append(backslash) }
                result.append(byte)
                isEscaped = false
            } else if byte == backslash {
                isEscaped = true
            } else if byte == hash && CaptureCursor.isSpace(previous) {
                break
            } else {
                result.append(byte)
            }
            previous = byte
        }
        if isEscaped { result.append(backslash) }
        return trimmed(result)
    }

    private static func trimmed(_ bytes: some BidirectionalCollection<UInt8>) -> String {
        let start = bytes.drop(while: CaptureCursor.isSpace)
        let count = start.reversed().drop(while: CaptureCursor.isSpace).count
        return String(decoding: start.prefix(count), as: UTF8.self)
    }
}
