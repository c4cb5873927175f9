import CardCore

extension VCard {
    /// Reads the first card of a text. The work and the memory grow no faster than the text.
    ///
    /// ``NDEFMode/lenient`` accepts a card without a version (it is then read as 3.0) or without an end, lines without a
    /// colon (they are left out), and text that is not UTF-8 (what is wrong is replaced).
    ///
    /// - Throws: The rule that is broken, with the offset of the line, or of the byte in a text that is not UTF-8.
    public init(decoding bytes: [UInt8], mode: NDEFMode = .strict) throws(NDEFError) {
        if mode == .strict, let offset = bytes.withUnsafeBufferPointer(NDEFUnicode.firstFaultInUTF8) {
            throw NDEFError(.vCardNotText, at: offset)
        }
        var lines = VCardLines(bytes)
        guard let begin = lines.next(), begin.isMark("BEGIN:VCARD") else { throw NDEFError(.vCardWithoutBegin, at: 0) }
        self.init(properties: [])
        var version: Version?
        var depth = 0
        var hasEnded = false
        while let line = lines.next() {
            if line.bytes.isEmpty { continue }
            // A card in a card (AGENT of version 2.1) states nothing of this one.
            if line.isMark("BEGIN:VCARD") {
                depth += 1
            } else if line.isMark("END:VCARD") {
                guard depth > 0 else {
                    hasEnded = true
                    break
                }
                depth -= 1
            } else if depth == 0 {
                guard let property = try Property(line, mode: mode) else {
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
            guard hasEnded else { throw NDEFError(.vCardWithoutEnd, at: bytes.count) }
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

    /// Whether what stands before the value states that it is quoted-printable.
    var isQuotedPrintable: Bool {
        guard let colon else { return false }
        return Self.fields(String(decoding: bytes[..<colon], as: UTF8.self)).dropFirst().contains {
            let (name, value) = Self.parameter($0)
            return Self.isQuotedPrintable(name, value)
        }
    }

    static func isQuotedPrintable(_ name: String, _ value: String) -> Bool {
        (name.isEmpty || name == "ENCODING") && value.uppercased() == "QUOTED-PRINTABLE"
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
    private var position: Int
    /// Version 2.1 folds a line where white space is, and keeps it; later ones add a character.
    private let keepsFoldedSpace: Bool

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // A byte order mark is no part of the text.
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var probe = position
        let lines = (0..<8).compactMap { _ in Self.physicalLine(in: bytes, &probe) }
        keepsFoldedSpace = lines.contains { range in
            // What continues a line is no line, whatever it looks like.
            guard let first = bytes[range].first, first != 0x20, first != 0x09 else { return false }
            return VCardLine(bytes: Array(bytes[range].prefix(64)), offset: 0, next: 0).isMark("VERSION:2.1")
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
        let isQuotedPrintable = VCardLine(bytes: line, offset: offset, next: position).isQuotedPrintable
        while position < bytes.count {
            if isQuotedPrintable, line.last == UInt8(ascii: "=") {
                line.removeLast()
                guard let more = Self.physicalLine(in: bytes, &position) else { break }
                line += bytes[more]
            } else if bytes[position] == 0x20 || bytes[position] == 0x09, !line.isEmpty {
                if !keepsFoldedSpace { position += 1 }
                guard let more = Self.physicalLine(in: bytes, &position) else { break }
                line += bytes[more]
            } else {
                break
            }
        }
        return VCardLine(bytes: line, offset: offset, next: position)
    }
}

extension VCard.Property {
    /// Reads `[group.]name[;parameter…]:value`; `nil` for a line of another form.
    init?(_ line: VCardLine, mode: NDEFMode) throws(NDEFError) {
        guard let colon = line.colon else { return nil }
        var fields = VCardLine.fields(String(decoding: line.bytes[..<colon], as: UTF8.self))
        let head = fields.removeFirst().trimmed
        let dot = head.lastIndex(of: ".")
        let group = dot.map { String(head[..<$0]) }
        let name = dot.map { String(head[head.index(after: $0)...]) } ?? head
        guard VCardText.isName(name), group.map(VCardText.isName) ?? true else { return nil }

        var parameters: [VCard.Parameter] = []
        var isQuotedPrintable = false
        var isLatin1 = false
        for field in fields {
            let (key, value) = VCardLine.parameter(field)
            if VCardLine.isQuotedPrintable(key, value) {
                isQuotedPrintable = true
                continue
            }
            switch (key, value.uppercased()) {
            case ("CHARSET", let charset): isLatin1 = charset == "ISO-8859-1"
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
        if isQuotedPrintable {
            value = try Self.undoQuotedPrintable(value, at: line.offset, mode: mode)
            if isLatin1 { value = value.flatMap { Array(String(Unicode.Scalar($0)).utf8) } }
            if mode == .strict, value.withUnsafeBufferPointer(NDEFUnicode.firstFaultInUTF8) != nil {
                throw NDEFError(.vCardNotText, at: line.offset)
            }
        }
        self.init(group: group, name: name, parameters: parameters, rawValue: String(decoding: value, as: UTF8.self))
    }

    private static func undoQuotedPrintable(
        _ bytes: [UInt8],
        at offset: Int,
        mode: NDEFMode
    ) throws(NDEFError) -> [UInt8] {
        func digit(_ index: Int) -> UInt8? {
            index < bytes.count ? Character(Unicode.Scalar(bytes[index])).hexDigitValue.map(UInt8.init) : nil
        }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "=") {
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
