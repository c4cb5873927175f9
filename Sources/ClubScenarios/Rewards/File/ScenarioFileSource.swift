import ClubRecords

/// The text of a file as the parser is given it, and the way back to the places of the text as it was written.
struct ScenarioFileSource {
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
        var position = ScenarioFileText.Position()
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
        var position = ScenarioFileText.Position()
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

/// A value of a file of scenarios and where it stands, free of the parser that read it.
package struct ScenarioFileNode: Sendable {
    /// The line and the column in Unicode scalars, from 1.
    package var line: Int
    package var column: Int
    package var content: Content

    package enum Content: Sendable {
        /// A text as it was written, whatever it looks like. Plain: without quotes.
        case text(String, isPlain: Bool)
        case list([ScenarioFileNode])
        /// Keys in their order, each once.
        case mapping([Entry])
        /// Something that was found fault with already.
        case unusable
    }

    package struct Entry: Sendable {
        package var key: String
        package var line: Int
        package var column: Int
        package var value: ScenarioFileNode
    }
}

/// A node and its place among the values.
package struct ScenarioFileValue: Sendable {
    package var node: ScenarioFileNode
    /// As `scenarios[1].when[0].events`.
    package var place: String

    package init(node: ScenarioFileNode, place: String) { (self.node, self.place) = (node, place) }

    package static func place(_ key: String, in place: String) -> String {
        let name = PlainText.line(String(key.prefix(50)))
        return place.isEmpty ? name : "\(place).\(name)"
    }

    /// The elements of a list; anything else is a list of one.
    package var elements: [ScenarioFileValue] {
        guard case .list(let nodes) = node.content else { return [self] }
        return nodes.enumerated().map { ScenarioFileValue(node: $1, place: "\(place)[\($0)]") }
    }

    package var isList: Bool { if case .list = node.content { true } else { false } }

    package var isMapping: Bool { if case .mapping = node.content { true } else { false } }

    /// Whether somebody found fault with it already.
    package var isUnusable: Bool { if case .unusable = node.content { true } else { false } }

    /// Whether nothing stands there, which YAML calls null.
    package var isNothing: Bool {
        guard case .text(let text, isPlain: true) = node.content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The text of a scalar, `nil` for anything else.
    package var text: String? { if case .text(let text, _) = node.content, !isNothing { text } else { nil } }

    package var found: String {
        switch node.content {
        case .text(let text, _): isNothing ? "nothing" : Self.quoted(text)
        case .list: "a list"
        case .mapping: "keys with values"
        case .unusable: "something that cannot be used"
        }
    }

    /// A text of a file in a message: on one line, and short.
    package static func quoted(_ text: String) -> String {
        let line = PlainText.line(String(text.prefix(200)))
        return "\"\(line.count > 40 ? line.prefix(40) + "…" : line[...])\""
    }
}

/// The keys of a mapping with their values.
struct ScenarioFileFields {
    let whole: ScenarioFileValue
    private var entries: [String: ScenarioFileNode.Entry] = [:]
    /// What keys with a slip in them were probably meant to be.
    private let meant: Set<String>

    init(whole: ScenarioFileValue, entries: [ScenarioFileNode.Entry], meant: Set<String> = []) {
        self.whole = whole
        self.meant = meant
        for entry in entries { self.entries[entry.key] = entry }
    }

    /// Whether a key is not there, also not with a slip in it that was reported already.
    func lacks(_ key: String) -> Bool { entries[key] == nil && !meant.contains(key) }

    subscript(key: String) -> ScenarioFileValue? {
        entries[key].map { ScenarioFileValue(node: $0.value, place: ScenarioFileValue.place(key, in: whole.place)) }
    }

    /// The key itself, for findings about it and not about its value.
    func key(_ key: String) -> ScenarioFileValue? {
        entries[key].map {
            ScenarioFileValue(
                node: .init(line: $0.line, column: $0.column, content: .text(key, isPlain: true)),
                place: ScenarioFileValue.place(key, in: whole.place)
            )
        }
    }
}
