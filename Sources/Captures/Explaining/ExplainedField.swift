import CardCore

/// A part of a command, an answer or a frame that is explained: a data object, a record, or a field of one.
public struct ExplainedField: Sendable, Hashable {
    /// Where it begins, counted from 0 in the command, the answer or the frame; within a field that ``isJoined``, from the
    /// first byte of that one. `nil` for what stands in no single place.
    public var offset: Int?

    /// How many bytes it has there, those of its own header (tag, length, type) included.
    public var length: Int

    /// What it is called.
    public var name: String

    /// What it holds, without its header. `nil` where that is left to ``fields``, and for keys.
    public var bytes: [UInt8]?

    /// What it holds as text, where it is text.
    public var text: String?

    /// What it means, for people.
    public var meaning: String?

    /// Whether its bytes were put together from several answers, or inflated, so that they stand in none as they are.
    public var isJoined: Bool

    /// Its parts, in their order.
    public var fields: [ExplainedField]

    /// A part.
    public init(
        _ name: String,
        offset: Int? = nil,
        length: Int,
        bytes: [UInt8]? = nil,
        text: String? = nil,
        meaning: String? = nil,
        isJoined: Bool = false,
        fields: [ExplainedField] = []
    ) {
        self.name = name
        self.offset = offset
        self.length = length
        self.bytes = bytes
        self.text = text
        self.meaning = meaning
        self.isJoined = isJoined
        self.fields = fields
    }
}

extension ExplainedField: Encodable {
    private enum CodingKeys: CodingKey {
        case offset, length, name, value, text, meaning, joined, fields
    }

    /// The JSON object that the tools print: `name`, `offset`, `length`, `value` (upper-case hexadecimal), `text`,
    /// `meaning`, `joined` (where it is true) and `fields`; what there is not is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(offset, forKey: .offset)
        try container.encode(length, forKey: .length)
        try container.encodeIfPresent(bytes?.hex, forKey: .value)
        try container.encodeIfPresent(text, forKey: .text)
        try container.encodeIfPresent(meaning, forKey: .meaning)
        if isJoined { try container.encode(true, forKey: .joined) }
        if !fields.isEmpty { try container.encode(fields, forKey: .fields) }
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
