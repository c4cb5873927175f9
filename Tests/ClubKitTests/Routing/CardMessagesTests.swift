import ClubKit
import Foundation
import ReaderKit
import Testing

@testable import ClubKit

@Suite("Messages on cards", .timeLimit(.minutes(10)))
struct CardMessagesTests {
    let router = MessageRouter(configuration: .test())

    private static func json(_ text: String, type: String = "application/json") -> NDEFRecord {
        NDEFRecord(tnf: .mime, type: Array(type.utf8), payload: Array(text.utf8))
    }

    private static func event(_ records: [NDEFRecord]?, id: UInt64 = 1) -> ScanEvent {
        var event = tap("A", id: UUIDSource.uuid(id))
        event.ndef = records
        return event
    }

    private static let greeting = #"{"messageType":"greeting","id":"forged"}"#

    @Test(
        "A record of JSON with a type is a message",
        arguments: [
            (json(greeting), "greeting"),
            (json(greeting, type: "Application/JSON; charset=utf-8"), "greeting"),
            (json(greeting, type: "application/vnd.club+json"), "greeting"),
            (json(greeting, type: "text/plain"), nil),
            (json(greeting, type: "application/jsonx"), nil),
            (json(#"{"userId":"U1","username":"Ann"}"#), nil),
            (json(#"{"messageType":1}"#), nil),
            (json(#"{"messageType":"greeting""#), nil),
            (json(#"["messageType"]"#), nil),
            (json(#"{"messageType":"a","expires":"never"}"#), nil),
            (json(""), nil),
            (json(#"{"messageType":"a","x":""# + String(repeating: "x", count: 65_536) + #""}"#), nil),
            (NDEFRecord(tnf: .wellKnown, type: [0x54], payload: [2] + "en".utf8 + greeting.utf8), "greeting"),
            (NDEFRecord(tnf: .wellKnown, type: [0x54], payload: [2] + "en".utf8 + "hello".utf8), nil),
            (NDEFRecord(tnf: .wellKnown, type: [0x54], payload: [0xFF]), nil),
            (NDEFRecord(tnf: .external, type: Array("club:json".utf8), payload: Array(greeting.utf8)), nil),
            (.empty, nil),
        ] as [(NDEFRecord, String?)]
    )
    func records(record: NDEFRecord, type: String?) {
        #expect(CardMessages(router).messages(in: Self.event([record])).map(\.type) == (type.map { [$0] } ?? []))
    }

    @Test("A tap without records has no messages", arguments: [nil, []] as [[NDEFRecord]?])
    func none(records: [NDEFRecord]?) async throws {
        #expect(try await CardMessages(router).accept(Self.event(records)) == [])
    }

    @Test("The router's rule finds the type")
    func rule() {
        let record = Self.json(#"{"type":"greeting"}"#)
        #expect(CardMessages(router).messages(in: Self.event([record])).isEmpty)
        router.messageTypeKey = "type"
        #expect(CardMessages(router).messages(in: Self.event([record])).map(\.type) == ["greeting"])
        router.messageTypeProcessor = { _ in nil }
        #expect(CardMessages(router).messages(in: Self.event([record])).isEmpty)
    }

    @Test("A message is known by the tap and its place, not by what the card says")
    func identifiers() async throws {
        let router = router
        router.register(type: "greeting", sources: [.card, .hub]) { (_: FieldValue, context) in
            context.source == MessageSource(.card, name: "Test reader") && context.receivedAt == start
                ? .newData : .noData
        }
        let cards = CardMessages(router)
        let records = [Self.json("{}"), Self.json(Self.greeting), Self.json(Self.greeting)]
        let first = try await cards.accept(Self.event(records))
        #expect(first.map(\.outcome) == [.newData, .newData])
        let tap = UUIDSource.uuid(1).uuidString
        #expect(first.map(\.messageID) == ["\(tap)/2", "\(tap)/3"])
        #expect(try await cards.accept(Self.event(records)).map(\.outcome) == [.duplicate, .duplicate])
        #expect(try await cards.accept(Self.event(records, id: 2)).map(\.outcome) == [.newData, .newData])
        // A card cannot keep out what the hub sends.
        let forged = message("forged", source: MessageSource(.hub))
        #expect(try await router.accept(forged).outcome == .noData)
    }

    @Test("By default nobody takes what a card says")
    func notTaken() async throws {
        router.register(type: "greeting") { (_: FieldValue, _) in .newData }
        router.setFallback { (_: FieldValue, _) in .newData }
        let results = try await CardMessages(router).accept(Self.event([Self.json(Self.greeting)]))
        #expect(results.map(\.outcome.name) == ["unhandled"])
    }

    @Test("A card has 16 messages at most")
    func most() {
        let records = Array(repeating: Self.json(Self.greeting), count: 200)
        #expect(CardMessages(router).messages(in: Self.event(records)).count == 16)
    }
}
