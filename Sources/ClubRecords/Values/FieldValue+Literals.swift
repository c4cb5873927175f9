extension FieldValue: ExpressibleByNilLiteral {
    /// ``null``.
    public init(nilLiteral: ()) { self = .null }
}

extension FieldValue: ExpressibleByBooleanLiteral {
    /// A ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension FieldValue: ExpressibleByIntegerLiteral {
    /// An ``int(_:)``.
    public init(integerLiteral value: Int) { self = .int(value) }
}

extension FieldValue: ExpressibleByFloatLiteral {
    /// A ``double(_:)``.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension FieldValue: ExpressibleByStringLiteral {
    /// A ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension FieldValue: ExpressibleByArrayLiteral {
    /// An ``array(_:)``.
    public init(arrayLiteral elements: FieldValue...) { self = .array(elements) }
}

extension FieldValue: ExpressibleByDictionaryLiteral {
    /// An ``object(_:)``; of a name that comes twice, the later value counts.
    public init(dictionaryLiteral elements: (String, FieldValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
