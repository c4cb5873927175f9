/// Reads the JSON object of a reader's line: its values as text, and the place of the first fault.
///
/// Objects and arrays within it are passed over; no reader puts anything there that matters here.
struct SmartReaderJSON {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    /// The values that are texts or numbers, by name in lower case, with the place where each begins.
    private(set) var values: [String: (text: String, place: Int)] = [:]

    /// Reads a whole object.
    init(_ bytes: ArraySlice<UInt8>) throws(SmartReaderLineError) {
        self.bytes = bytes
        position = bytes.startIndex
        try object(depth: 1, isOutermost: true)
        skipSpaces()
        guard position == bytes.endIndex else { throw fault() }
    }

    private func fault() -> SmartReaderLineError { SmartReaderLineError(.invalidJSON, at: position) }

    private var current: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    private mutating func skipSpaces() {
        while let byte = current, byte == 0x20 || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) throws(SmartReaderLineError) {
        guard takes(character) else { throw fault() }
    }

    /// Whether the next is that character, which is then taken.
    private mutating func takes(_ character: Unicode.Scalar) -> Bool {
        skipSpaces()
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func object(depth: Int, isOutermost: Bool = false) throws(SmartReaderLineError) {
        guard depth <= SmartReaderLimits.jsonDepth else { throw fault() }
        try take("{")
        if takes("}") { return }
        repeat {
            skipSpaces()
            let name = try string()
            try take(":")
            skipSpaces()
            let place = position
            if let text = try value(depth: depth), isOutermost { values[name.lowercased()] = (text, place) }
        } while takes(",")
        try take("}")
    }

    private mutating func array(depth: Int) throws(SmartReaderLineError) {
        guard depth <= SmartReaderLimits.jsonDepth else { throw fault() }
        try take("[")
        if takes("]") { return }
        repeat { _ = try value(depth: depth) } while takes(",")
        try take("]")
    }

    /// The text of a string or a number; `nil` for anything else.
    private mutating func value(depth: Int) throws(SmartReaderLineError) -> String? {
        skipSpaces()
        switch current {
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "{"):
            try object(depth: depth + 1)
            return nil
        case UInt8(ascii: "["):
            try array(depth: depth + 1)
            return nil
        default:
            let word = bytes[position...].prefix { "abcdefghijklmnopqrstuvwxyz0123456789-+.E".utf8.contains($0) }
            let text = String(decoding: word, as: UTF8.self)
            let isName = ["true", "false", "null"].contains(text)
            guard isName || Double(text)?.isFinite == true && hasDigitFirst(word) else { throw fault() }
            position = word.endIndex
            return isName ? nil : text
        }
    }

    private func hasDigitFirst(_ word: ArraySlice<UInt8>) -> Bool {
        let digits = word.first == UInt8(ascii: "-") ? word.dropFirst() : word
        return digits.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    private mutating func string() throws(SmartReaderLineError) -> String {
        try take("\"")
        var text: [UInt8] = []
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                let place = position
                position += 1
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw SmartReaderLineError(.notPrintable, at: place)
                }
                return string
            case UInt8(ascii: "\\"):
                position += 1
                text += String(try escape()).utf8
            case 0..<0x20: throw fault()
            default:
                text.append(byte)
                position += 1
            }
        }
        throw fault()
    }

    /// What follows a backslash.
    private mutating func escape() throws(SmartReaderLineError) -> Unicode.Scalar {
        guard let byte = current else { throw fault() }
        let simple: [UInt8: Unicode.Scalar] = [
            UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
            UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
        ]
        if let scalar = simple[byte] {
            position += 1
            return scalar
        }
        guard byte == UInt8(ascii: "u") else { throw fault() }
        position += 1
        let high = try unit()
        guard (0xD800..<0xDC00).contains(high) else {
            guard let scalar = Unicode.Scalar(high) else { throw fault() }
            return scalar
        }
        guard current == UInt8(ascii: "\\") else { throw fault() }
        position += 1
        guard current == UInt8(ascii: "u") else { throw fault() }
        position += 1
        let low = try unit()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw fault() }
        return scalar
    }

    private mutating func unit() throws(SmartReaderLineError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = SmartReaderLine.hexDigit(byte) else { throw fault() }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
