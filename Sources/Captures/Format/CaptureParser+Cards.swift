import CardCore
import CardPasses

/// Cards and their facts, removals, and the lines of Smart Readers.
extension CaptureParser {
    mutating func card(_ line: CaptureCursor) throws(CaptureError) {
        var line = line
        let sourceLine = line.line
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
        capture.presentations.append(.init(reader: reader, at: time, facts: facts, sourceLine: sourceLine))
    }

    /// The earliest time at which another card can come to a reader.
    private func earliest(_ reader: Int?) -> Duration {
        guard let index = open[reader] else { return removals[reader] ?? .zero }
        return times[index] ?? .zero
    }

    mutating func removed(_ line: CaptureCursor) throws(CaptureError) {
        var line = line
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
    mutating func change(_ line: CaptureCursor) throws(CaptureError) {
        var line = line
        let start = line.position
        _ = line.skipWord("reader")
        let reader = try reader(&line, of: "this line")
        try line.expectEnd()
        guard let index = open[reader] else { throw line.error(.noCard, at: start, "there is no card on that reader") }
        current = index
    }

    mutating func smartReaderLine(_ line: CaptureCursor) throws(CaptureError) {
        var line = line
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
        let hasNumber = word.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        guard hasNumber else {
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

    func backwards(
        _ line: CaptureCursor,
        at place: Int,
        _ time: Duration,
        before: Duration
    ) -> CaptureError {
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
                guard facts.technology == nil else {
                    throw line.error(.duplicateFact, "the card has two technologies")
                }
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
                throw line.error(
                    .wrongLength,
                    at: place,
                    "the ATR has \(bytes.count) bytes, \(limit) are allowed"
                )
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
            let isMeant = word.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard !isName, isDigits || isMeant else { break }
            while let byte = line.current, !CaptureCursor.isSpace(byte) { bytes.append(try line.hexByte()) }
            line.skipSpaces()
        }
        return bytes
    }
}
