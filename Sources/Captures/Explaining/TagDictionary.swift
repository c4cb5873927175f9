import CardCore

/// What the tags of BER-TLV data objects mean to one protocol.
struct TagDictionary: Sendable {
    /// One tag.
    struct Entry: Sendable {
        let name: String
        /// What to say of the bytes of a primitive object, which begin at that place of the message.
        let explain: @Sendable ([UInt8], Int) -> Content

        init(_ name: String, _ meaning: String? = nil) {
            self.name = name
            explain = { _, _ in Content(meaning: meaning) }
        }

        init(_ name: String, explain: @escaping @Sendable ([UInt8], Int) -> Content) {
            self.name = name
            self.explain = explain
        }
    }

    /// What is said of a value.
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

    private init(_ bytes: [UInt8], _ start: Int, _ dictionary: TagDictionary) {
        self.bytes = bytes
        self.start = start
        self.dictionary = dictionary
    }

    /// The fields of some data objects. Behind the first byte that is none of a data object, the rest is one field.
    ///
    /// - Parameter start: where the bytes begin in their message.
    static func make(_ bytes: [UInt8], at start: Int, _ dictionary: TagDictionary) -> [ExplainedField] {
        let reader = TLVFields(bytes, start, dictionary)
        var place = 0
        return reader.objects(&place, end: bytes.count, depth: 1)
    }

    private func objects(_ place: inout Int, end: Int, depth: Int) -> [ExplainedField] {
        var fields: [ExplainedField] = []
        while place < end {
            guard bytes[place] != 0 else {
                place += 1
                continue
            }
            let first = place
            guard depth <= ReaderLimits.tlvDepth, let (tag, content) = header(at: place, end: end) else {
                fields.append(
                    ExplainedField(
                        "not read",
                        at: start + first,
                        Array(bytes[first..<end]),
                        meaning: depth > ReaderLimits.tlvDepth
                            ? "more than \(ReaderLimits.tlvDepth) levels"
                            : "this is no data object, or one that is cut off"
                    )
                )
                place = end
                break
            }
            place = content.upperBound
            fields.append(field(tag, from: first, content, depth))
        }
        return fields
    }

    private func field(_ tag: BERTag, from first: Int, _ content: Range<Int>, _ depth: Int) -> ExplainedField {
        let entry = dictionary[tag]
        var field = ExplainedField(
            entry.map { "\(tag) \($0.name)" } ?? "\(tag)",
            offset: start + first,
            length: content.upperBound - first
        )
        if tag.isConstructed {
            var place = content.lowerBound
            field.fields = objects(&place, end: content.upperBound, depth: depth + 1)
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

    /// The tag that begins there, and where its content lies, by the rules of ``BERTLV``.
    private func header(at first: Int, end: Int) -> (BERTag, Range<Int>)? {
        var place = first
        var number = UInt32(bytes[place])
        place += 1
        if number & 0x1F == 0x1F {
            while true {
                guard place < end, place - first < 4 else { return nil }
                number = number << 8 | UInt32(bytes[place])
                place += 1
                if number & 0x80 == 0 { break }
            }
        }
        let tag = BERTag(rawValue: number)
        guard tag.isValid, place < end else { return nil }
        var length = Int(bytes[place])
        place += 1
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), count <= end - place else { return nil }
            length = bytes.number(at: place, count: count)
            place += count
        }
        guard length <= end - place else { return nil }
        return (tag, place..<(place + length))
    }
}
