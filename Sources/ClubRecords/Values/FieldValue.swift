import Foundation

/// A JSON value, such as that of a custom field.
public enum FieldValue: Sendable, Hashable {
    /// An unknown value.
    case null
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// A number with a fraction, or one too large for ``int(_:)``. Never infinite or not-a-number in JSON.
    case double(Double)
    /// A text.
    case string(String)
    /// Values in order.
    case array([FieldValue])
    /// Values by name.
    case object([String: FieldValue])
}

extension FieldValue: Codable {
    /// Decodes any JSON value.
    public init(from decoder: any Decoder) throws {
        // It would take numbers for text.
        if let record = decoder as? RecordDecoder {
            self = record.value
            return
        }
        let container = try decoder.singleValueContainer()
        // What is most usual comes first, since each attempt that fails makes an error.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode([FieldValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: FieldValue].self))
        }
    }

    /// Encodes the JSON value.
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

extension FieldValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// ``null``.
    public init(nilLiteral: ()) { self = .null }

    /// A ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// An ``int(_:)``.
    public init(integerLiteral value: Int) { self = .int(value) }

    /// A ``double(_:)``.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// A ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An ``array(_:)``.
    public init(arrayLiteral elements: FieldValue...) { self = .array(elements) }

    /// An ``object(_:)``; of duplicate names, the later value wins.
    public init(dictionaryLiteral elements: (String, FieldValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

/// SQLite ends a text at a NUL, so what was kept in a column would differ from what merges. No such text is taken in.
extension FieldValue {
    /// Whether a text or a name in the value has a NUL.
    package var hasNUL: Bool {
        switch self {
        case .null, .bool, .int, .double: false
        case .string(let text): text.hasNUL
        case .array(let values): values.contains(where: \.hasNUL)
        case .object(let values): values.nameWithNUL != nil
        }
    }
}

extension String {
    var hasNUL: Bool { utf8.contains(0) }
}

extension [String: FieldValue] {
    /// The first name that has a NUL, or whose value has one.
    package var nameWithNUL: String? {
        var found: String?
        for (name, value) in self where name.hasNUL || value.hasNUL {
            found = found.map { Swift.min($0, name) } ?? name
        }
        return found
    }

    /// - Throws: ``ClubError/Kind/invalidValue`` if a name or a value has a NUL.
    package func refuseNUL(attempting attempt: String) throws(ClubError) {
        guard let name = nameWithNUL else { return }
        let detail = "the field '\(PlainText.line(name))' has a NUL character; remove it"
        throw ClubError(.invalidValue, attempting: attempt, detail: detail)
    }
}

extension FieldValue {
    /// The value as the text of a CSV cell, before quoting; `nil` for null. Arrays and objects are JSON.
    package var cellText: String? {
        switch self {
        case .null: return nil
        case .bool(let value): return value ? "true" : "false"
        case .int(let value): return String(value)
        case .double(let value):
            let text = String(value)
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        case .string(let text): return text
        case .array, .object:
            var json: [UInt8] = []
            JSONText.append(self, to: &json)
            return String(decoding: json, as: UTF8.self)
        }
    }
}

/// A coding key of any name.
package struct FieldKey: CodingKey, Hashable {
    package static let userId = FieldKey("userId")
    package static let username = FieldKey("username")
    package static let timeStampAdded = FieldKey("timeStampAdded")
    package static let numVisits = FieldKey("numVisits")
    package static let timeStampOfLastVisit = FieldKey("timeStampOfLastVisit")
    /// What later versions of the original library have in place of ``userId``.
    package static let memberId = FieldKey("memberId")
    package static let passId = FieldKey("passId")

    /// The names of the five base values, in the order of the columns of an export; a custom field cannot have one of
    /// them.
    package static let baseNames = [userId, username, timeStampAdded, numVisits, timeStampOfLastVisit]
        .map(\.stringValue)

    package let stringValue: String
    package let intValue: Int?

    package init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    package init(index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    package init?(stringValue: String) { self.init(stringValue) }

    package init?(intValue: Int) { self.init(index: intValue) }

    /// Whether a custom field may have that name: it is no base value, and none that the club keeps itself.
    package static func isCustom(_ name: String) -> Bool {
        !name.isEmpty && !baseNames.contains(name) && !name.hasPrefix("$")
    }

    package var isBaseValue: Bool { Self.baseNames.contains(stringValue) }
}
