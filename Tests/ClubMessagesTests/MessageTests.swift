import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import Testing

@testable import ClubMessages

@Suite("Messages", .timeLimit(.minutes(10)))
struct MessageTests {
    private func read(_ json: String) throws(MessageError) -> Message {
        let uuids = UUIDSource()
        return try Message(
            json: Array(json.utf8),
            source: MessageSource(.socket),
            receivedAt: start,
            makeUUID: { uuids() }
        )
    }

    private static let made = UUIDSource.uuid(1).uuidString

    @Test(
        "A message's identifier is its own if it can be used",
        arguments: [
            (#"{"messageId":"a1"}"#, "a1"),
            (#"{"id":"a2","messageId":"a1"}"#, "a1"),
            (#"{"messageId":""}"#, made),
            (#"{"messageId":42}"#, "42"),
            (#"{"messageId":"ä b"}"#, "ä b"),
            (#"{"messageId":"\#(String(repeating: "x", count: 200))"}"#, String(repeating: "x", count: 200)),
            (#"{"messageId":"\#(String(repeating: "x", count: 201))"}"#, made),
            (#"{"messageId":"a\u0007"}"#, made),
            (#"{"messageId":"a\u0000b"}"#, made),
            (#"{"messageId":" a"}"#, made),
            (#"{"messageId":[1]}"#, made),
            (#"{"messageId":1.5}"#, made),
            (#"{"messageId":true}"#, made),
            // Whole numbers, however large and however they are written.
            (#"{"messageId":-1}"#, "-1"),
            (#"{"messageId":-0}"#, "0"),
            (#"{"messageId":1e3}"#, "1000"),
            (#"{"messageId":1.0}"#, "1"),
            (#"{"messageId":1.50E1}"#, "15"),
            (#"{"messageId":9007199254740993}"#, "9007199254740993"),
            (#"{"messageId":9007199254740993.0}"#, "9007199254740993"),
            (#"{"messageId":9007199254740993e0}"#, "9007199254740993"),
            (#"{"messageId":0e9223372036854775807}"#, "0"), (#"{"messageId":0.0e-9223372036854775808}"#, "0"),
            (#"{"messageId":9007199254740992.5}"#, made),
            (#"{"messageId":9223372036854775807}"#, "9223372036854775807"),
            (#"{"messageId":9223372036854775808}"#, "9223372036854775808"),
            (#"{"messageId":-9223372036854775809}"#, "-9223372036854775809"),
            (#"{"messageId":12345678901234567890}"#, "12345678901234567890"),
            (#"{"messageId":12345678901234567891}"#, "12345678901234567891"),
            (#"{"messageId":18446744073709551616}"#, "18446744073709551616"),
            (#"{"messageId":12345678901234567890.00}"#, "12345678901234567890"),
            (#"{"messageId":1.2345678901234567890e19}"#, "12345678901234567890"),
            (#"{"messageId":1E+20}"#, "100000000000000000000"),
            (#"{"messageId":"12345678901234567890"}"#, "12345678901234567890"),
            (#"{"messageId":"007"}"#, "007"),
            // The first of two counts; what stands elsewhere is another's.
            (#"{"a":{"messageId":1},"messageId":12345678901234567890,"messageId":2}"#, "12345678901234567890"),
            (#"{"messageId":12345678901234567890.5}"#, made),
            (#"{"messageId":0.0001}"#, made),
            // The identifier of what the message is about.
            (#"{"id":42}"#, made),
            ("{}", made),
        ]
    )
    func identifiers(json: String, id: String) throws {
        let message = try read(json)
        #expect(message.id == id)
        #expect(message.type == nil)
        #expect(message.source == MessageSource(.socket))
        #expect(message.receivedAt == start)
    }

    @Test("Who gets a message has all digits of its identifier")
    func largeIdentifier() throws {
        let message = try read(#"{"messageId":12345678901234567890,"n":1}"#)
        #expect(message.payload == ["messageId": "12345678901234567890", "n": 1])
        let again = try Message(reading: message.payload, source: MessageSource(.socket))
        #expect(again.id == message.id)
    }

    @Test("A byte order mark does no harm, and other encodings are named")
    func marks() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let json = #"{"messageId":12345678901234567890,"a":"ä"}"#
        let plain = try Message(json: Array(json.utf8), source: MessageSource(.socket), receivedAt: start)
        let marked = try Message(json: mark + Array(json.utf8), source: MessageSource(.socket), receivedAt: start)
        #expect(marked == plain)
        // Places are those of the bytes that came.
        let fault = #expect(throws: MessageError.self) {
            try Message(json: mark + Array("{]".utf8), source: MessageSource(.socket))
        }
        #expect(fault?.code == .malformed && fault?.offset == 4)
        #expect(throws: MessageError.self) { try Message(json: mark, source: MessageSource(.socket)) }
        #expect(throws: MessageError.self) {
            try Message(json: mark + mark + Array("{}".utf8), source: MessageSource(.socket))
        }
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32BigEndian] {
            let bytes = try Array(#require("{\"a\":1}".data(using: encoding)))
            let error = #expect(throws: MessageError.self) { try Message(json: bytes, source: MessageSource(.socket)) }
            #expect(error?.message.contains("expected text in UTF-8, not in UTF-16 or UTF-32") == true)
        }
    }

    @Test(
        "The end is a time of ISO 8601 or seconds since 1970",
        arguments: [
            (#"{"expires":"2026-09-01T10:00:00Z"}"#, 1_788_256_800),
            (#"{"expires":"2026-09-01T12:00:00.5+02:00"}"#, 1_788_256_800.5),
            (#"{"expires":"2026-09-01"}"#, 1_788_220_800),
            (#"{"expires":1788256800}"#, 1_788_256_800),
            (#"{"expires":1788256800.25}"#, 1_788_256_800.25),
            (#"{"expires":0}"#, 0),
            (#"{"expires":null}"#, nil),
            ("{}", nil),
        ] as [(String, Double?)]
    )
    func expiry(json: String, seconds: Double?) throws {
        #expect(try read(json).expiresAt == seconds.map { Date(timeIntervalSince1970: $0) })
    }

    @Test("A message ends at its end, not after it")
    func border() {
        let message = message("a", expiresAt: start)
        #expect(!message.isExpired(at: start.addingTimeInterval(-0.001)))
        #expect(message.isExpired(at: start))
    }

    @Test(
        "What is no message says what is wrong, and where",
        arguments: [
            (#"{"a":1"#, .malformed, 6), (#"{"a" 1}"#, .malformed, 5), ("", .malformed, 0), ("{}x", .malformed, 2),
            ("[1]", .notAnObject, 0), ("\"a\"", .notAnObject, 0), ("null", .notAnObject, 0),
            (#"{"expires":"tomorrow"}"#, .invalidExpiry, nil), (#"{"expires":true}"#, .invalidExpiry, nil),
            (#"{"expires":"2026-09-01T10:00:00"}"#, .invalidExpiry, nil), (#"{"expires":-1}"#, .invalidExpiry, nil),
            (#"{"messageId":007}"#, .malformed, 16), (#"{"messageId":1e300}"#, .invalidIdentifier, nil),
            (#"{"messageId":1e400}"#, .malformed, 13),
            // Milliseconds, which would be in the year 58 637.
            (#"{"expires":1788256800000}"#, .invalidExpiry, nil), (#"{"expires":1e300}"#, .invalidExpiry, nil),
        ] as [(String, MessageError.Code, Int?)]
    )
    func faults(json: String, code: MessageError.Code, offset: Int?) {
        let error = #expect(throws: MessageError.self) { try read(json) }
        #expect(error?.code == code)
        #expect(error?.offset == offset)
        #expect(error?.message.contains("tomorrow") == false)
    }

    @Test("A message has at most 64 KiB, and no more than 64 levels")
    func limits() throws {
        let frame = #"{"a":""}"#
        let longest = #"{"a":""# + String(repeating: "x", count: Message.longest - frame.utf8.count) + #""}"#
        #expect(longest.utf8.count == 65_536)
        _ = try read(longest)
        let tooLong = #expect(throws: MessageError.self) { try read(longest + " ") }
        #expect(tooLong?.code == .tooLong)
        #expect(tooLong?.offset == 65_536)
        let deep = #"{"a":"# + String(repeating: "[", count: 5000)
        #expect(throws: MessageError.self) { try read(deep) }
    }

    @Test("A description tells nothing of the payload, and of the identifier the beginning")
    func description() {
        let message = Message(
            id: "order-4711-of-ann",
            type: "greet\ning",
            payload: ["text": "secret", "messageType": "greeting"],
            source: MessageSource(.card, name: "Desk\u{1B}[2J")
        )
        #expect("\(message)" == "message orde… of type greet ing from card (Desk [2J)")
        #expect(String(reflecting: message) == "\(message)")
        #expect("\(InboxEntry(message: message))".contains("secret") == false)
        #expect("\(Message(id: "a", payload: [:]))" == "message … without a type from application")
    }

    @Test("Messages, sources and results are the same after JSON")
    func coding() throws {
        func again<Value: Codable>(_ value: Value) throws -> Value {
            try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
        }
        let messages = [
            Message(id: "a", payload: ["n": [1, 2.5, nil, true, "x"]], receivedAt: start),
            Message(
                id: "b",
                type: "t",
                payload: [:],
                source: MessageSource(.card, name: "Desk"),
                receivedAt: start,
                expiresAt: start.addingTimeInterval(0.25)
            ),
        ]
        for message in messages { #expect(try again(message) == message) }
        let outcomes: [RoutingResult.Outcome] = [
            .newData, .noData, .failed("why"), .unhandled("who"), .expired, .duplicate, .timedOut,
        ]
        for outcome in outcomes {
            #expect(RoutingResult.Outcome(name: outcome.name, reason: outcome.reason) == outcome)
            for source in MessageSource.Kind.allCases {
                let result = RoutingResult(
                    messageID: "a",
                    type: outcome == .newData ? "t" : nil,
                    source: MessageSource(source, name: outcome == .noData ? "n" : nil),
                    outcome: outcome,
                    processor: outcome == .newData ? "P" : nil,
                    at: start
                )
                #expect(try again(result) == result)
                // The line of a socket is the same object.
                let line = Data(SocketAnswer.result(result))
                #expect(try JSONDecoder().decode(RoutingResult.self, from: line) == result)
            }
        }
        #expect(RoutingResult.Outcome(name: "unknown", reason: nil) == nil)
        #expect(outcomes.filter(\.isDead).map(\.name) == ["failed", "unhandled", "expired", "timedOut"])
    }

    @Test(
        "The type stands at a key path",
        arguments: [
            ("messageType", ["messageType": "a"], "a"),
            ("messageType", ["messageType": 1], nil),
            ("messageType", ["messageType": ["messageType": "a"]], nil),
            ("messageType", ["messageType": ""], nil),
            ("messageType", ["messageType": "a\n"], nil),
            ("messageType", ["messagetype": "a"], nil),
            ("type", ["messageType": "a"], nil),
            ("aps.category", ["aps": ["category": "a"]], "a"),
            ("aps.category", ["aps": ["category": 1]], nil),
            ("aps.category", ["aps": "category"], nil),
            ("aps.category", ["aps": [["category": "a"]]], nil),
            ("aps.category", ["aps.category": "b", "aps": ["category": "a"]], "b"),
            ("a.b.c", ["a": ["b": ["c": "d"]]], "d"),
            ("a.", ["a": ["": "d"]], "d"),
            ("", ["": "d"], "d"),
            ("", [:], nil),
            (".", [:], nil),
            ("a", "a", nil),
        ] as [(String, FieldValue, String?)]
    )
    func types(path: String, payload: FieldValue, type: String?) {
        let router = MessageRouter(configuration: .test())
        router.messageTypeKey = path
        #expect(router.messageType(of: payload) == type)
    }
}
