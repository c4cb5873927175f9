/// A JSON value, such as that of a property.
public enum SirenValue: Sendable, Hashable {
    /// No value.
    case null
    /// A truth value.
    case bool(Bool)
    /// A number, as it is written.
    case number(SirenNumber)
    /// A text.
    case string(String)
    /// Values in order.
    case array([SirenValue])
    /// Values by name.
    case object(SirenObject)

    /// The text, if it is one.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number, if it is one.
    public var number: SirenNumber? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The truth value, if it is one.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The values in order, if it is an array.
    public var array: [SirenValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The values by name, if it is an object.
    public var object: SirenObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The text or the decimal text of the number, if it is one of both.
    public var scalarText: String? { string ?? number?.text }
}

/// A number as it is written in JSON: 2⁶³, `1.0` and `1e400` stay what they are. Two numbers are equal if they are written
/// in the same way.
public struct SirenNumber: Sendable, Hashable, CustomStringConvertible {
    /// The decimal text.
    public let text: String

    init(written text: String) { self.text = text }

    /// The number that a text is, if it is one of JSON.
    public init?(_ text: String) {
        guard case .number(let number) = try? SirenReader.value(in: Array(text.utf8)), number.text == text else {
            return nil
        }
        self = number
    }

    /// A whole number.
    public init(_ value: Int) { text = String(value) }

    /// A number with a fraction; `nil` if it is not finite, for which JSON has no form.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = String(value)
    }

    /// The whole number, if it is one (`1.0` and `1e2` are) and an `Int` can hold it.
    public var int: Int? { Int(text) ?? double.flatMap(Int.init(exactly:)) }

    /// The nearest number that a `Double` can hold; `nil` beyond its range.
    public var double: Double? { Double(text).flatMap { $0.isFinite ? $0 : nil } }

    /// The decimal text.
    public var description: String { text }
}

/// A JSON object, in the order in which it is written. Two objects are equal if they have equal values under the same
/// names, in whatever order.
public struct SirenObject: Sendable, RandomAccessCollection {
    /// A value and its name.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: SirenValue

        /// Creates a member.
        public init(_ name: String, _ value: SirenValue) {
            self.name = name
            self.value = value
        }
    }

    private var members: [Member]

    /// An object without members.
    public init() { members = [] }

    /// For names that are known to differ.
    init(distinct members: [Member]) { self.members = members }

    /// Where the first member is.
    public var startIndex: Int { 0 }

    /// Behind the last member.
    public var endIndex: Int { members.count }

    /// The member at a place.
    public subscript(position: Int) -> Member { members[position] }

    /// The value of a name; setting `nil` removes it. A new name comes last.
    public subscript(name: String) -> SirenValue? {
        get { members.first { Self.isSame($0.name, name) }?.value }
        set {
            let index = members.firstIndex { Self.isSame($0.name, name) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(name, value))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member whose name is known not to be there.
    mutating func append(_ member: Member) { members.append(member) }

    /// Names are equal if their bytes are; for Swift two texts may be equal that JSON holds apart.
    static func isSame(_ one: String, _ other: String) -> Bool {
        one == other && one.utf8.elementsEqual(other.utf8)
    }
}

extension SirenObject: Hashable {
    /// Whether both have equal values under the same names.
    public static func == (one: SirenObject, other: SirenObject) -> Bool {
        guard one.count == other.count else { return false }
        // Nearly always they are in the same order.
        if one.members == other.members { return true }
        let values = Dictionary(other.members.map { ($0.name, $0.value) }) { first, _ in first }
        return one.members.allSatisfy { values[$0.name] == $0.value }
    }

    /// Hashes the members, whose order does not count.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(members.reduce(0) { $0 ^ $1.hashValue })
    }
}

extension SirenObject: ExpressibleByDictionaryLiteral {
    /// Creates an object; of two values of one name the first counts.
    public init(dictionaryLiteral elements: (String, SirenValue)...) { self.init(elements) }

    /// Creates an object; of two values of one name the first counts.
    public init(_ elements: some Sequence<(String, SirenValue)>) {
        self.init()
        var names: Set<[UInt8]> = []
        for (name, value) in elements where names.insert(Array(name.utf8)).inserted { append(Member(name, value)) }
    }
}

extension SirenValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// ``null``.
    public init(nilLiteral: ()) { self = .null }

    /// A ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A ``number(_:)``.
    public init(integerLiteral value: Int) { self = .number(SirenNumber(value)) }

    /// A ``number(_:)``, or ``null`` if it is not finite.
    public init(floatLiteral value: Double) { self = SirenNumber(value).map(SirenValue.number) ?? .null }

    /// A ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An ``array(_:)``.
    public init(arrayLiteral elements: SirenValue...) { self = .array(elements) }

    /// An ``object(_:)``; of two values of one name the first counts.
    public init(dictionaryLiteral elements: (String, SirenValue)...) {
        self = .object(SirenObject(elements))
    }
}
