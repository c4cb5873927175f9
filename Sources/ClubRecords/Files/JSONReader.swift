import Foundation

/// Reads JSON (RFC 8259) from bytes: no recursion beyond ``depth``, no trap, and with the place of a fault.
package struct JSONReader {
    /// How deep values may be nested.
    package static let depth = 64

    package struct Fault: Error, Sendable, Hashable {
        /// Where, from 0.
        package var offset: Int
        package var message: String
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var at = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// The one value that the bytes are, white space around it aside.
    package static func value(in bytes: UnsafeBufferPointer<UInt8>) throws(Fault) -> FieldValue {
        var reader = JSONReader(bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.at == bytes.count else { throw reader.fault("nothing more") }
        return value
    }

    package static func value(in bytes: [UInt8]) throws(Fault) -> FieldValue {
        try bytes.withUnsafeBufferPointer { bytes throws(Fault) in try value(in: bytes) }
    }

    private mutating func value(depth: Int) throws(Fault) -> FieldValue {
        guard depth < Self.depth else { throw fault("at most \(Self.depth) levels") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object(_ depth: Int) throws(Fault) -> FieldValue {
        at += 1
        var values: [String: FieldValue] = [:]
        skipSpace()
        if take("}") { return .object(values) }
        while true {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw fault("a name in quotes") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw fault("a colon") }
            let value = try value(depth: depth + 1)
            // The first of two values of one name counts, as of two columns.
            if values[name] == nil { values[name] = value }
            skipSpace()
            if take("}") { return .object(values) }
            guard take(",") else { throw fault("a comma or '}'") }
        }
    }

    private mutating func array(_ depth: Int) throws(Fault) -> FieldValue {
        at += 1
        var values: [FieldValue] = []
        skipSpace()
        if take("]") { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(values) }
            guard take(",") else { throw fault("a comma or ']'") }
        }
    }

    private mutating func string() throws(Fault) -> String {
        at += 1
        let start = at
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { at += 1 }
        if peek == UInt8(ascii: "\"") {
            let text = UnsafeBufferPointer(rebasing: bytes[start..<at])
            guard text.isUTF8 else { throw Fault(offset: start, message: "text in UTF-8") }
            at += 1
            return String(decoding: text, as: UTF8.self)
        }
        var text = Array(bytes[start..<at])
        while let byte = peek {
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: text, as: UTF8.self) else {
                    throw Fault(offset: start, message: "text in UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): try escape(&text)
            case 0..<0x20:
                at -= 1
                throw fault("no control character in a text")
            default: text.append(byte)
            }
        }
        throw fault("a closing quote")
    }

    private mutating func escape(_ text: inout [UInt8]) throws(Fault) {
        let byte = peek
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte ?? 0)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let first = try hexadecimal()
            var scalar = first
            if first & 0xFC00 == 0xD800 {
                guard take("\\"), take("u") else { throw fault("the second half of a surrogate pair") }
                let second = try hexadecimal()
                guard second & 0xFC00 == 0xDC00 else { throw fault("the second half of a surrogate pair") }
                scalar = 0x10000 + (first & 0x3FF) << 10 + second & 0x3FF
            }
            guard let scalar = Unicode.Scalar(scalar) else { throw fault("no lone half of a surrogate pair") }
            text.append(contentsOf: Unicode.UTF8.encode(scalar).map(Array.init) ?? [])
        default:
            at -= 1
            throw fault("an escape of JSON behind '\\'")
        }
    }

    private mutating func hexadecimal() throws(Fault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw fault("four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            at += 1
        }
        return value
    }

    private mutating func number() throws(Fault) -> FieldValue {
        let start = at
        var isInteger = true
        _ = take("-")
        let digits = at
        skipDigits()
        guard at > digits else { throw fault("a value") }
        guard bytes[digits] != UInt8(ascii: "0") || at == digits + 1 else { throw fault("no zero before digits") }
        if take(".") {
            isInteger = false
            let fraction = at
            skipDigits()
            guard at > fraction else { throw fault("a digit") }
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            let exponent = at
            skipDigits()
            guard at > exponent else { throw fault("a digit") }
        }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        if isInteger, let value = Int(text) { return .int(value) }
        guard let value = Double(text), value.isFinite else {
            throw Fault(offset: start, message: "a number within the range of a Double")
        }
        // JSON knows no difference between 1.0 and 1.
        if let whole = Int(exactly: value) { return .int(whole) }
        return .double(value)
    }

    private mutating func skipDigits() {
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { at += 1 }
    }

    private mutating func word(_ text: StaticString, _ value: FieldValue) throws(Fault) -> FieldValue {
        let count = text.utf8CodeUnitCount
        guard at + count <= bytes.count else { throw fault("a value") }
        let word = UnsafeBufferPointer(start: text.utf8Start, count: count)
        guard bytes[at..<at + count].elementsEqual(word) else { throw fault("a value") }
        at += count
        return value
    }

    private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    private func fault(_ message: String) -> Fault { Fault(offset: at, message: message) }
}

/// Cuts a JSON array into its elements, one at a time, so that memory does not depend on its length. The elements
/// themselves are not checked.
struct JSONElementReader: Sendable {
    /// The longest element, in bytes.
    static let longest = 1024 * 1024

    enum Element: Sendable, Hashable {
        case value([UInt8])
        case tooLong
        /// The array goes wrong here, and what follows cannot be read.
        case broken(String)
    }

    private var window: ByteWindow
    private var state = State.beforeFirst

    private enum State {
        case beforeFirst, behindElement, ended
    }

    /// Goes behind the opening bracket.
    init(_ source: any ByteSource) throws(TransferError) {
        window = ByteWindow(source)
        try window.skipMark { $0.contains(0) }
        guard try peek() == UInt8(ascii: "[") else {
            let detail = "expected '[', a list in JSON"
            throw TransferError(.malformed, file: source.path, line: 1, column: 1, detail: detail)
        }
        window.take(1)
    }

    var offset: Int { window.offset }
    var totalBytes: Int? { window.totalBytes }

    /// The next element, or `nil` at the end.
    mutating func next() throws(TransferError) -> Element? {
        guard state != .ended else { return nil }
        guard let first = try peek() else {
            state = .ended
            return .broken("the file ends within the list; export it anew")
        }
        if first == UInt8(ascii: "]") {
            window.take(1)
            state = .ended
            return try peek() == nil ? nil : .broken("there is something behind the list, which was not read")
        }
        if state == .behindElement {
            guard first == UInt8(ascii: ",") else {
                state = .ended
                return .broken("expected a comma or ']' at byte \(window.offset + 1); nothing behind it was read")
            }
            window.take(1)
            guard try peek() != nil else { return try next() }
        }
        state = .behindElement
        return try element()
    }

    /// The next byte that is no white space, which is not taken.
    private mutating func peek() throws(TransferError) -> UInt8? {
        while true {
            let (spaces, byte) = window.withBytes { bytes -> (Int, UInt8?) in
                var at = 0
                while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
                return (at, at < bytes.count ? bytes[at] : nil)
            }
            window.take(spaces)
            if let byte { return byte }
            guard !window.isAtEnd else { return nil }
            try window.fill()
        }
    }

    private mutating func element() throws(TransferError) -> Element {
        var text: [UInt8] = []
        var scan = JSONScan()
        var isTooLong = false
        while true {
            let length = window.withBytes { scan.advance(UnsafeBufferPointer($0)) }
            if text.count + length > Self.longest {
                isTooLong = true
                text = []
            } else if !isTooLong {
                window.withBytes { text.append(contentsOf: $0[..<length]) }
            }
            window.take(length)
            if scan.isComplete { return isTooLong ? .tooLong : .value(text) }
            if window.isAtEnd {
                state = .ended
                return .broken("the file ends within this element; export it anew")
            }
            try window.fill()
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

}

/// Looks for the end of a value.
struct JSONScan {
    private var depth = 0
    private var deepest = 0
    private var isInText = false
    private var isEscaped = false
    private(set) var isComplete = false

    /// Whether values are nested so deep at most. What is no JSON is found by whoever reads it.
    static func isWithin(_ limit: Int, _ text: [UInt8]) -> Bool {
        var scan = JSONScan()
        // Every level needs two bytes.
        if text.count > 2 * limit { _ = text.withUnsafeBufferPointer { scan.advance($0) } }
        return scan.deepest <= limit
    }

    /// How many of the bytes belong to the value.
    mutating func advance(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        for (at, byte) in bytes.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if isInText {
                isEscaped = byte == UInt8(ascii: "\\")
                isInText = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    deepest = max(deepest, depth)
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    isComplete = depth <= 1
                    if depth == 0 { return at }
                    depth -= 1
                    if isComplete { return at + 1 }
                case UInt8(ascii: ",") where depth == 0:
                    isComplete = true
                    return at
                default: break
                }
            }
        }
        return bytes.count
    }
}
