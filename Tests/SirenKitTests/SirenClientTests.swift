import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import SirenKit

/// The client walks an API, from its manifest to what one can do there.
@Suite struct SirenClientTests {
    static let order = #"""
        {"class":["order"],"properties":{"number":42},
        "links":[{"rel":["self"],"href":"/orders/42"},{"rel":["next"],"href":"43"},
        {"rel":["search"],"href":"/orders{?q,page}"}],
        "entities":[{"class":["items"],"rel":["x:items"],"href":"/orders/42/items"},
        {"class":["customer"],"rel":["x:customer"],"links":[{"rel":["self"],"href":"/customers/7"}]}],
        "actions":[{"name":"add","method":"POST","href":"items?new","fields":[{"name":"id","type":"hidden","value":"42"},
        {"name":"count","type":"number","required":true}]},
        {"name":"find","href":"/find?x=1#top","fields":[{"name":"q","type":"search"}]},
        {"name":"drop","method":"DELETE","href":""},
        {"name":"note","method":"PUT","type":"application/json","href":"note","fields":[{"name":"text"}]},
        {"name":"ship","method":"POST","href":"ship"}]}
        """#
    static let url = "https://shop.example/orders/42"

    private static func shop(_ further: [String: [SirenResponse]] = [:]) -> Shop {
        var answers = further
        for (url, answer) in [("", ""), ("/orders/42", order), ("/orders/43", #"{"title":"43"}"#)] {
            let name = "GET https://shop.example" + (url.isEmpty ? "/api/" : url)
            if answers[name] == nil { answers[name] = [.siren(answer.isEmpty ? order : answer)] }
        }
        return Shop(answers)
    }

    private static func link(_ href: String) -> SirenLink { SirenLink(rel: ["x"], href: href) }

    static let addresses: [(base: String, manifest: String, url: String)] = [
        ("https://shop.example", "", "https://shop.example/"),
        ("https://shop.example/api", "", "https://shop.example/api/"),
        ("https://shop.example/api/", "", "https://shop.example/api/"),
        ("https://shop.example/api", "start", "https://shop.example/api/start"),
        ("https://shop.example/api", "/start", "https://shop.example/start"),
        ("https://shop.example/api", "a/../b?c=d", "https://shop.example/api/b?c=d"),
        ("http://[::1]:8080", "m", "http://[::1]:8080/m"),
    ]

    @Test(arguments: addresses)
    func theManifestIsFound(_ row: (base: String, manifest: String, url: String)) async throws {
        let transport = Shop(["GET \(row.url)": [.siren("{}")]]).transport
        let client = try SirenClient(transport, base: row.base, manifest: row.manifest)
        #expect(try await client.manifest().outcome == .done)
        #expect(transport.lines == ["GET \(row.url)"] && client.manifestURL.absoluteString == row.url)
        #expect(
            transport.requests[0].headers["Accept"]
                == "application/vnd.siren+json, application/problem+json"
        )
    }

    @Test func theManifestHasParameters() async throws {
        let transport = Self.shop().transport
        _ = try await SirenClient(transport, manifest: "?a=b").manifest(parameters: [
            "z": 1, "c": ["x y", "ä"],
        ])
        #expect(transport.lines == ["GET \(Shop.address)?a=b&c=x+y&c=%C3%A4&z=1"])
    }

    @Test func whatIsNoServerIsRefused() {
        for (base, manifest) in [
            ("ftp://a/", ""), ("mailto:a@b", ""), ("https://a/", "a b"), ("https://a/", "urn:x"),
        ] {
            #expect(throws: SirenRequestError.self) {
                try SirenClient(Shop([:]).transport, base: base, manifest: manifest)
            }
        }
    }

    /// Where links lead from the order's page.
    static let links: [(href: String, parameters: [String: SirenInput], url: String)] = [
        ("43", [:], "https://shop.example/api/43"), ("/a", ["q": "x"], "https://shop.example/a?q=x"),
        ("/a?b=c#d", ["q": 1], "https://shop.example/a?b=c&q=1#d"),
        ("//other.example", [:], "https://other.example"),
        ("/members{?card}", ["card": "04 A1"], "https://shop.example/members?card=04%20A1"),
        ("/members{?card}", [:], "https://shop.example/members"),
        (
            "/members/{id}{?a,b}", ["id": "a/b", "b": true, "c": 2],
            "https://shop.example/members/a%2Fb?b=on&c=2"
        ),
    ]

    @Test(arguments: links)
    func linksAreFollowed(_ row: (href: String, parameters: [String: SirenInput], url: String))
        async throws
    {
        let transport = Self.shop().transport
        let answer = try await SirenClient(transport).follow(
            Self.link(row.href),
            parameters: row.parameters
        )
        #expect(
            transport.lines == ["GET \(row.url)"] && answer.outcome == .failed && answer.status == 404
        )
    }

    static let nowhere = [
        "a b", "urn:x", "mailto:a@b", "http:", "https:///x", "/{", "/{!a}", "://x",
    ]

    @Test(arguments: nowhere) func whatLeadsNowhereIsNotRequested(_ href: String) async throws {
        let transport = Self.shop().transport
        let client = try SirenClient(transport)
        await #expect(throws: SirenRequestError.referenceInvalid(href)) {
            try await client.follow(Self.link(href))
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func anEntityHasAbsoluteReferences() async throws {
        let client = try SirenClient(Self.shop().transport)
        let entity = try #require(try await client.follow(Self.link(Self.url)).entity)
        #expect(
            entity.links.map(\.href) == [
                Self.url, "https://shop.example/orders/43", "https://shop.example/orders{?q,page}",
            ]
        )
        #expect(entity.actions.first(name: "drop")?.href == Self.url)
        #expect(entity.entities[1].entity?.selfReference == "https://shop.example/customers/7")
    }

    @Test func whatIsKeptIsFollowedByRelation() async throws {
        let transport = Self.shop().transport
        let client = try SirenClient(transport)
        _ = try await client.follow(Self.link(Self.url))
        #expect(try await client.follow(rel: "NEXT", ofEntityWithGUID: Self.url).entity?.title == "43")
        _ = try await client.follow(
            rel: "search",
            ofEntityWithGUID: Self.url,
            parameters: ["q": "a", "z": "b"]
        )
        _ = try await client.follow(rel: "x:items", ofEntityWithGUID: Self.url)
        _ = try await client.follow(rel: "X:Customer", ofEntityWithGUID: Self.url)
        _ = try await client.follow(rel: "self", ofEntityWithGUID: "https://shop.example/customers/7")
        _ = try await client.follow(rel: "self", ofEntityWithGUID: Self.url + "/items")
        #expect(
            transport.lines.dropFirst() == [
                "GET https://shop.example/orders/43", "GET https://shop.example/orders?q=a&z=b",
                "GET https://shop.example/orders/42/items", "GET https://shop.example/customers/7",
                "GET https://shop.example/customers/7", "GET https://shop.example/orders/42/items",
            ]
        )
    }

    @Test func templatesOfDocumentsLeadFromThere() async throws {
        let url = "https://shop.example/list?page=1"
        let document = #"""
            {"links":[{"rel":["self"],"href":""},{"rel":["next"],"href":"{?page}"},{"rel":["item"],"href":"{id}"}],
            "entities":[{"rel":["item"],"links":[{"rel":["self"],"href":"#7"}]}]}
            """#
        let transport = Shop(["GET \(url)": [.siren(document)], "GET \(url)#top": [.siren(document)]]).transport
        let client = try SirenClient(transport)
        let answer = try await client.follow(Self.link(url + "#top"))
        #expect(answer.url.absoluteString == url && answer.entity?.selfReference == url)
        _ = try await client.follow(#require(answer.entity?.links.first(rel: "next")), parameters: ["page": 2])
        _ = try await client.follow(rel: "next", ofEntityWithGUID: url)
        _ = try await client.follow(rel: "item", ofEntityWithGUID: url, parameters: ["id": "a b"])
        _ = try await client.follow(rel: "self", ofEntityWithGUID: url + "#7")
        #expect(
            transport.lines.dropFirst() == [
                "GET https://shop.example/list?page=2", "GET \(url)", "GET https://shop.example/a%20b", "GET \(url)#7",
            ]
        )
        await #expect(throws: SirenRequestError.self) {
            try await client.follow(rel: "self", ofEntityWithGUID: url + "#top")
        }
    }

    @Test func whatIsNotKeptIsNotRequested() async throws {
        let transport = Self.shop().transport
        let client = try SirenClient(transport)
        await #expect(throws: SirenRequestError.linkNotFound(rel: "next", guid: Self.url)) {
            try await client.follow(rel: "next", ofEntityWithGUID: Self.url)
        }
        _ = try await client.follow(Self.link(Self.url))
        await #expect(throws: SirenRequestError.linkNotFound(rel: "prev", guid: Self.url)) {
            try await client.follow(rel: "prev", ofEntityWithGUID: Self.url)
        }
        await #expect(throws: SirenRequestError.actionNotFound(name: "Add", guid: Self.url)) {
            try await client.submit(actionNamed: "Add", onEntityWithGUID: Self.url)
        }
        await #expect(throws: SirenRequestError.actionNotFound(name: "add", guid: "43")) {
            try await client.submit(actionNamed: "add", onEntityWithGUID: "43")
        }
        #expect(transport.requests.count == 1)
    }

    /// An action, what is given for it, and what is sent.
    static let submissions: [(String, [String: SirenInput], line: String, type: String?, body: String?)] = [
        (
            "add", ["count": 2, "x": 1], "POST \(url)/items?new".replacing("42/", with: ""),
            "application/x-www-form-urlencoded", "id=42&count=2"
        ),
        ("find", ["q": "a b"], "GET https://shop.example/find?x=1&q=a+b#top", nil, nil),
        ("find", [:], "GET https://shop.example/find?x=1#top", nil, nil),
        ("drop", [:], "DELETE \(url)", nil, nil),
        (
            "note", ["text": "x"], "PUT https://shop.example/orders/note", "application/json",
            #"{"text":"x"}"#
        ),
        ("ship", [:], "POST https://shop.example/orders/ship", nil, nil),
    ]

    @Test(arguments: submissions, [true, false])
    func actionsAreSubmitted(
        _ row: (String, [String: SirenInput], line: String, type: String?, body: String?),
        _ byName: Bool
    ) async throws {
        let transport = Self.shop().transport
        let client = try SirenClient(transport)
        let entity = try #require(try await client.follow(Self.link(Self.url)).entity)
        let action = try #require(entity.actions.first(name: row.0))
        let answer =
            byName
            ? try await client.submit(actionNamed: row.0, onEntityWithGUID: Self.url, parameters: row.1)
            : try await client.submit(action, parameters: row.1)
        let request = try #require(transport.requests.last)
        #expect(transport.lines.last == row.line && request.headers["Content-Type"] == row.type)
        let bytes: [UInt8]? = request.body.map { body in
            body.pieces.flatMap { if case .bytes(let bytes) = $0 { bytes } else { [UInt8]() } }
        }
        #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == row.body)
        #expect(answer.dropped.map(\.name) == (row.1["x"] == nil ? [] : ["x"]))
    }

    /// The query of a reference, an action's fields, what is given for them, and the query that is asked for.
    struct Query: Sendable {
        var href: String
        var fields: [SirenField]
        var given: [String: SirenInput]
        var asked: String
        var method: String?

        init(_ href: String, _ names: [String], _ given: [String: SirenInput], _ asked: String, _ method: String? = nil)
        {
            (self.href, self.given, self.asked, self.method) = (href, given, asked, method)
            fields = names.map { SirenField(name: $0) }
        }
    }

    static let queries: [Query] = [
        Query("/a?page=1", ["page"], ["page": 2], "/a?page=2"),
        Query("/a?page=1", ["page"], ["page": 2], "/a?page=2", "DELETE"),
        // What the form has no field for stays, as it is written and in its order.
        Query("/a?x=%41&page=1&y", ["page"], ["page": 2], "/a?x=%41&y&page=2"),
        Query("/a?page=1&x=1&page=3#top", ["page"], ["page": 2], "/a?x=1&page=2#top"),
        Query("/a?page", ["page"], ["page": 2], "/a?page=2"),
        Query("/a?page=1=2", ["page"], ["page": 2], "/a?page=2"),
        Query("/a?Page=1&pages=2", ["page"], ["page": 2], "/a?Page=1&pages=2&page=2"),
        Query("/a?b=page", ["page"], ["page": 2], "/a?b=page&page=2"),
        Query("/a?", ["page"], ["page": 2], "/a?page=2"),
        Query("/a?&&x=1&", ["page"], ["page": 2], "/a?x=1&page=2"),
        Query("/a#?page=1", ["page"], ["page": 2], "/a?page=2#?page=1"),
        // Names as they are written in queries.
        Query("/a?a%20b=1&a+b=2&%C3%A4=3", ["a b", "ä"], ["a b": "x", "ä": "y"], "/a?a+b=x&%C3%A4=y"),
        Query("/a?a%CC%88=1", ["ä"], ["ä": "y"], "/a?a%CC%88=1&%C3%A4=y"),
        // Several values, an empty one, none.
        Query("/a?t=1&t=2", ["t"], ["t": ""], "/a?t="),
        Query("/a?page=1", ["page"], [:], "/a?page=1"),
        Query("/a?page=1", [], ["page": 2], "/a?page=1"),
    ]

    @Test(arguments: queries) func fieldsReplaceThoseOfTheReference(_ row: Query) async throws {
        let transport = Self.shop().transport
        let action = SirenAction(name: "x", href: row.href, method: row.method, fields: row.fields)
        _ = try await SirenClient(transport).submit(action, parameters: row.given)
        #expect(transport.lines == ["\(row.method ?? "GET") https://shop.example\(row.asked)"])
    }

    @Test func aListAndABoxReplaceThoseOfTheReference() async throws {
        let transport = Self.shop().transport
        let client = try SirenClient(transport)
        let action = SirenAction(
            name: "x",
            href: "/a?t=1&box=on&c=2",
            fields: [SirenField(name: "t", type: .checkbox), SirenField(name: "box", type: .checkbox)]
        )
        _ = try await client.submit(action, parameters: ["t": true, "box": false])
        _ = try await client.follow(Self.link("/a?t=1&u=1"), parameters: ["t": ["2", "3"]])
        #expect(
            transport.lines == [
                "GET https://shop.example/a?c=2&t=on", "GET https://shop.example/a?u=1&t=2&t=3",
            ]
        )
    }

    @Test func whatDoesNotFitIsNotSent() async throws {
        let transport = Self.shop().transport
        let client = try SirenClient(transport)
        let entity = try #require(try await client.follow(Self.link(Self.url)).entity)
        for parameters: [String: SirenInput] in [["count": "2"], [:]] {
            await #expect(throws: SirenRequestError.self) {
                try await client.submit(
                    actionNamed: "add",
                    onEntityWithGUID: Self.url,
                    parameters: parameters
                )
            }
        }
        var action = entity.actions[0]
        action.type = "text/csv"
        await #expect(throws: SirenRequestError.encodingUnknown("text/csv")) {
            try await client.submit(action, parameters: ["count": 1])
        }
        action = SirenAction(name: "a", href: "/", method: "GET / HTTP/1.1\r\nX: y")
        await #expect(throws: SirenRequestError.methodInvalid(action.httpMethod)) {
            try await client.submit(action)
        }
        client.authorizationHeaderValue = "a\r\nCookie: b"
        await #expect(throws: SirenRequestError.headerInvalid("Authorization")) {
            try await client.manifest()
        }
        #expect(transport.requests.count == 1)
    }

    /// What servers answer, and what is made of it.
    static let results: [(SirenResponse, SirenAnswer.Outcome, String)] = [
        (.siren(#"{"title":"a"}"#), .done, "entity a"),
        (
            .siren(#"{"title":"a"}"#, status: 201, ["Location": "/a"]), .created,
            "entity a, at https://shop.example/a"
        ),
        (
            SirenResponse(status: 201, headers: ["location": "b/c"]), .created,
            "none, at https://shop.example/b/c"
        ),
        (
            SirenResponse(status: 202, headers: ["Location": "?job"]), .accepted,
            "none, at https://shop.example/x?job"
        ),
        (SirenResponse(status: 204), .done, "none"), (SirenResponse(status: 304), .unchanged, "none"),
        (
            SirenResponse(status: 200, headers: ["Content-Type": "text/html"], body: [60]), .done,
            "other text/html 1"
        ),
        (SirenResponse(status: 200, body: [60]), .done, "other nil 1"),
        (
            SirenResponse(status: 500, headers: ["Content-Type": "text/plain"], body: [60]), .failed,
            "other text/plain 1"
        ),
        (.siren(#"{"class":["error"],"title":"e"}"#), .failed, "entity e"),
        (.siren(#"{"title":"e"}"#, status: 422), .failed, "entity e"),
        (SirenResponse(status: 404), .failed, "none"),
        (
            SirenResponse(
                status: 403,
                headers: ["Content-Type": "application/problem+json; charset=utf-8"],
                body: Array(
                    #"{"type":"/p","title":"t","status":403,"detail":"d","instance":"/i","x":1.0}"#.utf8
                )
            ), .failed, "problem /p t 403 d /i 1.0"
        ),
        (
            SirenResponse(
                status: 200,
                headers: ["Content-Type": "application/problem+json"],
                body: Array("{}".utf8)
            ),
            .failed, "problem about:blank - - - - -"
        ),
        (
            SirenResponse(status: 400, headers: ["Content-Type": "application/problem+json"], body: [60]),
            .failed,
            "other application/problem+json 1"
        ),
    ]

    @Test(arguments: results)
    func resultsAreClear(_ row: (SirenResponse, SirenAnswer.Outcome, String)) async throws {
        let client = try SirenClient(Shop(["GET https://shop.example/x": [row.0]]).transport)
        let answer = try await client.follow(Self.link("/x"))
        let text =
            switch answer.content {
            case .entity(let entity): "entity \(entity.title ?? "")"
            case .problem(let problem):
                "problem \(problem.type) \(problem.title ?? "-") \(problem.status.map(String.init) ?? "-") "
                    + "\(problem.detail ?? "-") \(problem.instance ?? "-") \(problem.members["x"]?.scalarText ?? "-")"
            case .other(let bytes, let type): "other \(type ?? "nil") \(bytes.count)"
            case .none: "none"
            }
        #expect(answer.outcome == row.1 && answer.bytes == row.0.body && answer.status == row.0.status)
        #expect(text + (answer.location.map { ", at \($0.absoluteString)" } ?? "") == row.2)
    }

    @Test func documentsAreReadAsTheSessionSays() async throws {
        let answers = ["GET https://shop.example/x": [SirenResponse.siren(#"{"title":5}"#)]]
        let lenient = try await SirenClient(Shop(answers).transport).follow(Self.link("/x"))
        #expect(lenient.violations.map(\.path) == ["$.title"] && lenient.entity != nil)
        var session = SirenSession()
        session.mode = .strict
        let strict = try SirenClient(Shop(answers).transport, session)
        await #expect(throws: SirenTransferError.self) { try await strict.follow(Self.link("/x")) }
        let broken = try SirenClient(Shop(["GET https://shop.example/x": [.siren("{")]]).transport)
        await #expect(throws: SirenTransferError.self) { try await broken.follow(Self.link("/x")) }
    }

    /// A redirect's status, the request's method, and those of the request that follows.
    static let redirects: [(Int, String, String)] = [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
        (308, "POST", "POST"),
        (301, "PUT", "PUT"), (303, "PUT", "GET"), (307, "DELETE", "DELETE"), (303, "DELETE", "GET"),
        (302, "GET", "GET"),
    ]

    @Test(arguments: redirects) func redirectsAreFollowed(_ row: (Int, String, String)) async throws {
        let transport = Shop([
            "\(row.1) https://shop.example/a/x?q=1": [.redirect(row.0, "../b?c")],
            "\(row.2) https://shop.example/b?c": [.siren(#"{"links":[{"rel":["self"],"href":"d"}]}"#)],
        ]).transport
        let action = SirenAction(
            name: "a",
            href: "/a/x?q=1",
            method: row.1,
            type: "application/json",
            fields: [SirenField(name: "f", value: "v")]
        )
        var bare = action
        if ["GET", "DELETE"].contains(row.1) { bare.fields = [] }
        let answer = try await SirenClient(transport).submit(bare)
        #expect(
            answer.entity?.selfReference == "https://shop.example/d"
                && answer.url.absoluteString == "https://shop.example/b?c"
        )
        #expect(answer.redirects.map(\.absoluteString) == ["https://shop.example/a/x?q=1"])
        let last = try #require(transport.requests.last)
        #expect((last.body == nil) == (row.2 == "GET" || row.2 == "DELETE"))
        #expect((last.headers["Content-Type"] == nil) == (last.body == nil))
    }

    /// Where a redirect leads, and what of a request goes there: what has no body, what has one, and the key.
    static let carriers: [(String, bare: Bool, body: Bool, key: Bool)] = [
        ("https://shop.example/b", true, true, true), ("https://partner.example/b", true, true, true),
        ("https://other.example/b", true, false, false), ("https://shop.example:444/b", true, false, false),
        ("http://shop.example/b", false, false, false), ("http://partner.example/b", false, false, false),
        ("HTTP://other.example/b", false, false, false),
    ]

    static let carrying: [(method: String, status: Int)] = [
        ("POST", 307), ("POST", 308), ("PUT", 301), ("PUT", 302), ("PATCH", 307),
    ]

    @Test(arguments: carriers, carrying)
    func bodiesStayWithTheirOrigin(
        _ row: (String, bare: Bool, body: Bool, key: Bool),
        _ redirect: (method: String, status: Int)
    ) async throws {
        let target = try #require(URL(string: row.0))
        let transport = Shop([
            "\(redirect.method) https://shop.example/a": [.redirect(redirect.status, row.0)],
            "\(redirect.method) \(row.0)": [SirenResponse(status: 204)],
        ]).transport
        var session = SirenSession()
        session.sendsIdempotencyKeys = true
        session.furtherOrigins = ["https://partner.example", "http://partner.example"].compactMap { URL(string: $0) }
        let client = try SirenClient(transport, session)
        for (fields, goes) in [([], row.bare), ([SirenField(name: "f", value: "v")], row.body)] {
            let action = SirenAction(name: "a", href: "/a", method: redirect.method, fields: fields)
            let count = transport.requests.count
            if goes {
                #expect(try await client.submit(action).url == target)
                let sent = try #require(transport.requests.last)
                #expect((sent.body == nil) == fields.isEmpty)
                #expect((sent.headers["Idempotency-Key"] != nil) == (row.key && redirect.method != "PUT"))
            } else {
                await #expect(throws: SirenTransferError.redirectRefused(target)) { try await client.submit(action) }
                #expect(transport.requests.count == count + 1)
            }
        }
    }

    @Test func whatGoesToAnotherServerMayMoveThere() async throws {
        let transport = Shop([
            "POST https://other.example/a": [.redirect(307, "/b")],
            "POST https://other.example/b": [.redirect(308, "https://shop.example/c")],
            "POST https://shop.example/c": [.redirect(303, "https://third.example/d")],
            "GET https://third.example/d": [.redirect(301, "http://third.example/d")],
        ]).transport
        let action = SirenAction(
            name: "a",
            href: "https://other.example/a",
            method: "POST",
            fields: [SirenField(name: "f", value: "v")]
        )
        let exposed = try #require(URL(string: "http://third.example/d"))
        await #expect(throws: SirenTransferError.redirectRefused(exposed)) {
            try await SirenClient(transport).submit(action)
        }
        #expect(transport.requests.map { $0.body == nil } == [false, false, false, true])
    }

    @Test func redirectsEnd() async throws {
        let transport = Shop(["GET https://shop.example/a": [.redirect(302, "/a")]]).transport
        let client = try SirenClient(transport)
        await #expect(throws: SirenTransferError.tooManyRedirects(10)) {
            try await client.follow(Self.link("/a"))
        }
        #expect(transport.requests.count == 11)
        for location in ["ftp://a/", "a b", "urn:x"] {
            let lost = try SirenClient(
                Shop(["GET https://shop.example/a": [.redirect(302, location)]]).transport
            )
            await #expect(throws: SirenTransferError.redirectInvalid(location)) {
                try await lost.follow(Self.link("/a"))
            }
        }
        // Without a place to go it is an answer.
        let still = try SirenClient(
            Shop(["GET https://shop.example/a": [SirenResponse(status: 302)]]).transport
        )
        #expect(try await still.follow(Self.link("/a")).status == 302)
    }

    /// URLs, and whether what is secret goes there.
    static let origins: [(String, Bool)] = [
        ("https://shop.example/x", true), ("/x", true), ("https://SHOP.example:443/x", true),
        ("http://shop.example/x", false), ("https://shop.example:8443/x", false),
        ("https://other.example/x", false),
        ("https://a.shop.example/x", false), ("https://shop.example.other/x", false),
        ("https://shop.example@other.example/x", false), ("//other.example/x", false),
        ("https://partner.example:444/y", true), ("https://partner.example/y", false),
    ]

    @Test(arguments: origins) func secretsStayWithTheirOrigin(_ url: String, _ isTrusted: Bool)
        async throws
    {
        let absolute = try #require(SirenReference.resolve(url, against: URL(string: Shop.address)))
        let document = #"""
            {"links":[{"rel":["self"],"href":"/me"},{"rel":["next"],"href":"\#(url)"}],
            "entities":[{"rel":["item"],"href":"\#(url)"}],
            "actions":[{"name":"go","method":"POST","href":"\#(url)"}]}
            """#
        let shop = Shop([
            "GET https://shop.example/me": [.siren(document)],
            "GET https://shop.example/away": [.redirect(307, absolute.absoluteString)],
            "POST https://shop.example/away": [.redirect(308, absolute.absoluteString)],
            // And back: whoever is not trusted leads to nothing that is done in the session's name.
            "GET \(absolute.absoluteString)": [.redirect(302, "https://shop.example/me")],
        ])
        var session = shop.session
        session.headers = ["X-Key": "geheim"]
        session.furtherOrigins = [try #require(URL(string: "https://partner.example:444"))]
        let transport = shop.transport
        let client = try SirenClient(transport, session)
        client.authorizationHeaderValue = "Bearer geheim"
        let entity = try #require(try await client.follow(Self.link("/me")).entity)
        _ = try await client.follow(entity.links[1])
        _ = try await client.follow(#require(entity.entities[0].link))
        _ = try await client.submit(entity.actions[0])
        _ = try await client.follow(rel: "next", ofEntityWithGUID: "https://shop.example/me")
        _ = try await client.submit(actionNamed: "go", onEntityWithGUID: "https://shop.example/me")
        let isProtected = absolute.scheme == "https"
        for method in ["GET", "POST"] {
            let away = SirenAction(name: "a", href: "/away", method: method)
            if isProtected {
                _ = try await client.submit(away)
            } else {
                await #expect(throws: SirenTransferError.redirectRefused(absolute)) { try await client.submit(away) }
            }
        }
        var count = 0
        for (index, request) in transport.requests.enumerated() {
            let isThere = request.url == absolute
            if isThere { count += 1 }
            let isBack = index > 0 && request.url.path() == "/me"
            let isSecret = isThere || isBack ? isTrusted : true
            #expect((request.headers["Authorization"] == "Bearer geheim") == isSecret, "\(request.url)")
            #expect((request.headers["X-Key"] == "geheim") == isSecret, "\(request.url)")
        }
        #expect(count == (isProtected ? 7 : 5))
    }

    @Test func theAuthorizationChanges() async throws {
        let transport = Self.shop().transport
        let client = try SirenClient(transport)
        for value in ["a", nil, "b"] {
            client.authorizationHeaderValue = value
            _ = try await client.manifest()
        }
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["a", nil, "b"])
    }

    @Test func nothingSecretIsLogged() async throws {
        let lines = Mutex<[String]>([])
        let shop = Shop([
            "GET https://shop.example/a?card=geheim": [
                .redirect(302, "https://geheim:geheim@other.example/b#geheim")
            ]
        ])
        var session = shop.session
        session.logger = Logger(label: "test") { _ in
            LineLog { line in lines.withLock { $0.append(line) } }
        }
        session.logger.logLevel = .trace
        session.headers = ["X-Key": "geheim"]
        let client = try SirenClient(shop.transport, session)
        client.authorizationHeaderValue = "geheim"
        _ = try await client.follow(Self.link("/a{?card}"), parameters: ["card": "geheim"])
        #expect(
            lines.withLock { $0 } == [
                "GET https://shop.example:443/a: 302", "GET https://other.example:443/b: 404",
            ]
        )
        let headers: SirenHeaders = ["Authorization": "geheim"]
        var dumped = ""
        dump(SirenRequest(url: client.baseURL, headers: headers), to: &dumped)
        #expect(!"\(headers) \(String(reflecting: headers)) \(dumped)".contains("geheim"))
    }
}

/// Hands each line to a closure.
private struct LineLog: LogHandler {
    let write: @Sendable (String) -> Void
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { write("\(event.message)") }
}
