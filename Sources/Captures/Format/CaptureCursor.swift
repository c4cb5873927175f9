import CardPasses

/// A place in one line of a capture, and the small words that lines are made of.
struct CaptureCursor {
    let file: String?
    let line: Int
    private let bytes: [UInt8]
    private(set) var position: Int
    private var end: Int

    /// A cursor at the first character of a line that is not white space.
    init(_ bytes: [UInt8], line: Int, file: String?) {
        self.bytes = bytes
        self.line = line
        self.file = file
        position = 0
        end = bytes.count
        skipSpaces()
    }

    /// A copy of which the line ends where a comment begins: at the first `#`.
    func withoutComment() -> CaptureCursor {
        var cursor = self
        cursor.end = rest.firstIndex(of: UInt8(ascii: "#")) ?? end
        return cursor
    }

    // MARK: Characters

    var current: UInt8? { position < end ? bytes[position] : nil }

    var isAtEnd: Bool { position >= end }

    var rest: ArraySlice<UInt8> { bytes[position..<end] }

    mutating func skipSpaces() {
        while let byte = current, Self.isSpace(byte) { position += 1 }
    }

    /// Goes past that character if it stands here.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// The characters up to the next white space or one of `stops`, without going past them.
    func peekWord(stops: [UInt8] = []) -> ArraySlice<UInt8> { rest.prefix { !Self.isSpace($0) && !stops.contains($0) } }

    /// Goes past a word that stands here as a whole, and past the white space after it.
    mutating func skipWord(_ word: StaticString) -> Bool {
        let wanted = word.withUTF8Buffer { Array($0) }
        guard peekWord().elementsEqual(wanted) else { return false }
        advance(wanted.count)
        return true
    }

    /// Goes on by so many bytes, and past the white space after them.
    mutating func advance(_ count: Int) {
        position = min(end, position + count)
        skipSpaces()
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    // MARK: Values

    mutating func time(_ what: String) throws(CaptureError) -> Duration {
        let word = peekWord()
        guard !word.isEmpty else { throw error(.invalidTime, "\(what) has no time") }
        guard let time = CaptureTime.duration(word) else {
            throw error(.invalidTime, "'\(Self.text(word))' is no time in seconds")
        }
        advance(word.count)
        return time
    }

    /// Hexadecimal digits with white space between bytes, up to the end or one of `stops`.
    mutating func hex(stops: [UInt8] = []) throws(CaptureError) -> [UInt8] {
        var result: [UInt8] = []
        while true {
            skipSpaces()
            guard let byte = current, !stops.contains(byte) else { return result }
            result.append(try hexByte(stops: stops))
        }
    }

    mutating func hexByte(stops: [UInt8] = []) throws(CaptureError) -> UInt8 {
        guard let high = current.flatMap(Self.digit) else { throw invalidHex() }
        guard position + 1 < end, !Self.isSpace(bytes[position + 1]), !stops.contains(bytes[position + 1]) else {
            throw error(.oddHex, "the number of hexadecimal digits is odd")
        }
        guard let low = Self.digit(bytes[position + 1]) else {
            position += 1
            throw invalidHex()
        }
        position += 2
        return high << 4 | low
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private func invalidHex() -> CaptureError {
        let character = String(decoding: rest, as: UTF8.self).unicodeScalars.first.map { String($0) } ?? ""
        return error(.invalidHex, "'\(character)' is not a hexadecimal digit")
    }

    // MARK: Errors

    /// An error at this place, or at another one of this line.
    func error(_ code: CaptureError.Code, at place: Int? = nil, _ message: String) -> CaptureError {
        let place = min(place ?? position, bytes.count)
        // Every byte that is not a continuation byte begins a scalar; the lines were found to be UTF-8.
        let column = 1 + bytes[..<place].count { $0 & 0xC0 != 0x80 }
        return CaptureError(file: file, line: line, column: column, code: code, message: message)
    }

    func expectEnd() throws(CaptureError) {
        guard isAtEnd else { throw error(.trailingText, "'\(Self.text(rest))' is not expected here") }
    }

    /// Some bytes as text for a message, shortened.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.count > 40 ? text.prefix(40) + "…" : text
    }
}

/// The lines of a text, without a byte order mark, which some editors write, and without their ends, which may be CRLF.
struct LineSequence: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    /// The number of the line that came last, from 1.
    private(set) var number = 0

    init(_ text: [UInt8]) {
        rest = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        number += 1
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest[line.endIndex...].dropFirst()
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}
