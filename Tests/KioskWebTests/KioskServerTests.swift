#if NETWORK
import ClubKit
import Foundation
import ReaderKit
import TestSupport
import Testing

@testable import KioskKit
@testable import KioskWeb

/// A client with a socket of its own, which sends what it likes.
final class SocketClient {
    private let descriptor: Int32
    private var bytes = Data()
    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close() }

    private var isClosed = false

    func close() {
        if !isClosed { Glibc.close(descriptor) }
        isClosed = true
    }

    /// What stands behind each occurrence of a text, a few characters each: a search through megabytes.
    func texts(after part: String) -> [String] {
        let part = Data(part.utf8)
        var texts: [String] = []
        var start = 0
        while let found = bytes.range(of: part, in: start..<bytes.count) {
            start = found.upperBound
            texts.append(String(decoding: bytes[start...].prefix(8), as: UTF8.self))
        }
        return texts
    }

    /// Sends as much as the other end takes.
    @discardableResult
    func send(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    func get(_ path: String, _ headers: String...) {
        send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n")
    }

    /// Returns the whole answer to one request, which is sent as it is.
    static func answer(_ port: Int, to request: String) async throws -> String {
        let client = try SocketClient(port: port)
        client.send(request)
        try await until("the answer to \(request)") { !client.receive() }
        return client.text
    }

    /// Returns the whole answer to a request of one file.
    static func answer(_ port: Int, _ path: String, _ headers: String...) async throws -> String {
        let lines = (["Host: localhost", "Connection: close"] + headers).map { $0 + "\r\n" }.joined()
        return try await answer(port, to: "GET \(path) HTTP/1.1\r\n\(lines)\r\n")
    }

    /// Takes what has come, and reports whether the connection is open.
    @discardableResult
    func receive() -> Bool {
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &part, part.count)
            if count > 0 { bytes.append(contentsOf: part.prefix(count)) }
            if count == 0 || (count < 0 && errno != EAGAIN) { return false }
            if count < 0 { return true }
        }
    }

    /// Waits for an answer with that text in it.
    func expect(_ part: String) async throws {
        var searched = 0
        try await until("'\(part)'") {
            receive()
            // Megabytes come in many pieces, and each byte is searched once.
            let start = searched
            searched = max(0, bytes.count - part.utf8.count)
            return bytes.range(of: Data(part.utf8), in: min(start, bytes.count)..<bytes.count) != nil
        }
    }
}

@Suite("The server of the screen", .serialized, .timeLimit(.minutes(10)))
struct KioskServerTests {
    @MainActor
    private func serving(
        _ access: WebAccess = WebAccess(),
        _ settings: KioskServer.Settings = .init(),
        theme: Theme = Theme(),
        _ work: (KioskServer, KioskModel, Int) async throws -> Void
    ) async throws {
        let model = KioskModel()
        model.note(.reader(.readerAdded(ReaderInfo(name: "Reader", backend: .simulated))))
        let server = KioskServer(model, theme: theme, access: access, settings: settings)
        let port = try await server.start(host: "127.0.0.1", port: 0)
        do {
            try await work(server, model, port)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func tap(_ name: String) -> RecordedTap {
        var receipt = Receipt(eventID: UUID(), at: Date(), reader: "Reader", backend: .simulated, outcome: .visit)
        receipt.member = Member(userId: name, username: name, numVisits: 3)
        return RecordedTap(receipt: receipt)
    }

    @Test("Pages and their files, each with its type and the policy; a page that was not changed is not sent again")
    func pages() async throws {
        try await serving { _, _, port in
            let table = [
                ("/", "200 OK", "text/html; charset=utf-8"), ("/desk", "200 OK", "text/html; charset=utf-8"),
                ("/assets/visitor.js", "200 OK", "text/javascript; charset=utf-8"),
                ("/assets/screen.css", "200 OK", "text/css; charset=utf-8"),
                ("/assets/icon.svg", "200 OK", "image/svg+xml; charset=utf-8"),
                ("/assets/visitor.html", "404 Not Found", "text/plain; charset=utf-8"),
                ("/assets/../visitor.html", "404 Not Found", "text/plain; charset=utf-8"),
                ("/visitor.html", "404 Not Found", "text/plain; charset=utf-8"),
                ("/theme/logo", "404 Not Found", "text/plain; charset=utf-8"),
                ("/theme/sounds/success", "404 Not Found", "text/plain; charset=utf-8"),
                ("/theme/sounds/../../etc/passwd", "404 Not Found", "text/plain; charset=utf-8"),
            ]
            for (path, status, type) in table {
                let answer = try await SocketClient.answer(port, path)
                #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(path)")
                #expect(answer.contains("Content-Type: \(type)\r\n"), "\(path)")
                #expect(answer.contains("Content-Security-Policy: default-src 'none'; script-src 'self';"))
                guard let tag = answer.firstMatch(of: /ETag: (.+)\r\n/)?.1 else { continue }
                let again = try await SocketClient.answer(port, path, "If-None-Match: \(tag)")
                #expect(again.hasPrefix("HTTP/1.1 304 Not Modified\r\n"), "\(path)")
            }
            // A refusal ends the connection.
            let refused = try await SocketClient.answer(port, to: "HEAD /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(refused.hasPrefix("HTTP/1.1 404") && refused.hasSuffix("\r\n\r\n"))
            let head = try SocketClient(port: port)
            head.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD /v1/screen HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head.get("/assets/icon.svg", "Connection: close")
            try await until("three answers") { !head.receive() }
            #expect(head.text.matches(of: /HTTP\/1\.1 200 OK/).count == 3 && !head.text.contains("<html"))
            #expect(head.text.contains("Content-Type: text/event-stream") && head.text.hasSuffix("</svg>\n"))
            let answer = try await SocketClient.answer(
                port,
                to: "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
            )
            #expect(answer.hasPrefix("HTTP/1.1 405") && answer.contains("Allow: GET, HEAD"))
        }
    }

    @Test("The files of a theme, and nothing else of the disk")
    func themeFiles() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var theme = Theme()
        theme.logo = folder + "/logo.svg"
        theme.sounds = [
            .success: folder + "/ding.wav", .failure: folder + "/passwd", .warning: folder + "/absent.wav",
            .busy: folder + "/pipe.wav",
        ]
        for path in [theme.logo, theme.sounds[.success], theme.sounds[.failure]].compactMap(\.self) {
            try Data("content".utf8).write(to: URL(fileURLWithPath: path))
        }
        mkfifo(folder + "/pipe.wav", 0o600)
        try await serving(theme: theme) { _, _, port in
            let table = [
                ("/theme/logo", "200 OK", "image/svg+xml; charset=utf-8"),
                ("/theme/logo?17", "200 OK", "image/svg+xml; charset=utf-8"),
                ("/theme/sounds/success", "200 OK", "audio/wav"),
                ("/theme/sounds/failure", "404 Not Found", "text/plain; charset=utf-8"),
                ("/theme/sounds/warning", "404 Not Found", "text/plain; charset=utf-8"),
                ("/theme/sounds/busy", "404 Not Found", "text/plain; charset=utf-8"),
            ]
            for (path, status, type) in table {
                let answer = try await SocketClient.answer(port, path)
                #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(path)")
                #expect(answer.contains("Content-Type: \(type)\r\n"), "\(path)")
            }
        }
    }

    @Test("A screen that comes late gets what is shown, and follows; a program gets each event, and those it missed")
    func streams() async throws {
        try await serving { server, model, port in
            let early = try SocketClient(port: port)
            early.get("/v1/screen")
            try await early.expect("\"kind\":\"rest\"")
            await model.note(recorded: tap("Ann"))
            try await early.expect("Welcome, Ann")
            let late = try SocketClient(port: port)
            late.get("/v1/screen")
            try await late.expect("Welcome, Ann")
            let desk = try SocketClient(port: port)
            desk.get("/v1/desk")
            try await desk.expect("\"text\":\"Member\"")
            #expect(!desk.text.contains("Ann"))

            let program = try SocketClient(port: port)
            program.get("/v1/events")
            try await program.expect("event: snapshot")
            #expect(program.text.contains("\"outcome\":\"visit\"") && program.text.contains("\"readers\":[\"Reader\"]"))
            server.publish("{\"event\":\"visit\"}")
            try await program.expect("data: {\"event\":\"visit\"}")
            let id = try #require(program.text.matches(of: /id: (\S+)/).last?.1)
            server.publish("{\"event\":\"missed\"}")
            let back = try SocketClient(port: port)
            back.get("/v1/events", "Last-Event-ID: \(id)")
            try await back.expect("data: {\"event\":\"missed\"}")
            #expect(!back.text.contains("snapshot") && !back.text.contains("\"visit\""))
        }
    }

    @Test("A client that is gone is let go at once; the end of the server ends all")
    func ends() async throws {
        try await serving { server, _, port in
            var clients: [SocketClient] = []
            for _ in 0..<20 {
                let client = try SocketClient(port: port)
                client.get("/v1/events")
                clients.append(client)
            }
            for client in clients { try await client.expect("event: snapshot") }
            #expect(server.connections.count == 20)
            clients.removeFirst(19)
            // Nothing is sent to them that could fail.
            try await until("all but one are let go") { server.connections.count == 1 }
            await server.stop()
            try await until("the end") { !clients[0].receive() }
        }
    }

    @Test("An address has its share of connections, and gets another when one is closed")
    func share() async throws {
        var settings = KioskServer.Settings()
        (settings.connectionsPerAddress, settings.countsOwnAddresses) = (3, true)
        try await serving(.init(), settings) { _, _, port in
            var clients: [SocketClient] = []
            for _ in 0..<3 {
                let client = try SocketClient(port: port)
                client.get("/v1/events")
                try await client.expect("event: snapshot")
                clients.append(client)
            }
            let another = try SocketClient(port: port)
            try await until("it is closed") { !another.receive() }
            #expect(another.text.isEmpty)
            clients[0].close()
            try await until("there is room") {
                let client = try SocketClient(port: port)
                client.get("/")
                try await until("its answer") { !client.receive() || client.text.contains("</html>") }
                return client.text.hasPrefix("HTTP/1.1 200")
            }
        }
    }

    @Test("It ends whole though browsers connect meanwhile")
    func connectingAtTheEnd() async throws {
        for _ in 0..<40 {
            let server = await KioskServer(KioskModel())
            let port = try await server.start(host: "127.0.0.1", port: 0)
            let isOver = Shared(false)
            let connected = Shared(0)
            let browsers = Thread {
                var clients: [SocketClient] = []
                while !isOver.withLock({ $0 }) {
                    // Refused at last.
                    guard let client = try? SocketClient(port: port) else { continue }
                    clients = clients.suffix(50) + [client]
                    connected.withLock { $0 += 1 }
                }
            }
            browsers.start()
            defer { isOver.withLock { $0 = true } }
            try await until("they connect") { connected.withLock { $0 } > 20 }
            await server.stop()
            isOver.withLock { $0 = true }
            try await until("they are done") { browsers.isFinished }
        }
    }

    @Test("A client that takes nothing costs a bounded queue, misses some, and is let go in time")
    func slow() async throws {
        var settings = KioskServer.Settings()
        settings.pingInterval = .milliseconds(100)
        settings.patience = .seconds(1)
        try await serving(.init(), settings) { server, _, port in
            let slow = try SocketClient(port: port)
            slow.get("/v1/events")
            try await slow.expect("event: snapshot")
            let line = "{\"text\":\"" + String(repeating: "x", count: 20_000) + "\"}"
            for _ in 0..<600 { server.publish(line) }
            try await until("it is let go") { server.connections.count == 0 }
            // What had been sent can be read, and then the connection is closed.
            try await until("the end") { !slow.receive() }
            #expect(slow.text.utf8.count < 600 * 20_000)
        }
    }

    @Test("A client that was slow for a while is told how many events it missed")
    func missing() async throws {
        try await serving { server, _, port in
            let client = try SocketClient(port: port)
            client.get("/v1/events")
            try await client.expect("event: snapshot")
            let line = "{\"text\":\"" + String(repeating: "x", count: 20_000) + "\"}"
            for _ in 0..<600 { server.publish(line) }
            server.publish("{\"event\":\"last\"}")
            try await client.expect("{\"event\":\"last\"}")
            let counts = client.texts(after: "event: missed\ndata: {\"count\":")
            let missed = counts.compactMap { Int($0.prefix(while: \.isNumber)) }
            let received = client.texts(after: "\ndata: {\"text\"") + client.texts(after: "\ndata: {\"event\"")
            #expect(missed.reduce(0, +) + received.count == 601)
            #expect(missed.reduce(0, +) > 0)
        }
    }

    @Test("A thousand streams at once each get every event")
    func thousand() async throws {
        try await serving { server, _, port in
            // Each has two descriptors in this process.
            var clients: [SocketClient] = []
            for _ in 0..<1000 {
                let client = try SocketClient(port: port)
                client.get("/v1/events")
                clients.append(client)
            }
            for client in clients { try await client.expect("event: snapshot") }
            for number in 1...20 { server.publish("{\"number\":\(number)}") }
            for client in clients { try await client.expect("{\"number\":20}") }
            let complete = clients.count { client in
                client.text.matches(of: /data: \{"number":(\d+)\}/).compactMap { Int($0.1) } == Array(1...20)
            }
            #expect(complete == 1000)
        }
    }

    // MARK: Attacks

    @Test("A foreign host, a page of another site, a wrong token: refused, and why")
    func refusals() async throws {
        var access = WebAccess()
        access.token = "0123456789abcdef"
        try await serving(access) { _, _, port in
            let table: [(request: String, status: String, words: String)] = [
                ("GET / HTTP/1.1\r\nHost: evil.example\r\n", "421", "not reached by the name 'evil.example'"),
                ("GET / HTTP/1.1\r\nHost: a\u{1B}[2J\r\n", "400", ""),
                (
                    "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n", "403",
                    "another site"
                ),
                ("GET /v1/screen HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n", "403", "another site"),
                ("GET / HTTP/1.1\r\nHost: localhost\r\n", "401", "/enter?token="),
                ("GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123\r\n", "401", "token"),
                ("GET /enter?token=0123456789abcdeg HTTP/1.1\r\nHost: localhost\r\n", "401", "not the kiosk's token"),
                ("GET /enter HTTP/1.1\r\nHost: localhost\r\n", "401", "not the kiosk's token"),
                ("GET /enter?token=0123456789abcdef HTTP/1.1\r\nHost: evil.example\r\n", "421", "name"),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nCookie: clubkit=1.9999999999.00\r\n", "401", "token"),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: ann\r\n", "401", "token"),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n", "400", "one Host"),
            ]
            for row in table {
                let answer = try await SocketClient.answer(port, to: row.request + "Connection: close\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 \(row.status)"), "\(row.request)\(answer.prefix(60))")
                #expect(row.words.isEmpty || answer.contains(row.words), "\(row.request)")
                #expect(!answer.contains("<html"))
                #expect(!answer.contains("Access-Control-Allow"))
            }
        }
    }

    @Test("The token is exchanged for a cookie that scripts cannot read and other sites do not send")
    func entering() async throws {
        var access = WebAccess()
        access.token = "0123456789abcdef"
        try await serving(access) { server, _, port in
            let answer = try await SocketClient.answer(port, "/enter?token=0123456789abcdef&to=desk")
            #expect(answer.hasPrefix("HTTP/1.1 303") && answer.contains("Location: /desk\r\n"))
            let header = try #require(answer.firstMatch(of: /Set-Cookie: (.+)\r\n/)?.1)
            #expect(
                header.contains("; HttpOnly") && header.contains("; SameSite=Strict") && header.contains("; Path=/")
            )
            let cookie = String(header.prefix { $0 != ";" })
            func status(_ cookie: String) async throws -> String {
                let answer = try await SocketClient.answer(port, "/", "Cookie: other=1; \(cookie)")
                return String(answer.prefix(12))
            }
            #expect(try await status(cookie) == "HTTP/1.1 200")
            let bearer = "Authorization: Bearer 0123456789abcdef"
            for (sent, isRenewed) in [(cookie, true), ("clubkit=1.9999999999.00", false), ("other=1", false)] {
                let answer = try await SocketClient.answer(port, "/", bearer, "Cookie: \(sent)")
                #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("Set-Cookie:") == isRenewed, "\(sent)")
            }
            // A token that leaked is changed, and opens nothing any more.
            access.token = "the next token of the club"
            server.access = access
            #expect(try await status(cookie) == "HTTP/1.1 401")
        }
    }

    @Test("A request line of 1 MB, endless headers and slow headers end the connection, and hold up nobody else")
    func hostileRequests() async throws {
        var settings = KioskServer.Settings()
        settings.idleTimeout = .seconds(1)
        try await serving(.init(), settings) { _, _, port in
            let long = try SocketClient(port: port)
            var sent = 0
            let piece = "/" + String(repeating: "a", count: 65_535)
            long.send("GET ")
            try await until("the connection ends") {
                sent += max(0, long.send(piece))
                return !long.receive() || sent > 8 << 20
            }
            #expect(sent < 8 << 20)
            let many = try SocketClient(port: port)
            many.send("GET / HTTP/1.1\r\nHost: localhost\r\n")
            sent = 0
            try await until("the connection ends") {
                sent += max(0, many.send("X-\(sent): " + String(repeating: "b", count: 1000) + "\r\n"))
                return !many.receive() || sent > 8 << 20
            }
            #expect(sent < 8 << 20)
            let slow = try SocketClient(port: port)
            slow.send("GET / HT")
            let waiting = try SocketClient(port: port)
            let other = try await SocketClient.answer(port, "/")
            #expect(other.contains("</html>"))
            try await until("the slow one is let go") { !slow.receive() }
            try await until("and one that says nothing") { !waiting.receive() }
        }
    }

    @Test("A request with a body is refused, and who reads no answers is let go")
    func bodies() async throws {
        var settings = KioskServer.Settings()
        (settings.pingInterval, settings.patience) = (.milliseconds(100), .seconds(1))
        try await serving(.init(), settings) { server, _, port in
            for header in ["Transfer-Encoding: chunked", "Content-Length: 1000000"] {
                let client = try SocketClient(port: port)
                client.get("/v1/events", header)
                try await until("the refusal") { !client.receive() }
                #expect(client.text.hasPrefix("HTTP/1.1 400"))
            }
            // More answers than a connection holds, of which none is read: each stops at another part of an answer.
            let clients = try (0..<20).map { _ in try SocketClient(port: port) }
            for _ in 0..<2000 { for client in clients { client.get("/assets/screen.css") } }
            try await until("they are let go") { server.connections.count == 0 }
            withExtendedLifetime(clients) {}
        }
    }

    @Test("A start that is cancelled ends")
    func cancelling() async throws {
        let server = await KioskServer(KioskModel())
        let starting = Task { try await server.start(host: "127.0.0.1", port: 0) }
        starting.cancel()
        _ = await starting.result
        await server.stop()
    }

    @Test("An address that cannot be used is an error that names it")
    func taken() async throws {
        try await serving { _, model, port in
            let other = KioskServer(model)
            await #expect(throws: KioskServerError.self) { try await other.start(host: "127.0.0.1", port: port) }
            let absent = KioskServer(model)
            let error = await #expect(throws: KioskServerError.self) {
                try await absent.start(host: "192.0.2.1", port: port)
            }
            #expect(error?.description.contains("192.0.2.1:\(port): Cannot assign requested address") == true)
        }
    }

    @Test("A theme that is changed is shown at once")
    func themes() async throws {
        try await serving { server, _, port in
            let client = try SocketClient(port: port)
            client.get("/v1/screen")
            try await client.expect("\"language\":\"en\"")
            var theme = Theme()
            theme.language = .arabic
            theme.joinAddress = URL(string: "https://club.example/join")
            await server.show(theme)
            try await client.expect("\"direction\":\"rtl\"")
            try await client.expect("\"qr\":[\"1111111")
        }
    }
}
#endif
