/// The text of a file as the parser is given it, and the way back to the places of the text as it was written.
struct YAMLSource {
    private(set) var text: String

    /// The columns, as the parser counts, behind what was made shorter by two characters in a line.
    private var shortened: [Int: [Int]] = [:]

    init(_ text: String) {
        self.text = text
        // JSON may write characters beyond U+FFFF as two escapes, which YAML does not know.
        let isObject = text.utf8.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
        if isObject, text.utf8.contains(UInt8(ascii: "\\")) { joinSurrogates() }
    }

    /// Where something that the parser places stands in the file.
    func place(_ line: Int, _ column: Int) -> (line: Int, column: Int) {
        guard let columns = shortened[line] else { return (line, column) }
        // How many of them there are up to the column; they are in order, and may be as many as the file allows.
        var (low, high) = (0, columns.count)
        while low < high {
            let middle = (low + high) / 2
            if columns[middle] <= column { low = middle + 1 } else { high = middle }
        }
        return (line, column + 2 * low)
    }

    func isTab(_ line: Int, _ column: Int) -> Bool {
        index(line, column).map { text.unicodeScalars[$0] == "\t" } ?? false
    }

    func isIndentedByTab(_ line: Int) -> Bool {
        guard let start = index(line, 1) else { return false }
        return text.unicodeScalars[start...].prefix { $0 == " " || $0 == "\t" }.contains("\t")
    }

    private func index(_ line: Int, _ column: Int) -> String.Index? {
        var position = YAMLText.Position()
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let isInLineBefore = position.isAfterReturn && scalars[index] == "\n"
            if position.line == line, position.column == column, !isInLineBefore { return index }
            if position.line > line { return nil }
            position.pass(scalars[index])
        }
        return nil
    }

    /// `\ud83c\udf89` to `\U0001f389`.
    private mutating func joinSurrogates() {
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        var position = YAMLText.Position()
        var at = 0
        func append(_ scalar: Unicode.Scalar) {
            result.append(scalar)
            position.pass(scalar)
        }
        func unit(_ start: Int) -> UInt32? {
            guard start + 6 <= scalars.count, scalars[start] == "\\", scalars[start + 1] == "u",
                scalars[(start + 2)..<(start + 6)].allSatisfy(\.properties.isASCIIHexDigit)
            else { return nil }
            return UInt32(String(String.UnicodeScalarView(scalars[(start + 2)..<(start + 6)])), radix: 16)
        }
        while at < scalars.count {
            guard scalars[at] == "\\", at + 1 < scalars.count else {
                append(scalars[at])
                at += 1
                continue
            }
            if let high = unit(at), (0xD800...0xDBFF).contains(high),
                let low = unit(at + 6), (0xDC00...0xDFFF).contains(low)
            {
                let value = 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
                let digits = String(value, radix: 16)
                for scalar in ("\\U" + String(repeating: "0", count: 8 - digits.count) + digits).unicodeScalars {
                    append(scalar)
                }
                shortened[position.line, default: []].append(position.column)
                at += 12
            } else {
                // Both, so that the second backslash of '\\' begins nothing.
                append(scalars[at])
                append(scalars[at + 1])
                at += 2
            }
        }
        text = String(result)
        text.makeContiguousUTF8()
    }
}
