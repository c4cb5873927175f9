import Foundation
import PlainJSON

/// Reads JSON (RFC 8259) from bytes: no recursion beyond ``depth``, no trap, and with the place of a fault.
package struct JSONReader {
    /// How deep values may be nested.
    package static let depth = 64

    package typealias Fault = JSONLexer.Fault

    private var lexer: JSONLexer

    /// The one value that the bytes are, white space around it aside.
    package static func value(in bytes: UnsafeBufferPointer<UInt8>) throws(Fault) -> FieldValue {
        var reader = JSONReader(lexer: JSONLexer(bytes))
        let value = try reader.value(depth: 0)
        try reader.lexer.end()
        return value
    }

    package static func value(in bytes: [UInt8]) throws(Fault) -> FieldValue {
        try bytes.withUnsafeBufferPointer { bytes throws(Fault) in try value(in: bytes) }
    }

    /// The number that the first member of a name has in an object, as it is written: a ``FieldValue`` keeps no more than
    /// 64 bits of it.
    package static func number(_ name: String, in bytes: [UInt8]) -> String? {
        bytes.withUnsafeBufferPointer { bytes in
            var reader = JSONReader(lexer: JSONLexer(bytes))
            guard reader.lexer.next == UInt8(ascii: "{") else { return nil }
            reader.lexer.open()
            var isFirst = true
            while let next = try? reader.lexer.name(isFirst: isFirst) {
                isFirst = false
                _ = reader.lexer.next
                if next == name { return try? reader.lexer.number().text }
                guard (try? reader.value(depth: 1)) != nil else { return nil }
            }
            return nil
        }
    }

    private mutating func value(depth: Int) throws(Fault) -> FieldValue {
        guard depth < Self.depth else { throw lexer.fault("at most \(Self.depth) levels") }
        switch lexer.next {
        case UInt8(ascii: "{"): return .object(try object(depth))
        case UInt8(ascii: "["): return .array(try array(depth))
        case UInt8(ascii: "\""): return .string(try lexer.string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            return switch try lexer.word() {
            case .null: .null
            case .true: .bool(true)
            case .false: .bool(false)
            }
        default: return try number()
        }
    }

    private mutating func object(_ depth: Int) throws(Fault) -> [String: FieldValue] {
        lexer.open()
        var values: [String: FieldValue] = [:]
        while let name = try lexer.name(isFirst: values.isEmpty) {
            let value = try value(depth: depth + 1)
            // The first of two values of one name counts, as of two columns.
            if values[name] == nil { values[name] = value }
        }
        return values
    }

    private mutating func array(_ depth: Int) throws(Fault) -> [FieldValue] {
        lexer.open()
        var values: [FieldValue] = []
        while try lexer.hasElement(isFirst: values.isEmpty) { values.append(try value(depth: depth + 1)) }
        return values
    }

    private mutating func number() throws(Fault) -> FieldValue {
        let start = lexer.at
        let (text, isInteger) = try lexer.number()
        if isInteger, let value = Int(text) { return .int(value) }
        guard let value = Double(text), value.isFinite else {
            throw Fault(offset: start, message: "a number within the range of a Double")
        }
        // JSON knows no difference between 1.0 and 1. What has too many digits is rounded, and not to be taken for another.
        if !isInteger, let whole = Int(exactly: value) { return .int(whole) }
        return .double(value)
    }
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
