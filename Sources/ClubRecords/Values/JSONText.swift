import PlainJSON

/// Writes JSON in the form of the store: keys sorted by their UTF-8, no spaces, slashes as they are.
package enum JSONText {
    /// Appends a value. A number that JSON has no form for becomes null.
    package static func append(_ value: FieldValue, to json: inout [UInt8]) {
        switch value {
        case .null: json.append(contentsOf: "null".utf8)
        case .bool(let value): json.append(contentsOf: (value ? "true" : "false").utf8)
        case .int(let value): json.append(contentsOf: String(value).utf8)
        case .double(let value):
            guard value.isFinite else { return append(.null, to: &json) }
            let text = String(value)
            json.append(contentsOf: text.hasSuffix(".0") ? text.dropLast(2).utf8 : text[...].utf8)
        case .string(let text): append(text.utf8, to: &json)
        case .array(let values):
            json.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                append(value, to: &json)
            }
            json.append(UInt8(ascii: "]"))
        case .object(let values): append(values, to: &json)
        }
    }

    package static func append(_ values: [String: FieldValue], to json: inout [UInt8]) {
        json.append(UInt8(ascii: "{"))
        for (index, (key, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            append(key.utf8, to: &json)
            json.append(UInt8(ascii: ":"))
            append(value, to: &json)
        }
        json.append(UInt8(ascii: "}"))
    }

    /// Appends a text, which must be UTF-8, in quotes.
    package static func append(_ text: some Collection<UInt8>, to json: inout [UInt8]) {
        json.appendJSON(quoting: text)
    }
}
