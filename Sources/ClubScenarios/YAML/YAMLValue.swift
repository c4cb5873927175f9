import ClubRecords

/// A value of a file and where it stands, free of the parser that read it.
package struct YAMLNode: Sendable {
    /// The line and the column in Unicode scalars, from 1.
    package var line: Int
    package var column: Int
    package var content: Content

    package enum Content: Sendable {
        /// A text as it was written, whatever it looks like. Plain: without quotes.
        case text(String, isPlain: Bool)
        case list([YAMLNode])
        /// Keys in their order, each once.
        case mapping([Entry])
        /// Something that was found fault with already.
        case unusable
    }

    package struct Entry: Sendable {
        package var key: String
        package var line: Int
        package var column: Int
        package var value: YAMLNode
    }
}

/// A node and its place among the values.
package struct YAMLValue: Sendable {
    package var node: YAMLNode
    /// As `scenarios[1].when[0].events`.
    package var place: String

    package init(node: YAMLNode, place: String) { (self.node, self.place) = (node, place) }

    package static func place(_ key: String, in place: String) -> String {
        let name = PlainText.line(String(key.prefix(50)))
        return place.isEmpty ? name : "\(place).\(name)"
    }

    /// The elements of a list; anything else is a list of one.
    package var elements: [YAMLValue] {
        guard case .list(let nodes) = node.content else { return [self] }
        return nodes.enumerated().map { YAMLValue(node: $1, place: "\(place)[\($0)]") }
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
struct YAMLFields {
    let whole: YAMLValue
    private var entries: [String: YAMLNode.Entry] = [:]
    /// What keys with a slip in them were probably meant to be.
    private let meant: Set<String>

    init(whole: YAMLValue, entries: [YAMLNode.Entry], meant: Set<String> = []) {
        self.whole = whole
        self.meant = meant
        for entry in entries { self.entries[entry.key] = entry }
    }

    /// Whether a key is not there, also not with a slip in it that was reported already.
    func lacks(_ key: String) -> Bool { entries[key] == nil && !meant.contains(key) }

    subscript(key: String) -> YAMLValue? {
        entries[key].map { YAMLValue(node: $0.value, place: YAMLValue.place(key, in: whole.place)) }
    }

    /// The key itself, for findings about it and not about its value.
    func key(_ key: String) -> YAMLValue? {
        entries[key].map {
            YAMLValue(
                node: .init(line: $0.line, column: $0.column, content: .text(key, isPlain: true)),
                place: YAMLValue.place(key, in: whole.place)
            )
        }
    }
}
