import NDEFCodec
import Testing
import TestSupport

@testable import CardPasses

@Suite struct NDEFPassReaderTests {
    /// What the records say, in short: `kind:id` or `kind:id/name`, and `!code` for a problem.
    static func found(_ records: [NDEFRecord]) -> [String] {
        let finding = NDEFPassReader.read(records)
        #expect(finding.passes.allSatisfy { $0.assurance == .identifier })
        return finding.passes.map { "\($0.kind):\($0.id)" + ($0.name.map { "/\($0)" } ?? "") }
            + finding.problems.map { "!\($0.code)" } + finding.remarks.map { "?\($0.code)" }
    }

    static let texts: [(String, [String])] = [
        ("4|U1|x|Ann", ["text:U1/Ann"]), ("4|U1|x|", ["text:U1"]), ("  4|U1|x|Ann  ", ["text:U1/Ann"]),
        ("a|b|c", ["!invalidPass"]), ("a|b|c|d|e", ["!invalidPass"]), ("|||", ["!invalidPass"]),
        ("4|\u{1}|x|Ann", ["!invalidPass"]),
        ("U1", ["ndef:U1"]), (" U1\n", ["ndef:U1"]), ("会員42", ["ndef:会員42"]),
        ("Welcome to the club", []), ("two\nlines", []), ("", []), ("   ", []),
        (String(repeating: "x", count: 257), []), ("U\u{0}1", []),
        ("https://club.example/m/94%2F1", ["ndef:94/1"]), (" HTTP://club.example/?id=94 ", ["ndef:94"]),
        ("https://club.example/", []), ("https://club.example/m/%zz", ["!invalidPass"]), ("http:94", ["ndef:http:94"]),
        (#"{"userId":"U1","username":"Ann"}"#, ["ndef:U1/Ann"]), (#" {"id":"U1"} "#, ["ndef:U1"]),
        ("{broken", ["!invalidPass"]),
    ]

    @Test(arguments: texts) func text(_ text: String, _ expected: [String]) throws {
        #expect(Self.found([try .text(text)]) == expected)
        #expect(Self.found([try .text(text, language: "de", encoding: .utf16)]) == expected)
        #expect(Self.found([.mime(type: "text/plain", payload: Array(text.utf8))]) == expected)
        #expect(Self.found([.mime(type: "Text/Plain; charset=utf-8", payload: Array(text.utf8))]) == expected)
    }

    static let objects: [(String, [String])] = [
        (#"{"userId":"U1","username":"Ann"}"#, ["ndef:U1/Ann"]),
        (#"{"memberId":"U1","name":" Ann "}"#, ["ndef:U1/Ann"]),
        (#"{"member":42}"#, ["ndef:42"]), (#"{"id":-7}"#, ["ndef:-7"]), (#"{"id":0}"#, ["ndef:0"]),
        (#"{"id":9223372036854775807}"#, ["ndef:9223372036854775807"]),
        (#"{"id":18446744073709551615}"#, ["ndef:18446744073709551615"]),
        (#"{"passId":" P1 "}"#, ["ndef:P1"]), (#"{"USERID":"U1","NAME":"Ann"}"#, ["ndef:U1/Ann"]),
        // The order of the names decides, not that of the object.
        (#"{"card":"C1","id":"I1","userId":"U1"}"#, ["ndef:U1"]),
        (#"{"id":"I1","userId":""}"#, ["ndef:I1"]), (#"{"id":"I1","userId":null}"#, ["ndef:I1"]),
        // Keys that differ in case alone: the same answer each time.
        (#"{"USERID":"U2","userid":"U3","userId":"U1"}"#, ["ndef:U1"]),
        (#"{"userid":"U3","USERID":"U2"}"#, ["ndef:U2"]),
        (#"{"id":"U1","name":7}"#, ["ndef:U1/7"]),
        (#"{"id":"U1","name":["Ann"],"more":{"id":"U2"}}"#, ["ndef:U1"]),
        // No id: nobody is named.
        (#"{}"#, []), (#"{"name":"Ann"}"#, []), (#"{"id":""}"#, []), (#"{"id":null}"#, []), (#"{"id":true}"#, []),
        (#"{"id":1.5}"#, []), (#"{"id":["U1"]}"#, []), (#"{"data":{"id":"U1"}}"#, []),
        // An id that cannot be one is a pass gone wrong, so the card's own identifier must not stand in for it.
        (#"{"id":"U\u0000"}"#, ["!invalidPass"]), (#"{"id":"U\n1"}"#, ["!invalidPass"]),
        ("{\"id\":\"\(String(repeating: "x", count: 257))\"}", ["!invalidPass"]),
        // Malformed.
        ("{", ["!invalidPass"]), (#"{"id":"U1""#, ["!invalidPass"]), (#"{"id":"U1"} {"#, ["!invalidPass"]),
        (#"["id","U1"]"#, ["!invalidPass"]), ("42", ["!invalidPass"]), ("", ["!invalidPass"]),
        (String(repeating: #"{"a":"#, count: 5000), ["!invalidPass"]),
        (String(repeating: "[", count: 60_000), ["!invalidPass"]),
    ]

    @Test(arguments: objects.indices) func json(_ index: Int) {
        let (text, expected) = Self.objects[index]
        for type in ["application/json", "APPLICATION/JSON; charset=utf-8", "application/vnd.club+json"] {
            #expect(Self.found([.mime(type: type, payload: Array(text.utf8))]) == expected, "\(text.prefix(80))")
        }
    }

    @Test func longJSON() {
        let filler = String(repeating: " ", count: 65_536 - 12)
        let fits = Array(#"{"id":"U1"}"#.utf8) + Array(filler.utf8) + [0x20]
        #expect(fits.count == 65_536)
        #expect(Self.found([.mime(type: "application/json", payload: fits)]) == ["ndef:U1"])
        #expect(Self.found([.mime(type: "application/json", payload: fits + [0x20])]) == ["!invalidPass"])
        #expect(Self.found([.mime(type: "application/json", payload: [0xFF, 0xFE, 0x7B])]) == ["!invalidPass"])
    }

    static let uris: [(String, [String])] = [
        ("https://club.example/member?id=U1", ["ndef:U1"]), ("https://club.example/?MEMBERID=U1", ["ndef:U1"]),
        ("https://club.example/m/U1", ["ndef:U1"]), ("https://club.example/M/U1/", ["ndef:U1"]),
        ("https://club.example/de/members/U1?x=y", ["ndef:U1"]), ("https://club.example/m/U%201", ["ndef:U 1"]),
        ("https://club.example/m/%E4%BC%9A", ["ndef:会"]),
        ("https://club.example/x?user=U2&userId=U1", ["ndef:U1"]), ("https://club.example/m/U1?id=U2", ["ndef:U2"]),
        ("https://club.example/m/U1?id=", ["ndef:U1"]), ("club://pass/P1", []), ("club://x/pass/P1", ["ndef:P1"]),
        ("urn:club:member:42", ["ndef:42"]), ("club:card:7", ["ndef:7"]),
        ("https://club.example/", []), ("https://club.example/members", []), ("https://club.example/m//", []),
        // Of several such words in a row the last one counts.
        ("https://club.example/user/member/94", ["ndef:94"]), ("https://club.example/cards/m/94", ["ndef:94"]),
        ("https://club.example/u/p/%63/94/", ["ndef:94"]), ("https://club.example/c/42/m/94", ["ndef:42"]),
        ("https://club.example/m/m", ["ndef:m"]), ("https://club.example/m/card/", ["ndef:card"]),
        ("https://m.example/U1", []), ("https://club.example/offers/42", []), ("tel:+4912345", []),
        ("mailto:member@club.example", []), ("", []), ("http://[", []),
        // What is named and cannot be an id is a pass gone wrong.
        ("https://club.example/m/%00", ["!invalidPass"]), ("https://club.example/m/%20", ["!invalidPass"]),
        ("https://club.example/?id=%09", ["!invalidPass"]), ("urn:club:member:%C2%A0", ["!invalidPass"]),
        ("https://club.example/m/" + String(repeating: "x", count: 257), ["!invalidPass"]),
    ]

    /// A URI is split into its parts before anything is decoded (RFC 3986 2.2, 2.4, 3.3): two members stay two.
    static let encoded: [(String, [String])] = [
        ("https://club.example/m/94%2F1", ["ndef:94/1"]), ("https://club.example/m/94%2F2", ["ndef:94/2"]),
        ("https://club.example/m/94%2f1/x", ["ndef:94/1"]), ("https://club.example/m/94/1", ["ndef:94"]),
        ("https://club.example/m/a%3Fid=7", ["ndef:a?id=7"]), ("https://club.example/m/a%23b", ["ndef:a#b"]),
        ("https://club.example/m/a%26b", ["ndef:a&b"]), ("https://club.example/m/a%3Bb;c", ["ndef:a;b;c"]),
        ("https://club.example/m/a+b%2Bc", ["ndef:a+b+c"]), ("https://club.example/m/%3A%40", ["ndef::@"]),
        // Once, and not twice.
        ("https://club.example/m/94%252F1", ["ndef:94%2F1"]), ("https://club.example/m/%2541", ["ndef:%41"]),
        ("https://club.example/%6D/94%2F1", ["ndef:94/1"]), ("https://club.example/m%2F94", []),
        ("https://club.example/x%2Fm/94", []), ("https://club.example/m%2Fx/m/94", ["ndef:94"]),
        // The query: names and values.
        ("https://club.example/?id=94%261", ["ndef:94&1"]), ("https://club.example/?id=94%262", ["ndef:94&2"]),
        ("https://club.example/?id=94&1", ["ndef:94"]), ("https://club.example/?id=a%3Db=c", ["ndef:a=b=c"]),
        ("https://club.example/?%69d=7", ["ndef:7"]), ("https://club.example/?i%64%3D5=8&id=7", ["ndef:7"]),
        ("https://club.example/?x=1%26id%3D9&id=7", ["ndef:7"]), ("https://club.example/?id=A+B", ["ndef:A+B"]),
        ("https://club.example/?id=94%2F1", ["ndef:94/1"]), ("https://club.example/?id=94/1", ["ndef:94/1"]),
        ("https://club.example/?x=1;id=7", []), ("https://club.example/?id=%2525", ["ndef:%25"]),
        ("https://club.example/m/94%3Fid=5?id=6", ["ndef:6"]), ("https://club.example/?a=%ZZ&id=7", ["ndef:7"]),
        // The fragment is none of it.
        ("https://club.example/m/94#/m/95?id=96", ["ndef:94"]), ("https://club.example/#?id=96", []),
        // Segments that only walk, empty ones, and those at the end.
        ("https://club.example/m/../u/7", ["ndef:7"]), ("https://club.example/m/./7", ["ndef:7"]),
        ("https://club.example/m/%2E%2e/7", []), ("https://club.example/m/..", []), ("https://club.example/m/.", []),
        ("https://club.example/m/...", ["ndef:..."]), ("https://club.example//m/94", ["ndef:94"]),
        ("https://club.example/m/94/", ["ndef:94"]), ("https://club.example/x/../../m/94", ["ndef:94"]),
        // The authority names nobody.
        ("https://club.example@m/94", []), ("https://m:94@club.example/x", []), ("https://[::1]:80/m/94", ["ndef:94"]),
        ("//m/u/94", ["ndef:94"]), ("m/94%2F1", ["ndef:94/1"]),
        // Names without a hierarchy.
        ("urn:club:member:94%3A1", ["ndef:94:1"]), ("urn:club:member:94%2F1", ["ndef:94/1"]),
        ("club:card:7%2F1:2", ["ndef:7/1:2"]), ("urn:club:member:94:1", ["ndef:94:1"]),
        ("urn:club:member:94/1", ["ndef:94/1"]), ("urn:club:member:94::", ["ndef:94::"]),
        ("urn:club:members:card:94:1", ["ndef:94:1"]), ("urn:club:member", []), ("urn:club:member:", []),
        ("mailto:m/94", []), ("club:/m/94/1", ["ndef:94"]),
        // What cannot be decoded names nobody, and is told.
        ("https://club.example/m/94%2", ["!invalidPass"]), ("https://club.example/m/94%", ["!invalidPass"]),
        ("https://club.example/m/%zz", ["!invalidPass"]), ("https://club.example/m/%E4", ["!invalidPass"]),
        ("https://club.example/m/%C3%28", ["!invalidPass"]), ("https://club.example/?id=%FF", ["!invalidPass"]),
        ("https://club.example/m/94?id=%", ["!invalidPass"]), ("urn:club:member:%E4", ["!invalidPass"]),
        ("https://club.example/m/%C0%AF1", ["!invalidPass"]), ("https://club.example/m/%ED%A0%80", ["!invalidPass"]),
        ("https://club.example/m/a%0Ab", ["!invalidPass"]), ("https://club.example/m/%E2%80%AE1", ["!invalidPass"]),
    ]

    @Test(arguments: encoded) func encodedURI(_ uri: String, _ expected: [String]) throws {
        #expect(Self.found([try .uri(uri)]) == expected)
        #expect(Self.found([.absoluteURI(uri)]) == expected)
    }

    /// Whatever a member's number is, its encoding in an address leads back to it, and to nobody else.
    @Test func everyNumberInAnAddress() throws {
        var random = SeededNumbers(seed: 0x94)
        let alphabet = Array("0189aAzZ/?#&=;+%:@.-_~ '\"\\|äß会👍")
        for _ in rounds(400) {
            let id = String(
                (0..<Int.random(in: 1...8, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) }
            )
            guard id == id.trimmed, ![".", ".."].contains(id), !id.isEmpty else { continue }
            let text = id.utf8.map { byte in
                byte.isASCIIAlphanumeric ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
            }
            .joined()
            for uri in [
                "https://club.example/m/\(text)", "https://club.example/?id=\(text)", "urn:club:member:\(text)",
            ] {
                #expect(Self.found([.absoluteURI(uri)]) == ["ndef:\(id)"], "\(uri)")
            }
        }
    }

    @Test(arguments: uris) func uri(_ uri: String, _ expected: [String]) throws {
        #expect(Self.found([try .uri(uri)]) == expected)
        #expect(Self.found([.absoluteURI(uri)]) == expected)
        if !uri.isEmpty {
            let poster = NDEFSmartPoster(uri: uri, titles: [NDEFText("4|U9|x|Not this")])
            #expect(Self.found([try .smartPoster(poster)]) == expected)
        }
    }

    @Test func recordsInOrder() throws {
        let records: [NDEFRecord] = [
            try .uri("https://club.example/offers"), try .text("a|b"), try .text("4|U1|x|Ann"),
            try .uri("https://club.example/m/U2"), .androidApplication("com.club"), .empty, .unknown([1]),
            .external(type: "club.example:id", payload: Array("U3".utf8)),
        ]
        #expect(Self.found(records) == ["text:U1/Ann", "ndef:U2", "!invalidPass"])
        #expect(Self.found([]) == [])
    }

    @Test(arguments: ["image/png", "text/directory", "application/octet-stream", "application/jsonp", ""])
    func otherMediaTypes(_ type: String) {
        #expect(Self.found([.mime(type: type, payload: Array(#"{"id":"U1"}"#.utf8))]) == [])
    }

    /// The lines of a vCard, and what is found.
    static let cards: [([String], [String])] = [
        (["FN:Ann", "X-MEMBER:U1"], ["ndef:U1/Ann"]), (["X-MEMBER:U1"], ["ndef:U1"]),
        (["FN:Ann", "UID:U1", "X-MEMBER-NUMBER:M1"], ["ndef:M1/Ann"]),
        (["N:Example;Ann;;;", "X-MEMBERID:M1"], ["ndef:M1/Ann Example"]),
        (["x-member: M1 "], ["ndef:M1"]), (["FN: \u{200B}", "X-MEMBER:U1"], ["ndef:U1"]),
        (["FN:Ann"], []), ([], []),
        // Any program makes up a UID, but a member's number is meant.
        (["FN:Ann", "UID:U1"], []), (["UID:urn:uuid:4fbe8971"], []),
        (["X-MEMBER:a\u{1}b"], ["!invalidPass"]),
        (["UID:U1", "X-MEMBER:" + String(repeating: "x", count: 257)], ["!invalidPass"]),
    ]

    @Test(arguments: cards.indices) func vCard(_ index: Int) throws {
        let (lines, expected) = Self.cards[index]
        for version in ["2.1", "3.0", "4.0"] {
            let payload = TestSupport.vCard(lines, version: version)
            let types = [
                "text/vcard", "text/x-vCard; charset=utf-8", "text/directory", "text/directory;profile=vCard",
                "application/vcard", "application/x-vcard", "text/plain", "text/directory;profile=ldap",
                "application/octet-stream", "application/vnd.vcard", "text/vnd.vcard", "text/html", "",
            ]
            for type in types {
                #expect(Self.found([.mime(type: type, payload: [0x0D, 0x0A] + payload)]) == expected, "\(type)")
            }
            #expect(Self.found([.unknown(payload)]) == expected)
            #expect(Self.found([.external(type: "club.example:card", payload: payload)]) == expected)
            // A program may write it as a Text.
            #expect(Self.found([try .text(String(decoding: payload, as: UTF8.self))]) == expected)
        }
    }

    /// A type under which a membership comes, a payload, and what is found.
    struct Typed: Sendable {
        var type: String
        var payload: [UInt8]
        var found: [String]

        init(_ type: String, _ payload: [UInt8], _ found: [String]) {
            (self.type, self.payload, self.found) = (type, payload, found)
        }
    }

    static let typed: [Typed] = [
        // By the character set that is stated, or by a mark.
        Typed("text/plain; charset=iso-8859-1", ascii("4|U1|x|J") + [0xF6], ["text:U1/Jö"]),
        Typed("text/plain", ascii("4|U1|x|J") + [0xF6], ["!invalidPass"]),
        Typed("text/plain", [0xEF, 0xBB, 0xBF] + ascii("U1"), ["ndef:U1"]),
        Typed("text/plain;charset=utf-16", [0xFF, 0xFE, 0x55, 0, 0x31, 0], ["ndef:U1"]),
        Typed("text/json", ascii(#"{"id":"U1"}"#), ["ndef:U1"]),
        Typed(#"application/json;charset="utf-16le""#, ascii(#"{"id":"U1"}"#).flatMap { [$0, 0] }, ["ndef:U1"]),
        Typed("application/json", [0xEF, 0xBB, 0xBF] + ascii(#"{"id":"U1"}"#), ["ndef:U1"]),
        Typed(
            "application/json; charset=windows-1252",
            ascii(#"{"id":"U1","name":"J"#) + [0xF6, 0x22, 0x7D],
            ["ndef:U1/Jö"]
        ),
        Typed("application/json", ascii(#"{"id":"U1","name":"J"#) + [0xF6, 0x22, 0x7D], ["!invalidPass"]),
        Typed("text/uri-list", ascii("# ours\r\nhttps://club.example/\r\nhttps://club.example/m/U1\r\n"), ["ndef:U1"]),
        Typed("text/x-uri", ascii("https://club.example/m/U1"), ["ndef:U1"]),
        Typed("text/uri-list", [0xFF], ["!invalidPass"]),
        // Cards that cannot be read.
        Typed("text/vcard", ascii("{}"), ["!invalidPass"]), Typed("application/vcard", [], ["!invalidPass"]),
        Typed("text/directory; profile=vcard", ascii("FN:Ann"), ["!invalidPass"]),
        Typed("application/vcard+json", ascii(#"["vcard",[]]"#), ["!invalidPass"]),
        Typed("application/vcard+xml", ascii("<vcards/>"), ["!invalidPass"]),
        // A name that cannot be read is none; a number that cannot be read is nobody's.
        Typed(
            "text/x-vcard",
            ascii("BEGIN:VCARD\nVERSION:2.1\nFN:J") + [0xF6] + ascii("\nX-MEMBER:U1\nEND:VCARD"),
            ["ndef:U1", "?invalidPass"]
        ),
        Typed(
            "text/x-vcard;charset=ISO-8859-1",
            ascii("BEGIN:VCARD\nVERSION:2.1\nFN:J") + [0xF6] + ascii("\nX-MEMBER:U1\nEND:VCARD"),
            ["ndef:U1/Jö"]
        ),
        Typed(
            "text/x-vcard",
            ascii("BEGIN:VCARD\nVERSION:2.1\nX-MEMBER:U") + [0xF6] + ascii("\nEND:VCARD"),
            ["!invalidPass"]
        ),
        Typed("text/x-vcard", TestSupport.vCard(["FN:Ann"]) + TestSupport.vCard(["X-MEMBER:U2"]), ["ndef:U2"]),
        // The sign of what was lost when it was written.
        Typed("text/plain", ascii("4|U1|x|J\u{FFFD}rg"), ["text:U1", "?invalidPass"]),
        Typed("text/plain", ascii("4|U\u{FFFD}|x|Ann"), ["!invalidPass"]),
        Typed("application/json", ascii("{\"id\":\"U1\",\"name\":\"J\u{FFFD}\"}"), ["ndef:U1", "?invalidPass"]),
        Typed("text/plain", ascii("U\u{FFFD}1"), ["!invalidPass"]),
    ]

    @Test(arguments: typed.indices) func mediaTypes(_ index: Int) {
        let row = Self.typed[index]
        #expect(Self.found([.mime(type: row.type, payload: row.payload)]) == row.found, "\(row.type)")
    }

    /// A vCard counts only where nothing else does, so that it changes nobody's key.
    @Test func vCardLast() throws {
        let card = NDEFRecord.mime(type: "text/vcard", payload: TestSupport.vCard(["FN:Bea", "X-MEMBER:U9"]))
        #expect(Self.found([card, try .text("4|U1|x|Ann")]) == ["text:U1/Ann"])
        #expect(Self.found([card, try .uri("https://club.example/m/U1")]) == ["ndef:U1"])
        #expect(Self.found([card, try .text("a|b")]) == ["!invalidPass"])
        #expect(Self.found([try .uri("https://club.example/"), card]) == ["ndef:U9/Bea"])
        #expect(Self.found([.mime(type: "text/vcard", payload: Array("BEGIN:VCAR".utf8))]) == ["!invalidPass"])
    }

    @Test func malformedText() {
        // Not UTF-8 although it says so.
        #expect(Self.found([.mime(type: "text/plain", payload: [0x55, 0xFF])]) == ["!invalidPass"])
        // Programs of Windows leave out the mark of UTF-16.
        let text: [UInt8] = "4|U1|x|Jörg".utf16.flatMap { [UInt8($0), 0] as [UInt8] }
        #expect(
            Self.found([NDEFRecord(tnf: .wellKnown, type: [0x54], payload: [0x82, 0x65, 0x6E] + text)]) == [
                "text:U1/Jörg"
            ]
        )
        #expect(Self.found([NDEFRecord(tnf: .wellKnown, type: [0x54], payload: [0x3F, 0x65])]) == [])
    }

    /// Nothing that a card may hold is a trap. Seed 4711.
    @Test func randomBytes() {
        var random = SeededNumbers(seed: 4711)
        let alphabet = Array(#"{}[]":,|\/u0041 idnamembr?=&%:"#.utf8) + [0x00, 0x7F, 0xC3, 0xA9, 0xFF]
        for _ in rounds(4000) {
            let payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            _ = NDEFPassReader.read([
                .mime(type: "application/json", payload: payload), .mime(type: "text/plain", payload: payload),
                NDEFRecord(tnf: .wellKnown, type: [0x54], payload: [0x02, 0x65, 0x6E] + payload),
                NDEFRecord(tnf: .wellKnown, type: [0x55], payload: [0x00] + payload),
                NDEFRecord(tnf: .absoluteURI, type: payload),
            ])
        }
    }

    @Test func assuranceIsOrdered() {
        #expect(Pass.Assurance.allCases == Pass.Assurance.allCases.sorted())
        #expect(Pass.Assurance.none < .identifier && .cryptographic < .cryptographicWithReplayProtection)
    }
}
