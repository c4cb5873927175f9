/// A JSON object as its keys and values. What is `nil` is left out.
package struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    package typealias Value = (any Encodable & Sendable)?

    private var base: (any Encodable & Sendable)? = nil
    private var fields: [(name: String, value: any Encodable & Sendable)]

    package init(dictionaryLiteral fields: (String, Value)...) {
        self.fields = fields.compactMap { name, value in value.map { (name, $0) } }
    }

    /// The keys of another value, and these besides.
    package init(_ base: any Encodable & Sendable, _ more: JSONObject) {
        self.base = base
        fields = more.fields
    }

    package subscript(name: String) -> Value {
        get { fields.first { $0.name == name }?.value }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    package mutating func add(_ more: JSONObject) { fields += more.fields }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        try base?.encode(to: encoder)
        var container = encoder.container(keyedBy: Name.self)
        for field in fields { try container.encode(field.value, forKey: Name(stringValue: field.name)) }
    }
}

extension Encoder {
    /// Encodes an object. What is `nil` is left out.
    package func encodeObject(_ object: JSONObject) throws { try object.encode(to: self) }
}
