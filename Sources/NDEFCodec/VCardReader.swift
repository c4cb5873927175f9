import CardCore
import Foundation

extension VCard {
    /// Reads the first card of a text. The work and the memory grow no faster than the text.
    ///
    /// ``NDEFMode/lenient`` accepts a card without a version (it is then read as 3.0) or without an end, lines without a
    /// colon (they are left out), and values that are no text (``Property/isText``).
    ///
    /// - Parameter charset: the character set that the media type states, for values that state none: UTF-8 without it.
    /// - Throws: The rule that is broken, with the offset of the line.
    public init(decoding bytes: [UInt8], mode: NDEFMode = .strict, charset: String? = nil) throws(NDEFError) {
        var lines = VCardLines(bytes, charset)
        try self.init(&lines, mode)
    }

    /// Reads all cards of a text, leniently.
    static func all(decoding bytes: [UInt8], charset: String?) throws(NDEFError) -> [VCard] {
        var lines = VCardLines(bytes, charset)
        var cards = [try VCard(&lines, .lenient)]
        while !lines.isAtEnd, let card = try? VCard(&lines, .lenient) { cards.append(card) }
        return cards
    }

    /// Whether a payload begins like a vCard.
    static func isOne(_ bytes: [UInt8]) -> Bool {
        var lines = VCardLines(bytes, nil)
        return lines.next()?.isMark("BEGIN:VCARD") == true
    }

    private init(_ lines: inout VCardLines, _ mode: NDEFMode) throws(NDEFError) {
        lines.skipBlanks()
        let start = lines.position
        guard let begin = lines.next(), begin.isMark("BEGIN:VCARD") else {
            throw NDEFError(.vCardWithoutBegin, at: start)
        }
        self.init(properties: [])
        var version: Version?
        var depth = 0
        var hasEnded = false
        while let line = lines.next() {
            if line.bytes.isEmpty { continue }
            // A card in a card (AGENT of version 2.1) states nothing of this one.
            if line.isMark("BEGIN:VCARD") || line.isMark("AGENT:BEGIN:VCARD") {
                depth += 1
            } else if line.isMark("END:VCARD") {
                guard depth > 0 else {
                    hasEnded = true
                    break
                }
                depth -= 1
            } else if depth == 0 {
                guard let property = try Property(line, lines.charset, mode: mode) else {
                    if mode == .strict { throw NDEFError(.vCardLine, at: line.offset) }
                    continue
                }
                if property.name == "VERSION" {
                    if version == nil { version = Version(rawValue: property.text.trimmed) }
                    continue
                }
                guard properties.count < Self.mostProperties else {
                    throw NDEFError(.vCardTooManyProperties, at: line.offset, value: Self.mostProperties + 1)
                }
                properties.append(property)
            }
        }
        if mode == .strict {
            guard hasEnded else { throw NDEFError(.vCardWithoutEnd, at: lines.position) }
            guard version != nil else { throw NDEFError(.vCardWithoutVersion, at: begin.next) }
        }
        self.version = version ?? .v3_0
    }
}

/// A line of a vCard, with its continuations joined.
struct VCardLine {
    var bytes: [UInt8]
    /// Where it begins in the text.
    var offset: Int
    /// Where the next line begins.
    var next: Int

    /// Whether the line is this one, compared without regard to case and white space.
    func isMark(_ mark: String) -> Bool {
        bytes.lazy.filter { $0 != 0x20 && $0 != 0x09 }.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
            .elementsEqual(mark.utf8)
    }

    /// How bytes that are no plain text are written as one.
    enum Encoding {
        case quotedPrintable, base64

        /// The encoding that a parameter states, if it states one.
        init?(_ name: String, _ value: String) {
            switch (name, value.uppercased()) {
            case ("", "QUOTED-PRINTABLE"), ("ENCODING", "QUOTED-PRINTABLE"), ("ENCODING", "Q"): self = .quotedPrintable
            case ("", "BASE64"), ("ENCODING", "BASE64"), ("ENCODING", "B"): self = .base64
            default: return nil
            }
        }
    }

    /// How the value is written, by what stands before it.
    var encoding: Encoding? {
        guard let colon else { return nil }
        return Self.fields(String(decoding: bytes[..<colon], as: UTF8.self)).dropFirst().lazy.compactMap {
            let (name, value) = Self.parameter($0)
            return Encoding(name, value)
        }.first
    }

    /// The name, empty for a bare word, and the value without quotes.
    static func parameter(_ field: String) -> (name: String, value: String) {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.count == 2 ? parts[0].trimmed.uppercased() : ""
        var value = (parts.last ?? "").trimmed
        if value.hasPrefix("\""), value.hasSuffix("\""), value.utf8.count >= 2 {
            value = String(value.dropFirst().dropLast())
        }
        return (name, value)
    }

    /// The colon that ends the parameters: the first that is not in quotes, or the first at all where quotes do not end.
    var colon: Int? {
        var isQuoted = false
        var first: Int?
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ":") {
                if first == nil { first = index }
                if !isQuoted { return index }
            }
        }
        return first
    }

    /// What stands before the colon, cut at the semicolons that are not in quotes; never empty.
    static func fields(_ text: String) -> [String] { VCardText.split(text) { $0 == "\"" ? !$1 : $1 } }
}

/// The lines of a vCard: they end with CR LF, LF or CR; one that begins with white space continues the line before it.
struct VCardLines {
    private let bytes: [UInt8]
    private(set) var position = 0
    /// Version 2.1 folds a line where white space is, and keeps it; later ones add a character.
    private var keepsFoldedSpace = false
    /// The character set of values that state none, and whether it holds for those that do as well: for a text that was in
    /// UTF-16 as a whole.
    let charset: (name: String?, isOfWhole: Bool)

    init(_ bytes: [UInt8], _ charset: String?) {
        let narrowed = Charset.narrowed(bytes, charset)
        self.bytes = narrowed ?? bytes
        // Lines that are not in UTF-16 although the type states it are in single bytes.
        self.charset = narrowed == nil ? (charset.flatMap { Charset.isWide($0) ? nil : $0 }, false) : (nil, true)
        skipBlanks()
        var probe = position
        let lines = (0..<8).compactMap { _ in Self.physicalLine(in: self.bytes, &probe) }
        keepsFoldedSpace = lines.contains { range in
            // What continues a line is no line, whatever it looks like.
            guard let first = self.bytes[range].first, first != 0x20, first != 0x09 else { return false }
            return VCardLine(bytes: Array(self.bytes[range].prefix(64)), offset: 0, next: 0).isMark("VERSION:2.1")
        }
    }

    var isAtEnd: Bool { position >= bytes.count }

    /// Passes over white space, line ends, NULs and byte order marks, which are no part of a card before its first line.
    mutating func skipBlanks() {
        while position < bytes.count {
            if bytes[position] <= 0x20 {
                position += 1
            } else if bytes[position...].starts(with: [0xEF, 0xBB, 0xBF]) {
                position += 3
            } else {
                return
            }
        }
    }

    private static func physicalLine(in bytes: [UInt8], _ position: inout Int) -> Range<Int>? {
        guard position < bytes.count else { return nil }
        let start = position
        while position < bytes.count, bytes[position] != 0x0A, bytes[position] != 0x0D { position += 1 }
        let end = position
        if position < bytes.count {
            let isReturn = bytes[position] == 0x0D
            position += 1
            if isReturn, position < bytes.count, bytes[position] == 0x0A { position += 1 }
        }
        return start..<end
    }

    mutating func next() -> VCardLine? {
        let offset = position
        guard let range = Self.physicalLine(in: bytes, &position) else { return nil }
        var line = Array(bytes[range])
        var encoding = VCardLine(bytes: line, offset: offset, next: position).encoding
        while position < bytes.count {
            if encoding == .quotedPrintable, Self.takeSoftBreak(&line) {
                guard let more = nextPart(isText: true) else { break }
                line += more
            } else if bytes[position] == 0x20 || bytes[position] == 0x09, !line.isEmpty {
                if !keepsFoldedSpace { position += 1 }
                guard let more = Self.physicalLine(in: bytes, &position) else { break }
                line += bytes[more]
                // Parameters are folded too.
                if encoding == nil, line.count < 1024 {
                    encoding = VCardLine(bytes: line, offset: offset, next: position).encoding
                }
            } else if encoding == .base64, let more = nextPart(isText: false) {
                line += more
            } else {
                break
            }
        }
        if encoding == .quotedPrintable { _ = Self.takeSoftBreak(&line) }
        return VCardLine(bytes: line, offset: offset, next: position)
    }

    /// Takes away white space at the end of a line (RFC 2045, section 6.7, rule 3), and what breaks the line there.
    private static func takeSoftBreak(_ line: inout [UInt8]) -> Bool {
        while let last = line.last, last == 0x20 || last == 0x09 { line.removeLast() }
        guard line.last == UInt8(ascii: "=") else { return false }
        line.removeLast()
        return true
    }

    /// The next line, which continues a text behind a soft break or a value in base64; `nil` where it is a line of its own,
    /// since programs end texts with `=` and break base64 without white space.
    private mutating func nextPart(isText: Bool) -> ArraySlice<UInt8>? {
        var end = position
        guard let range = Self.physicalLine(in: bytes, &end) else { return nil }
        let part = bytes[range]
        if isText {
            let start = String(decoding: part.prefix(16), as: UTF8.self).uppercased()
            guard !start.hasPrefix("END:VCARD"), !start.hasPrefix("X-MEMBER") else { return nil }
        } else {
            guard !part.isEmpty, part.allSatisfy({ $0.isASCIIAlphanumeric || "+/=".utf8.contains($0) }) else {
                return nil
            }
        }
        position = end
        return part
    }
}

extension VCard.Property {
    /// Reads `[group.]name[;parameter…]:value`; `nil` for a line of another form.
    init?(_ line: VCardLine, _ charset: (name: String?, isOfWhole: Bool), mode: NDEFMode) throws(NDEFError) {
        guard let colon = line.colon else { return nil }
        var fields = VCardLine.fields(String(decoding: line.bytes[..<colon], as: UTF8.self))
        let head = fields.removeFirst().trimmed
        let dot = head.lastIndex(of: ".")
        let group = dot.map { String(head[..<$0]) }
        let name = dot.map { String(head[head.index(after: $0)...]) } ?? head
        guard VCardText.isName(name), group.map(VCardText.isName) ?? true else { return nil }

        var parameters: [VCard.Parameter] = []
        var encoding: (kind: VCardLine.Encoding, written: VCard.Parameter)?
        var stated: String?
        for field in fields {
            let (key, value) = VCardLine.parameter(field)
            if let kind = VCardLine.Encoding(key, value) {
                encoding = (kind, VCard.Parameter(key, value))
                continue
            }
            switch (key, value) {
            case ("CHARSET", let name): stated = name
            case ("", ""): break
            default:
                guard key.isEmpty ? VCardText.isName(value) : VCardText.isName(key) else {
                    if mode == .strict { throw NDEFError(.vCardLine, at: line.offset) }
                    continue
                }
                parameters.append(VCard.Parameter(key, value))
            }
        }
        var value = Array(line.bytes[(colon + 1)...])
        switch encoding?.kind {
        case .quotedPrintable?: value = try Self.undoQuotedPrintable(value, at: line.offset, mode: mode)
        case .base64?:
            guard let bytes = Self.base64(value), let text = Self.text(bytes, stated ?? charset.name) else {
                parameters += encoding.map { [$0.written] } ?? []
                let written = String(decoding: value, as: UTF8.self)
                self.init(group: group, name: name, parameters: parameters, rawValue: written, isText: false)
                return
            }
            self.init(group: group, name: name, parameters: parameters, rawValue: text)
            return
        case nil:
            // A line among others in single bytes is in no character set that has none.
            if charset.isOfWhole || stated.map(Charset.isWide) == true { stated = nil }
        }
        guard let text = Self.text(value, stated ?? charset.name) else {
            if mode == .strict { throw NDEFError(.vCardNotText, at: line.offset) }
            self.init(group: group, name: name, parameters: parameters, rawValue: "", isText: false)
            return
        }
        let inner = Self.dataText(text)
        self.init(
            group: group,
            name: name,
            parameters: parameters,
            rawValue: inner.map { $0 ?? "" } ?? text,
            isText: inner != .some(nil)
        )
    }

    /// The text in a character set. The sign for what was no text once (U+FFFD) is none.
    private static func text(_ bytes: [UInt8], _ charset: String?) -> String? {
        Charset.decode(bytes, as: charset).flatMap { $0.unicodeScalars.contains("\u{FFFD}") ? nil : $0 }
    }

    private static func base64(_ text: [UInt8]) -> [UInt8]? {
        let digits = text.filter { $0 > 0x20 && $0 != UInt8(ascii: "=") }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        return Data(base64Encoded: Data(digits + padding)).map { Array($0) }
    }

    /// The text that an address holds (RFC 2397), as `data:text/plain;charset=UTF-8;base64,SsO2cmc=`, itself `nil` where it
    /// is none in its character set; `nil` for any other value.
    private static func dataText(_ value: String) -> String?? {
        guard value.prefix(5).lowercased() == "data:", let comma = value.firstIndex(of: ",") else { return nil }
        // Version 4.0 protects the signs of a text.
        let head = value[..<comma].dropFirst(5).filter { $0 != "\\" }
        let type = MediaType(head)
        guard type.essence.hasPrefix("text/") || head.isEmpty || head.first == ";" else { return nil }
        let body = Array(value[value.index(after: comma)...].utf8)
        if head.lowercased().hasSuffix(";base64") { return .some(base64(body).flatMap { text($0, type.charset) }) }
        let bytes = try? undoQuotedPrintable(body, by: "%", at: 0, mode: .lenient)
        return .some(bytes.flatMap { text($0, type.charset) })
    }

    private static func undoQuotedPrintable(
        _ bytes: [UInt8],
        by sign: Unicode.Scalar = "=",
        at offset: Int,
        mode: NDEFMode
    ) throws(NDEFError) -> [UInt8] {
        func digit(_ index: Int) -> UInt8? {
            index < bytes.count ? Character(Unicode.Scalar(bytes[index])).hexDigitValue.map(UInt8.init) : nil
        }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: sign) {
                if let high = digit(index + 1), let low = digit(index + 2) {
                    result.append(high << 4 | low)
                    index += 3
                    continue
                }
                if mode == .strict { throw NDEFError(.vCardQuotedPrintable, at: offset) }
            }
            result.append(bytes[index])
            index += 1
        }
        return result
    }
}
