import Foundation

/// Makes objects from stored records.
///
/// It differs from `JSONDecoder` in two ways. Where a value is absent or `null` and a type is asked for that cannot be
/// `nil`, it answers with an empty value (`""`, 0, `false`, no elements, an object without values), since a record may
/// be older than a field. And it reads numbers and truth values that stand as text, since a CSV file has nothing else.
package struct RecordDecoder: Decoder, SingleValueDecodingContainer {
    /// How deep values may be nested. It ends types that contain themselves without an optional in between, which an
    /// absent value would otherwise make for ever.
    static let depth = 64

    /// A number, text or truth value may lie one level deeper than what has values in it.
    static func isWithinDepth(_ path: [any CodingKey], _ type: any Any.Type) -> Bool {
        path.count <= depth || path.count == depth + 1 && type is any LosslessStringConvertible.Type
    }

    let value: FieldValue
    package let codingPath: [any CodingKey]
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    package init(_ fields: [String: FieldValue]) {
        self.init(.object(fields), at: [])
    }

    init(_ value: FieldValue?, at path: [any CodingKey]) {
        self.value = value ?? .null
        codingPath = path
    }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch value {
        case .object(let fields): KeyedDecodingContainer(RecordKeyedContainer(fields: fields, codingPath: codingPath))
        case .null: KeyedDecodingContainer(RecordKeyedContainer(fields: [:], codingPath: codingPath))
        default: throw mismatch([String: FieldValue].self)
        }
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        switch value {
        case .array(let elements): RecordUnkeyedContainer(elements: elements, codingPath: codingPath)
        case .null: RecordUnkeyedContainer(elements: [], codingPath: codingPath)
        default: throw mismatch([FieldValue].self)
        }
    }

    package func singleValueContainer() -> any SingleValueDecodingContainer { self }

    package func decodeNil() -> Bool { value == .null }

    package func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard Self.isWithinDepth(codingPath, type) else {
            throw DecodingError.dataCorrupted(context("more than \(Self.depth) levels of values"))
        }
        // These are written by JSONEncoder in forms of its own. The casts hold, as the types were compared.
        if type == Data.self, let data = try data() as? T { return data }
        if type == URL.self, let url = try url() as? T { return url }
        if type == Decimal.self, let decimal = try decimal() as? T { return decimal }
        return try T(from: self)
    }

    package func decode(_ type: String.Type) throws -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        case .int(let number): String(number)
        case .double(let number): String(number)
        case .bool(let truth): String(truth)
        case .array, .object: throw mismatch(String.self)
        }
    }

    package func decode(_ type: Bool.Type) throws -> Bool {
        switch value {
        case .null: return false
        case .bool(let truth): return truth
        case .int(0): return false
        case .int(1): return true
        case .string(let text):
            switch text.trimmingCharacters(in: .whitespaces).lowercased() {
            case "", "false", "0": return false
            case "true", "1": return true
            default: throw mismatch(Bool.self)
            }
        default: throw mismatch(Bool.self)
        }
    }

    package func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
        let result: T? =
            switch value {
            case .null: 0
            case .int(let number): T(exactly: number)
            case .double(let number): T(exactly: number)
            case .string(let text): Self.number(text, empty: 0) { T($0) }
            default: throw mismatch(type)
            }
        guard let result else { throw DecodingError.dataCorrupted(context("the value is no \(type)")) }
        return result
    }

    package func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    package func decode(_ type: Double.Type) throws -> Double {
        let result: Double? =
            switch value {
            case .null: 0
            case .int(let number): Double(number)
            case .double(let number): number
            case .string(let text): Self.number(text, empty: 0) { Double($0) }
            default: throw mismatch(Double.self)
            }
        guard let result else { throw DecodingError.dataCorrupted(context("the value is no number")) }
        return result
    }

    /// What went wrong and at which field, without the values that a decoding error quotes.
    package static func summary(_ error: any Error) -> String {
        func place(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            let keys = context.codingPath + (last.map { [$0] } ?? [])
            guard !keys.isEmpty else { return "the record" }
            let names = keys.map { $0.intValue.map(String.init) ?? PlainText.line($0.stringValue) }
            return "the field '\(names.joined(separator: "."))'"
        }
        return switch error {
        case DecodingError.typeMismatch(let type, let context): "\(place(context)) is no \(words(for: type))"
        case DecodingError.valueNotFound(_, let context): "\(place(context)) has no value"
        case DecodingError.keyNotFound(let key, let context): "\(place(context, key)) is missing"
        case DecodingError.dataCorrupted(let context): "\(place(context)) is not valid"
        default: "it threw \(type(of: error))"
        }
    }

    /// What people call a value that was to be of that type.
    private static func words(for type: any Any.Type) -> String {
        // JSONDecoder and this one name other types for what they wanted.
        if type is any ExpressibleByDictionaryLiteral.Type { return "object" }
        if type is any ExpressibleByArrayLiteral.Type { return "array" }
        if type is any StringProtocol.Type { return "text" }
        if type is Bool.Type { return "truth value" }
        if type is any BinaryInteger.Type { return "whole number" }
        return type is any Numeric.Type ? "number" : "value of the kind that is expected"
    }

    private static func number<T>(_ text: String, empty: T, _ parse: (String) -> T?) -> T? {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? empty : parse(trimmed)
    }

    private func data() throws -> Data {
        if case .array = value { return try Data(from: self) }
        guard let data = Data(base64Encoded: try decode(String.self)) else {
            throw DecodingError.dataCorrupted(context("the value is not in Base64"))
        }
        return data
    }

    private func url() throws -> URL {
        guard let url = URL(string: try decode(String.self)) else {
            throw DecodingError.dataCorrupted(context("the value is no URL"))
        }
        return url
    }

    private func decimal() throws -> Decimal {
        switch value {
        case .null: return 0
        case .int(let number): return Decimal(number)
        // From its digits, since the nearest double of 12.3 is not 12.3.
        case .double(let number): return Decimal(string: "\(number)") ?? Decimal(number)
        case .string(let text):
            guard let decimal = Self.number(text, empty: 0, { Decimal(string: $0) }) else { fallthrough }
            return decimal
        default: throw mismatch(Decimal.self)
        }
    }

    private func context(_ text: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: text)
    }

    private func mismatch(_ type: any Any.Type) -> DecodingError {
        DecodingError.typeMismatch(type, context("the stored value is of another kind"))
    }
}

struct RecordKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [String: FieldValue]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { fields.keys.sorted().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

    func decodeNil(forKey key: Key) -> Bool { (fields[key.stringValue] ?? .null) == .null }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { RecordDecoder(fields["super"], at: codingPath + [FieldKey("super")]) }

    func superDecoder(forKey key: Key) -> any Decoder { decoder(key) }

    private func decoder(_ key: Key) -> RecordDecoder { RecordDecoder(fields[key.stringValue], at: codingPath + [key]) }
}

/// The elements of an array, for ``RecordDecoder``. Unlike an absent value, an absent element is an error.
struct RecordUnkeyedContainer: UnkeyedDecodingContainer {
    let elements: [FieldValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next { try $0.decode(type) } }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }

    /// Goes on to the next element only when this one could be read, as the protocol asks for.
    private mutating func next<T>(_ read: (RecordDecoder) throws -> T) throws -> T {
        let path = codingPath + [FieldKey(index: currentIndex)]
        guard !isAtEnd else {
            let context = DecodingError.Context(codingPath: path, debugDescription: "the array has no more elements")
            throw DecodingError.valueNotFound(T.self, context)
        }
        let result = try read(RecordDecoder(elements[currentIndex], at: path))
        currentIndex += 1
        return result
    }
}
