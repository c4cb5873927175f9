import Foundation
import TestSupport
import Testing

@testable import SirenKit

/// What the client keeps, how long that is fresh, and what replaces it.
@Suite struct SirenStoreTests {
    private static let url = "https://shop.example/orders/42"
    private static let api = URL(string: Shop.address) ?? URL(fileURLWithPath: "/")
    private static let next = "https://shop.example/next"

    private static func document(_ members: String) -> SirenResponse {
        .siren(
            #"{"links":[{"rel":["self"],"href":"\#(url)"},{"rel":["next"],"href":"/next"}],\#(members)}"#
        )
    }

    /// What a server says of an answer's age, after how many seconds it is stale, and whether it may be stored.
    static let ages: [(SirenHeaders, Int, Bool)] = [
        ([:], 300, true), (["Cache-Control": "max-age=60"], 60, true),
        (["Cache-Control": "private, Max-Age=5"], 5, true),
        (["Cache-Control": "max-age=60", "Age": "50"], 10, true),
        (["Cache-Control": "no-cache, max-age=60"], 0, true),
        (["cache-control": "no-store, max-age=9"], 9, false),
        (["Expires": "Fri, 15 Jan 2027 08:00:30 GMT"], 30, true),
        (["Cache-Control": "max-age=nan"], 300, true), (["Cache-Control": "max-age=60", "Age": "inf"], 60, true),
        (["Cache-Control": "max-age=60", "Age": "99999999999999999999"], 60 - (1 << 31), true),
        (["Cache-Control": "max-age=99999999999999999999"], 86_400, true),
        (["Cache-Control": "max-age=31536000", "Age": "9"], 86_400, true),
        (["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"], 86_400, true),
        (["Expires": "0"], 0, true), (["Expires": "0", "Cache-Control": "max-age=7"], 7, true),
    ]

    @Test(arguments: ages) func freshnessIsTheServers(
        _ headers: SirenHeaders,
        _ age: Int,
        _ isStored: Bool
    ) async throws {
        var answer = Self.document(#""class":["order"]"#)
        answer.headers.fields += headers.fields
        let shop = Shop(["GET \(Self.url)": [answer], "GET \(Self.next)": [.siren("{}")]])
        let store = MemorySirenStore()
        let client = try SirenClient(shop.transport, shop.session, store: store)
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        #expect((store.record(guid: Self.url, api: Self.api) != nil) == isStored)
        shop.pass(.seconds(age))
        #expect(try await !client.follow(rel: "next", ofEntityWithGUID: Self.url).isFromStale)
        shop.pass(.seconds(1))
        // Stale is not lost.
        #expect(try await client.follow(rel: "next", ofEntityWithGUID: Self.url).isFromStale)
    }

    @Test func whatTheServerDoesNotWantStoredIsForgottenWhenItDoes() async throws {
        var secret = Self.document(#""actions":[{"name":"old","href":"/next"}]"#)
        secret.headers["Cache-Control"] = "no-store"
        let open = Self.document(#""actions":[{"name":"new","href":"/next"}]"#)
        let shop = Shop(["GET \(Self.url)": [open, secret, open]])
        let client = try SirenClient(shop.transport, shop.session)
        for name in ["new", "old", "new"] {
            shop.pass(.seconds(1))
            _ = try await client.follow(SirenLink(rel: [], href: Self.url))
            _ = try await client.submit(actionNamed: name, onEntityWithGUID: Self.url)
        }
    }

    @Test func propertiesAreNeverKept() async throws {
        let answer = Self.document(
            #""title":"geheim","properties":{"a":"geheim"},"x":"geheim","entities":[{"rel":["item"],"title":"geheim","#
                + #""properties":{"a":"geheim"},"links":[{"rel":["self"],"href":"/i"}]},"#
                + #"{"rel":["item"],"href":"/j","title":"geheim"}],"#
                + #""actions":[{"name":"a","href":"/a","x":"geheim","fields":[{"name":"f","value":1}]}]"#
        )
        let shop = Shop(["GET \(Self.url)": [answer]])
        let store = MemorySirenStore()
        _ = try await SirenClient(shop.transport, shop.session, store: store).follow(
            SirenLink(rel: [], href: Self.url)
        )
        for guid in [Self.url, "https://shop.example/i", "https://shop.example/j"] {
            let record = try #require(store.record(guid: guid, api: Self.api))
            #expect(!"\(record)".contains("geheim"))
        }
        let actions = try #require(store.record(guid: Self.url, api: Self.api)).entity.actions
        #expect(actions.first?.fields == [SirenField(name: "f", value: 1)])
        #expect(store.record(guid: "https://shop.example/i", api: Self.api)?.extent == .embedded)
        #expect(store.record(guid: "https://shop.example/j", api: Self.api)?.extent == .link)
    }

    @Test func valuesNeedNotBeKept() async throws {
        let answer = Self.document(
            #""actions":[{"name":"a","href":"/a","fields":[{"name":"f","type":"hidden","value":1}]},"#
                + #"{"name":"b","href":"/b","fields":[{"name":"f"}]}]"#
        )
        let shop = Shop(["GET \(Self.url)": [answer]])
        var session = shop.session
        session.storesValues = false
        let client = try SirenClient(shop.transport, session)
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        _ = try await client.submit(actionNamed: "b", onEntityWithGUID: Self.url)
        await #expect(throws: SirenRequestError.actionNotFound(name: "a", guid: Self.url)) {
            try await client.submit(actionNamed: "a", onEntityWithGUID: Self.url)
        }
    }

    @Test func entitiesAreKnownByTheMapping() async throws {
        let answer = Self.document(
            #""class":["order"],"properties":{"number":9223372036854775808},"entities":[{"class":["order"],"rel":["x:a"]}]"#
        )
        let shop = Shop(["GET \(Self.url)": [answer], "GET \(Self.next)": [.siren("{}")]])
        var session = shop.session
        session.mapping = try SirenGUIDMapping(["order": "properties.number"])
        let client = try SirenClient(shop.transport, session)
        let order = try await client.follow(SirenLink(rel: [], href: Self.url))
        #expect(order.identityProblems == [.missing(at: "$.entities[0]", path: "properties.number")])
        #expect(
            try await client.follow(rel: "next", ofEntityWithGUID: "9223372036854775808").entity != nil
        )
    }

    @Test func whatIsKeptIsRefreshed() async throws {
        var answer = Self.document(#""class":["order"]"#)
        answer.headers = [
            "Content-Type": SirenEntity.mediaType, "ETag": "\"1\"", "Last-Modified": "then",
        ]
        let shop = Shop([
            "GET \(Self.url)": [
                answer, answer, SirenResponse(status: 304), SirenResponse(status: 304), answer,
            ],
            "GET \(Self.next)": [.siren("{}")],
        ])
        let transport = shop.transport
        let client = try SirenClient(transport, shop.session)
        let first = try await client.follow(SirenLink(rel: [], href: Self.url))
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        shop.pass(.seconds(301))
        #expect(try await client.follow(rel: "next", ofEntityWithGUID: Self.url).isFromStale)
        #expect(try await client.refresh(first).outcome == .unchanged)
        #expect(try await !client.follow(rel: "next", ofEntityWithGUID: Self.url).isFromStale)
        shop.pass(.seconds(301))
        #expect(try await client.refresh(entityWithGUID: Self.url).outcome == .unchanged)
        #expect(try await !client.follow(rel: "next", ofEntityWithGUID: Self.url).isFromStale)
        #expect(try await client.refresh(first).outcome == .done)
        let tags = transport.requests.map { $0.headers["If-None-Match"] }
        #expect(tags == [nil, nil, nil, "\"1\"", nil, "\"1\"", nil, "\"1\""])
        #expect(transport.requests.allSatisfy { $0.headers["If-Modified-Since"] == nil })
        await #expect(throws: SirenRequestError.linkNotFound(rel: "self", guid: "x")) {
            try await client.refresh(entityWithGUID: "x")
        }
        // Without a tag the time of the last change serves.
        var untagged = first
        untagged.headers["ETag"] = nil
        _ = try await client.refresh(untagged)
        #expect(transport.requests.last?.headers["If-Modified-Since"] == "then")
    }

    @Test func changesForget() async throws {
        let shop = Shop([
            "GET \(Self.url)": [Self.document(#""class":["order"]"#)], "GET \(Self.next)": [.siren("{}")],
            "DELETE \(Self.url)": [SirenResponse(status: 409), SirenResponse(status: 204)],
            "PUT \(Self.url)": [Self.document(#""actions":[{"name":"a","href":"/next"}]"#)],
            "PATCH \(Self.url)": [.redirect(303, "/missing")],
        ])
        let client = try SirenClient(shop.transport, shop.session)
        let remove = SirenAction(name: "a", href: Self.url, method: "DELETE")
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        _ = try await client.submit(remove)
        _ = try await client.follow(rel: "next", ofEntityWithGUID: Self.url)
        _ = try await client.submit(remove)
        await #expect(throws: SirenRequestError.self) {
            try await client.follow(rel: "next", ofEntityWithGUID: Self.url)
        }
        // What answers a change is kept in its place.
        _ = try await client.submit(SirenAction(name: "a", href: Self.url, method: "PUT"))
        _ = try await client.submit(actionNamed: "a", onEntityWithGUID: Self.url)
        // It was done, whatever is behind it.
        #expect(try await client.submit(SirenAction(name: "a", href: Self.url, method: "PATCH")).status == 404)
        await #expect(throws: SirenRequestError.self) {
            try await client.submit(actionNamed: "a", onEntityWithGUID: Self.url)
        }
    }

    /// How a change ends, and whether what was kept of its URL is forgotten.
    static let ends: [(any Error, Bool)] = [
        (SirenTransportError(.lost), true), (SirenTransportError(.timedOut), true),
        (SirenTransportError(.tooLong), true), (CancellationError(), true), (SirenTransportError(.notConnected), false),
        (SirenTransportError(.notTrusted), false), (SirenTransportError(.unavailable), false),
    ]

    @Test(arguments: ends, ["POST", "PUT", "DELETE", "GET"])
    func changesWhoseAnswerIsLostForget(_ end: (any Error, Bool), _ method: String) async throws {
        let shop = Shop(["GET \(Self.url)": [Self.document(#""class":["order"]"#)]])
        for href in [Self.url, "/moved"] {
            let answers = shop.transport
            let transport = InMemoryTransport { request in
                if request.url.path() == "/moved" { return .redirect(307, Self.url) }
                guard answers.requests.isEmpty else { throw end.0 }
                return try await answers.send(request)
            }
            let client = try SirenClient(transport, shop.session)
            _ = try await client.follow(SirenLink(rel: [], href: Self.url))
            await #expect(throws: (any Error).self) {
                try await client.submit(SirenAction(name: "a", href: href, method: method))
            }
            // Behind the redirect something was sent, and whether that was all is not known.
            let isForgotten = method != "GET" && (end.1 || href == "/moved")
            let link = try? await client.link(rel: "next", ofEntityWithGUID: Self.url)
            #expect((link == nil) == isForgotten)
        }
    }

    /// A client's error says that nothing was changed; behind a server's it may have been.
    @Test(arguments: [(400, false), (409, false), (500, true), (502, true), (504, true)])
    func changesThatMayHaveBeenDoneForget(_ status: Int, _ isForgotten: Bool) async throws {
        let shop = Shop([
            "GET \(Self.url)": [Self.document(#""class":["order"]"#)],
            "POST \(Self.url)#f": [SirenResponse(status: status)],
        ])
        let client = try SirenClient(shop.transport, shop.session)
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        #expect(try await client.submit(SirenAction(name: "a", href: Self.url + "#f", method: "POST")).status == status)
        let link = try? await client.link(rel: "next", ofEntityWithGUID: Self.url)
        #expect((link == nil) == isForgotten)
    }

    @Test func changesWhoseAnswerIsNoneForget() async throws {
        let shop = Shop([
            "GET \(Self.url)": [Self.document(#""class":["order"]"#)], "POST \(Self.url)": [.siren("{")],
            "POST https://shop.example/moved": [.redirect(308, Self.url)],
        ])
        let client = try SirenClient(shop.transport, shop.session)
        for href in [Self.url, "/moved"] {
            _ = try await client.follow(SirenLink(rel: [], href: Self.url))
            _ = try await client.link(rel: "next", ofEntityWithGUID: Self.url)
            await #expect(throws: SirenTransferError.self) {
                try await client.submit(SirenAction(name: "a", href: href, method: "POST"))
            }
            await #expect(throws: SirenRequestError.linkNotFound(rel: "next", guid: Self.url)) {
                try await client.link(rel: "next", ofEntityWithGUID: Self.url)
            }
        }
    }

    @Test func whatIsBehindAChangeKeepsItsTag() async throws {
        var answer = Self.document(#""class":["order"]"#)
        answer.headers["ETag"] = "\"1\""
        let shop = Shop([
            "POST https://shop.example/orders": [.redirect(303, "/orders/42?full")],
            "PUT \(Self.url)": [answer], "GET \(Self.url)?full": [answer], "GET \(Self.url)": [answer],
        ])
        let transport = shop.transport
        let client = try SirenClient(transport, shop.session)
        for (method, href, line, tag) in [
            ("POST", "/orders", "GET \(Self.url)?full", "\"1\""), ("PUT", Self.url, "GET \(Self.url)", nil),
        ] {
            _ = try await client.submit(SirenAction(name: "a", href: href, method: method))
            _ = try await client.refresh(entityWithGUID: Self.url)
            #expect(transport.lines.last == line && transport.requests.last?.headers["If-None-Match"] == tag)
        }
    }

    @Test func anAnswerToAChangeIsTheEntitysOwn() async throws {
        let shop = Shop([
            "POST https://shop.example/orders": [Self.document(#""class":["order"]"#)],
            "GET \(Self.url)": [SirenResponse(status: 304)],
        ])
        let transport = shop.transport
        let client = try SirenClient(transport, shop.session)
        _ = try await client.submit(SirenAction(name: "a", href: "/orders", method: "POST"))
        _ = try await client.refresh(entityWithGUID: Self.url)
        #expect(transport.lines.last == "GET \(Self.url)")
    }

    /// What a server says of an entity of another: as its document, within one, as a link.
    static let claims = [
        #"{"links":[{"rel":["self"],"href":"\#(url)"},{"rel":["next"],"href":"/theirs"}],"#
            + #""actions":[{"name":"a","href":"/theirs"}]}"#,
        #"{"entities":[{"rel":["item"],"links":[{"rel":["self"],"href":"\#(url)"},{"rel":["next"],"href":"/theirs"}],"#
            + #""actions":[{"name":"a","href":"/theirs"}]}]}"#,
        #"{"entities":[{"rel":["item"],"href":"\#(url)"}]}"#,
    ]

    @Test(arguments: claims, [("https://other.example", false), ("https://partner.example", true)])
    func noOtherServerSaysWhatOneCanDo(_ claim: String, _ server: (origin: String, prevails: Bool)) async throws {
        let shop = Shop([
            "GET \(Self.url)": [Self.document(#""actions":[{"name":"a","href":"/ours"}]"#)],
            "GET \(server.origin)/x": [.siren(claim)],
        ])
        var session = shop.session
        session.furtherOrigins = [try #require(URL(string: "https://partner.example"))]
        let client = try SirenClient(shop.transport, session)
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        // What is known is stale, so that what is trusted replaces it, even if it has less of the entity.
        shop.pass(.seconds(10_000))
        _ = try await client.follow(SirenLink(rel: [], href: server.origin + "/x"))
        let link = try? await client.link(rel: "next", ofEntityWithGUID: Self.url)
        let action = try? await client.action(named: "a", onEntityWithGUID: Self.url)
        #expect((link?.href == Self.next) == !server.prevails)
        #expect((action?.href == "https://shop.example/ours") == !server.prevails)
    }

    @Test func anotherServerThatClaimsFirstLoses() async throws {
        let claim = #"""
            {"links":[{"rel":["self"],"href":"\#(Self.url)"},{"rel":["next"],"href":"\#(Self.next)"}],
            "actions":[{"name":"a","method":"POST","href":"\#(Self.next)"}]}
            """#
        var secret = Self.document(#""actions":[{"name":"a","method":"POST","href":"/ours"}]"#)
        let other = "https://other.example/x"
        for isStored in [true, false] {
            if !isStored { secret.headers["Cache-Control"] = "no-store" }
            let shop = Shop([
                "GET \(other)": [.siren(claim, ["Cache-Control": "max-age=99999999999"])], "GET \(Self.url)": [secret],
                "GET \(Shop.address)": [.siren(#"{"entities":[{"rel":["item"],"href":"\#(Self.url)"}]}"#)],
            ])
            let transport = shop.transport
            var session = shop.session
            session.headers = ["X-Key": "geheim"]
            let client = try SirenClient(transport, session)
            client.authorizationHeaderValue = "geheim"
            _ = try await client.follow(SirenLink(rel: [], href: other))
            // Until the API shows the entity, the claim is followed, wherever it leads, without what is the session's.
            _ = try await client.submit(actionNamed: "a", onEntityWithGUID: Self.url)
            _ = try await client.follow(rel: "next", ofEntityWithGUID: Self.url)
            #expect(transport.lines.suffix(2) == ["POST \(Self.next)", "GET \(Self.next)"])
            for request in transport.requests {
                #expect(request.headers["Authorization"] == nil && request.headers["X-Key"] == nil)
            }
            // A link is enough.
            _ = try await client.manifest()
            await #expect(throws: SirenRequestError.actionNotFound(name: "a", guid: Self.url)) {
                try await client.submit(actionNamed: "a", onEntityWithGUID: Self.url)
            }
            _ = try await client.follow(SirenLink(rel: [], href: Self.url))
            shop.pass(.seconds(1_000_000))
            _ = try await client.follow(SirenLink(rel: [], href: other))
            _ = try await client.submit(actionNamed: "a", onEntityWithGUID: Self.url)
            #expect(transport.lines.last == "POST https://shop.example/ours")
            #expect(transport.requests.last?.headers["Authorization"] == "geheim")
        }
    }

    @Test func whoIsNoLongerTrustedIsAskedWithoutSecrets() async throws {
        let partner = "https://partner.example/x"
        let document = #"{"links":[{"rel":["self"],"href":""},{"rel":["next"],"href":"\#(Self.next)"}]}"#
        let store = MemorySirenStore()
        let shop = Shop(["GET \(partner)": [.siren(document)]])
        for origins in [[try #require(URL(string: partner))], []] {
            var session = shop.session
            session.furtherOrigins = origins
            let transport = shop.transport
            let client = try SirenClient(transport, session, store: store)
            client.authorizationHeaderValue = "geheim"
            if !origins.isEmpty { _ = try await client.follow(SirenLink(rel: [], href: partner)) }
            _ = try await client.follow(rel: "next", ofEntityWithGUID: partner)
            #expect(transport.lines.last == "GET \(Self.next)")
            #expect((transport.requests.last?.headers["Authorization"] == nil) == origins.isEmpty)
        }
    }

    @Test func errorsAreNotKept() async throws {
        var answer = Self.document(#""class":["error"]"#)
        answer.status = 500
        let shop = Shop(["GET \(Self.url)": [answer]])
        let client = try SirenClient(shop.transport, shop.session)
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        await #expect(throws: SirenRequestError.self) {
            try await client.follow(rel: "next", ofEntityWithGUID: Self.url)
        }
    }

    @Test func aStoreThatFailsDoesNotFailTheAnswer() async throws {
        struct Broken: SirenStore {
            struct Fault: Error {}
            func keep(_ records: [SirenRecord]) throws { throw Fault() }
            func record(guid: String, api: URL) throws -> SirenRecord? { nil }
            func renew(url: URL, api: URL, at: Date, expires: Date) throws { throw Fault() }
            func forget(url: URL, api: URL) throws { throw Fault() }
            func wipe(origin: URL?, api: URL?) throws { throw Fault() }
        }
        let shop = Shop(["GET \(Self.url)": [Self.document(#""class":["order"]"#)]])
        let client = try SirenClient(shop.transport, shop.session, store: Broken())
        #expect(try await client.follow(SirenLink(rel: [], href: Self.url)).entity != nil)
        await #expect(throws: Broken.Fault.self) { try await client.wipe() }
    }

    @Test func theMemoryKeepsItsRules() async throws {
        try await StoreRules.check(MemorySirenStore(capacity: 20))
        try await StoreRules.checkBytes(MemorySirenStore(capacity: .max, bytes: 10_000))
    }
}
