import Foundation
import Testing

@testable import ClubRecords

@Suite("Decoding stored records")
struct RecordDecoderTests {
    private struct Inner: Codable, Equatable {
        var text: String
        var number: Int
    }

    private struct Everything: Decodable, Equatable {
        var bool: Bool
        var int: Int
        var int8: Int8
        var uint64: UInt64
        var double: Double
        var float: Float
        var string: String
        var array: [Int]
        var strings: [String: Int]
        var set: Set<String>
        var date: Date
        var data: Data
        var inner: Inner
        var inners: [Inner]
        var optional: String?
        var optionalInner: Inner?
        var decimal: Decimal
    }

    private static let empty = Everything(
        bool: false,
        int: 0,
        int8: 0,
        uint64: 0,
        double: 0,
        float: 0,
        string: "",
        array: [],
        strings: [:],
        set: [],
        date: Date(timeIntervalSinceReferenceDate: 0),
        data: Data(),
        inner: Inner(text: "", number: 0),
        inners: [],
        optional: nil,
        optionalInner: nil,
        decimal: 0
    )

    @Test("Absent values are empty where they cannot be nil")
    func absent() throws {
        #expect(try Everything(from: RecordDecoder([:])) == Self.empty)
    }

    @Test("Null counts as absent")
    func null() throws {
        let names = Mirror(reflecting: Self.empty).children.compactMap(\.label)
        #expect(names.count == 17)
        let record = Dictionary(uniqueKeysWithValues: names.map { ($0, FieldValue.null) })
        #expect(try Everything(from: RecordDecoder(record)) == Self.empty)
    }

    @Test("Values that are there are read as JSON would be")
    func present() throws {
        let record: [String: FieldValue] = [
            "bool": true, "int": -5, "int8": -128, "uint64": 18, "double": 2.5, "float": 1.5, "string": "s",
            "array": [1, 2], "strings": ["a": 1], "set": ["x"], "date": 12.5, "data": "AQI=",
            "inner": ["text": "t", "number": 7], "inners": [["text": "u"], nil], "optional": "o",
            "optionalInner": [:], "decimal": 1.25,
        ]
        let value = try Everything(from: RecordDecoder(record))
        let expected = Everything(
            bool: true,
            int: -5,
            int8: -128,
            uint64: 18,
            double: 2.5,
            float: 1.5,
            string: "s",
            array: [1, 2],
            strings: ["a": 1],
            set: ["x"],
            date: Date(timeIntervalSinceReferenceDate: 12.5),
            data: Data([1, 2]),
            inner: Inner(text: "t", number: 7),
            inners: [Inner(text: "u", number: 0), Inner(text: "", number: 0)],
            optional: "o",
            optionalInner: Inner(text: "", number: 0),
            decimal: Decimal(string: "1.25") ?? 0
        )
        #expect(value == expected)
    }

    private struct One<Value: Decodable>: Decodable {
        var value: Value
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ value: FieldValue?) throws -> Value {
        try One<Value>(from: RecordDecoder(value.map { ["value": $0] } ?? [:])).value
    }

    @Test(
        "Numbers and truth values may stand as text",
        arguments: [
            ("42", 42, 42.0, nil), (" 42 ", 42, 42, nil), ("", 0, 0, false), ("1", 1, 1, true), ("0", 0, 0, false),
            ("true", nil, nil, true), ("FALSE", nil, nil, false), ("2.5", nil, 2.5, nil), ("x", nil, nil, nil),
            ("9223372036854775808", nil, 9_223_372_036_854_775_808, nil),
        ] as [(String, Int?, Double?, Bool?)]
    )
    func text(text: String, int: Int?, double: Double?, bool: Bool?) {
        #expect((try? decode(Int.self, .string(text))) == int)
        #expect((try? decode(Double.self, .string(text))) == double)
        #expect((try? decode(Bool.self, .string(text))) == bool)
        #expect((try? decode(String.self, .string(text))) == text)
    }

    @Test("Numbers that do not fit, and values of another kind, are errors")
    func errors() {
        #expect(throws: DecodingError.self) { try decode(Int8.self, 128) }
        #expect(throws: DecodingError.self) { try decode(UInt.self, -1) }
        #expect(throws: DecodingError.self) { try decode(Int.self, 1.5) }
        #expect(throws: DecodingError.self) { try decode(Int.self, 1e300) }
        #expect(throws: DecodingError.self) { try decode(Int.self, true) }
        #expect(throws: DecodingError.self) { try decode(Int.self, []) }
        #expect(throws: DecodingError.self) { try decode(String.self, [:]) }
        #expect(throws: DecodingError.self) { try decode(Bool.self, 2) }
        #expect(throws: DecodingError.self) { try decode([Int].self, "1") }
        #expect(throws: DecodingError.self) { try decode([Int].self, ["x"]) }
        #expect(throws: DecodingError.self) { try decode(Inner.self, "x") }
        #expect(throws: DecodingError.self) { try decode(Data.self, "*") }
        #expect(throws: DecodingError.self) { try decode(Decimal.self, "x") }
    }

    @Test("Text can be asked for where a number is stored")
    func textOfNumbers() throws {
        #expect(try decode(String.self, 5) == "5")
        #expect(try decode(String.self, 2.5) == "2.5")
        #expect(try decode(String.self, true) == "true")
        #expect(try decode(Int.self, 3.0) == 3)
        #expect(try decode(Bool.self, 1) == true)
    }

    @Test("Values of any kind are taken as they are")
    func anyKind() throws {
        let values: [FieldValue] = ["", "1", "true", 0, 1, 2.5, nil, ["", "0"], ["a": "false"]]
        for value in values {
            #expect(try decode(FieldValue.self, value) == value)
            #expect(try FieldValue(from: RecordDecoder(value, at: [])) == value)
        }
        #expect(try decode([String: FieldValue].self, ["a": "", "b": ["1"]]) == ["a": "", "b": ["1"]])
        #expect(try Member(from: RecordDecoder(["userId": "A", "level": "1"])).fields == ["level": "1"])
    }

    @Test("URLs are read in the form in which they are written")
    func urls() throws {
        let url = try #require(URL(string: "https://club.example/m/42"))
        #expect(try decode(URL.self, .string(url.absoluteString)) == url)
        #expect(try decode(URL?.self, nil) == nil)
    }

    private final class Endless: Decodable {
        let next: Endless
    }

    @Test("A type that contains itself without end is an error")
    func endless() {
        #expect(throws: DecodingError.self) { try Endless(from: RecordDecoder([:])) }
    }

    private enum Level: String, Codable { case bronze, silver }

    @Test("Unkeyed and nested containers keep their place")
    func containers() throws {
        var list = try RecordDecoder([1, "x", nil, [2, 3], ["a": 4]] as FieldValue, at: []).unkeyedContainer()
        #expect(list.count == 5)
        #expect(throws: DecodingError.self) { try list.decode([Int].self) }
        #expect(try list.decode(Int.self) == 1)
        #expect(list.currentIndex == 1)
        #expect(try list.decodeNil() == false)
        #expect(try list.decode(String.self) == "x")
        #expect(try list.decodeNil())
        var nested = try list.nestedUnkeyedContainer()
        #expect(try nested.decode(Int.self) == 2)
        let object = try list.nestedContainer(keyedBy: FieldKey.self)
        #expect(object.allKeys.map(\.stringValue) == ["a"])
        #expect(try object.decode(Int.self, forKey: FieldKey("a")) == 4)
        #expect(list.isAtEnd)
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
        #expect(try decode([Level].self, ["silver"]) == [.silver])
        #expect(throws: DecodingError.self) { try decode(Level.self, nil) }
    }

    @Test("Summaries of errors name the field and quote no value")
    func summary() {
        let error = #expect(throws: (any Error).self) { try decode(Int.self, "secret") }
        let text = RecordDecoder.summary(error ?? CancellationError())
        #expect(text == "the field 'value' is not valid")
    }
}
