import Foundation

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
