import ClubRecords

/// A value of a file of scenarios and where it stands, free of the parser that read it.
struct ScenarioFileNode: Sendable {
    /// The line and the column in Unicode scalars, from 1.
    var line: Int
    var column: Int
    var content: Content

    enum Content: Sendable {
        /// A text as it was written, whatever it looks like. Plain: without quotes.
        case text(String, isPlain: Bool)
        case list([ScenarioFileNode])
        /// Keys in their order, each once.
        case mapping([Entry])
        /// Something that was found fault with already.
        case unusable
    }

    struct Entry: Sendable {
        var key: String
        var line: Int
        var column: Int
        var value: ScenarioFileNode
    }
}

/// A node and its place among the values.
struct ScenarioFileValue: Sendable {
    var node: ScenarioFileNode
    /// As `scenarios[1].when[0].events`.
    var place: String

    static func place(_ key: String, in place: String) -> String {
        let name = PlainText.line(String(key.prefix(50)))
        return place.isEmpty ? name : "\(place).\(name)"
    }

    /// The elements of a list; anything else is a list of one.
    var elements: [ScenarioFileValue] {
        guard case .list(let nodes) = node.content else { return [self] }
        return nodes.enumerated().map { ScenarioFileValue(node: $1, place: "\(place)[\($0)]") }
    }

    var isList: Bool { if case .list = node.content { true } else { false } }

    var isMapping: Bool { if case .mapping = node.content { true } else { false } }

    /// Whether somebody found fault with it already.
    var isUnusable: Bool { if case .unusable = node.content { true } else { false } }

    /// Whether nothing stands there, which YAML calls null.
    var isNothing: Bool {
        guard case .text(let text, isPlain: true) = node.content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The text of a scalar, `nil` for anything else.
    var text: String? { if case .text(let text, _) = node.content, !isNothing { text } else { nil } }

    /// What stands there, in words for a message.
    var found: String {
        switch node.content {
        case .text(let text, _): isNothing ? "nothing" : Self.quoted(text)
        case .list: "a list"
        case .mapping: "keys with values"
        case .unusable: "something that cannot be used"
        }
    }

    /// A text of a file in a message: on one line, and short.
    static func quoted(_ text: String) -> String {
        let line = PlainText.line(String(text.prefix(200)))
        return "\"\(line.count > 40 ? line.prefix(40) + "…" : line[...])\""
    }
}

/// The keys of a mapping with their values.
struct ScenarioFileFields {
    /// The mapping itself.
    let whole: ScenarioFileValue
    private var entries: [String: ScenarioFileNode.Entry] = [:]
    /// What keys with a slip in them were probably meant to be.
    private let meant: Set<String>

    init(whole: ScenarioFileValue, entries: [ScenarioFileNode.Entry], meant: Set<String> = []) {
        self.whole = whole
        self.meant = meant
        for entry in entries { self.entries[entry.key] = entry }
    }

    /// Whether a key is not there, also not with a slip in it that was told already.
    func lacks(_ key: String) -> Bool { entries[key] == nil && !meant.contains(key) }

    subscript(key: String) -> ScenarioFileValue? {
        entries[key].map { ScenarioFileValue(node: $0.value, place: ScenarioFileValue.place(key, in: whole.place)) }
    }

    /// The key itself, for what is said of it and not of its value.
    func key(_ key: String) -> ScenarioFileValue? {
        entries[key].map {
            ScenarioFileValue(
                node: .init(line: $0.line, column: $0.column, content: .text(key, isPlain: true)),
                place: ScenarioFileValue.place(key, in: whole.place)
            )
        }
    }
}
