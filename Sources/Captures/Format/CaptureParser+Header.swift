import CardCore
import CardPasses

/// `capture 1` and the header.
extension CaptureParser {
    mutating func version(_ line: CaptureCursor) throws(CaptureError) {
        var line = line
        guard line.skipWord("capture") else {
            throw line.error(.notACapture, "a capture begins with 'capture \(CaptureLimits.version)'")
        }
        let word = line.peekWord()
        guard !word.isEmpty, word.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
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

    mutating func header(_ line: CaptureCursor) throws(CaptureError) {
        guard !isInBody else { throw line.error(.headerAfterCard, "a header line stands after the first card") }
        var line = line
        let start = line.position
        let raw = line.rest.prefix { $0 != UInt8(ascii: ":") }
        let key = Self.trimmed(raw)
        guard !key.isEmpty, key.utf8.allSatisfy(Self.isKeyCharacter) else {
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

    private static func isKeyCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: byte == UInt8(ascii: " ")
        }
    }

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
