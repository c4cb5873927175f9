import Foundation
import SirenKit
import Testing

@testable import SirenBrowser
@testable import SirenTerminal

/// A console for tests: it says what it was given, and keeps what it is shown.
private final class KeptConsole: Console {
    private var lines: ArraySlice<String>
    var shown: [String] = []
    var secretQuestions: [String] = []

    init(_ lines: String...) { self.lines = lines[...] }

    func say(_ line: String) { shown.append(line) }
    func command(completions: [String]) -> String? { lines.popFirst() }
    func ask(_ question: String, isSecret: Bool) -> String? {
        shown.append(question)
        if isSecret { secretQuestions.append(question) }
        return lines.popFirst()
    }
}

private let server = URL(string: "https://club.example/")!

/// A server whose every answer is this one.
private func answering(_ json: String, headers: SirenHeaders = [:]) -> InMemoryTransport {
    var headers = headers
    headers["Content-Type"] = SirenEntity.mediaType
    return InMemoryTransport { [headers] _ in SirenResponse(headers: headers, body: Array(json.utf8)) }
}

private func browse(_ transport: any SirenTransport, _ console: KeptConsole) async throws -> Bool {
    let client = try SirenClient(baseURL: server, transport: transport)
    client.authorizationHeaderValue = "Bearer 5ecret-token"
    return await Browser(Connection(client: client, secrets: Secrets()), console).run()
}

private let passwordForm = """
    {"title": "Desk", "links": [{"rel": ["next"], "href": "https://elsewhere.example/"}], "actions": [
      {"name": "log-in", "method": "POST", "href": "log-in", "fields": [
        {"name": "password", "type": "password", "required": true, "minlength": 9, "title": "It's the desk's"}]},
      {"name": "photo", "method": "POST", "href": "photo", "type": "multipart/form-data", "fields": [
        {"name": "file", "type": "file"}, {"name": "title", "value": "Ann's"}]},
      {"name": "look-in", "href": "look-in", "fields": [{"name": "password", "type": "password"}]}]}
    """

@Suite struct SirenBrowserTests {
    @Test func whatCannotBeDoneIsSaidAndTheRestIsDone() async throws {
        let console = KeptConsole("nowhere", "back", "item", "2", "show", "back", "next")
        let transport = answering(
            """
            {"title": "Day", "entities": [{"rel": ["item"], "title": "Visit 1", "properties": {"at": {"hour": 8}, "door": "A"}},
              {"rel": ["item"], "title": "Visit 2"}], "links": [{"rel": ["next"], "href": "/2"}]}
            """
        )
        #expect(try await !browse(transport, console))
        let day = [
            "Day", "Links", "   1  next  2", "Entities", "   2  item  Visit 1  door: A", "   3  item  Visit 2",
        ]
        let visit = ["Visit 1", "  at", "    hour  8", "  door  A"]
        #expect(
            console.shown == ["200 done  https://club.example/"] + day + [
                "there is no 'nowhere' here; help says what can be said", "this is the first page",
                "say the number: there are several",
            ] + visit + visit + day + ["200 done  https://club.example/2"] + day
        )
        #expect(transport.requests.map(\.url.path) == ["/", "/2"])
    }

    @Test func theFirstAnswerMayBeNoEntityAndCanBeLookedAt() async throws {
        let console = KeptConsole("raw", "home")
        let transport = InMemoryTransport { _ in
            SirenResponse(headers: ["Content-Type": "text/html"], body: Array("<h1>\nHello".utf8))
        }
        #expect(try await !browse(transport, console))
        let answer = [
            "200 done  https://club.example/", "  10 bytes of text/html, which is no Siren: raw",
        ]
        #expect(console.shown == answer + ["<h1>", "Hello"] + answer)
    }

    @Test func namesMayHaveSpacesAndTemplatesMayBeRelativeToAPageWithAQuery() async throws {
        let console = KeptConsole("next  page", "page", "2", "check in", "curl check in", "page", "3")
        let transport = answering(
            """
            {"links": [{"rel": ["page"], "href": "{?page:1}"}], "actions": [{"name": "check in", "method": "POST", "href": "/"}]}
            """
        )
        #expect(try await !browse(transport, console))
        #expect(console.shown.contains("there is no 'next  page' here; help says what can be said"))
        #expect(console.shown.contains("   1  page  {?page:1}"))
        #expect(console.shown.filter { $0.hasSuffix(":") && !$0.hasPrefix(" ") } == ["page:", "page:"])
        #expect(
            transport.requests.map(\.url.absoluteString).map { $0.dropFirst(20) } == ["/", "/?page=2", "/", "/?page=3"]
        )
        #expect(console.shown.contains { $0.hasPrefix("curl -X 'POST' 'https://club.example/'") })
    }

    @Test func aCommandForAShellHasNeitherTokenNorPassword() async throws {
        let console = KeptConsole("curl log-in", "curl next", "curl photo", "/etc/passwd", "")
        let transport = answering(passwordForm)
        #expect(try await browse(transport, console))
        let accept = "-H 'Accept: application/vnd.siren+json, application/problem+json'"
        #expect(
            console.shown.filter { $0.hasPrefix("curl ") } == [
                "curl -X 'POST' 'https://club.example/log-in' -H \"Authorization: Bearer $SIREN_TOKEN\" \(accept) "
                    + "-H 'Content-Type: application/x-www-form-urlencoded' --data-raw 'password=PASSWORD'",
                // What is another's gets no token.
                "curl 'https://elsewhere.example/' \(accept)",
                "curl -X 'POST' 'https://club.example/photo' -H \"Authorization: Bearer $SIREN_TOKEN\" \(accept) "
                    + "-F 'file=@\"/etc/passwd\";filename=\"passwd\";type=application/octet-stream' "
                    + "--form-string 'title=Ann'\\''s'",
            ]
        )
        #expect(transport.requests.count == 1)
    }

    @Test func aCommandForAShellGoesTheSameWay() async throws {
        let console = KeptConsole("curl next")
        let client = try SirenClient(baseURL: server, transport: answering(passwordForm))
        let options = [(name: "--proxy", value: "http://proxy:1"), (name: "--cacert", value: "a b.pem")]
        let connection = Connection(client: client, secrets: Secrets(), curlOptions: options)
        #expect(await Browser(connection, console).run())
        let begins = "curl --proxy 'http://proxy:1' --cacert 'a b.pem' 'https://elsewhere.example/' "
        #expect(console.shown.contains { $0.hasPrefix(begins) })
    }

    @Test func aRecordingHoldsNoSecretAndAnswersAsTheServerDid() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = answering(
            passwordForm.replacing("Desk", with: "Not open sesame, nor 5ecret-token"),
            headers: ["Set-Cookie": "session=c00kie", "Location": "/x?again=5ecret-token"]
        )
        let recorded = KeptConsole("log-in", "short", "open sesame", "look-in", "open sesame")
        let secrets = Secrets()
        secrets.add("5ecret-token")
        let recording = Recording(server: "https://club.example/", manifestPath: "")
        let recorder = try RecordingTransport(server, recording, to: path, secrets: secrets)
        let client = try SirenClient(baseURL: URL(string: recording.server)!, transport: recorder)
        client.authorizationHeaderValue = "Bearer 5ecret-token"
        #expect(await Browser(Connection(client: client, secrets: secrets), recorded).run())
        #expect(recorded.secretQuestions.count == 3)
        #expect(server.requests.last?.url.query() == "password=open+sesame")

        let text = try String(contentsOfFile: path, encoding: .utf8)
        for secret in ["5ecret", "sesame", "c00kie", "Authorization"] { #expect(!text.contains(secret)) }
        #expect(text.contains("look-in?password=***"))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let replayed = KeptConsole("log-in", "short", "open sesame", "look-in", "open sesame", "next")
        let connection = try Options(["--replay", path], environment: ["SIREN_TOKEN": "5ecret-token"]).connect()
        #expect(await !Browser(connection, replayed).run())
        #expect(replayed.shown.last == "the recording has no answer to GET https://elsewhere.example/")
        let hidden = recorded.shown.map {
            secrets.hidden(in: $0.replacing("open+sesame", with: "open sesame"))
        }
        #expect(replayed.shown.dropLast().map { $0.replacing("open+sesame", with: "***") } == hidden)
    }

    @Test func whatIsAskedForIsNoBaseOfATemplate() async throws {
        let console = KeptConsole("\(Int.min)", "search", "U1")
        let transport = answering(#"{"links": [{"rel": ["search"], "href": "{?card}"}]}"#)
        let client = try SirenClient(baseURL: server, manifestPath: "items?page=2", transport: transport)
        #expect(await !Browser(Connection(client: client, secrets: Secrets()), console).run())
        #expect(console.shown.contains("card:") && !console.shown.contains { $0.hasPrefix("@") })
        #expect(transport.requests.last?.url.absoluteString == "https://club.example/items?card=U1")
    }

    @Test func secretsAreHiddenInTheFormsThatTheyHave() throws {
        let secrets = Secrets()
        for secret in ["p+w 1", "42", "self\"s"] { secrets.add(secret) }
        #expect(secrets.hidden(in: "/x?a=p%2Bw%201&b=p%2bw+1&c=421") == "/x?a=***&b=***&c=421")
        let json = #"{"count": 42, "many": [420, 42], "text": "42, \\ self\"s", "at": "p%2Bw+1"}"#
        let hidden = #"{"count": "***", "many": [420, "***"], "text": "***, \\ ***", "at": "***"}"#
        #expect(secrets.hidden(inJSON: json) == hidden)
    }

    @Test(arguments: [
        ("localhost:8080", "http://localhost:8080/"), ("localhost.club.example", "https://localhost.club.example/"),
        ("127.0.0.1/api", "http://127.0.0.1/api/"), ("127.0.0.1.club.example", "https://127.0.0.1.club.example/"),
        ("[::1]:80", "http://[::1]:80/"), ("localhost@club.example", "https://localhost@club.example/"),
        ("club.example", "https://club.example/"),
    ])
    func aServerOfThisMachineNeedsNoTLS(_ server: String, _ url: String) throws {
        #expect(Options.address(server) + (server.hasSuffix("/") ? "" : "/") == url)
    }

    @Test func aFileWithAnyNameIsSentAndStandsInACommand() async throws {
        let path = FileManager.default.temporaryDirectory.path(percentEncoded: false) + "/\(UUID()) \"ü\".txt"
        try Data("x".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let console = KeptConsole("curl photo", path, "", "photo", path, "")
        let transport = answering(passwordForm)
        #expect(try await browse(transport, console))
        #expect(transport.requests.count == 2)
        let quoted = path.replacing("\"", with: "\\\"")
        #expect(console.shown.contains { $0.contains("-F 'file=@\"\(quoted)\";filename=\"") })
    }

    @Test func aRecordingShowsTheCommandsOfItsServerWithoutTheToken() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json").path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        for (token, shown) in [("5ecret", "Bearer $SIREN_TOKEN"), ("Basic 5ecret", "$SIREN_TOKEN")] {
            let options = try Options(
                ["--replay", "Tests/sessions/club.json", "--record", path],
                environment: ["SIREN_TOKEN": token]
            )
            let recorded = KeptConsole("curl about")
            #expect(try await Browser(options.connect(), recorded).run())
            #expect(recorded.shown.last?.contains("-H \"Authorization: \(shown)\"") == true)
            #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("5ecret"))
            let replayed = KeptConsole("curl about")
            #expect(
                try await Browser(Options(["--replay", path], environment: ["SIREN_TOKEN": ""]).connect(), replayed)
                    .run()
            )
            #expect(replayed.shown == recorded.shown)
        }
    }

    @Test(arguments: ["nope://x", "ftp://127.0.0.1/", "http://", "http://[::1", "https://user:pw@club.example"])
    func whatIsNoAddressIsSaid(server: String) throws {
        let fault = #expect(throws: Fault.self) { try Options([], environment: [:]).connect(to: server) }
        let shown = server.contains("@") ? "that" : "'\(server)'"
        #expect(fault?.description == "\(shown) is no address of a server, such as https://club.example/api")
    }

    @Test func whatCannotBeReadIsNamed() throws {
        let recording = #expect(throws: Fault.self) {
            try Options(["--replay", "Package.swift"], environment: [:]).connect()
        }
        #expect(recording?.description == "Package.swift is no recording; --record makes one")
        let token = #expect(throws: Fault.self) { try Options(["--token-file", "/nowhere"], environment: [:]) }
        #expect(token?.description == "/nowhere cannot be read")
    }

    @Test func aCommandSendsNoFileThatTheServerNames() async throws {
        let form = """
            {"actions": [{"name": "photo", "method": "POST", "href": "photo", "type": "multipart/form-data", "fields": [
              {"name": "x=@/etc/passwd;y", "type": "file"}]}]}
            """
        let console = KeptConsole("curl photo", "/etc/hosts")
        #expect(try await !browse(answering(form), console))
        #expect(console.shown.last == "curl has no form for the field 'x=@/etc/passwd;y'")
        let named = FileManager.default.temporaryDirectory.appending(path: "\(UUID()) \"a\\.txt").path(
            percentEncoded: false
        )
        try Data().write(to: URL(filePath: named))
        defer { try? FileManager.default.removeItem(atPath: named) }
        let other = KeptConsole("curl photo", named)
        #expect(try await browse(answering(form.replacing("x=@/etc/passwd;y", with: "y")), other))
        #expect(other.shown.last?.contains(#" \"a\\.txt";filename="#) == true)
    }

    @Test func secretsAreHiddenInEveryForm() throws {
        let secrets = Secrets()
        secrets.add("schlüssel/ +\"1\"😀")
        for text in [
            "schlüssel/ +\"1\"😀", #""schl\u00fcssel\/ +\"1\"\ud83d\uDE00""#, #"\nschlüssel/ +\"1\"😀\n"#,
            "/x/schl%C3%BCssel%2f%20%2B%221%22%F0%9F%98%80/", "Bearer%20schl%C3%BCssel/+%2B%221%22%F0%9F%98%80",
        ] {
            let hidden = secrets.hidden(in: text)
            #expect(hidden.contains("***") && !hidden.contains("ssel"), "\(text)")
        }
        #expect(secrets.hidden(in: "eschlüssel/ +\"1\"😀").contains("ssel"))
        secrets.add("geheim")
        #expect(
            secrets.hidden(in: Data([0x80]) + Data("geheim".utf8) + Data([0xBF]))
                == Data([0x80, 0x2A, 0x2A, 0x2A, 0xBF])
        )
        // In CBOR the length stands before a text, and 0x66 is an f.
        let cbor = Data([0xA1, 0x61, 0x6B, 0x66]) + Data("geheim".utf8) + Data([0xFF])
        #expect(secrets.hidden(in: cbor) == Data([0xA1, 0x61, 0x6B, 0x66, 0x2A, 0x2A, 0x2A, 0xFF]))
        secrets.add("schlüssel")
        #expect(secrets.hidden(in: Data([0xFF]) + Data("schlüssel".utf8)) == Data([0xFF, 0x2A, 0x2A, 0x2A]))
    }

    @Test func whatIsNoAddressIsNeitherRecordedNorShown() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json").path()
        let recorded = try JSONEncoder().encode(
            Recording(server: "https://user:geheim@club.example/", manifestPath: "")
        )
        let replay = path + ".replay"
        try recorded.write(to: URL(filePath: replay))
        defer { for file in [path, replay] { try? FileManager.default.removeItem(atPath: file) } }
        #expect {
            _ = try Options(["--record", path, "--replay", replay], environment: [:]).connect(to: "a:geheim@b")
        } throws: {
            !"\($0)".contains("geheim")
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aRedirectIsRecordedWithoutItsUser() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let moved = InMemoryTransport { _ in
            SirenResponse(status: 201, headers: ["Location": "https://user:geheim@club.example/x?again=open+sesame"])
        }
        let secrets = Secrets()
        secrets.add("open sesame")
        let recording = Recording(server: "https://club.example/?key=open+sesame", manifestPath: "?key=open%20sesame")
        let recorder = try RecordingTransport(moved, recording, to: path, secrets: secrets)
        _ = try await recorder.send(SirenRequest(url: server))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(
            text.contains("https://club.example/x?again=***") && !text.contains("geheim") && !text.contains("sesame")
        )
    }

    @Test(.timeLimit(.minutes(1))) func hugeNamesAndPathsTakeNoMoreThanTheyAre() throws {
        let long = String(repeating: "n", count: 1_000_000)
        let members = (0..<20_000).map { "\"m\($0)\": 1" }.joined(separator: ", ")
        let wide = Array(#"{"properties": {"\#(long)": 1, \#(members)}}"#.utf8)
        let page = try SirenDocument(decoding: wide).entity
        #expect(Page.lines(page.properties).reduce(0) { $0 + $1.utf8.count } < 2_000_000)
        let name = String(repeating: "n", count: 90)
        let faults = (0..<2000).map { _ in "7" }.joined(separator: ",")
        let numbers = (0..<200_000).map { _ in "1" }.joined(separator: ",")
        let open = String(repeating: "{\"\(name)\":", count: 100)
        let deep = Array(
            "{\"links\":[\(faults)],\"properties\":\(open)[\(numbers)]\(String(repeating: "}", count: 101))".utf8
        )
        let document = try SirenDocument(decoding: deep)
        let lines = DocumentLines.of(deep, document.violations)
        #expect(lines.count == 202_206 && lines.count { $0.contains("←") } == 1000)
    }

    @Test func aTokenComesFromAFileOrAVariableAlone() throws {
        #expect(throws: Fault.self) { try Options(["--token", "x"], environment: [:]) }
        #expect(throws: Fault.self) { try Options(["--token=x"], environment: [:]) }
        #expect(throws: Fault.self) { try Options(["--record"], environment: [:]) }
        let options = try Options(["a", "--replay=Tests/sessions/club.json"], environment: ["SIREN_TOKEN": " t\n"])
        #expect(options.arguments == ["a"])
        #expect(try options.connect().client.authorizationHeaderValue == "Bearer t")
        let none = try Options(["--replay=Tests/sessions/club.json"], environment: ["SIREN_TOKEN": ""])
        #expect(try none.connect().client.authorizationHeaderValue == nil)
    }
}

@Suite struct FormDialogueTests {
    private func values(_ console: KeptConsole, _ fields: [SirenField]) throws -> [String: SirenInput] {
        let action = SirenAction(name: "a", href: "/", fields: fields)
        return try FormDialogue(console, secrets: Secrets()).values(for: action)
    }

    @Test func aValueThatDoesNotFitIsAskedForAgain() throws {
        var stamps = SirenField(name: "stamps", type: .number, title: "Stamps")
        (stamps.isRequired, stamps.minimum, stamps.maximum) = (true, 1, 10)
        let console = KeptConsole("", "many", "11", "2")
        #expect(try values(console, [stamps]) == ["stamps": 2])
        let question = "Stamps (number, required, from 1, to 10):"
        let field = "  the field 'stamps' of type number needs"
        #expect(
            console.shown == [
                question, "\(field) a value, not this nothing", question, "\(field) a number, not this text",
                question, "\(field) 10 at most, not this number", question,
            ]
        )
        #expect(throws: GivenUp.self) { try values(KeptConsole("many"), [stamps]) }
    }

    @Test func whatIsNotForPeopleIsNotAskedFor() throws {
        var fixed = SirenField(name: "fixed", value: "1")
        fixed.isReadOnly = true
        let hidden = SirenField(name: "hidden", type: .hidden, value: "2")
        let twice = SirenField(name: "twice", value: "3")
        let console = KeptConsole("")
        #expect(try values(console, [fixed, hidden, twice, twice]) == [:])
        #expect(console.shown == ["twice [3]:"])
        #expect(try values(KeptConsole("\"\""), [twice]) == ["twice": ""])
    }

    @Test func valuesToChooseFromHaveNumbers() throws {
        let drinks: SirenFieldValue = [SirenChoice("c", title: "Coffee", selected: true), SirenChoice("t")]
        let one = SirenField(name: "one", type: .radio, value: drinks)
        let console = KeptConsole("3", "2")
        #expect(try values(console, [one]) == ["one": "t"])
        #expect(console.shown.prefix(3) == ["  1* Coffee", "  2  t", "one (radio, a number) [Coffee]:"])
        #expect(console.shown[3] == "  the field 'one' of type radio needs one of its values, not this text")
        #expect(try values(KeptConsole("Coffee"), [one]) == ["one": "c"])
        let some = SirenField(name: "some", type: .checkbox, value: drinks)
        #expect(try values(KeptConsole("1, t"), [some]) == ["some": ["c", "t"]])
        #expect(try values(KeptConsole(""), [some]) == [:])
    }

    @Test func eachTypeHasItsKindOfValue() throws {
        let url = try #require(URL(string: "https://club.example"))
        #expect(
            try values(KeptConsole("https://club.example"), [SirenField(name: "u", type: .url)]) == ["u": .url(url)]
        )
        #expect(try values(KeptConsole("maybe", "Y"), [SirenField(name: "c", type: .checkbox)]) == ["c": true])
        let path = FileManager.default.temporaryDirectory.path() + "my phöto \(UUID()).jpg"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = SirenFile(.path(path), name: (path as NSString).lastPathComponent)
        let given = try values(KeptConsole("/nowhere", path), [SirenField(name: "f", type: .file)])
        #expect(given == ["f": .file(file)])
        let template = SirenLink(rel: ["search"], href: "/members{?card,door}{&card}{#part}")
        let names = KeptConsole("U1", "", "x")
        let parameters = try FormDialogue(names, secrets: Secrets()).values(for: template)
        #expect(parameters == ["card": "U1", "part": "x"])
        #expect(names.shown == ["card:", "door:", "part:"])
    }
}

@Suite struct DocumentLinesTests {
    @Test func aFaultStandsBesideItsLine() throws {
        let text =
            #"{"class":7,"title":"a\" ]","title":"b","links":[{"rel":["self"]},{"rel":["self"],"href":8}],"#
            + #""actions":[{"name":"x","href":"/","method":"MEND","a b":1,"a b":{}}],"properties":{}}"#
        let document = try SirenDocument(decoding: Array(text.utf8))
        #expect(
            DocumentLines.of(Array(text.utf8), document.violations) == [
                "{",
                #"  "class": 7,   ← expected a list of texts"#,
                #"  "title": "a\" ]","#,
                #"  "title": "b",   ← expected one member of this name"#,
                #"  "links": ["#,
                #"    {   ← href: expected a text"#,
                #"      "rel": ["#,
                #"        "self""#,
                #"      ]"#,
                #"    },"#,
                #"    {"#,
                #"      "rel": ["#,
                #"        "self""#,
                #"      ],"#,
                #"      "href": 8   ← expected a text"#,
                #"    }"#,
                #"  ],"#,
                #"  "actions": ["#,
                #"    {"#,
                #"      "name": "x","#,
                #"      "href": "/","#,
                #"      "method": "MEND",   ← expected DELETE, GET, PATCH, POST or PUT"#,
                #"      "a b": 1,"#,
                #"      "a b": {}   ← expected one member of this name"#,
                #"    }"#,
                #"  ],"#,
                #"  "properties": {}"#,
                "}",
            ]
        )
    }
}

@Suite struct TerminalConsoleTests {
    /// A terminal that a test plays: what is typed into it, and what it shows.
    private final class PseudoTerminal {
        let screen = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        let line: Int32

        init() {
            // TIOCSPTLCK and TIOCGPTN: Swift's module of the C library has no openpty(3).
            var (locked, number): (Int32, UInt32) = (0, 0)
            _ = ioctl(screen, 0x4004_5431, &locked)
            _ = ioctl(screen, 0x8004_5430, &number)
            line = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        }

        deinit {
            close(line)
            close(screen)
        }

        /// Waits for a prompt, types, and returns what was seen until it was read.
        func type(_ text: String, _ read: @escaping @Sendable (TerminalConsole) -> String?) async -> (String?, String) {
            let line = line
            // A thread of its own: those of tasks may all wait in `receive`.
            let (words, word) = AsyncStream<String?>.makeStream()
            Thread.detachNewThread { word.yield(read(TerminalConsole(input: line, output: line))) }
            var seen: [UInt8] = []
            receive(&seen)
            _ = Array(text.utf8).withUnsafeBytes { write(screen, $0.baseAddress, $0.count) }
            var all = words.makeAsyncIterator()
            let result = await all.next() ?? nil
            _ = fcntl(screen, F_SETFL, O_NONBLOCK)
            while receive(&seen) {}
            _ = fcntl(screen, F_SETFL, 0)
            return (result, String(decoding: seen, as: UTF8.self))
        }

        @discardableResult
        private func receive(_ seen: inout [UInt8]) -> Bool {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(screen, &bytes, bytes.count)
            if count > 0 { seen += bytes.prefix(count) }
            return count > 0
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func keysEditALine() async throws {
        let terminal = PseudoTerminal()
        let (word, seen) = await terminal.type("s\t\ta\t\n") { $0.command(completions: ["search", "self", "up"]) }
        #expect(word == "search ")
        #expect(seen.contains("\r\nsearch  self\r\n"))
        let (name, _) = await terminal.type("\u{1B}[CJüx\u{7F}rg\u{1B}[D x\u{17}K\n") {
            $0.ask("Name:", isSecret: false)
        }
        #expect(name == "Jürg K")
        let (password, shown) = await terminal.type("open sesame\n") { $0.ask("Password:", isSecret: true) }
        #expect(password == "open sesame")
        // What does not fit beside what is typed has a line of its own.
        let title = String(repeating: "long ", count: 20)
        let (long, wide) = await terminal.type("ab\n") { $0.ask(title, isSecret: false) }
        #expect(long == "ab")
        #expect(wide.ranges(of: title).count == 1 && wide.contains("\r> ab"))
        let (spaced, _) = await terminal.type("curl ch\t\n") { $0.command(completions: ["curl", "check in"]) }
        #expect(spaced == "curl check in ")
        let (_, end) = await terminal.type(String(repeating: "日", count: 41) + "\n") { $0.command(completions: []) }
        #expect(!end.contains(String(repeating: "日", count: 40)))
        #expect(shown.contains("Password: ") && !shown.contains("open") && !shown.contains("sesame"))
        let (given, _) = await terminal.type("half\u{03}") { $0.ask("Name:", isSecret: false) }
        #expect(given == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func whatAServerSaysIsCompletedHarmlessly() async throws {
        let (word, seen) = await PseudoTerminal().type("x\t\n") {
            $0.command(completions: ["x\u{1B}]0;y\u{7}\u{202E}z"])
        }
        #expect(word == "x\u{1B}]0;y\u{7}\u{202E}z " && seen.contains("x\u{FFFD}]0;y\u{FFFD}\u{FFFD}z"))
        #expect(!seen.contains("\u{1B}]") && !seen.contains("\u{202E}"))
    }

    @Test func whatAServerSaysDoesNotSteerTheTerminal() throws {
        let pipe = Pipe()
        TerminalConsole(output: pipe.fileHandleForWriting.fileDescriptor)
            .say("a\u{1B}[2J\u{9B}1m\nb\u{202E}c 👩‍👩‍👧")
        try pipe.fileHandleForWriting.close()
        #expect(
            try pipe.fileHandleForReading.readToEnd() == Data("a\u{FFFD}[2J\u{FFFD}1m b\u{FFFD}c 👩‍👩‍👧\n".utf8)
        )
    }
}
