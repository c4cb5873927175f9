#if NETWORK
import Foundation
import SirenHTTP
import SirenKit
import Synchronization
import TestSupport
import Testing

/// Debian's `python3-flask`, which serves the shop.
private let flask = PythonWitness(modules: "flask")

/// A shop that Flask serves, from its manifest to what it was sent: each case over HTTP, then with the exchanges that were
/// recorded meanwhile.
@Suite(
    .serialized,
    .enabled(if: flask != nil, "Flask is not installed: run Scripts/setup --tests"),
    .timeLimit(.minutes(10))
)
struct ShopTests {
    private static let servers = Result {
        let shop = try PythonServer("shop.py", python: flask?.path)
        return (shop: shop, other: try PythonServer("shop.py", python: flask?.path))
    }

    @Test("[real Flask] a shop is asked over HTTP, and in process by what was recorded", arguments: cases)
    func visit(_ visit: ShopCase) async throws {
        let servers = try Self.servers.get()
        let base = "http://127.0.0.1:\(servers.shop.port)/\(visit.path)/"
        let elsewhere = "http://localhost:\(servers.other.port)/\(visit.path)/"
        var session = SirenSession()
        visit.change(&session, elsewhere)
        let recorder = RecordingTransport(try HTTPTransport(session))
        try await visit.run(Visit(base, elsewhere, session, recorder))
        let replay = Replay(recorder.recordings.withLock { $0 })
        try await visit.run(Visit(base, elsewhere, session, replay.transport))
        #expect(replay.rest.withLock { $0.map(\.request) } == [], "what was recorded is asked for again")
    }

    static let cases = walks + forms + answers + redirects + manners + kept + origins

    @Test func eachCaseHasAShop() {
        #expect(Set(Self.cases.map(\.path)).count == Self.cases.count && Self.cases.count >= 40)
    }
}

/// Something that one does in a shop, and what is expected of it.
struct ShopCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Where its shop is.
    var path: String { testDescription.filter(\.isLetter) }
    /// How the session differs from the usual, with the address of the other server.
    var change: @Sendable (inout SirenSession, String) -> Void = { _, _ in }
    let run: @Sendable (Visit) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (Visit) async throws -> Void) {
        (testDescription, self.run) = (name, run)
    }

    /// The same with another session.
    func with(_ change: @escaping @Sendable (inout SirenSession, String) -> Void) -> Self {
        var changed = self
        changed.change = change
        return changed
    }
}

/// Passes requests on, and records what became of them.
final class RecordingTransport: SirenTransport {
    typealias Recording = (request: SirenRequest, result: Result<SirenResponse, any Error>)
    let recordings = Mutex<[Recording]>([])
    private let transport: any SirenTransport

    init(_ transport: any SirenTransport) { self.transport = transport }

    func send(_ request: SirenRequest) async throws -> SirenResponse {
        let result: Result<SirenResponse, any Error>
        do { result = .success(try await transport.send(request)) } catch { result = .failure(error) }
        recordings.withLock { $0.append((request, result)) }
        return try result.get()
    }
}

/// Answers the requests of a recording, those that are equal in their order.
final class Replay: Sendable {
    let rest: Mutex<[RecordingTransport.Recording]>

    init(_ recordings: [RecordingTransport.Recording]) { rest = Mutex(recordings) }

    var transport: InMemoryTransport {
        InMemoryTransport { request in
            let recording = self.rest.withLock { rest in
                rest.firstIndex { $0.request == request }.map { rest.remove(at: $0) }
            }
            return try #require(recording, "\(request.method) \(request.url) was not recorded like that").result.get()
        }
    }
}

/// What the server says that it got.
struct Got: Decodable {
    struct File: Decodable, Equatable {
        var field: String
        var name: String
        var type: String
        var size: Int
        /// Of all bytes.
        var sum: Int
    }

    /// Method and path, as they were sent.
    var line: String
    var headers: [String: String]
    var size: Int
    var query: [String: [String]]
    var form: [String: [String]]
    var json: String?
    var text: String?
    var files: [File]
}

/// One visit of a shop: its client, and what surrounds it.
struct Visit: Sendable {
    private final class Surroundings: Sendable {
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let pauses = Mutex<[Duration]>([])
    }

    let base: String
    let elsewhere: String
    let client: SirenClient
    private let store = MemorySirenStore()
    private let transport: any SirenTransport
    private let surroundings = Surroundings()

    init(_ base: String, _ elsewhere: String, _ session: SirenSession, _ transport: any SirenTransport) throws {
        var session = session
        session.mapping = try SirenGUIDMapping(["order": "properties.orderNumber"])
        session.surroundings.random = { 1 }
        session.surroundings.makeUUID = { UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)) }
        session.surroundings.now = { [surroundings] in surroundings.time.withLock { $0 } }
        session.surroundings.sleep = { [surroundings] pause in surroundings.pauses.withLock { $0.append(pause) } }
        (self.base, self.elsewhere, self.transport) = (base, elsewhere, transport)
        let url = try #require(URL(string: base))
        client = try SirenClient(baseURL: url, session: session, transport: transport, store: store)
        client.authorizationHeaderValue = "Bearer geheim"
    }

    /// A client that begins with what is stored.
    func another() throws -> SirenClient {
        try SirenClient(baseURL: client.baseURL, session: client.session, transport: transport, store: store)
    }

    /// How long the client waited before requests.
    var pauses: [Duration] { surroundings.pauses.withLock { $0 } }

    func pass(_ seconds: Double) { surroundings.time.withLock { $0 += seconds } }

    /// All that the server got, or the other.
    func got(by server: String? = nil) async throws -> [Got] {
        let url = try #require(URL(string: (server ?? base) + "log"))
        let response = try await transport.send(SirenRequest(url: url))
        return try JSONDecoder().decode([Got].self, from: Data(response.body))
    }

    /// The requests that the server got.
    func lines() async throws -> [String] { try await got().map(\.line) }

    /// Expects that these are the requests that the server got.
    func expect(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let lines = try await lines()
        #expect(lines == expected, sourceLocation: sourceLocation)
    }

    func get(_ href: String) async throws -> SirenAnswer {
        try await client.follow(SirenLink(rel: ["item"], href: href))
    }

    /// Submits an action without fields.
    func send(_ method: String, _ href: String) async throws -> SirenAnswer {
        try await client.submit(SirenAction(name: "a", href: href, method: method))
    }

    /// Submits an action of the order.
    func submit(_ name: String, _ parameters: [String: SirenInput] = [:]) async throws -> SirenAnswer {
        let action = try #require(try await get("orders/42").entity?.actions.first(name: name))
        return try await client.submit(action, parameters: parameters)
    }
}

/// A transfer that failed that way.
private func failed(_ kind: SirenTransportError.Kind, _ call: @escaping () async throws -> SirenAnswer) async {
    await #expect {
        _ = try await call()
    } throws: { error in
        guard case .notAnswered(let error) = error as? SirenTransferError else { return false }
        return error.kind == kind
    }
}

// MARK: - Where one can go

private let walks: [ShopCase] = [
    ShopCase("the manifest says where one can go and what one can do") { shop in
        let answer = try await shop.client.manifest()
        let manifest = try #require(answer.entity)
        #expect(answer.outcome == .done && answer.url.absoluteString == shop.base && manifest.title == "Shop")
        #expect(manifest.links.first(rel: "search")?.href == shop.base + "customers{?name,limit}")
        #expect(manifest.actions.map(\.name) == ["find-orders"])
        let got = try await shop.got()
        #expect(got.map(\.line) == ["GET "] && got[0].size == 0)
        #expect(got[0].headers["accept"] == "application/vnd.siren+json, application/problem+json")
    },
    ShopCase("the manifest with values for its query") { shop in
        let answer = try await shop.client.manifest(parameters: ["lang": "de"])
        #expect(answer.entity?.title == "Laden")
        try await shop.expect(["GET ?lang=de"])
    },
    ShopCase("references are relative to their document") { shop in
        let manifest = try await shop.client.manifest()
        let orders = try await shop.client.follow(#require(manifest.entity?.links.first(rel: "collection")))
        let first = try #require(orders.entity?.entities.last?.entity?.links.first(rel: "self"))
        let order = try await shop.client.follow(first)
        _ = try await shop.client.follow(#require(order.entity?.links.first(rel: "up")))
        try await shop.expect(["GET ", "GET orders", "GET orders/42", "GET orders"])
    },
    ShopCase("a template of a query is filled") { shop in
        let search = try #require(try await shop.client.manifest().entity?.links.first(rel: "search"))
        _ = try await shop.client.follow(search, parameters: ["name": "Ä & B/C+d", "limit": 2])
        _ = try await shop.client.follow(search)
        let got = try await shop.got()
        #expect(got[1].query == ["name": ["Ä & B/C+d"], "limit": ["2"]] && got[2].line == "GET customers")
    },
    ShopCase("a template of a path is filled") { shop in
        let item = try #require(try await shop.client.manifest().entity?.links.first(rel: "item"))
        _ = try await shop.client.follow(item, parameters: ["code": "a/b ü"])
        #expect(try await shop.lines().last == "GET items/a%2Fb%20%C3%BC")
    },
    ShopCase("fragments stay at home") { shop in
        _ = try await shop.get("orders/42#items")
        try await shop.expect(["GET orders/42"])
    },
    ShopCase("what a template does not name goes into the query") { shop in
        let search = try #require(try await shop.client.manifest().entity?.links.first(rel: "search"))
        _ = try await shop.client.follow(search, parameters: ["name": "Ada", "tag": ["a", "b"]])
        #expect(try await shop.lines().last == "GET customers?name=Ada&tag=a&tag=b")
    },
    ShopCase("pages, to the last") { shop in
        var (page, numbers) = (try await shop.get("orders").entity, [Int?]())
        while let entity = page {
            numbers += entity.entities.map { $0.entity?.properties["orderNumber"]?.number?.int }
            guard let next = entity.links.first(rel: "next") else { break }
            page = try await shop.client.follow(next).entity
        }
        #expect(numbers == [41, 42, 43, 44, 45])
        try await shop.expect(["GET orders", "GET orders?page=2", "GET orders?page=3"])
    },
    ShopCase("pages, back from the last") { shop in
        let last = try #require(try await shop.get("orders").entity?.links.first(rel: "last"))
        let previous = try #require(try await shop.client.follow(last).entity?.links.first(rel: "prev"))
        #expect(try await shop.client.follow(previous).entity?.properties["page"] == 2)
        try await shop.expect(["GET orders", "GET orders?page=3", "GET orders?page=2"])
    },
    ShopCase("many at once") { shop in
        try await withThrowingTaskGroup { group in
            for number in 0..<40 {
                group.addTask { try await (number, shop.get("rooms/\(number)").entity?.title) }
            }
            for try await (number, title) in group { #expect(title == "rooms/\(number)") }
        }
        #expect(try await Set(shop.lines()).count == 40)
    },
    ShopCase("an embedded link") { shop in
        let order = try #require(try await shop.get("orders/42").entity)
        let items = try #require(order.entities.first(class: "items", "collection")?.link)
        #expect(try await shop.client.follow(items).entity?.properties["count"] == 2)
        try await shop.expect(["GET orders/42", "GET orders/42/items"])
    },
    ShopCase("an embedded representation has links and actions of its own") { shop in
        let order = try #require(try await shop.get("orders/42").entity)
        let customer = try #require(order.entities.first(class: "customer")?.entity)
        #expect(customer.selfReference == shop.base + "customers/pj123")
        _ = try await shop.client.submit(#require(customer.actions.first), parameters: ["text": "Hallo"])
        let got = try await shop.got()
        #expect(got.last?.line == "POST customers/pj123/greetings" && got.last?.form == ["text": ["Hallo"]])
    },
    ShopCase("a link to what is no Siren") { shop in
        let terms = try #require(try await shop.client.manifest().entity?.links.first(type: "text/plain"))
        let answer = try await shop.client.follow(terms)
        #expect(answer.content == .other(Array("Terms: none".utf8), type: "text/plain; charset=utf-8"))
        #expect(answer.outcome == .done)
        try await shop.expect(["GET ", "GET terms"])
    },
    ShopCase("a link by the GUID of what was seen in another document") { shop in
        _ = try await shop.get("orders")
        #expect(try await shop.client.follow(rel: "self", ofEntityWithGUID: "42").entity?.classes == ["order"])
        let items = try await shop.client.follow(rel: "item", ofEntityWithGUID: "42")
        #expect(items.entity?.properties["count"] == 2)
        try await shop.expect(["GET orders", "GET orders/42", "GET orders/42/items"])
    },
    ShopCase("of what is not known no server is asked") { shop in
        _ = try await shop.get("orders")
        await #expect(throws: SirenRequestError.linkNotFound(rel: "next", guid: "42")) {
            _ = try await shop.client.follow(rel: "next", ofEntityWithGUID: "42")
        }
        await #expect(throws: SirenRequestError.actionNotFound(name: "confirm", guid: "99")) {
            _ = try await shop.client.submit(actionNamed: "confirm", onEntityWithGUID: "99")
        }
        try await shop.expect(["GET orders"])
    },
]

// MARK: - Forms

private let forms: [ShopCase] = [
    ShopCase("GET sends a query behind the one that is there") { shop in
        let find = try #require(try await shop.client.manifest().entity?.actions.first(name: "find-orders"))
        _ = try await shop.client.submit(find, parameters: ["q": "Tee & Käse"])
        let got = try await shop.got()
        #expect(got[1].query == ["sort": ["date"], "status": ["open"], "q": ["Tee & Käse"], "page": ["1"]])
        #expect(got[1].line.hasPrefix("GET orders?sort=date&") && got[1].size == 0)
    },
    ShopCase("DELETE sends a query") { shop in
        let answer = try await shop.submit("cancel", ["reason": "too late"])
        #expect(answer.outcome == .done && answer.status == 204)
        let got = try await shop.got()
        #expect(got[1].line.hasPrefix("DELETE orders/42?") && got[1].size == 0)
        #expect(got[1].query == ["version": ["7"], "reason": ["too late"]])
        await #expect(throws: SirenRequestError.linkNotFound(rel: "up", guid: "42")) {
            try await shop.client.link(rel: "up", ofEntityWithGUID: "42")
        }
    },
    ShopCase("a form, with what is hidden, selected and ticked") { shop in
        let answer = try await shop.submit(
            "add-item",
            [
                "productCode": "A-1", "quantity": 3, "gift": true, "note": #"a+b=c&d "é" 100%"#,
                "orderNumber": "666", "colour": "red",
            ]
        )
        #expect(answer.dropped.map { "\($0.name) \($0.reason)" } == ["orderNumber hidden", "colour noField"])
        let got = try await shop.got()
        #expect(got[1].line == "POST orders/42/items")
        #expect(got[1].headers["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            got[1].form == [
                "orderNumber": ["42"], "productCode": ["A-1"], "quantity": ["3"], "wrapping": ["paper", "box"],
                "gift": ["yes"], "note": [#"a+b=c&d "é" 100%"#],
            ]
        )
    },
    ShopCase("a form of what the server proposes") { shop in
        _ = try await shop.submit("add-item", ["productCode": "A-1", "wrapping": ["ribbon"]])
        #expect(
            try await shop.got()[1].form == [
                "orderNumber": ["42"], "productCode": ["A-1"], "quantity": ["1"], "wrapping": ["ribbon"],
            ]
        )
    },
    ShopCase("a form with files") { shop in
        let papers: SirenInput = .list([
            .file(SirenFile(.bytes(Array("GIF89a".utf8)), name: "Müller \"1\".gif", type: "image/gif")),
            .file(SirenFile(.bytes([0, 13, 10, 255]), name: "b")),
        ])
        let answer = try await shop.submit("attach", ["caption": "für Ada", "papers": papers])
        #expect(answer.outcome == .created && answer.location?.absoluteString == shop.base + "orders/42/files/1")
        let got = try await shop.got()
        #expect(got[1].form == ["kind": ["invoice"], "caption": ["für Ada"]])
        #expect(
            got[1].files == [
                Got.File(field: "papers", name: "Müller %221%22.gif", type: "image/gif", size: 6, sum: 424),
                Got.File(field: "papers", name: "b", type: "application/octet-stream", size: 4, sum: 278),
            ]
        )
    }.with { session, _ in session.encodings = SirenEncodings(boundary: { "B" }) },
    ShopCase("a form with a large file of the disk") { shop in
        // Of one name, so that the replay can be compared.
        let path = FileManager.default.temporaryDirectory.appending(path: "siren-shop-paper-\(getpid())").path
        try Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) }).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try await shop.submit("attach", ["papers": .file(SirenFile(.path(path), name: "c"))])
        let sum = (0..<300_000).reduce(0) { $0 + $1 % 251 }
        let type = "application/octet-stream"
        #expect(
            try await shop.got()[1].files == [
                Got.File(field: "papers", name: "c", type: type, size: 300_000, sum: sum)
            ]
        )
    }.with { session, _ in session.encodings = SirenEncodings(boundary: { "B" }) },
    ShopCase("odd names and values, in each encoding") { shop in
        let odd = ["a&b=c": "1\r\n2", "list[]": "%41+ ", "\"q\"": "\\\"", "ü 1": "😀\u{1}", "none": ""]
        let fields = odd.sorted { $0.key < $1.key }.map { name, value in
            SirenField(name: name, type: .hidden, value: .single(.text(value)))
        }
        let ways = [("GET", nil), ("POST", nil), ("PUT", "multipart/form-data"), ("PATCH", "application/json")]
        for (method, type) in ways {
            let action = SirenAction(name: "a", href: "odd", method: method, type: type, fields: fields)
            _ = try await shop.client.submit(action)
        }
        let got = try await shop.got()
        var once = odd.mapValues { [$0] }
        #expect(got[0].query == once && got[1].form == once)
        let json = try JSONDecoder().decode([String: String].self, from: Data((got[3].json ?? "").utf8))
        #expect(json == odd)
        // As HTML has it.
        once["%22q%22"] = once.removeValue(forKey: "\"q\"")
        #expect(got[2].form == once)
    }.with { session, _ in session.encodings = SirenEncodings(boundary: { "B" }) },
    ShopCase("a form as JSON") { shop in
        let number = try #require(SirenNumber("2.50"))
        let answer = try await shop.submit(
            "replace",
            [
                "express": true, "weight": .number(number), "deliverOn": "2027-02-01", "wrapping": ["ribbon"],
                "site": .url(#require(URL(string: "https://club.example/?a=b"))),
            ]
        )
        #expect(answer.status == 204)
        let got = try await shop.got()
        #expect(got[1].line == "PUT orders/42" && got[1].headers["content-type"] == "application/json")
        #expect(
            got[1].json
                == #"{"deliverOn": "2027-02-01", "express": true, "note": "none", "site": "https://club.example/?a=b", "#
                + #""weight": 2.5, "wrapping": ["ribbon"]}"#
        )
    },
    ShopCase("a form as JSON of the server's own type") { shop in
        _ = try await shop.submit("annotate", ["note": "a \"b\"\\ ü"])
        let got = try await shop.got()
        #expect(got[1].headers["content-type"] == "application/vnd.shop.note+json")
        #expect(got[1].json == #"{"note": "a \"b\"\\ \u00fc"}"#)
    },
    ShopCase("a form in an encoding that was registered") { shop in
        _ = try await shop.submit("amend", ["a": "1", "b": "2"])
        let got = try await shop.got()
        #expect(got[1].line == "PATCH orders/42" && got[1].text == "a,b")
        #expect(got[1].headers["content-type"] == "text/csv")
    }.with { session, _ in
        session.encodings.register("text/csv") { form, type in
            SirenBody(Array(form.entries.map(\.name).joined(separator: ",").utf8), type: type)
        }
    },
    ShopCase("a form in an encoding that is not known is not sent") { shop in
        await #expect(throws: SirenRequestError.encodingUnknown("application/xml")) {
            _ = try await shop.submit("export", ["a": "1"])
        }
        try await shop.expect(["GET orders/42"])
    },
    ShopCase("what breaks constraints is not sent") { shop in
        await #expect {
            _ = try await shop.submit("add-item", ["productCode": "nope", "quantity": 11])
        } throws: { error in
            guard case .fieldsRefused(let problems) = error as? SirenRequestError else { return false }
            return problems.map(\.rule) == [.patternMismatch, .rangeOverflow]
        }
        await #expect {
            _ = try await shop.submit("add-item", ["productCode": "A-1", "quantity": "three"])
        } throws: { error in
            guard case .fieldTypeMismatch(let problem) = error as? SirenRequestError else { return false }
            return problem.field == "quantity"
        }
        try await shop.expect(["GET orders/42", "GET orders/42"])
    },
    ShopCase("an action by its name and a GUID") { shop in
        _ = try await shop.get("orders/42")
        let answer = try await shop.client.submit(
            actionNamed: "add-item",
            onEntityWithGUID: "42",
            parameters: ["productCode": "B-2"]
        )
        #expect(answer.outcome == .created && !answer.isFromStale)
        #expect(try await shop.got()[1].form["orderNumber"] == ["42"])
    },
    ShopCase("an action without fields") { shop in
        let answer = try await shop.submit("confirm")
        #expect(answer.entity?.properties["status"] == "confirmed")
        let got = try await shop.got()
        #expect(got[1].line == "POST orders/42/confirmation" && got[1].size == 0)
        #expect(got[1].headers["content-type"] == nil && got[1].headers["content-length"] == "0")
    },
]

// MARK: - Answers

private let answers: [ShopCase] = [
    ShopCase("201 says where it is") { shop in
        let answer = try await shop.submit("add-item", ["productCode": "A-1"])
        let location = try #require(answer.location)
        #expect(answer.outcome == .created && answer.entity?.classes == ["item"])
        _ = try await shop.get(location.absoluteString)
        #expect(try await shop.lines().last == "GET orders/42/items/3")
    },
    ShopCase("202 says where one can look, until it is done") { shop in
        var answer = try await shop.submit("annotate", ["note": "a"])
        #expect(answer.outcome == .accepted && answer.location?.absoluteString == shop.base + "jobs/7")
        answer = try await shop.get(#require(answer.location).absoluteString)
        #expect(answer.outcome == .accepted)
        answer = try await shop.client.refresh(answer)
        #expect(answer.outcome == .done && answer.url.absoluteString == shop.base + "notes/1")
        #expect(try await shop.lines().suffix(3) == ["GET jobs/7", "GET jobs/7", "GET notes/1"])
    },
    ShopCase("204 has nothing, and what was known of the order holds no longer") { shop in
        let answer = try await shop.submit("replace", ["weight": 1])
        #expect(answer.outcome == .done && answer.content == .none && answer.bytes.isEmpty)
        await #expect(throws: SirenRequestError.linkNotFound(rel: "up", guid: "42")) {
            _ = try await shop.client.follow(rel: "up", ofEntityWithGUID: "42")
        }
        try await shop.expect(["GET orders/42", "PUT orders/42"])
    },
    ShopCase("a refusal that can be mended") { shop in
        let basket = SirenField(name: "basket", value: "7")
        let checkout = SirenAction(name: "checkout", href: "checkout", method: "POST", fields: [basket])
        let refusal = try await shop.client.submit(checkout)
        #expect(refusal.outcome == .failed && refusal.status == 422 && refusal.entity?.classes == ["error"])
        let retry = try #require(refusal.entity?.actions.first(name: "retry"))
        let answer = try await shop.client.submit(retry, parameters: ["address": "Hauptstraße 1"])
        #expect(answer.outcome == .created)
        try await shop.expect(["POST checkout", "POST checkout"])
        #expect(try await shop.got()[1].form == ["basket": ["7"], "address": ["Hauptstraße 1"]])
    },
    ShopCase("a problem") { shop in
        let answer = try await shop.send("POST", "payment")
        let problem: SirenProblem? = if case .problem(let problem) = answer.content { problem } else { nil }
        #expect(answer.outcome == .failed && problem?.status == 403 && problem?.title == "No credit")
        #expect(problem?.type == "https://shop.example/problems/credit" && problem?.members["balance"] == 30)
        try await shop.expect(["POST payment"])
    },
    ShopCase("an error that calls itself OK") { shop in
        let answer = try await shop.get("failure")
        #expect(answer.outcome == .failed && answer.status == 200)
        #expect(answer.entity?.properties["message"] == "Sold out")
        try await shop.expect(["GET failure"])
    },
    ShopCase("a page that calls itself Siren") { shop in
        await #expect {
            _ = try await shop.get("maintenance?type=application/vnd.siren%2Bjson")
        } throws: { error in
            if case .documentRefused = error as? SirenTransferError { true } else { false }
        }
        try await shop.expect(["GET maintenance?type=application/vnd.siren%2Bjson"])
    },
    ShopCase("a page") { shop in
        let answer = try await shop.get("maintenance")
        #expect(answer.content == .other(Array("<html>Back soon</html>".utf8), type: "text/html"))
        try await shop.expect(["GET maintenance"])
    },
    ShopCase("an answer that is packed") { shop in
        let answer = try await shop.get("packed")
        #expect(answer.entity?.title?.count == 5000)
        #expect(try await shop.got()[0].headers["accept-encoding"]?.contains("gzip") == true)
    },
    ShopCase("an answer that is deflated") { shop in
        let answer = try await shop.get("packed?as=deflate")
        #expect(answer.entity?.title?.count == 5000)
        try await shop.expect(["GET packed?as=deflate"])
    },
    ShopCase("the server's own error pages") { shop in
        for (href, status) in [("go/302", 400), ("broken", 500)] {
            let answer = try await shop.get(href)
            #expect(answer.content == .other(answer.bytes, type: "text/html; charset=utf-8"))
            #expect(answer.outcome == .failed && answer.status == status)
        }
        try await shop.expect(["GET go/302", "GET broken"])
    },
    ShopCase("cookies are not kept") { shop in
        let answer = try await shop.client.manifest()
        #expect(answer.headers["set-cookie"] != nil)
        _ = try await shop.client.manifest()
        #expect(try await shop.got().allSatisfy { $0.headers["cookie"] == nil })
    },
    ShopCase("an answer in parts") { shop in
        #expect(try await shop.get("streamed").entity?.title == "in parts")
        try await shop.expect(["GET streamed"])
    },
]

// MARK: - Redirects

private let redirects: [ShopCase] = [
    ShopCase("301, 302 and 303 after POST lead to GET") { shop in
        for status in [301, 302, 303] {
            let fields = [SirenField(name: "a", value: "b")]
            let href = "go/\(status)?to=../orders/42"
            let action = SirenAction(name: "a", href: href, method: "POST", fields: fields)
            let answer = try await shop.client.submit(action)
            #expect(answer.outcome == .done && answer.entity?.classes == ["order"])
            #expect(answer.url.absoluteString == shop.base + "orders/42")
            #expect(answer.redirects.map(\.absoluteString) == [shop.base + href])
            let got = try await shop.got().suffix(2)
            #expect(got.map(\.line) == ["POST \(href)", "GET orders/42"])
            #expect(got.first?.form == ["a": ["b"]] && got.last?.headers["content-type"] == nil && got.last?.size == 0)
        }
    },
    ShopCase("303 after PUT and DELETE leads to GET") { shop in
        for method in ["PUT", "DELETE"] {
            _ = try await shop.send(method, "go/303?to=../orders")
            #expect(try await shop.lines().suffix(2) == ["\(method) go/303?to=../orders", "GET orders"])
        }
    },
    ShopCase("307 and 308 keep the method and a file") { shop in
        for status in [307, 308] {
            let action = SirenAction(
                name: "a",
                href: "go/\(status)?to=../target",
                method: "PATCH",
                type: "multipart/form-data",
                fields: [SirenField(name: "f", type: .file)]
            )
            let file = SirenInput.file(SirenFile(.bytes([1, 2, 3]), name: "a"))
            let answer = try await shop.client.submit(action, parameters: ["f": file])
            #expect(answer.entity?.classes == ["anything"])
            let got = try await shop.got().suffix(2)
            #expect(got.last?.line == "PATCH target")
            #expect(got.allSatisfy { $0.files.first?.sum == 6 && $0.files.count == 1 })
        }
    }.with { session, _ in session.encodings = SirenEncodings(boundary: { "B" }) },
    ShopCase("references are relative to where redirects lead") { shop in
        let rooms = try await shop.get("rooms")
        _ = try await shop.client.follow(#require(rooms.entity?.links.first(rel: "item")))
        #expect(rooms.redirects.map(\.absoluteString) == [shop.base + "rooms"])
        // Flask leads on before anything is written into the log.
        try await shop.expect(["GET rooms/", "GET rooms/1"])
    },
    ShopCase("circles end") { shop in
        await #expect(throws: SirenTransferError.tooManyRedirects(10)) { try await shop.get("circle") }
        try await shop.expect(Array(repeating: "GET circle", count: 11))
    },
    ShopCase("redirects to nowhere") { shop in
        await #expect(throws: SirenTransferError.redirectInvalid("mailto:ada@club.example")) {
            try await shop.get("go/302?to=mailto:ada@club.example")
        }
        let answer = try await shop.get("astray")
        #expect(answer.status == 302 && answer.redirects.isEmpty)
        #expect(try await shop.lines().count == 2)
    },
]

// MARK: - Manners

private let manners: [ShopCase] = [
    ShopCase("a server that is busy is asked again when it says") { shop in
        let answer = try await shop.get("busy?after=2")
        #expect(answer.entity?.title == "Open again" && shop.pauses == [.seconds(2)])
        try await shop.expect(["GET busy?after=2", "GET busy?after=2"])
    },
    ShopCase("a server that is busy until a time") { shop in
        _ = try await shop.get("busy?after=Fri,+15+Jan+2027+08:00:07+GMT")
        #expect(shop.pauses == [.seconds(7)])
        #expect(try await shop.lines().count == 2)
    },
    ShopCase("a server that is busy for long") { shop in
        let answer = try await shop.get("busy?after=3600")
        #expect(answer.outcome == .failed && answer.status == 503 && shop.pauses.isEmpty)
        #expect(try await shop.lines().count == 1)
    },
    ShopCase("what changes something is not repeated") { shop in
        let answer = try await shop.send("POST", "busy")
        #expect(answer.outcome == .failed && answer.status == 503 && shop.pauses.isEmpty)
        try await shop.expect(["POST busy"])
    },
    ShopCase("what has a key is repeated with it") { shop in
        #expect(try await shop.send("POST", "busy").entity?.title == "Open again")
        let keys = try await shop.got().map { $0.headers["idempotency-key"] }
        #expect(keys == Array(repeating: "00010203-0405-0607-0809-0A0B0C0D0E0F", count: 2))
    }.with { session, _ in session.sendsIdempotencyKeys = true },
    ShopCase("a POST with half an answer is not repeated") { shop in
        await failed(.lost) { try await shop.send("POST", "cut") }
        try await shop.expect(["POST cut"])
    },
    ShopCase("a GET with half an answer is repeated, after longer and longer pauses") { shop in
        await failed(.lost) { try await shop.get("cut") }
        try await shop.expect(Array(repeating: "GET cut", count: 4))
        #expect(shop.pauses == [.milliseconds(250), .milliseconds(500), .seconds(1)])
    },
    ShopCase("a server that is slow") { shop in
        await failed(.timedOut) { try await shop.get("slow") }
        try await shop.expect(["GET slow"])
    }.with { session, _ in (session.retries, session.readTimeout) = (0, .seconds(2)) },
    ShopCase("an answer that is too long") { shop in
        await failed(.tooLong) { try await shop.get("packed") }
        try await shop.expect(["GET packed"])
    }.with { session, _ in session.longestAnswer = 4999 },
    ShopCase("a server that is not there") { shop in
        await #expect {
            _ = try await shop.send("POST", "http://localhost:1/")
        } throws: { error in
            if case .notConnected = error as? SirenRequestError { true } else { false }
        }
        try await shop.expect([])
        #expect(shop.pauses.count == 3)
    },
]

// MARK: - What is kept

private let kept: [ShopCase] = [
    ShopCase("an entity tag asks whether it still holds") { shop in
        let first = try await shop.get("catalogue")
        #expect(try await shop.client.refresh(first).outcome == .unchanged)
        #expect(try await shop.client.refresh(entityWithGUID: shop.base + "catalogue").outcome == .unchanged)
        _ = try await shop.send("POST", "catalogue")
        let answer = try await shop.client.refresh(first)
        #expect(answer.outcome == .done && answer.entity?.properties["edition"] == 1)
        let conditions = try await shop.got().map { $0.headers["if-none-match"] }
        let tag = try #require(first.headers["ETag"])
        #expect(conditions == [nil, tag, tag, nil, tag])
    },
    ShopCase("a date asks whether it still holds") { shop in
        let answer = try await shop.get("dated")
        #expect(try await shop.client.refresh(answer).outcome == .unchanged)
        #expect(try await shop.got()[1].headers["if-modified-since"] == "Fri, 15 Jan 2027 07:00:00 GMT")
    },
    ShopCase("what is old can be used, and becomes fresh") { shop in
        let guid = shop.base + "catalogue"
        _ = try await shop.get("catalogue")
        #expect(try await !shop.client.follow(rel: "next", ofEntityWithGUID: guid).isFromStale)
        shop.pass(61)
        #expect(try await shop.client.follow(rel: "next", ofEntityWithGUID: guid).isFromStale)
        _ = try await shop.client.refresh(entityWithGUID: guid)
        #expect(try await !shop.client.follow(rel: "next", ofEntityWithGUID: guid).isFromStale)
        try await shop.expect(["catalogue", "terms", "terms", "catalogue", "terms"].map { "GET \($0)" })
    },
    ShopCase("what is stored is known to another client") { shop in
        _ = try await shop.get("orders/42")
        _ = try await shop.another().submit(actionNamed: "confirm", onEntityWithGUID: "42")
        try await shop.expect(["GET orders/42", "POST orders/42/confirmation"])
    },
    ShopCase("what may not be stored is known and not stored") { shop in
        let guid = shop.base + "account"
        _ = try await shop.get("account")
        #expect(try await shop.client.follow(rel: "next", ofEntityWithGUID: guid).status == 200)
        await #expect(throws: SirenRequestError.linkNotFound(rel: "next", guid: guid)) {
            try await shop.another().link(rel: "next", ofEntityWithGUID: guid)
        }
        try await shop.expect(["GET account", "GET terms"])
    },
]

// MARK: - Origins

private let withKey: @Sendable (inout SirenSession, String) -> Void = { session, _ in
    session.headers = ["X-Key": "geheim"]
}

private let origins: [ShopCase] = [
    ShopCase("secrets go to the shop alone") { shop in
        let manifest = try await shop.client.manifest(parameters: ["elsewhere": .text(shop.elsewhere)])
        _ = try await shop.client.follow(#require(manifest.entity?.links.first(rel: "related")))
        _ = try await shop.send("POST", shop.elsewhere + "notes")
        _ = try await shop.get("go/307?to=\(shop.elsewhere)notes")
        let own = try await shop.got()
        #expect(own.count == 2)
        #expect(own.allSatisfy { $0.headers["authorization"] == "Bearer geheim" && $0.headers["x-key"] == "geheim" })
        let other = try await shop.got(by: shop.elsewhere)
        #expect(other.map(\.line) == ["GET notes", "POST notes", "GET notes"])
        #expect(!other.contains { "\($0)".contains("geheim") })
    }.with(withKey),
    ShopCase("secrets go to origins that are named") { shop in
        _ = try await shop.get("go/307?to=\(shop.elsewhere)notes")
        let other = try await shop.got(by: shop.elsewhere)
        #expect(other.map { $0.headers["authorization"] } == ["Bearer geheim"] && other[0].headers["x-key"] == "geheim")
    }.with { session, elsewhere in
        withKey(&session, elsewhere)
        session.furtherOrigins = URL(string: elsewhere).map { [$0] } ?? []
    },
    ShopCase("another server says nothing of the shop's own") { shop in
        _ = try await shop.get("catalogue")
        let claim = try await shop.get("\(shop.elsewhere)claim?of=\(shop.base)catalogue")
        #expect(claim.entity?.selfReference == shop.base + "catalogue" && claim.entity?.actions.count == 1)
        await #expect(throws: SirenRequestError.actionNotFound(name: "confirm", guid: shop.base + "catalogue")) {
            _ = try await shop.client.submit(actionNamed: "confirm", onEntityWithGUID: shop.base + "catalogue")
        }
        #expect(try await shop.got(by: shop.elsewhere).count == 1)
    },
]
#endif
