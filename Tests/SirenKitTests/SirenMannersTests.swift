import Foundation
import TestSupport
import Testing

@testable import SirenKit

/// Requests are repeated where that is right, and end where they have to.
@Suite(.timeLimit(.minutes(10))) struct SirenMannersTests {
    private static let url = "https://shop.example/x"
    private static let done = SirenResponse.siren("{}")

    private static func busy(_ status: Int = 503, _ pause: String? = nil) -> SirenResponse {
        var headers = SirenHeaders()
        headers["Retry-After"] = pause
        return SirenResponse(status: status, headers: headers)
    }

    /// A method, what the server answers, the pauses in seconds, and the status in the end.
    static let repetitions: [(String, [SirenResponse], [Double], Int)] = [
        ("GET", [busy(), done], [0.25], 200), ("PUT", [busy(502), busy(504), done], [0.25, 0.5], 200),
        ("DELETE", [busy(408), done], [0.25], 200), ("GET", [busy()], [0.25, 0.5, 1], 503),
        ("GET", [busy(500), done], [], 500), ("GET", [busy(501), done], [], 501),
        ("GET", [busy(404), done], [], 404),
        ("POST", [busy(), done], [], 503), ("PATCH", [busy(429), done], [], 429),
        ("GET", [busy(429, "7"), done], [7], 200), ("GET", [busy(503, "0"), done], [0], 200),
        ("GET", [busy(503, "31"), done], [], 503), ("GET", [busy(503, "-1"), done], [0.25], 200),
        ("GET", [busy(503, "soon"), done], [0.25], 200),
        // The time is 08:00:00.
        ("GET", [busy(503, "Fri, 15 Jan 2027 08:00:09 GMT"), done], [9], 200),
        ("GET", [busy(503, "Fri, 15 Jan 2027 07:59:00 GMT"), done], [0], 200),
        ("GET", [busy(503, "99999999999999999999"), done], [0.25], 200),
    ]

    @Test(arguments: repetitions)
    func busyServersAreAskedAgain(_ row: (String, [SirenResponse], [Double], Int)) async throws {
        let shop = Shop(["\(row.0) \(Self.url)": row.1])
        let transport = shop.transport
        let client = try SirenClient(transport, shop.session)
        let answer = try await client.submit(SirenAction(name: "a", href: Self.url, method: row.0))
        #expect(answer.status == row.3 && transport.requests.count == row.2.count + 1)
        #expect(shop.pauses.withLock { $0.map { $0 / .seconds(1) } } == row.2)
    }

    /// What happens to a request, whether it is sent again, and whether it counts as sent.
    static let faults: [(SirenTransportError.Kind, get: Int, post: Int, wasSent: Bool)] = [
        (.notConnected, 4, 4, false), (.notTrusted, 1, 1, false), (.unavailable, 1, 1, false), (.timedOut, 4, 1, true),
        (.lost, 4, 1, true),
        (.tooLong, 1, 1, true), (.fileUnreadable, 4, 4, false), (.fileChanged, 4, 1, true),
    ]

    @Test(arguments: faults)
    func faultsAreTold(_ row: (SirenTransportError.Kind, get: Int, post: Int, wasSent: Bool))
        async throws
    {
        for (method, count) in [("GET", row.get), ("POST", row.post)] {
            let error = SirenTransportError(row.0, "why")
            let transport = InMemoryTransport { _ in throw error }
            let client = try SirenClient(transport, Shop([:]).session)
            let action = SirenAction(name: "a", href: "/", method: method)
            if row.wasSent {
                await #expect(throws: SirenTransferError.notAnswered(error)) {
                    try await client.submit(action)
                }
            } else {
                await #expect(throws: SirenRequestError.notConnected(error)) {
                    try await client.submit(action)
                }
            }
            #expect(transport.requests.count == count)
        }
    }

    @Test func whatFollowsWhatWasSentCountsAsSent() async throws {
        let error = SirenTransportError(.notConnected)
        let transport = InMemoryTransport { request in
            guard request.url.path() == "/a" else { throw error }
            return .redirect(307, "/b")
        }
        let client = try SirenClient(transport, Shop([:]).session)
        await #expect(throws: SirenTransferError.notAnswered(error)) {
            try await client.submit(SirenAction(name: "a", href: "/a", method: "POST"))
        }
    }

    @Test func keysLetPostsBeRepeated() async throws {
        let shop = Shop([
            "POST \(Self.url)": [Self.busy(), .redirect(307, "/y"), .redirect(303, "/z")],
            "POST https://shop.example/y": [Self.busy(), .redirect(303, "/z")],
        ])
        var session = shop.session
        session.sendsIdempotencyKeys = true
        let transport = shop.transport
        let client = try SirenClient(transport, session)
        for _ in 0..<2 {
            _ = try await client.submit(SirenAction(name: "a", href: Self.url, method: "POST"))
        }
        let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
        #expect(
            transport.requests.map(\.method) == ["POST", "POST", "POST", "POST", "GET", "POST", "GET"]
        )
        #expect(Set(keys[0..<4]).count == 1 && keys[0] != nil && keys[4] == nil)
        #expect(keys[5] != nil && keys[5] != keys[0] && keys[6] == nil)
    }

    @Test func pausesAreOfAnyLengthBelowTheLongest() async throws {
        let shop = Shop(["GET \(Self.url)": [Self.busy()]])
        var session = shop.session
        session.surroundings.random = { 0.5 }
        (session.retries, session.longestRetryPause) = (9, .seconds(2))
        let client = try SirenClient(shop.transport, session)
        _ = try await client.follow(SirenLink(rel: [], href: Self.url))
        #expect(
            shop.pauses.withLock { $0.map { $0 / .seconds(1) } } == [0.125, 0.25, 0.5, 1, 1, 1, 1, 1, 1]
        )
    }

    @Test func callsEndWithTheirTasks() async throws {
        let (started, start) = AsyncStream<Void>.makeStream()
        let waiting = InMemoryTransport { _ in
            start.yield()
            try await Task.sleep(for: .seconds(600))
            return SirenResponse()
        }
        let pausing = InMemoryTransport { _ in
            start.yield()
            return Self.busy()
        }
        var session = SirenSession()
        (session.retryPause, session.longestRetryPause) = (.seconds(600), .seconds(600))
        session.surroundings.random = { 1 }
        var starts = started.makeAsyncIterator()
        for transport in [waiting, pausing] {
            let client = try SirenClient(transport, session)
            let task = Task { try await client.manifest() }
            await starts.next()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func answersHaveALongestLength() async throws {
        #expect(SirenSession().longestAnswer == 8 << 20)
        for status in [200, 404] {
            let shop = Shop(["GET \(Self.url)": [.siren("{}", status: status), .siren("{ }", status: status)]])
            var session = shop.session
            session.longestAnswer = 2
            let transport = shop.transport
            let client = try SirenClient(transport, session)
            let link = SirenLink(rel: [], href: Self.url)
            let answer = try await client.follow(link)
            #expect(answer.status == status && answer.bytes == Array("{}".utf8))
            await #expect(throws: SirenTransferError.notAnswered(SirenTransportError(.tooLong))) {
                try await client.follow(link)
            }
            // It is not asked for again, and the transport knows the limit before it reads.
            #expect(transport.requests.map(\.longestAnswer) == [2, 2])
        }
    }

    static let dates: [(String, Double?)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sun, 06 Nov 1994 08:49:37", nil),
        ("", nil),
        ("Sun, 31 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
        ("Sun Nov  6 08:49:37 1994", nil),
    ]

    @Test(arguments: dates) func datesAreRead(_ text: String, _ seconds: Double?) {
        #expect(HTTPDate.date(text)?.timeIntervalSince1970 == seconds)
    }

    /// RFC 6570, 1.2 and 3.2, as far as values are texts.
    static let templates: [(String, String)] = [
        ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+path}/here", "/foo/bar/here"), ("here?ref={+path}", "here?ref=/foo/bar"),
        ("X{#var}", "X#value"),
        ("X{#hello}", "X#Hello%20World!"), ("map?{x,y}", "map?1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"), ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"), ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("X{.var}", "X.value"),
        ("X{.x,y}", "X.1024.768"), ("{/var}", "/value"), ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"), ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="), ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="), ("{half}", "50%25"), ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,empty}", "1024,"), ("{x,undef}", "1024"), ("?{undef,y}", "?768"), ("{?undef}", ""),
        ("plain", "plain"),
        ("{var:3}", "val"), ("{var:30}", "value"), ("{+path:6}/here", "/foo/b/here"),
        ("{?var:3,x*}", "?var=val&x=1024"),
        ("{hello*}", "Hello%20World%21"), ("{/var:1,var}", "/v/value"), ("{half:3}", "50%25"),
        ("{x", ""), ("{}", ""), ("{x y}", ""), ("{=x}", ""), ("{x:}", ""), ("{x:0}", ""), ("{x:a}", ""), ("{*}", ""),
    ]

    @Test(arguments: templates) func templatesAreExpanded(_ template: String, _ expected: String) {
        let values = [
            "var": "value", "hello": "Hello World!", "path": "/foo/bar", "x": "1024", "y": "768",
            "empty": "",
            "half": "50%",
        ]
        let isMalformed = expected.isEmpty && template != "{?undef}"
        #expect(URITemplate.expand(template, values)?.uri == (isMalformed ? nil : expected))
    }

    /// Templates of a document, from where it came, and where they lead (RFC 3986, 5.2).
    static let references: [(base: String, template: String, [String: String], url: String)] = [
        (page, "{?card}", ["card": "1"], "http://h/a/b?card=1"), (page, "{?card}", [:], page),
        ("http://h/a/b", "{?card}", ["card": "1"], "http://h/a/b?card=1"),
        ("http://h/a/b", "{?card}", [:], "http://h/a/b"),
        (page, "{id}", ["id": "x"], "http://h/a/x"), (page, "{id}", [:], page), (page, "{id}", ["id": ""], page),
        (page, "{/id}", ["id": "x"], "http://h/x"), (page, "{/id}", [:], page),
        (page, "{/id,id}", ["id": "x"], "http://h/x/x"),
        (page, "{+u}", ["u": "https://o/z?k#f"], "https://o/z?k#f"), (page, "{+u}", ["u": "/r"], "http://h/r"),
        (page, "{+u}", ["u": "../../r"], "http://h/r"), (page, "{+u}", ["u": "?r"], "http://h/a/b?r"),
        (page, "{#f}", ["f": "x"], "\(page)#x"), (page, "{#f}", [:], page),
        (page, "{&c}", ["c": "1"], "http://h/a/&c=1"), (page, "{;c}", ["c": "1"], "http://h/a/;c=1"),
        (page, "{.c}", ["c": "1"], "http://h/a/.1"), (page, "?p=1{&c}", ["c": "2"], "http://h/a/b?p=1&c=2"),
        (page, "?p={c}", ["c": "2"], "http://h/a/b?p=2"), (page, "#x{f}", ["f": "y"], "\(page)#xy"),
        (page, "m{id}", ["id": "x"], "http://h/a/mx"), (page, "m{+id}", ["id": ":x"], "m:x"),
        (page, "c{?id}", ["id": "x"], "http://h/a/c?id=x"), (page, "c{?id}", [:], "http://h/a/c"),
        (page, ".{?id}", ["id": "x"], "http://h/a/?id=x"), (page, "{id}{?q}", ["q": "2"], "http://h/a/b?q=2"),
        (page, "..{/id}", ["id": "x"], "http://h/x"), (page, ".{/id}", ["id": "x"], "http://h/a/x"),
        (page, "../{id}", ["id": "x"], "http://h/x"), (page, "./{id}", ["id": "x"], "http://h/a/x"),
        (page, "/m/{id}{?q}", ["id": "x/y", "q": "1"], "http://h/m/x%2Fy?q=1"),
        (page, "//{host}/x", ["host": "o"], "http://o/x"), (page, "https://{host}/x", ["host": "o"], "https://o/x"),
        (page, "{s}://o/x", ["s": "https"], "https://o/x"),
    ]
    static let page = "http://h/a/b?q=1"

    @Test(arguments: references)
    func templatesAreResolved(_ row: (base: String, template: String, [String: String], url: String)) throws {
        let base = try #require(URL(string: row.base))
        let expanded = try #require(URITemplate.expand(row.template, row.2))
        #expect(SirenReference.resolve(expanded.uri, against: base)?.absoluteString == row.url)
        let later = try #require(URITemplate.expand(SirenReference.absolute(row.template, against: base), row.2))
        #expect(SirenReference.resolve(later.uri, against: nil)?.absoluteString == row.url)
        #expect(later.used == expanded.used)
    }

    @Test func whatIsNoTemplateIsNotResolved() throws {
        let base = try #require(URL(string: Self.page))
        for template in ["{@https://o/}{@https://p/}x", "{x", "a b{x}", "{@https://o/", "{@https://o/}{!x}", "{@}x"] {
            let expanded = URITemplate.expand(SirenReference.absolute(template, against: base), [:])
            #expect(expanded.flatMap { SirenReference.resolve($0.uri, against: nil) } == nil)
        }
    }

    /// References as errors show them.
    static let shown: [(String, String)] = [
        ("https://geheim:geheim@h:1/a@b?geheim#geheim", "https://h:1/a@b"), ("https://h#geheim", "https://h"),
        ("//geheim@geheim@h/a", "//h/a"), ("/a:b/c?geheim", "/a:b/c"), ("mailto:geheim@geheim", "mailto:"),
        ("a//geheim@b", "a//b"), ("?geheim", ""), ("a b", "a b"), ("ftp://geheim@h", "ftp://h"),
        ("{@https://geheim@h/a?geheim}{x", "{@https://h/a"),
    ]

    @Test(arguments: shown) func errorsShowNoSecrets(_ reference: String, _ text: String) {
        #expect("\(SirenRequestError.referenceInvalid(reference))".contains("'\(text)'"))
    }

    @Test func headersAreFoundInAnyCase() {
        var headers: SirenHeaders = ["A": "1", "b": "2", "a": "3"]
        #expect(
            headers["a"] == "1" && headers["B"] == "2" && headers["c"] == nil && headers.unsendable == nil
        )
        headers["a"] = "4"
        #expect(headers.fields == [SirenHeaders.Field("b", "2"), SirenHeaders.Field("a", "4")])
        for (name, value) in [
            ("", "x"), ("a b", "x"), ("a:", "x"), ("ä", "x"), ("a", "\n"), ("a", "x\u{0}"),
            ("a", "\u{7F}"),
        ] {
            #expect(SirenHeaders([SirenHeaders.Field(name, value)]).unsendable == name)
        }
        #expect(SirenHeaders([SirenHeaders.Field("a", "\t é")]).unsendable == nil)
    }
}
