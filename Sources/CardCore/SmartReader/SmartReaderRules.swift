/// How the lines of a reader look: what begins them, what ends them, and what can be one at all.
package struct SmartReaderRules: Sendable, Hashable {
    /// The one format that the reader sends, or `nil` for any.
    package var format: SmartReaderFormat?
    /// What stands before each identifier in plain text.
    package var prefix: [UInt8]
    /// What stands behind each identifier in plain text.
    package var suffix: [UInt8]

    /// How often the beginning of a JSON object is looked for in one line.
    private static let attempts = 16

    /// Rules; by default any format, a line feed behind each line.
    package init(format: SmartReaderFormat? = nil, prefix: [UInt8] = [], suffix: [UInt8] = [0x0A]) {
        (self.format, self.prefix, self.suffix) = (format, prefix, suffix)
    }

    /// A line, and how many bytes of what came it takes.
    package struct Found {
        package var text: String
        package var taken: Int
    }

    /// Whether lines of that format may come.
    package func knows(_ format: SmartReaderFormat) -> Bool { self.format == nil || self.format == format }

    /// Whether only a pause ends a line.
    package var endsWithSilence: Bool { suffix.isEmpty && format == .plain }

    /// Whether what came ends with the suffix, where that is no line end.
    package func endsLine(_ line: [UInt8]) -> Bool {
        guard knows(.plain), let last = suffix.last, line.last == last, !suffix.contains(where: Self.isLineEnd),
            format == .plain || SmartReaderLine.format(of: line[...]) == .plain
        else { return false }
        return line.count >= suffix.count && line.suffix(suffix.count) == suffix[...]
    }

    /// Whether a line is complete, although its end did not come.
    package static func isWhole(_ line: ArraySlice<UInt8>) -> Bool {
        switch line.first {
        case UInt8(ascii: "$"): end(ofSCRDR: line) != nil
        case UInt8(ascii: "{"): (try? SmartReaderJSON(line)) != nil
        default: false
        }
    }

    /// What there is in the bytes between two line ends.
    package func lines(in bytes: ArraySlice<UInt8>) -> [Found] {
        guard format != .plain else { return plain(bytes).map { [$0] } ?? [] }
        var marks: [Int] = []
        if knows(.scrdr) { marks = bytes.indices.filter { bytes[$0...].starts(with: "$SC".utf8) } }
        let ends = marks.dropFirst() + [bytes.endIndex]
        let marked = zip(marks, ends).map { Self.found(scrdr(bytes[$0..<$1])) }
        let before = bytes[..<(marks.first ?? bytes.endIndex)]
        // Before a mark there is noise, but for an object whose line end was lost.
        if !marked.isEmpty, !Self.isWhole(before) { return marked }
        return unmarked(before) + marked
    }

    private static func found(_ line: ArraySlice<UInt8>) -> Found {
        Found(text: String(decoding: line, as: UTF8.self), taken: line.count)
    }

    // MARK: `$SCRDR`

    /// The line up to its check byte, if that is right; what comes behind it is noise.
    private func scrdr(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        Self.end(ofSCRDR: line).map { line[..<$0] } ?? line
    }

    /// The end of a line behind a right check byte.
    private static func end(ofSCRDR line: ArraySlice<UInt8>) -> Int? {
        var sum: UInt8 = 0
        for index in line.indices.dropFirst() {
            if line[index] == UInt8(ascii: "*"), line.endIndex - index >= 3,
                String(decoding: line[(index + 1)..<(index + 3)], as: UTF8.self).uppercased() == Hex.encode([sum])
            {
                return index + 3
            }
            sum ^= line[index]
        }
        return nil
    }

    // MARK: The others

    private func unmarked(_ bytes: ArraySlice<UInt8>) -> [Found] {
        if knows(.json), let object = object(bytes) { return [Self.found(object)] }
        if knows(.mk1) {
            let lines = mk1(bytes)
            if !lines.isEmpty { return lines.map(Self.found) }
        }
        guard format == nil, bytes.first != UInt8(ascii: "+") else { return [] }
        return plain(bytes).map { [$0] } ?? []
    }

    /// The last part of a line that is a whole object; if there is none, what begins as one.
    private func object(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let starts = bytes.indices.filter { bytes[$0...].starts(with: "{\"".utf8) }.prefix(Self.attempts)
        guard let first = starts.first else { return nil }
        let whole = starts.first { (try? SmartReaderJSON(bytes[$0...])) != nil }
        return bytes[(whole ?? first)...]
    }

    /// A `+` at the beginning may be chance, and one behind other bytes still more so: what follows counts only where it
    /// can hardly be noise, unless nothing stands before it and the reader is known to send nothing else.
    private func mk1(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        if bytes.first == UInt8(ascii: "#"), bytes.suffix(4).elementsEqual("/RDR".utf8) { return [bytes] }
        guard let last = bytes.lastIndex(of: UInt8(ascii: "+")) else { return [] }
        guard bytes.first == UInt8(ascii: "+") else {
            let isNoiseBefore = format == .mk1 || !Self.isText(bytes[..<last])
            let id = bytes[(last + 1)...]
            let counts = Self.isPlausible(id) || format == .mk1 && Self.isCode(id)
            return isNoiseBefore && counts ? [bytes[last...]] : []
        }
        // Lines that lost their ends: no identifier has a '+' within it.
        let parts = bytes.split(separator: UInt8(ascii: "+"))
        if parts.count > 1, let end = parts.last, Self.isIdentifier(end) {
            return parts.filter(Self.isIdentifier).map { bytes[($0.startIndex - 1)..<$0.endIndex] }
        }
        let id = bytes.dropFirst()
        // What is no text is a line that was damaged, and reported as such.
        let counts = format == .mk1 || !Self.isText(id) || Self.isPlausible(id) || Self.isCode(id)
        return counts ? [bytes] : []
    }

    /// Whether it is one word with a digit, as the numbers of members are.
    private static func isCode(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count >= 4 && bytes.contains { (0x30...0x39).contains($0) }
            && bytes.allSatisfy { $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) }
    }

    private func plain(_ bytes: ArraySlice<UInt8>) -> Found? {
        var line = bytes
        if !prefix.isEmpty {
            guard let start = line.indices.last(where: { line[$0...].starts(with: prefix) }) else { return nil }
            line = line[(start + prefix.count)...]
        }
        let ending = suffix.filter { !Self.isLineEnd($0) }
        if !ending.isEmpty, line.suffix(ending.count).elementsEqual(ending) { line = line.dropLast(ending.count) }
        guard !line.isEmpty else { return nil }
        guard format == .plain || !prefix.isEmpty || Self.isPlausible(line) else { return nil }
        let text = String(decoding: line, as: UTF8.self)
        // Text that looks like another format is kept as what it is by a '+', which means the same.
        let isOther = SmartReaderLine.format(of: line) != .plain && line.first != UInt8(ascii: "{")
        return Found(text: isOther ? "+" + text : text, taken: bytes.count)
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool { (try? SmartReaderLine.plain(bytes)) != nil }

    /// Whether it is the identifier of a card in hexadecimal.
    package static func isIdentifier(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let identifier = try? Hex.decode(String(decoding: bytes, as: UTF8.self)) else { return false }
        return CardUID.lengths.contains(identifier.count)
    }

    /// Whether plain text can be a reader's output although plain text was not specified: an identifier in hexadecimal
    /// or decimal, a membership text or an address.
    package static func isPlausible(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let text = try? SmartReaderLine.plain(bytes) else { return false }
        if isIdentifier(Array(text.utf8)[...]) { return true }
        if (8...20).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
        return text.utf8.count { $0 == UInt8(ascii: "|") } == 3 || isAddress(text)
    }

    /// Whether a text is a URI: a scheme of two letters or more, a colon, and no white space.
    package static func isAddress(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), !text.contains(where: \.isWhitespace) else { return false }
        let scheme = text[..<colon]
        // Hexadecimal with colons between the bytes has no letter beyond F.
        return scheme.utf8.count >= 2 && scheme.first?.isLetter == true
            && scheme.utf8.allSatisfy { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
            && !isIdentifier(Array(text.utf8)[...])
    }
}

/// The form in which an S550 in Smart Reader mode reports what it read.
///
/// Which one it sends is set for each link in its register 02A0: 1 is `$SCRDR`, 2 JSON, 3 MK1, the default of a serial
/// line. Value 0, TLV, has no documented framing on a serial line and is not understood here: choose another one. Plain
/// text is what the reader types as a keyboard.
public enum SmartReaderFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// `$SCRDR;interface;protocol;template;RSSI;TagId;move;TagData;TagDetails*XOR`, with a check byte.
    case scrdr
    /// A JSON object with `Interface`, `Protocol`, `Template`, `TagId`, `TagData` and others.
    case json
    /// `+`, then the identifier. There is nothing by which a damaged line could be noticed.
    case mk1
    /// The identifier alone, between the prefix and the suffix of registers 02A8 and 02A9.
    case plain
}
