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

    /// The time since the start of the capture, if the line states it.
    public var at: Duration?

    /// The line as a capture writes it, keys left out.
    public var statement: String

    /// The bytes that it holds. `nil` for a line without bytes, and for one that holds a key.
    public var bytes: [UInt8]?

    /// What it is, in one line.
    public var title: String

    /// Its parts, in their order.
    public var fields: [ExplainedField] = []

    /// The kinds of lines.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case card
        /// What the reader knew of the card.
        case fact
        case command
        case answer
        case frame
        case frameAnswer
        /// An escape command to the reader itself.
        case control
        case controlAnswer
        /// A fault in place of an answer, or of the whole conversation.
        case fault
        case removal
        /// A line of a reader in Smart Reader mode.
        case report
    }
}

extension ExplainedLine: Encodable {
    /// The JSON object that the tools print: `kind`, `line`, `presentation`, `reader`, `at` (seconds since the start of the
    /// capture), `statement`, `bytes` (upper-case hexadecimal), `title` and `fields`; what there is not is left out.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeObject([
            "kind": kind, "line": line, "presentation": presentation, "reader": reader,
            "at": at.flatMap { Double(CaptureTime.text($0)) }, "statement": statement, "bytes": bytes?.hex,
            "title": title, "fields": fields.isEmpty ? nil : fields,
        ])
    }
}

/// The explanation of a command and its answer.
struct ExplainedExchange: Sendable {
    struct Message: Sendable {
        var title: String
        var fields: [ExplainedField] = []

        init(_ title: String, _ fields: [ExplainedField] = []) {
            self.title = title
            self.fields = fields
        }
    }

    var command: Message
    /// Of no use where nothing came back.
    var answer: Message

    init(_ command: Message, _ answer: Message) {
        self.command = command
        self.answer = answer
    }
}

/// Explains the commands and answers of one protocol, or of one part of it, with what it remembers of those before.
protocol ExchangeExplainer: Sendable {
    /// The explanation of an exchange, or `nil` if it is none of this protocol's. What it selects is noted afterwards.
    mutating func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange?
}

/// A part of a command, an answer or a frame that is explained: a data object, a record, or a field of one.
public struct ExplainedField: Sendable, Hashable {
    /// What it is called.
    public var name: String

    /// Where it begins, counted from 0 in the command, the answer or the frame; within a field that ``isJoined``, from the
    /// first byte of that one. `nil` for what stands in no single place.
    public var offset: Int?

    /// How many bytes it has there, those of its own header (tag, length, type) included.
    public var length: Int

    /// What it holds, without its header. `nil` where that is left to ``fields``, and for keys.
    public var bytes: [UInt8]?

    /// What it holds as text, where it is text.
    public var text: String?

    /// What it means, for people.
    public var meaning: String?

    /// Whether its bytes were put together from several answers, or inflated, so that they stand in none as they are.
    public var isJoined = false

    /// Its parts, in their order.
    public var fields: [ExplainedField] = []
}

extension ExplainedField {
    /// Bytes without a header.
    init(
        _ name: String,
        at offset: Int?,
        _ bytes: [UInt8],
        text: String? = nil,
        meaning: String? = nil,
        isJoined: Bool = false,
        fields: [ExplainedField] = []
    ) {
        self.init(name: name, offset: offset, length: bytes.count, bytes: bytes, text: text, meaning: meaning)
        (self.isJoined, self.fields) = (isJoined, fields)
    }
}

extension ExplainedField: Encodable {
    /// The JSON object that the tools print: `name`, `offset`, `length`, `value` (upper-case hexadecimal), `text`,
    /// `meaning`, `joined` (where it is true) and `fields`; what there is not is left out.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeObject([
            "name": name, "offset": offset, "length": length, "value": bytes?.hex, "text": text, "meaning": meaning,
            "joined": isJoined ? true : nil, "fields": fields.isEmpty ? nil : fields,
        ])
    }
}

extension ExplainedField {
    /// The same part of a message that stands so many bytes further on in another.
    func moved(by distance: Int) -> ExplainedField {
        guard distance != 0 else { return self }
        var field = self
        field.offset = offset.map { $0 + distance }
        if !isJoined { field.fields = fields.map { $0.moved(by: distance) } }
        return field
    }

    /// The same part without what it holds, if a key is among it.
    func hiding(_ ranges: [Range<Int>]) -> ExplainedField {
        guard let offset, !isJoined, ranges.contains(where: { $0.overlaps(offset..<(offset + length)) }) else {
            return self
        }
        var field = self
        field.fields = fields.map { $0.hiding(ranges) }
        field.bytes = nil
        field.text = nil
        if fields.isEmpty { field.meaning = [meaning, "not shown"].compactMap(\.self).joined(separator: "; ") }
        return field
    }
}
