import CardCore

/// One line of a capture, explained. A fact of a card is a line of its own, although it stands on the card's.
public struct ExplainedLine: Sendable, Hashable {
    /// What kind of line it is.
    public var kind: Kind

    /// Its number in the file, from 1, where the file is known.
    public var line: Int?

    /// The presentation that it belongs to, from 1; `nil` for a line of a reader in Smart Reader mode.
    public var presentation: Int?

    /// The name of the reader, where the capture names one.
    public var reader: String?

    /// The time since the start of the capture, where the line tells it.
    public var at: Duration?

    /// The line as a capture writes it, keys left out.
    public var statement: String

    /// The bytes that it holds. `nil` for a line without bytes, and for one that holds a key.
    public var bytes: [UInt8]?

    /// What it is, in one line.
    public var title: String

    /// Its parts, in their order.
    public var fields: [ExplainedField]

    /// The kinds of lines.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A card came.
        case card
        /// What the reader knew of the card.
        case fact
        /// A command APDU.
        case command
        /// The answer to a command APDU.
        case answer
        /// A raw frame.
        case frame
        /// The answer to a raw frame.
        case frameAnswer
        /// An escape command to the reader itself.
        case control
        /// The answer to an escape command.
        case controlAnswer
        /// A fault in place of an answer, or of the whole conversation.
        case fault
        /// The card went.
        case removal
        /// A line of a reader in Smart Reader mode.
        case report
    }

    /// A line.
    public init(
        _ kind: Kind,
        line: Int? = nil,
        presentation: Int? = nil,
        reader: String? = nil,
        at: Duration? = nil,
        statement: String,
        bytes: [UInt8]? = nil,
        title: String,
        fields: [ExplainedField] = []
    ) {
        self.kind = kind
        self.line = line
        self.presentation = presentation
        self.reader = reader
        self.at = at
        self.statement = statement
        self.bytes = bytes
        self.title = title
        self.fields = fields
    }
}

extension ExplainedLine: Encodable {
    private enum CodingKeys: CodingKey {
        case kind, line, presentation, reader, at, bytes, statement, title, fields
    }

    /// The JSON object that the tools print: `kind`, `line`, `presentation`, `reader`, `at` (seconds since the start of the
    /// capture), `statement`, `bytes` (upper-case hexadecimal), `title` and `fields`; what there is not is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encodeIfPresent(line, forKey: .line)
        try container.encodeIfPresent(presentation, forKey: .presentation)
        try container.encodeIfPresent(reader, forKey: .reader)
        try container.encodeIfPresent(at.flatMap { Double(CaptureTime.text($0)) }, forKey: .at)
        try container.encode(statement, forKey: .statement)
        try container.encodeIfPresent(bytes?.hex, forKey: .bytes)
        try container.encode(title, forKey: .title)
        if !fields.isEmpty { try container.encode(fields, forKey: .fields) }
    }
}
