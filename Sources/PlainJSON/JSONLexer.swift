/// Reads the parts of JSON (RFC 8259) from bytes: no trap, and with the place of a fault. What they become is up to whoever
/// reads, as is how deep it goes.
package struct JSONLexer {
    package struct Fault: Error, Sendable, Hashable {
        /// Where, from 0.
        package var offset: Int
        /// What was expected.
        package var message: String

        @inlinable
        package init(offset: Int, message: String) {
            self.offset = offset
            self.message = message
        }
    }

    /// The three words of JSON.
    package enum Word: Sendable {
        case null, `true`, `false`
    }

    @usableFromInline let bytes: UnsafeBufferPointer<UInt8>

    /// Of the next byte.
    @usableFromInline package internal(set) var at = 0

    /// A byte order mark before the text does no harm (RFC 8259, 8.1).
    @inlinable
    package init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    }

    /// The first byte of the next part, which is not taken.
    @inlinable
    package var next: UInt8? {
        mutating get {
            skipSpace()
            return peek
        }
    }

    /// - Throws: unless nothing but white space is left.
    @inlinable
    package mutating func end() throws(Fault) {
        guard next == nil else { throw fault("nothing more") }
    }

    /// Goes behind an opening bracket, which is next.
    @inlinable
    package mutating func open() { at += 1 }

    /// Goes to the next element of an array, or behind its end.
    @inlinable
    package mutating func hasElement(isFirst: Bool) throws(Fault) -> Bool {
        try !closes("]", isFirst: isFirst, "a comma or ']'")
    }

    /// Goes to the value of an object's next member and returns its name; or goes behind the object's end.
    @inlinable
    package mutating func name(isFirst: Bool) throws(Fault) -> String? {
        if try closes("}", isFirst: isFirst, "a comma or '}'") { return nil }
        guard next == UInt8(ascii: "\"") else { throw fault("a name in quotes") }
        let name = try string()
        skipSpace()
        guard take(":") else { throw fault("a colon") }
        return name
    }

    @inlinable
    mutating func closes(
        _ bracket: Unicode.Scalar,
        isFirst: Bool,
        _ expected: StaticString
    ) throws(Fault) -> Bool {
        skipSpace()
        if take(bracket) { return true }
        guard isFirst || take(",") else { throw fault("\(expected)") }
        return false
    }

    /// The text whose opening quote is next.
    @inlinable
    package mutating func string() throws(Fault) -> String {
        at += 1
        let start = at
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { at += 1 }
        if peek == UInt8(ascii: "\"") {
            guard let text = String(validating: UnsafeBufferPointer(rebasing: bytes[start..<at]), as: UTF8.self) else {
                throw Fault(offset: start, message: "text in UTF-8")
            }
            at += 1
            return text
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

    @usableFromInline
    mutating func escape(_ text: inout [UInt8]) throws(Fault) {
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

    /// The number that is next, as it is written, and whether it has neither fraction nor exponent.
    @inlinable
    package mutating func number() throws(Fault) -> (text: String, isInteger: Bool) {
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
        return (String(decoding: bytes[start..<at], as: UTF8.self), isInteger)
    }

    @inlinable
    mutating func skipDigits() {
        while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { at += 1 }
    }

    /// The word that is next.
    @inlinable
    package mutating func word() throws(Fault) -> Word {
        switch peek {
        case UInt8(ascii: "t"): try word("true", .true)
        case UInt8(ascii: "f"): try word("false", .false)
        default: try word("null", .null)
        }
    }

    @inlinable
    mutating func word(_ text: StaticString, _ word: Word) throws(Fault) -> Word {
        let count = text.utf8CodeUnitCount
        guard at + count <= bytes.count else { throw fault("a value") }
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: count)
        guard bytes[at..<at + count].elementsEqual(expected) else { throw fault("a value") }
        at += count
        return word
    }

    @inlinable
    var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    @inlinable
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    @inlinable
    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
    }

    /// What was expected here.
    @inlinable
    package func fault(_ message: String) -> Fault {
        Fault(offset: at, message: isWide ? "text in UTF-8, not in UTF-16 or UTF-32," : message)
    }

    /// Whether the bytes begin as text does in one of the encodings that have more than one byte for each letter.
    @usableFromInline
    var isWide: Bool {
        guard bytes.count > 1 else { return false }
        return bytes[0] == 0 || bytes[1] == 0 || [[0xFE, 0xFF], [0xFF, 0xFE]].contains([bytes[0], bytes[1]])
    }
}
