import CardCore
import CardPasses

/// Commands, answers and faults.
extension CaptureParser {
    mutating func command(_ line: CaptureCursor) throws(CaptureError) {
        try finishCommand()
        var line = line
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

    mutating func answer(_ line: CaptureCursor) throws(CaptureError) {
        var line = line
        let start = line
        let request = try pendingRequest(line)
        _ = line.skip("<")
        let isRaw = line.skip("<")
        let isRawRequest = if case .raw = request { true } else { false }
        guard isRaw == isRawRequest else {
            let message = isRaw ? "'<<' answers a command that is no raw frame" : "'<' answers a raw frame"
            throw start.error(.answerKind, message)
        }
        guard !isRaw else {
            let frame = try frame(&line)
            return try finish(.raw(frame), &line)
        }
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

    mutating func fault(_ line: CaptureCursor) throws(CaptureError) {
        var line = line
        let start = line
        _ = line.skip("!")
        line.skipSpaces()
        let word = line.peekWord(stops: [UInt8(ascii: "@")])
        guard let fault = Capture.Fault(rawValue: String(decoding: word, as: UTF8.self)) else {
            throw line.error(.unknownFault, "'\(CaptureCursor.text(word))' is no fault")
        }
        line.advance(word.count)
        if pending == nil, let current, capture.presentations[current].isBare {
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
        throw line.error(
            .unexpectedAnswer,
            isSecond ? "the command above has its answer" : "there is no command to be answered"
        )
    }

    /// Ends an exchange with its answer and the time of it.
    private mutating func finish(
        _ answer: Capture.Exchange.Answer,
        _ line: inout CaptureCursor
    ) throws(CaptureError) {
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
        else {
            throw line.error(.invalidBits, "'\(CaptureCursor.text(word))' is no number of bits from 1 to 8")
        }
        guard Int(last) < 1 << bits else {
            throw line.error(.invalidBits, "the last byte holds more than \(bits) bits")
        }
        line.advance(word.count)
        return RawFrame(bytes, bitsInLastByte: bits)
    }

    private static func controlCode(_ word: ArraySlice<UInt8>) -> UInt32? {
        let text = String(decoding: word, as: UTF8.self).lowercased()
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) else { return nil }
        return text.hasPrefix("0x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
    }
}

extension Capture.Presentation {
    /// Whether nothing stands after the line that opened it.
    fileprivate var isBare: Bool { connectFault == nil && exchanges.isEmpty }
}
