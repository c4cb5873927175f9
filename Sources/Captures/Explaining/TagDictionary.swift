import CardCore

/// What the tags of BER-TLV data objects mean to one protocol.
struct TagDictionary: Sendable {
    struct Entry: Sendable {
        let name: String
        /// The explanation of the bytes of a primitive object, which begin at that place of the message.
        let explain: @Sendable ([UInt8], Int) -> Content

        init(_ name: String, _ meaning: String? = nil) {
            self.name = name
            explain = { _, _ in Content(meaning: meaning) }
        }

        init(_ name: String, explain: @escaping @Sendable ([UInt8], Int) -> Content) {
            self.name = name
            self.explain = explain
        }

        /// A value that means something as a whole.
        static func meaning(_ name: String, _ meaning: @escaping @Sendable ([UInt8]) -> String?) -> Entry {
            Entry(name) { value, _ in Content(meaning: meaning(value)) }
        }

        /// A value that is a text.
        static func ascii(_ name: String) -> Entry {
            Entry(name) { value, _ in Content(text: ExplanationText.ascii(value)) }
        }
    }

    struct Content: Sendable {
        var text: String?
        var meaning: String?
        var fields: [ExplainedField] = []
    }

    private let entries: [BERTag: Entry]

    init(_ entries: [BERTag: Entry]) { self.entries = entries }

    /// This one, with another's tags where it has none itself.
    func adding(_ other: TagDictionary) -> TagDictionary {
        TagDictionary(entries.merging(other.entries) { own, _ in own })
    }

    subscript(tag: BERTag) -> Entry? { entries[tag] }
}

/// Data objects as fields, each with its place.
struct TLVFields {
    private let dictionary: TagDictionary
    private let bytes: [UInt8]
    private let start: Int

    /// The fields of some data objects. Behind the first byte that is none of a data object, the rest is one field.
    static func make(_ bytes: [UInt8], at start: Int, _ dictionary: TagDictionary) -> [ExplainedField] {
        TLVFields(dictionary: dictionary, bytes: bytes, start: start).objects(0..<bytes.count, depth: 1)
    }

    private func objects(_ range: Range<Int>, depth: Int) -> [ExplainedField] {
        var fields: [ExplainedField] = []
        var rest = bytes[range]
        while let place = rest.firstIndex(where: { $0 != 0 }) {
            let isTooDeep = depth > ReaderLimits.tlvDepth
            guard !isTooDeep,
                let (tag, content) = try? BERTLVDecoder(bytes: bytes).header(at: place, end: rest.endIndex)
            else {
                let meaning =
                    isTooDeep
                    ? "more than \(ReaderLimits.tlvDepth) levels" : "this is no data object, or one that is cut off"
                let bytes = Array(rest[place...])
                return fields + [ExplainedField("not read", at: start + place, bytes, meaning: meaning)]
            }
            rest = rest[content.upperBound...]
            fields.append(field(tag, from: place, content, depth))
        }
        return fields
    }

    private func field(_ tag: BERTag, from first: Int, _ content: Range<Int>, _ depth: Int) -> ExplainedField {
        let entry = dictionary[tag]
        let name = entry.map { "\(tag) \($0.name)" } ?? "\(tag)"
        var field = ExplainedField(name: name, offset: start + first, length: content.upperBound - first)
        if tag.isConstructed {
            field.fields = objects(content, depth: depth + 1)
            field.meaning = content.isEmpty ? "empty" : nil
            return field
        }
        let value = Array(bytes[content])
        field.bytes = value
        if let entry {
            let said = entry.explain(value, start + content.lowerBound)
            (field.text, field.meaning, field.fields) = (said.text, said.meaning, said.fields)
        } else {
            field.text = ExplanationText.ascii(value)
            field.meaning = "not known here"
        }
        if value.isEmpty { field.meaning = [field.meaning, "empty"].compactMap(\.self).joined(separator: ", ") }
        return field
    }
}
