/// A value of a custom field: what JSON can hold.
public enum FieldValue: Sendable, Hashable {
    /// Nothing is known.
    case null
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// A number with a fraction, or one that is too large for ``int(_:)``. Never infinite, never not-a-number in JSON.
    case double(Double)
    /// A text.
    case string(String)
    /// Values in order.
    case array([FieldValue])
    /// Values by name.
    case object([String: FieldValue])
}

extension FieldValue: Codable {
    /// Reads any JSON value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([FieldValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: FieldValue].self))
        }
    }

    /// Writes the JSON value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }
}
