import Foundation

/// Any JSON, of which texts and whole numbers may name somebody.
package enum JSONValue: Decodable, Sendable, Hashable {
    case null
    case flag(Bool)
    case text(String)
    /// A whole number, in digits.
    case whole(String)
    case number(Double)
    case list([JSONValue])
    case object([String: JSONValue])

    /// What lies deeper names nobody, and a card cannot make the reading go deeper.
    private static let deepest = 8

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let number = try? container.decode(Int64.self) {
            self = .whole(String(number))
        } else if let number = try? container.decode(UInt64.self) {
            self = .whole(String(number))
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if container.decodeNil() || decoder.codingPath.count >= Self.deepest {
            self = .null
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Reads an object of at most 64 KiB; `nil` if it is none.
    package static func object(in bytes: [UInt8]) -> [String: JSONValue]? {
        guard bytes.count <= 1 << 16, case .object(let object) = try? JSONDecoder().decode(Self.self, from: Data(bytes))
        else { return nil }
        return object
    }

    /// A text or a whole number as it may name somebody; `nil` for anything else.
    package var name: String? {
        switch self {
        case .text(let text): text
        case .whole(let digits): digits
        case .null, .flag, .number, .list, .object: nil
        }
    }

    /// A number, if it is one.
    package var double: Double? {
        switch self {
        case .whole(let digits): Double(digits)
        case .number(let number): number
        case .null, .flag, .text, .list, .object: nil
        }
    }

    /// What stands at a path of names, with dots between them.
    package static func value(at path: String, in object: [String: JSONValue]) -> JSONValue? {
        var value = JSONValue.object(object)
        for name in path.split(separator: ".") {
            guard case .object(let inner) = value, let next = inner[String(name)] else { return nil }
            value = next
        }
        return value
    }
}
