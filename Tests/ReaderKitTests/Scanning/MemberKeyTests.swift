import CardCore
import CardPasses
import Foundation
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// What the club looks a member up by, for each kind of card and content.
@Suite struct MemberKeyTests {
    private static let uid = "04A1B2C3D4E580"

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var records: [NDEFRecord]?
        var uid: [UInt8]
        var key: String?
        var memberName: String?
        var passes: [String]
        var problems: [ScanEvent.Problem.Code]
        var testDescription: String { name }

        init(
            _ name: String,
            _ records: [NDEFRecord]?,
            uid: [UInt8] = SimulatedNTAG.sampleUID,
            key: String?,
            name memberName: String? = nil,
            passes: [String],
            problems: [ScanEvent.Problem.Code] = []
        ) {
            (self.name, self.records, self.uid, self.key) = (name, records, uid, key)
            (self.memberName, self.passes, self.problems) = (memberName, passes, problems)
        }
    }

    private static func text(_ text: String) -> [NDEFRecord] { (try? [.text(text)]) ?? [] }
    private static func uri(_ uri: String) -> [NDEFRecord] { (try? [.uri(uri)]) ?? [] }
    private static func json(_ text: String) -> [NDEFRecord] {
        [.mime(type: "application/json", payload: Array(text.utf8))]
    }

    private static let invalid: (passes: [String], problems: [ScanEvent.Problem.Code]) = ([], [.invalidPass])

    private static let cases: [Case] = [
        Case("four fields", text("4|U1|x|Ann"), key: "U1", name: "Ann", passes: ["text:U1", "uid:\(uid)"]),
        Case("four fields without a name", text("4|U1|x|"), key: "U1", passes: ["text:U1", "uid:\(uid)"]),
        // A card that was meant as a pass never becomes another member under its own identifier.
        Case("three fields", text("a|b|c"), key: nil, passes: [], problems: [.invalidPass]),
        Case("five fields", text("4|U1|x|Ann|y"), key: nil, passes: [], problems: [.invalidPass]),
        Case("empty fields", text("|||"), key: nil, passes: [], problems: [.invalidPass]),
        Case("malformed JSON", json("{"), key: nil, passes: [], problems: [.invalidPass]),
        Case("unusable JSON id", json(#"{"id":"\u0000"}"#), key: nil, passes: [], problems: [.invalidPass]),
        Case("one word", text("U1"), key: "U1", passes: ["ndef:U1", "uid:\(uid)"]),
        Case("several words", text("Welcome to the club"), key: uid, passes: ["uid:\(uid)"]),
        Case("URI path", uri("https://club.example/m/U1"), key: "U1", passes: ["ndef:U1", "uid:\(uid)"]),
        Case("URI query", uri("https://club.example/?id=U1"), key: "U1", passes: ["ndef:U1", "uid:\(uid)"]),
        Case("URI of nobody", uri("https://club.example/"), key: uid, passes: ["uid:\(uid)"]),
        Case(
            "JSON",
            json(#"{"userId":"U1","name":"Ann"}"#),
            key: "U1",
            name: "Ann",
            passes: ["ndef:U1", "uid:\(uid)"]
        ),
        Case("JSON integer", json(#"{"id":42}"#), key: "42", passes: ["ndef:42", "uid:\(uid)"]),
        Case("JSON without id", json(#"{"a":1}"#), key: uid, passes: ["uid:\(uid)"]),
        Case(
            "good after bad",
            text("a|b") + text("4|U1|x|Ann"),
            key: "U1",
            name: "Ann",
            passes: ["text:U1", "uid:\(uid)"]
        ),
        Case("no records", [], key: uid, passes: ["uid:\(uid)"]),
        Case("empty record", [.empty], key: uid, passes: ["uid:\(uid)"]),
    ]

    @Test(arguments: cases) func type2(_ entry: Case) async throws {
        let records = entry.records ?? []
        let tag = records.isEmpty ? SimulatedNTAG(.ntag216, uid: entry.uid) : try #require(try Scanning.tag(records))
        try await check(entry, tag, uid: "04A1B2C3D4E580")
    }

    @Test(arguments: cases) func type4(_ entry: Case) async throws {
        let records = entry.records ?? []
        let message = records.isEmpty ? [] : try NDEFMessage(records).encoded(mode: .lenient)
        try await check(entry, SimulatedType4Tag(message: message, uid: entry.uid), uid: "04A1B2C3D4E580")
    }

    private func check(_ entry: Case, _ card: any SimulatedCard, uid: String) async throws {
        let tap = try #require(await Scanning.scan(card))
        #expect(tap.memberKey == entry.key)
        #expect(tap.memberName == entry.memberName)
        #expect(tap.passes.map { "\($0.kind):\($0.id)" } == entry.passes)
        #expect(tap.problems.map(\.code) == entry.problems)
        // The records that were read are told in any case.
        #expect(tap.ndef == entry.records)
        #expect(tap.uid?.hex == uid)
        #expect(tap.technology == .iso14443a)
        #expect(tap.atr == card.atr)
        #expect(tap.backend == .simulated)
    }

    @Test func smartPosterAndPlainText() async throws {
        let content = NDEFSmartPoster(uri: "https://club.example/m/U1", titles: [NDEFText("The club")])
        let poster = try Scanning.tag([.smartPoster(content)])
        #expect(await Scanning.scan(try #require(poster))?.memberKey == "U1")
        let plain = try Scanning.tag([.mime(type: "text/plain", payload: Array("4|U2|x|Bob".utf8))])
        let tap = await Scanning.scan(try #require(plain))
        #expect(tap?.memberKey == "U2" && tap?.memberName == "Bob")
    }

    struct CardCase: Sendable, CustomTestStringConvertible {
        var name: String
        var card: any SimulatedCard
        var key: String?
        var uidKind: CardUID.Kind
        var problems: [ScanEvent.Problem.Code]
        var testDescription: String { name }
    }

    private static var cards: [CardCase] {
        let desFire = SimulatedCardKind.isoDEP(historicalBytes: [0x80])
        return [
            CardCase(
                name: "Classic",
                card: SimulatedIdentityCard.classic1K(),
                key: "3A5B7C9D",
                uidKind: .fixed,
                problems: []
            ),
            CardCase(
                name: "DESFire",
                card: SimulatedIdentityCard.desFire(),
                key: "046F169AFC2E80",
                uidKind: .fixed,
                problems: []
            ),
            CardCase(
                name: "FeliCa",
                card: SimulatedIdentityCard.feliCa(),
                key: "012E4CE791835A06",
                uidKind: .fixed,
                problems: []
            ),
            CardCase(
                name: "vicinity",
                card: SimulatedIdentityCard.vicinity(),
                key: "E00401502B7C913D",
                uidKind: .fixed,
                problems: []
            ),
            CardCase(
                name: "unformatted",
                card: SimulatedNTAG.unformatted(.ntag213),
                key: uid,
                uidKind: .fixed,
                problems: []
            ),
            // A phone shows another identifier at each tap: nobody must be made of it.
            CardCase(
                name: "phone",
                card: SimulatedIdentityCard.phone(),
                key: nil,
                uidKind: .random,
                problems: [.randomUID]
            ),
            CardCase(
                name: "not unique",
                card: SimulatedIdentityCard(kind: .classic1K, uid: [0x1F, 2, 3, 4]),
                key: nil,
                uidKind: .nonUnique,
                problems: [.nonUniqueUID]
            ),
            CardCase(
                name: "blank",
                card: SimulatedIdentityCard(kind: desFire, uid: [0, 0, 0, 0, 0, 0, 0]),
                key: nil,
                uidKind: .nonUnique,
                problems: [.nonUniqueUID]
            ),
        ]
    }

    @Test(arguments: cards) func cardsWithoutNDEF(_ entry: CardCase) async throws {
        let tap = try #require(await Scanning.scan(entry.card))
        #expect(tap.memberKey == entry.key)
        #expect(tap.uid?.kind == entry.uidKind)
        #expect(tap.problems.map(\.code) == entry.problems)
        #expect(tap.ndef == nil)
        #expect(tap.passes.map(\.id) == (entry.key.map { [$0] } ?? []))
    }

    /// A pass on a phone counts, and its changing identifier is then no problem.
    @Test func passBeforeRandomUID() async throws {
        let message = try NDEFMessage([.text("4|U1|x|Ann")]).encoded()
        let tap = try #require(await Scanning.scan(SimulatedType4Tag(message: message, uid: [0x08, 1, 2, 3])))
        #expect(tap.memberKey == "U1")
        #expect(tap.uid?.kind == .random)
        #expect(tap.passes.map(\.kind) == [.text])
        #expect(tap.problems == [])
    }

    @Test func malformedNDEF() async throws {
        let message = try NDEFMessage([.text("4|U1|x|Ann")]).encoded()
        let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: message + [0x51, 0x01, 0xFF, 0x54]))
        let tap = try #require(await Scanning.scan(tag))
        #expect(tap.problems.map(\.code) == [.ndefMalformed])
        // Neither what stood before the fault nor the card's identifier names the member.
        #expect(tap.memberKey == nil && tap.passes == [])
        #expect(tap.uid?.kind == .fixed)
    }

    @Test func tornTag() async throws {
        // The length claims more than the tag has.
        let tag = SimulatedNTAG(.ntag213)
        tag.overwrite(page: 4, with: [0x03, 0xFE, 0xD1, 0x01])
        let tap = try #require(await Scanning.scan(tag))
        #expect(tap.problems.map(\.code) == [.tagCorrupt])
        #expect(tap.memberKey == nil && tap.passes == [] && tap.ndef == nil)
    }

    @Test func removedInTheMiddle() async throws {
        let tag = try #require(try Scanning.tag(Self.text("4|U1|x|Ann")))
        for exchange in 0..<3 {
            for fault in [SimulatedFault.tear(beforeExchange: exchange), .tear(afterExchange: exchange)] {
                let tap = try #require(await Scanning.scan(tag, faults: [fault]))
                #expect(tap.problems.map(\.code) == [.cardRemoved])
                #expect(tap.memberKey == nil && tap.memberName == nil && tap.passes == [])
                // What was read before is told.
                #expect((tap.uid == nil) == (exchange == 0))
            }
        }
    }
}
