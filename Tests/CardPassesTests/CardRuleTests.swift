import ReaderKit
import CardCore
import Foundation
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardPasses

/// Which records name a member at a place, by its own rules.
@Suite struct CardRuleTests {
    private static let uri = CardRule.uri(.init(host: "club.example", path: "/m/"))
    private static let parameter = CardRule.uri(.init(host: "club.example", parameter: "id"))
    private static let json = CardRule.json(
        .init(type: "application/vnd.club+json", id: "member.no", name: "member.name")
    )
    private static let text = CardRule.text(.init(prefix: "CLUB:"))
    private static let undecodable =
        "the card's address cannot be decoded where it names somebody; write the card anew"

    @Test(
        arguments: [
            (uri, .uri("https://club.example/m/77"), .id("77", name: nil, .ndef)),
            (uri, .uri("https://CLUB.example/m/77/x?id=8"), .id("77", name: nil, .ndef)),
            (uri, .uri("https://club.example/m/a%20b"), .id("a b", name: nil, .ndef)),
            (uri, .uri("https://club.example/m/"), .nobody("the card's address names nobody; write the card anew")),
            (
                .uri(.init(host: "club.example", path: "/m")), .uri("https://club.example/m/77"),
                .id("77", name: nil, .ndef)
            ),
            (.uri(.init(host: "club.example", path: "/m")), .uri("https://club.example/members"), nil),
            (.uri(.init(host: "club.example")), .uri("https://club.example/77"), .id("77", name: nil, .ndef)),
            (uri, .uri("ftp://club.example/m/77"), nil),
            (uri, .uri("https://club.example/n/77"), nil), (uri, .uri("https://evil.example/m/77"), nil),
            (uri, .uri("https://club.example.evil.example/m/77"), nil),
            (uri, .uri("https://evil.example@club.example/m/77"), .id("77", name: nil, .ndef)),
            (uri, .uri("https://club.example@evil.example/m/77"), nil),
            (uri, .text("https://club.example/m/77"), nil),
            // Split, then decoded.
            (uri, .uri("https://club.example/m/94%2F1"), .id("94/1", name: nil, .ndef)),
            (uri, .uri("https://club.example/m/94%2f2/x"), .id("94/2", name: nil, .ndef)),
            (uri, .uri("https://club.example/m/a%3Fb%23c"), .id("a?b#c", name: nil, .ndef)),
            (uri, .uri("https://club.example/m%2F77"), nil),
            (uri, .uri("https://club.example/%6D/77"), .id("77", name: nil, .ndef)),
            (uri, .uri("https://club.example/m/94%252F1"), .id("94%2F1", name: nil, .ndef)),
            (uri, .uri("https://club.example/m/../n/77"), nil),
            (uri, .uri("https://club.example/n/%2E./m/77"), .id("77", name: nil, .ndef)),
            (uri, .uri("https://club.example/m//77"), .nobody("the card's address names nobody; write the card anew")),
            (uri, .uri("https://club.example/m/%E4"), .nobody(undecodable)),
            (uri, .uri("https://club.example/m/7%"), .nobody(undecodable)),
            (parameter, .uri("https://club.example/?%69d=94%261"), .id("94&1", name: nil, .ndef)),
            (parameter, .uri("https://club.example/?x=%26id=3&id=4%3D"), .id("4=", name: nil, .ndef)),
            (parameter, .uri("https://club.example/?id=%C3"), .nobody(undecodable)),
            // The same host, and others.
            (uri, .uri("HTTPS://user:word@CLUB.Example.:8443/m/77"), .id("77", name: nil, .ndef)),
            (uri, .uri("https://club%2Eexample/m/77"), .id("77", name: nil, .ndef)),
            (uri, .uri("https://club.example@evil.example@club.example/m/77"), nil),
            (uri, .uri("https://evil.example\\@club.example/m/77"), nil),
            (uri, .uri("https://club.example:80x/m/77"), nil), (uri, .uri("https://[::1]/m/77"), nil),
            (uri, .uri("https:/club.example/m/77"), nil), (uri, .uri("https://evil.example/#@club.example/m/77"), nil),
            (uri, .uri("https://evil.example/?//club.example/m/77"), nil),
            (parameter, .uri("https://club.example/x?id=8&id=9"), .id("8", name: nil, .ndef)),
            (
                parameter, .uri("https://club.example/x?ID=8"),
                .nobody("the card's address names nobody; write the card anew")
            ),
            (
                json, .mime("application/vnd.club+json; v=1", #"{"member":{"no":42,"name":"Ann"}}"#),
                .id("42", name: "Ann", .ndef)
            ),
            (
                json, .mime("application/vnd.club+json", #"{"member":{"no":{}}}"#),
                .nobody("the JSON on the card has no id where one has to be; write the card anew")
            ),
            (
                json, .mime("application/vnd.club+json", "{"),
                .nobody("the JSON on the card is malformed; write the card anew")
            ),
            (json, .mime("application/json", #"{"member":{"no":42}}"#), nil),
            (json, .text(#"{"member":{"no":42}}"#), nil),
            (.json(.init(id: "no")), .text(#" {"no":"A"}"#), .id("A", name: nil, .ndef)),
            (.json(.init(id: "no")), .mime("text/x+json", #"{"no":"A"}"#), .id("A", name: nil, .ndef)),
            // By any of its names; what is not in the character set that it states names nobody.
            (
                .json(.init(type: "application/json", id: "no")), .mime("Text/JSON;v=1", #"{"no":"A"}"#),
                .id("A", name: nil, .ndef)
            ),
            (.json(.init(type: "application/json", id: "no")), .mime("text/x+json", #"{"no":"A"}"#), nil),
            (
                .json(.init(id: "no")), .mime("application/json; charset=utf-16le", #"{"no":"A"}"#),
                .nobody("the JSON on the card is malformed; write the card anew")
            ),
            (text, .text(" CLUB: 9 "), .id("9", name: nil, .ndef)), (text, .text("club:9"), nil),
            (.text(.init(isMembershipText: true)), .text("4|U1|x|Ann"), .id("U1", name: "Ann", .text)),
            (
                .text(.init(isMembershipText: true)), .text("hello"),
                .nobody("the membership text has 1 fields instead of 4 (number|id|payload|name); write the card anew")
            ),
            (
                .mime(.init(type: "Application/X-Club")), .mime("application/x-club", " U9 "),
                .id("U9", name: nil, .ndef)
            ),
            (.mime(.init(type: "application/jwt", isToken: true)), .mime("application/jwt", "e.y.J"), .token("e.y.J")),
            (.uri(.init(host: "a", parameter: "t", isToken: true)), .uri("https://a/?t=x"), .token("x")),
        ] as [(CardRule, Written, CardRule.Reading?)]
    )
    func read(_ rule: CardRule, _ written: Written, _ reading: CardRule.Reading?) throws {
        #expect(rule.read(try written.record) == reading)
        // As the configuration has it.
        let json = try JSONEncoder().encode(rule)
        #expect(try JSONDecoder().decode(CardRule.self, from: json) == rule)
    }

    /// What stands on a card.
    enum Written: Sendable {
        case uri(String)
        case text(String)
        case mime(String, String)

        var record: NDEFRecord {
            get throws {
                switch self {
                case .uri(let uri): try .uri(uri)
                case .text(let text): try .text(text)
                case .mime(let type, let payload): .mime(type: type, payload: Array(payload.utf8))
                }
            }
        }
    }

    @Test(arguments: ["{}", #"{"uri":{"host":"a"},"text":{}}"#, #"{"sms":{}}"#, #"{"uri":{}}"#, #"{"json":{}}"#])
    func malformed(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CardRule.self, from: Data(text.utf8)) }
    }

    // MARK: From a card to the member

    private static func read(_ records: [NDEFRecord], _ site: PassSite) throws -> CardReading {
        let tag = try #require(SimulatedNTAG.formatted(.ntag216, message: NDEFMessage(records).encoded()))
        return CardReading(over: SimulatedCardChannel(tag), limits: .default, site: site, at: SignedTokenTests.now)
    }

    @Test func onlyWhatTheRulesSay() throws {
        let site = PassSite(cards: [Self.uri, Self.text])
        // A word, and an address elsewhere, name members at other places.
        let other = try Self.read([.text("U1"), .uri("https://club.example/members/5")], site)
        #expect(other.passes.map(\.kind) == [.uid])
        #expect(try Self.read([.text("U1"), .uri("https://club.example/m/77")], site).member?.key == "77")
        // The first rule that is for a record decides, and the first record.
        #expect(try Self.read([.text("CLUB:1"), .uri("https://club.example/m/77")], site).member?.key == "1")
        let nobody = try Self.read([.uri("https://club.example/m/")], site)
        #expect(nobody.member == nil && nobody.problems.map(\.code) == [.invalidPass])
    }

    /// A rule that takes a token, at a place that cannot check it.
    @Test func tokenWithoutKeys() throws {
        let site = PassSite(cards: [.text(.init(isToken: true))])
        let reading = try Self.read([.text("eyJ.e.x")], site)
        #expect(reading.member == nil && reading.problems.map(\.code) == [.passNotAccepted])
    }

    /// The same rules for what a Smart Reader reports.
    @Test func reported() async throws {
        let token = try SignedTokenTests.token(SignedTokenTests.claims())
        let bound = try SignedTokenTests.token(SignedTokenTests.claims(#","uid":"04112233445566""#))
        let tokens = try await SignedTokenTests.verifier()
        let rules = PassSite(cards: [Self.text])
        for (data, site, key) in [
            ("M-7", rules, nil), ("CLUB:42", rules, "42"), (token, PassSite(tokens: tokens), "M-7"),
            (bound, PassSite(tokens: tokens), nil), ("M-7", PassSite(), "M-7"),
            (token, PassSite(cards: [.text(.init(isToken: true))], tokens: tokens), "M-7"),
        ] as [(String, PassSite, String?)] {
            let line =
                #"{"Interface":"13.56","Protocol":"NFC-A","Template":78,"TagId":"08A1B2C3","TagData":"\#(data)"}"#
            let reading = ReportReading.read(line, site: site, at: SignedTokenTests.now)
            #expect(reading != nil)
            #expect(reading?.member?.key == key, "\(data.prefix(20)): \(reading?.problems ?? [])")
        }
    }

    @Test func tokens() async throws {
        let tokens = try await SignedTokenTests.verifier()
        let token = try SignedTokenTests.token(SignedTokenTests.claims(#","name":"Ann""#))
        let forged = try SignedTokenTests.token(SignedTokenTests.claims(), signing: SignedTokenTests.es256)
        let over = try SignedTokenTests.token(SignedTokenTests.claims(#","exp":1"#))
        let rules: [CardRule] = [.uri(.init(host: "club.example", parameter: "t", isToken: true))]
        for site in [PassSite(tokens: tokens), PassSite(cards: rules, tokens: tokens)] {
            let name = site.cards.isEmpty ? "token" : "t"
            func url(_ token: String) -> String { "https://club.example/?id=EVIL&\(name)=\(token)" }
            let reading = try Self.read([.uri(url(token))], site)
            #expect(reading.passes.map(\.id) == ["M-7", reading.uid?.hex] && reading.member?.name == "Ann")
            #expect(reading.passes.first?.assurance == .cryptographic && reading.passes.first?.kind == .ndef)
            // Neither what stands beside it nor the card's own identifier takes its place.
            let bad = try Self.read([.uri(url(forged))], site)
            #expect(bad.member == nil && bad.problems.map(\.code) == [.passNotAccepted])
            let old = try Self.read([.uri(url(over))], site)
            #expect(old.member == nil && old.problems.map(\.code) == [.passExpired])
        }
        // Wherever it may stand.
        let site = PassSite(tokens: tokens)
        for record: NDEFRecord in [
            try .text(token), .mime(type: "application/jwt", payload: Array(token.utf8)),
            .mime(type: "application/json", payload: Array(#"{"id":"EVIL","token":"\#(token)"}"#.utf8)),
            try .text(#"{"id":"EVIL","jwt":"\#(token)"}"#),
        ] {
            #expect(try Self.read([record], site).member?.key == "M-7")
        }
        // What stands beside a proof that failed does not take its place.
        for bad in [forged, over] {
            for plain in [try NDEFRecord.text("EVIL"), try .text("4|EVIL|x|Eve")] {
                #expect(try Self.read([plain, .text(bad)], site).member == nil)
                #expect(try Self.read([.text(bad), plain], site).member == nil)
            }
        }
        #expect(try Self.read([.text("4|EVIL|x|Eve"), .text(token)], site).member?.key == "M-7")
        // One that is proven comes before one that is only written there.
        #expect(try Self.read([.text("EVIL"), .text(token)], site).member?.key == "M-7")
        var strict = site
        strict.lowestAssurance = .cryptographic
        #expect(try Self.read([.text("EVIL")], strict).problems.map(\.code) == [.passNotTrusted])
        #expect(try Self.read([.text(token)], strict).member?.key == "M-7")
    }
}
