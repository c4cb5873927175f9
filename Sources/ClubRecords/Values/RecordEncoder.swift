import Foundation

/// Makes records to be stored from objects: the counterpart of ``RecordDecoder``, which reads back what this writes.
///
/// Values take the forms that `JSONEncoder` gives them by default, except numbers that JSON would not keep exactly
/// (a `Decimal`, a `UInt64` above `Int.max`): those become text.
package final class RecordEncoder: Encoder, SingleValueEncodingContainer {
    private enum Content {
        case none
        case single(FieldValue)
        /// The names in the order in which they were first written.
        case object([String: RecordEncoder], names: [String])
        case array([RecordEncoder])
        /// Containers of different kinds were asked for, which no value can be.
        case contradiction
    }

    package let codingPath: [any CodingKey]
    package var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var content = Content.none

    init(at path: [any CodingKey] = []) {
        codingPath = path
    }

    /// The values of an object by name, and the names in the order in which the object writes them. Throws
    /// `EncodingError` for what is no object, holds a number that is not finite, or is nested deeper than
    /// ``RecordDecoder/depth``; and what the object's own `encode(to:)` throws.
    package static func record(of object: any Encodable) throws -> (fields: [String: FieldValue], names: [String]) {
        let encoder = RecordEncoder()
        try object.encode(to: encoder)
        guard case .object(_, let names) = encoder.content, case .object(let fields)? = try encoder.value() else {
            throw EncodingError.invalidValue(object, encoder.context("it writes no values by name"))
        }
        return (fields, names)
    }

    /// What was written, or `nil` if nothing was.
    func value() throws -> FieldValue? {
        switch content {
        case .none: return nil
        case .single(let value): return value
        case .object(let members, _): return .object(try members.compactMapValues { try $0.value() })
        case .array(let elements): return .array(try elements.map { try $0.value() ?? .object([:]) })
        case .contradiction:
            throw EncodingError.invalidValue(
                codingPath.map(\.stringValue),
                context("values of different kinds were written in one place")
            )
        }
    }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        beginObject()
        return KeyedEncodingContainer(RecordKeyedEncodingContainer<Key>(encoder: self))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        beginArray()
        return RecordUnkeyedEncodingContainer(encoder: self)
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { self }

    fileprivate func beginObject() {
        switch content {
        case .none: content = .object([:], names: [])
        case .object: break
        case .single, .array, .contradiction: content = .contradiction
        }
    }

    fileprivate func beginArray() {
        switch content {
        case .none: content = .array([])
        case .array: break
        case .single, .object, .contradiction: content = .contradiction
        }
    }

    /// A place for the value of that name; what was there is replaced, as a subclass may write a value anew.
    fileprivate func member(_ key: any CodingKey) -> RecordEncoder {
        let member = RecordEncoder(at: codingPath + [key])
        guard case .object(var members, var names) = content else { return member }
        content = .none
        if members.updateValue(member, forKey: key.stringValue) == nil { names.append(key.stringValue) }
        content = .object(members, names: names)
        return member
    }

    /// The place for the value of that name, which two containers may share.
    fileprivate func sharedMember(_ key: any CodingKey) -> RecordEncoder {
        if case .object(let members, _) = content, let member = members[key.stringValue] { return member }
        return member(key)
    }

    fileprivate func appendedElement() -> RecordEncoder {
        let element = RecordEncoder(at: codingPath + [FieldKey(index: count)])
        guard case .array(var elements) = content else { return element }
        content = .none
        elements.append(element)
        content = .array(elements)
        return element
    }

    fileprivate var count: Int {
        if case .array(let elements) = content { elements.count } else { 0 }
    }

    fileprivate func set(_ value: FieldValue) {
        switch content {
        case .none, .single: content = .single(value)
        case .object, .array, .contradiction: content = .contradiction
        }
    }

    package func encodeNil() { set(.null) }
    package func encode(_ value: Bool) { set(.bool(value)) }
    package func encode(_ value: String) { set(.string(value)) }
    package func encode(_ value: Float) throws { try encode(value.asDouble) }

    package func encode(_ number: Double) throws {
        guard number.isFinite else { throw EncodingError.invalidValue(number, context("the number is not finite")) }
        // As it is read back from JSON, which does not distinguish 3.0 from 3.
        set(Int(exactly: number).map { .int($0) } ?? .double(number))
    }

    package func encode<T: FixedWidthInteger & Encodable>(_ number: T) {
        set(Int(exactly: number).map { .int($0) } ?? .string("\(number)"))
    }

    package func encode<T: Encodable>(_ value: T) throws {
        guard RecordDecoder.isWithinDepth(codingPath, T.self) else {
            throw EncodingError.invalidValue(
                codingPath.map(\.stringValue),
                context("more than \(RecordDecoder.depth) levels of values")
            )
        }
        switch value {
        case let data as Data: set(.string(data.base64EncodedString()))
        case let url as URL: set(.string(url.absoluteString))
        case let decimal as Decimal: set(.exactly(decimal))
        default: try value.encode(to: self)
        }
        // A value that writes nothing is an object without values, as in JSON.
        if case .none = content { content = .object([:], names: []) }
    }

    fileprivate func context(_ text: String) -> EncodingError.Context {
        EncodingError.Context(codingPath: codingPath, debugDescription: text)
    }
}

extension FieldValue {
    /// A number where that keeps it exactly, else text.
    fileprivate static func exactly(_ decimal: Decimal) -> FieldValue {
        let text = decimal.description
        if let number = Int(text) { return .int(number) }
        guard let number = Double(text), Decimal(string: "\(number)") == decimal else { return .string(text) }
        return .double(number)
    }
}

private struct RecordKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) { encoder.member(key).encodeNil() }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoder.member(key).encode(value)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.sharedMember(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.sharedMember(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder.sharedMember(FieldKey("super")) }

    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder.sharedMember(key) }
}

private struct RecordUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let encoder: RecordEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    mutating func encodeNil() { encoder.appendedElement().encodeNil() }
    mutating func encode<T: Encodable>(_ value: T) throws { try encoder.appendedElement().encode(value) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.appendedElement().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.appendedElement().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder.appendedElement() }
}

extension Float {
    /// The double with the fewest digits that yields this number again: 1.1, not 1.10000002384185791015625.
    fileprivate var asDouble: Double { Double(description) ?? Double(self) }
}
