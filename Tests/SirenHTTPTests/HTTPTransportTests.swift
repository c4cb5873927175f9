#if NETWORK
import Foundation
import SirenHTTP
import SirenKit
import TestSupport
import Testing

/// PyPI's `hypercorn`, which offers HTTP/2.
private let hypercorn = PythonWitness(modules: "hypercorn")

/// A server in Python, which ends with this.
final class PythonServer: Sendable {
    let port: Int
    private let input: FileHandle

    /// - Parameters:
    ///   - certificate: the file of the server's key and certificate, if it speaks TLS.
    ///   - wantsCertificates: whether it wants certificates of its clients.
    ///   - python: where Python is.
    init(
        _ script: String = "server.py",
        certificate: String? = nil,
        wantsCertificates: Bool = false,
        python: String? = nil
    ) throws {
        let process = Process()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: script).path
        process.executableURL = URL(fileURLWithPath: python ?? "/usr/bin/env")
        process.arguments =
            (python == nil ? ["python3"] : []) + [script] + (certificate.map { [$0] } ?? [])
            + (wantsCertificates ? ["certificates"] : [])
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.start()
        self.input = input.fileHandleForWriting
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    deinit { try? input.close() }
}

/// Takes connections, and neither reads nor says anything.
private final class SilentServer {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK, 0)
    let port: Int

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}

/// Requests over real connections, within this machine.
@Suite(.timeLimit(.minutes(10))) struct HTTPTransportTests {
    private static let server = Result { try PythonServer() }
    private static let tls = "\(Fixtures.directory)/siren/tls"

    /// What the server says that it got.
    private struct Seen: Decodable {
        var method: String
        var path: String
        var length: Int
        var sha256: String
        var headers: [String: String]
        var client: Int
    }

    private let base: String
    private var session = SirenSession()

    init() throws {
        base = "http://localhost:\(try Self.server.get().port)/"
        session.retries = 0
    }

    private func client(_ base: String? = nil) throws -> SirenClient {
        try SirenClient(baseURL: #require(URL(string: base ?? self.base)), session: session)
    }

    private func link(_ href: String) -> SirenLink { SirenLink(rel: ["x"], href: href) }

    private func seen(_ answer: SirenAnswer) throws -> Seen {
        try JSONDecoder().decode(Seen.self, from: Data(answer.bytes))
    }

    @Test func aMemberIsFoundAndChecksIn() async throws {
        let client = try client()
        let manifest = try await client.manifest()
        let search = try #require(manifest.entity?.links.first(rel: "search"))
        let member = try await client.follow(search, parameters: ["card": "04A1B2"])
        #expect(member.entity?.properties["card"] == "04A1B2")
        let answer = try await client.submit(
            actionNamed: "check-in",
            onEntityWithGUID: base + "members/04A1B2"
        )
        #expect(answer.outcome == .created && answer.location?.absoluteString == base + "visits/1")
    }

    @Test func requestsArriveAsTheyAre() async throws {
        let client = try client()
        client.authorizationHeaderValue = "Bearer 1"
        let action = SirenAction(
            name: "a",
            href: "echo?b=c",
            method: "PATCH",
            fields: [SirenField(name: "f", value: "ä")]
        )
        let seen = try seen(try await client.submit(action))
        #expect(seen.method == "PATCH" && seen.path == "/echo?b=c" && seen.length == 8)
        #expect(seen.headers["content-type"] == "application/x-www-form-urlencoded")
        #expect(
            seen.headers["authorization"] == "Bearer 1"
                && seen.headers["accept-encoding"] == "gzip, deflate"
        )
        #expect(seen.headers["host"] == "localhost:\(try Self.server.get().port)")
    }

    private static func temporary() -> String {
        FileManager.default.temporaryDirectory.appending(path: "siren-\(UUID().uuidString)").path
    }

    @Test func filesAreStreamed() async throws {
        let (path, link) = (Self.temporary(), Self.temporary())
        defer { for path in [path, link] { try? FileManager.default.removeItem(atPath: path) } }
        try Data((0..<5_000_001).map { UInt8($0 % 251) }).write(to: URL(fileURLWithPath: path))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        var session = session
        session.encodings = SirenEncodings(boundary: { "B" })
        var action = SirenAction(
            name: "a",
            href: "echo",
            method: "POST",
            type: "multipart/form-data",
            fields: [SirenField(name: "f", type: .file)]
        )
        let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
        for path in [path, link] {
            let file = SirenInput.file(SirenFile(.path(path), name: "a"))
            let seen = try seen(try await client.submit(action, parameters: ["f": file]))
            let head =
                "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n"
                + "Content-Type: application/octet-stream\r\n\r\n"
            #expect(seen.length == head.utf8.count + 5_000_001 + "\r\n--B--\r\n".utf8.count)
            // As `hashlib` reckons it.
            #expect(seen.sha256 == "c05e70e70f7f9007d6040647fe9d3cc65c4134719fa37c0ebd142d69ca856e5c")
            #expect(seen.headers["content-type"] == "multipart/form-data; boundary=B")
        }
        action.href = "early"
        let file = SirenInput.file(SirenFile(.path(path), name: "a"))
        #expect(try await client.submit(action, parameters: ["f": file]).status == 413)
    }

    /// Lengths that a file gets while its first 32 MiB are sent.
    @Test(arguments: [0, 32 << 20 - 1, 32 << 20 + 1]) func filesKeepTheirLength(_ length: Int) async throws {
        let path = Self.temporary()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 32 << 20)
        let url = try #require(URL(string: "\(base)resize?\(path),\(length)"))
        let request = SirenRequest(method: "PUT", url: url, body: SirenBody([.path(path)], type: "text/plain"))
        await #expect(throws: SirenTransportError(.fileChanged)) {
            _ = try await HTTPTransport(session).send(request)
        }
    }

    @Test func whatIsNoFileIsNotSent() async throws {
        let (pipe, dangling) = (Self.temporary(), Self.temporary())
        defer { for path in [pipe, dangling] { try? FileManager.default.removeItem(atPath: path) } }
        #expect(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: dangling + "x")
        for path in [pipe, dangling, dangling + "x", NSTemporaryDirectory(), "/dev/zero"] {
            let url = try #require(URL(string: base + "echo"))
            let request = SirenRequest(method: "PUT", url: url, body: SirenBody([.path(path)], type: "text/plain"))
            let error = await #expect(throws: SirenTransportError.self) {
                try await HTTPTransport(session).send(request)
            }
            #expect(error?.kind == .fileUnreadable && error?.isUnsent == true)
        }
    }

    @Test func answersAreUnpackedAndPutTogether() async throws {
        let client = try client()
        #expect(try await client.follow(link("gzip")).entity?.title?.count == 1000)
        #expect(try await client.follow(link("chunked")).entity?.title == "in parts")
        #expect(try await client.follow(link("big")).bytes.count == 3 << 20)
    }

    @Test func connectionsAreUsedAgain() async throws {
        let client = try client()
        var ports: Set<Int> = []
        for _ in 0..<5 { ports.insert(try seen(try await client.follow(link("echo"))).client) }
        #expect(ports.count == 1)
    }

    /// A connection that was kept may end just then. Whether the server did what it was asked for is not known, so that nobody
    /// but the caller may ask again.
    @Test(arguments: ["POST", "PUT", "GET"]) func nothingIsSentTwice(_ method: String) async throws {
        let client = try client()
        let path = "none?\(method)"
        _ = try await client.follow(link("echo"))
        await #expect {
            _ = try await client.submit(SirenAction(name: "a", href: path, method: method))
        } throws: { error in
            guard case .notAnswered(let error) = error as? SirenTransferError else { return false }
            return error.kind == .lost && !error.isUnsent
        }
        let all = try JSONDecoder().decode([Seen].self, from: Data(try await client.follow(link("seen")).bytes))
        #expect(all.count { $0.path == "/" + path } == 1)
    }

    /// What goes wrong, and what is said of it.
    static let faults: [(String, SirenTransportError.Kind)] = [
        ("cut", .lost), ("none", .lost), ("silent", .timedOut), ("drip", .timedOut),
        ("big", .tooLong),
        ("bomb", .tooLong), ("broken-gzip", .lost), ("endless", .tooLong), ("endless-bomb", .tooLong),
        ("endless-head", .lost), ("endless-field", .lost), ("endless-heads", .timedOut),
    ]

    @Test(arguments: faults) func faultsAreTold(_ path: String, _ kind: SirenTransportError.Kind)
        async throws
    {
        var session = session
        session.longestAnswer = 1 << 20
        // The others fail for another reason, however slow the machine is.
        if path == "silent" { session.readTimeout = .milliseconds(300) }
        if ["drip", "endless-heads"].contains(path) { session.wholeTimeout = .seconds(4) }
        let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
        await #expect {
            _ = try await client.follow(link(path))
        } throws: { error in
            guard case .notAnswered(let error) = error as? SirenTransferError else { return false }
            return error.kind == kind
        }
    }

    static let unreachable = [
        "http://localhost:1/", "http://127.0.0.1:1/", "http://[::1]:1/", "https://127.0.0.1:1/",
        "http://nowhere.invalid/", "http://127.0.0.1:65536/", "http://localhost:0/",
    ]

    @Test(arguments: unreachable) func withoutAServerNothingIsSent(_ base: String) async throws {
        var session = session
        for proxy in [nil, "http://127.0.0.1:1", "socks5://127.0.0.1:1"] {
            session.proxy = proxy.flatMap { URL(string: $0) }
            let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
            await #expect {
                _ = try await client.submit(SirenAction(name: "a", href: "", method: "POST"))
            } throws: { error in
                guard case .notConnected(let error) = error as? SirenRequestError else { return false }
                return error.kind == .notConnected
            }
        }
    }

    @Test func authoritiesAreAdded() async throws {
        let server = try PythonServer(certificate: Self.tls + "/server.pem")
        let base = "https://localhost:\(server.port)/"
        var session = session
        session.certificateAuthorities = [Self.tls + "/authority.pem"]
        let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
        #expect(try await client.manifest().entity?.classes == ["members"])
        // Without it, and by a name that the certificate does not have.
        for (address, authorities) in [
            (base, []), ("https://127.0.0.1:\(server.port)/", session.certificateAuthorities),
        ] {
            session.certificateAuthorities = authorities
            let client = try SirenClient(baseURL: #require(URL(string: address)), session: session)
            await #expect {
                _ = try await client.manifest()
            } throws: { error in
                guard case .notConnected(let error) = error as? SirenRequestError else { return false }
                return error.kind == .notTrusted
            }
        }
    }

    @Test func authoritiesMayBeginWithAMark() async throws {
        let server = try PythonServer(certificate: Self.tls + "/server.pem")
        let file = Self.temporary()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let text = try String(contentsOfFile: Self.tls + "/authority.pem", encoding: .utf8)
        try ("\u{FEFF}" + text).write(toFile: file, atomically: true, encoding: .utf8)
        var session = session
        session.certificateAuthorities = [file]
        let address = try #require(URL(string: "https://localhost:\(server.port)/"))
        #expect(try await SirenClient(baseURL: address, session: session).manifest().entity?.classes == ["members"])
    }

    /// What would be another field, or another request.
    @Test func lineBreaksAreNotSent() async throws {
        let transport = try HTTPTransport()
        var request = SirenRequest(url: try #require(URL(string: base + "seen")))
        for (name, value) in [("X\r\nY", "a"), ("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "a\u{0}b"), ("", "a")] {
            request.headers = SirenHeaders([SirenHeaders.Field(name, value)])
            await #expect(throws: SirenRequestError.headerInvalid(name)) { try await transport.send(request) }
        }
        for method in ["GET / HTTP/1.1\r\nX: y\r\n\r\nDELETE", ""] {
            let request = SirenRequest(method: method, url: request.url)
            await #expect(throws: SirenRequestError.methodInvalid(method)) { try await transport.send(request) }
        }
    }

    /// A field whose value goes on in the next line (RFC 9112, 5.2).
    @Test func foldedFieldsAreWhole() async throws {
        let request = SirenRequest(url: try #require(URL(string: base + "folded")))
        let fields = try await HTTPTransport().send(request).headers.fields
        #expect(fields.first { $0.name == "Link" }?.value == #"<a>; title="x: y""#)
    }

    @Test(arguments: ["none.pem", "../../../README.md", ""]) func whatIsNoAuthorityIsRefused(_ name: String) throws {
        var session = session
        session.certificateAuthorities = [Self.tls + "/authority.pem", "\(Self.tls)/\(name)"]
        #expect(throws: SirenRequestError.authorityInvalid("\(Self.tls)/\(name)")) { try HTTPTransport(session) }
    }

    @Test func whatIsNoTLSGetsNothing() async throws {
        let client = try client(base.replacing("http:", with: "https:"))
        await #expect {
            _ = try await client.submit(SirenAction(name: "a", href: "", method: "POST"))
        } throws: { error in
            guard case .notConnected(let error) = error as? SirenRequestError else { return false }
            return error.kind == .notTrusted
        }
    }

    /// Both know what they were sent before TLS fails: with TLS 1.3 a client speaks before its certificate is looked at.
    @Test(arguments: [false, true]) func whereTLSBreaksLaterSomethingWasSent(_ wantsCertificates: Bool) async throws {
        let server = try PythonServer(certificate: Self.tls + "/server.pem", wantsCertificates: wantsCertificates)
        var session = session
        session.certificateAuthorities = [Self.tls + "/authority.pem"]
        let url = try #require(URL(string: "https://localhost:\(server.port)/"))
        let client = try SirenClient(baseURL: url, session: session)
        await #expect {
            _ = try await client.submit(SirenAction(name: "a", href: "broken-tls", method: "POST"))
        } throws: { error in
            guard case .notAnswered(let error) = error as? SirenTransferError else { return false }
            return error.kind == .lost
        }
    }

    @Test func secretsStayWithTheirOrigin() async throws {
        let other = try PythonServer()
        let away = "http://localhost:\(other.port)/"
        var session = session
        session.headers = ["X-Key": "geheim"]
        let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
        client.authorizationHeaderValue = "Bearer geheim"
        let post = SirenAction(name: "a", href: away + "echo", method: "POST")
        var redirected = post
        redirected.href = "away?\(away)echo"
        let answers = [
            try await client.follow(link(away + "echo")),
            try await client.follow(link("away?\(away)echo")),
            try await client.submit(post), try await client.submit(redirected),
        ]
        for answer in answers {
            let seen = try seen(answer)
            #expect(
                seen.path == "/echo" && seen.headers["authorization"] == nil
                    && seen.headers["x-key"] == nil
            )
        }
        // All that the other server ever got.
        let all = try JSONDecoder().decode(
            [Seen].self,
            from: Data(try await client.follow(link(away + "seen")).bytes)
        )
        #expect(all.count == 5 && !all.contains { "\($0.headers)".contains("geheim") })
        #expect(try seen(try await client.follow(link("echo"))).headers["x-key"] == "geheim")
    }

    @Test func neitherUsersNorCookiesAreSent() async throws {
        let client = try client()
        _ = try await client.follow(link("cookie"))
        let url = base.replacing("http://", with: "http://user:geheim@") + "echo"
        for href in [url, "away?\(url)"] {
            let seen = try seen(try await client.follow(link(href)))
            #expect(
                seen.path == "/echo" && !"\(seen.headers)".contains("geheim") && seen.headers["authorization"] == nil
            )
            #expect(seen.headers["host"] == "localhost:\(try Self.server.get().port)")
        }
    }

    /// A server may name any method.
    @Test(arguments: ["CONNECT", "HEAD", "OPTIONS", "-", "post"])
    func oddMethodsHaveAnswers(_ method: String) async throws {
        var session = session
        session.wholeTimeout = .seconds(20)
        let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
        let action = SirenAction(name: "a", href: "echo", method: method, fields: [SirenField(name: "f", value: "v")])
        let answer = try await client.submit(action)
        #expect(answer.status == (method == "CONNECT" ? 200 : 501))
        #expect(try seen(try await client.follow(link("echo"))).method == "GET")
    }

    @Test(arguments: ["http", "https"]) func cancelledCallsCloseTheirConnections(_ scheme: String) async throws {
        let server = try SilentServer()
        let path = Self.temporary()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(count: 8 << 20).write(to: URL(fileURLWithPath: path))
        let client = try client("\(scheme)://127.0.0.1:\(server.port)/")
        let upload = SirenAction(
            name: "a",
            href: "",
            method: "POST",
            type: "multipart/form-data",
            fields: [SirenField(name: "f", type: .file)]
        )
        for action in [upload, SirenAction(name: "b", href: "")] {
            let values: [String: SirenInput] =
                action.name == "a" ? ["f": .file(SirenFile(.path(path), name: "f"))] : [:]
            let task = Task { try await client.submit(action, parameters: values) }
            var connection: Int32 = -1
            try await until("it connects") {
                connection = accept(server.descriptor, nil, nil)
                return connection >= 0
            }
            defer { close(connection) }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            try await until("something comes") { recv(connection, &bytes, 100, Int32(MSG_DONTWAIT)) > 0 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await until("the connection ends") {
                while true {
                    let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                    if count <= 0 { return count == 0 || errno == ECONNRESET }
                }
            }
        }
    }

    @Test func proxiesAreUsed() async throws {
        let proxy = try PythonServer()
        var session = session
        session.proxy = URL(string: "http://user:p%20w@localhost:\(proxy.port)")
        let client = try SirenClient(
            baseURL: #require(URL(string: "http://shop.invalid/")),
            session: session
        )
        let seen = try seen(try await client.follow(link("/echo")))
        #expect(seen.path == "/echo" && seen.headers["host"] == "shop.invalid")
        #expect(seen.headers["proxy-authorization"] == nil)
        let observer = try self.client("http://localhost:\(proxy.port)/")
        let all = try JSONDecoder().decode([Seen].self, from: Data(try await observer.follow(link("seen")).bytes))
        #expect(all.map(\.method) == ["CONNECT", "GET", "GET"] && all[0].path == "shop.invalid:80")
        #expect(all[0].headers["proxy-authorization"] == "Basic \(Data("user:p w".utf8).base64EncodedString())")
    }

    @Test func proxiesOfSOCKSAreUsed() async throws {
        let proxy = try PythonServer()
        var session = session
        session.proxy = URL(string: "SOCKS5://localhost:\(proxy.port)")
        let client = try SirenClient(baseURL: #require(URL(string: "http://shop.invalid/")), session: session)
        let seen = try seen(try await client.follow(link("/echo")))
        #expect(seen.path == "/echo" && seen.headers["host"] == "shop.invalid")
        let observer = try self.client("http://localhost:\(proxy.port)/")
        let all = try JSONDecoder().decode([Seen].self, from: Data(try await observer.follow(link("seen")).bytes))
        #expect(all.map(\.method) == ["SOCKS", "GET", "GET"] && all[0].path == "shop.invalid:80")
    }

    @Test(arguments: [
        "localhost:3128", "//localhost:3128", "proxy", "https://geheim@localhost:3128", "http:", "http://:3128",
        "http://localhost:65536", "socks4://localhost", "socks5://geheim:geheim@localhost", "ftp://localhost",
    ])
    func whatIsNoProxyIsRefused(_ proxy: String) throws {
        var session = session
        session.proxy = try #require(URL(string: proxy))
        #expect {
            _ = try HTTPTransport(session)
        } throws: { error in
            error as? SirenRequestError == session.proxy.map(SirenRequestError.proxyInvalid)
                && !"\(error)".contains("geheim")
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1e18), .milliseconds(Int64.max)])
    func timeOutsMayBeOfAnyLength(_ duration: Duration) async throws {
        var session = session
        (session.connectTimeout, session.readTimeout, session.wholeTimeout) = (duration, duration, duration)
        let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
        #expect(try await client.manifest().status == 200)
    }

    @Test(
        "[real hypercorn] a server that offers HTTP/2 gets it",
        .enabled(if: hypercorn != nil, "hypercorn is not installed: run Scripts/setup --tests")
    ) func http2() async throws {
        let server = try PythonServer("http2.py", certificate: Self.tls + "/server.pem", python: hypercorn?.path)
        var session = session
        session.certificateAuthorities = [Self.tls + "/authority.pem"]
        let base = "https://localhost:\(server.port)/"
        let client = try SirenClient(baseURL: #require(URL(string: base)), session: session)
        let field = SirenField(name: "f", value: .single(.text(String(repeating: "x", count: 200_000))))
        let action = SirenAction(name: "a", href: "", method: "POST", fields: [field])
        for method in ["GET", "POST"] {
            let answer = try await method == "GET" ? client.manifest() : client.submit(action)
            #expect(answer.entity?.title == "2")
            let size = method == "GET" ? 0 : 200_002
            #expect(answer.entity?.properties["size"]?.number?.int == size)
        }
    }

    @Test(.timeLimit(.minutes(2))) func whoIsCancelledBeforehandSendsNothing() async throws {
        let transport = try HTTPTransport(session)
        let url = try #require(URL(string: base + "echo?cancelled"))
        for _ in 0..<20 {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await transport.send(SirenRequest(url: url))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let seen = try await client().follow(link("seen"))
        #expect(!String(decoding: seen.bytes, as: UTF8.self).contains("echo?cancelled"))
    }

    @Test(.timeLimit(.minutes(2))) func callsEndWithTheirTasks() async throws {
        let client = try client()
        let task = Task { [link = link("silent?me")] in try await client.follow(link) }
        // Until it has arrived.
        let observer = try self.client()
        try await until("the request arrives") {
            let all = try JSONDecoder().decode([Seen].self, from: Data(try await observer.follow(link("seen")).bytes))
            return all.contains { $0.path == "/silent?me" }
        }
        // The server would be silent for longer than that.
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
#endif
