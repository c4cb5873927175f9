/// Takes bytes apart, field by field. What is cut off is reported as such.
struct FieldReader {
    private let bytes: [UInt8]
    /// Where the bytes begin in their message.
    private let start: Int
    private var place = 0
    private(set) var fields: [ExplainedField] = []

    init(_ bytes: [UInt8], at start: Int) {
        self.bytes = bytes
        self.start = start
    }

    var left: Int { bytes.count - place }

    var offset: Int { start + place }

    /// Takes a field of so many bytes; `nil` if not all of them are there.
    @discardableResult
    mutating func take(
        _ name: String,
        _ count: Int,
        _ meaning: ([UInt8]) -> String? = { _ in nil }
    ) -> [UInt8]? {
        guard count > 0 else { return count == 0 ? [] : nil }
        guard left > 0 else { return nil }
        let part = Array(bytes[place..<min(place + count, bytes.count)])
        let isWhole = part.count == count
        let meaning = isWhole ? meaning(part) : "cut off: it has \(ExplanationText.count(count))"
        fields.append(ExplainedField(name, at: offset, part, meaning: meaning))
        place += part.count
        return isWhole ? part : nil
    }

    /// Takes all that is left as one field, if anything is.
    mutating func rest(_ name: String, _ meaning: ([UInt8]) -> String? = { _ in nil }) {
        if left > 0 { take(name, left, meaning) }
    }

    /// Takes all that is left as fields that somebody else makes of it.
    mutating func rest(_ make: ([UInt8], Int) -> [ExplainedField]) {
        guard left > 0 else { return }
        fields += make(Array(bytes[place...]), offset)
        place = bytes.count
    }
}
