import Foundation
import TestSupport
import Testing

@testable import ClubKit

@Suite("Encoding records")
struct RecordEncoderTests {
    private struct Inner: Codable, Equatable {
        var text: String
        var number: Int?
    }

    private struct Everything: Codable, Equatable {
        var bool = true
        var int = -5
        var int8 = Int8.min
        var uint64 = UInt64.max
        var double = 2.5
        var whole = 3.0
        var float = Float(1.1)
        var string = "s"
        var array = [1, 2]
        var strings = ["a": 1]
        var numbers = [7: "x"]
        var set: Set<String> = ["x"]
        var date = Date(timeIntervalSinceReferenceDate: 12.5)
        var data = Data([1, 2])
        var url = URL(string: "https://club.example/m/42")
        var decimal = Decimal(string: "12.3") ?? 0
        var long = Decimal(string: "0.12345678901234567890123456789") ?? 0
        var inner = Inner(text: "t", number: 7)
        var inners = [Inner(text: "u", number: nil)]
        var optional: String?
        var optionalInner: Inner?
        var uuid = UUIDSource.uuid(5)
        var matrix = [[1.5], []]
    }

    private func record(_ object: some Encodable) throws -> [String: FieldValue] {
        try RecordEncoder.record(of: object).fields
    }

    @Test("Values take the forms that they have in JSON")
    func forms() throws {
        let expected: [String: FieldValue] = [
            "bool": true, "int": -5, "int8": -128, "uint64": "18446744073709551615", "double": 2.5, "whole": 3,
            "float": 1.1, "string": "s", "array": [1, 2], "strings": ["a": 1], "numbers": ["7": "x"], "set": ["x"],
            "date": 12.5, "data": "AQI=", "url": "https://club.example/m/42", "decimal": 12.3,
            "long": "0.12345678901234567890123456789", "inner": ["text": "t", "number": 7],
            "inners": [["text": "u"]], "uuid": .string(UUIDSource.uuid(5).uuidString), "matrix": [[1.5], []],
        ]
        #expect(try record(Everything()) == expected)
    }

    @Test("What is written is read back, also after it was JSON")
    func roundTrip() throws {
        let object = Everything()
        let fields = try record(object)
        #expect(try Everything(from: RecordDecoder(fields)) == object)
        let stored = try JSONDecoder().decode([String: FieldValue].self, from: JSONEncoder().encode(fields))
        #expect(stored == fields)
    }

    @Test("Records of random values are read back (seed 4)")
    func randomRoundTrip() throws {
        var random = SeededNumbers(seed: 4)
        func value(_ depth: Int) -> FieldValue {
            switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &random) {
            case 0: return .null
            case 1: return .bool(Bool.random(using: &random))
            case 2: return .int(Int.random(in: Int.min...Int.max, using: &random))
            case 3: return .double(Double.random(in: -1e6...1e6, using: &random) + 0.5)
            case 4: return .string(String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 36))
            case 5: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth + 1) })
            default:
                let members = (0..<Int.random(in: 0..<4, using: &random)).map { ("k\($0)", value(depth + 1)) }
                return .object(Dictionary(uniqueKeysWithValues: members))
            }
        }
        for _ in 0..<200 {
            let fields = Dictionary(uniqueKeysWithValues: (0..<5).map { ("f\($0)", value(0)) })
            let record = try record(fields)
            for (name, value) in fields { #expect(record[name] == value.normal) }
        }
    }

    @Test("A subclass writes into the same record, in the order of its keys")
    func subclass() throws {
        let user = try CustomUser()
        user.userId = "A"
        user.emailAddress = nil
        user.level = 3
        let (fields, names) = try RecordEncoder.record(of: user)
        #expect(
            names == [
                "userId", "username", "timeStampAdded", "numVisits", "timeStampOfLastVisit", "emailAddress", "level",
                "interests", "birthday",
            ]
        )
        #expect(fields["userId"] == "A")
        #expect(fields["username"] == .null)
        #expect(fields["emailAddress"] == .null)
        #expect(fields["level"] == 3)
        #expect(fields["birthday"] == .null)
        #expect(try CustomUser(from: RecordDecoder(fields)).level == 3)
    }

    private class Undeclared: MembershipUser {
        var mail = ""
        var level = 0

        enum CodingKeys: String, CodingKey { case mail, level }

        required init(from decoder: any Decoder) throws {
            try super.init(from: decoder)
            let container = try decoder.container(keyedBy: CodingKeys.self)
            mail = try container.decode(String.self, forKey: .mail)
            level = try container.decode(Int.self, forKey: .level)
        }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(mail, forKey: .mail)
            try container.encode(level, forKey: .level)
        }
    }

    private final class Reordered: Undeclared {
        override class func variableNamesAsStrings() -> [String] { ["level", "userId", "level"] }
    }

    @Test("Columns are in the order of variableNamesAsStrings, else of the coding keys, and none is lost")
    func columns() {
        let base = MembershipUser.variableNamesAsStrings()
        #expect(MembershipUser.columnNames == base)
        #expect(CustomUser.columnNames == base + ["emailAddress", "level", "interests", "birthday"])
        #expect(Undeclared.columnNames == base + ["mail", "level"])
        #expect(
            Reordered.columnNames
                == ["level", "userId", "username", "timeStampAdded", "numVisits", "timeStampOfLastVisit", "mail"]
        )
        // It accepts no record, so that only what it declares is known.
        #expect(RefusingUser.columnNames == base)
    }

    private struct Endless: Encodable {
        final class Node: Encodable {
            var next: Node?
        }
        var node = Node()
        init() { node.next = node }
    }

    private struct Contradiction: Encodable {
        func encode(to encoder: any Encoder) throws {
            _ = encoder.container(keyedBy: FieldKey.self)
            var list = encoder.unkeyedContainer()
            try list.encode(1)
        }
    }

    private struct Careless: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: FieldKey.self)
            try container.encode(Contradiction(), forKey: FieldKey("inner"))
        }
    }

    @Test("What cannot be stored is an error that names the field and quotes no value")
    func errors() {
        #expect(throws: EncodingError.self) { try record(["x": Double.nan]) }
        #expect(throws: EncodingError.self) { try record(["x": Double.infinity]) }
        #expect(throws: EncodingError.self) { try record(["x": Float.infinity]) }
        #expect(throws: EncodingError.self) { try record([1, 2]) }
        #expect(throws: EncodingError.self) { try record("x") }
        #expect(throws: EncodingError.self) { try record(Endless()) }
        #expect(throws: EncodingError.self) { try record(Contradiction()) }
        #expect(throws: EncodingError.self) { try record(Careless()) }
        let error = #expect(throws: EncodingError.self) { try record(["a": ["b": Double.nan]]) }
        #expect(error.map { RecordEncoder.summary($0) } == "the field 'a.b' cannot be stored")
    }

    private struct Nested: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: FieldKey.self)
            var inner = container.nestedContainer(keyedBy: FieldKey.self, forKey: FieldKey("inner"))
            try inner.encode(1, forKey: FieldKey("a"))
            var again = container.nestedContainer(keyedBy: FieldKey.self, forKey: FieldKey("inner"))
            try again.encode(2, forKey: FieldKey("b"))
            var list = container.nestedUnkeyedContainer(forKey: FieldKey("list"))
            try list.encodeNil()
            var element = list.nestedContainer(keyedBy: FieldKey.self)
            try element.encode("x", forKey: FieldKey("c"))
            var deeper = list.nestedUnkeyedContainer()
            try deeper.encode(contentsOf: [true, false])
            try Inner(text: "s", number: nil).encode(to: list.superEncoder())
            try Inner(text: "t", number: nil).encode(to: container.superEncoder())
            try container.encode("once", forKey: FieldKey("twice"))
            try container.encode("again", forKey: FieldKey("twice"))
            #expect(list.count == 4)
        }
    }

    @Test("Nested containers keep their places, and a value that is written twice is the later one")
    func containers() throws {
        let expected: [String: FieldValue] = [
            "inner": ["a": 1, "b": 2], "list": [nil, ["c": "x"], [true, false], ["text": "s"]],
            "super": ["text": "t"], "twice": "again",
        ]
        #expect(try record(Nested()) == expected)
    }
}

extension FieldValue {
    /// As it is read back from JSON, which does not tell 3.0 from 3.
    fileprivate var normal: FieldValue {
        switch self {
        case .double(let number): Int(exactly: number).map { .int($0) } ?? self
        case .array(let elements): .array(elements.map(\.normal))
        case .object(let members): .object(members.mapValues(\.normal))
        default: self
        }
    }
}
