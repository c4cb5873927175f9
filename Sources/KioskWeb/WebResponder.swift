#if NETWORK
import ClubRecords
import Cryptography
import Foundation
import HTTPTypes
import Hummingbird
import KioskKit
import Logging
import NIOCore
import Synchronization

struct WebContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Answers the requests of pages and programs.
struct WebResponder: HTTPResponder {
    let server: KioskServer

    func respond(to request: Request, context: WebContext) async throws -> Response {
        var response = await answer(request, context)
        for (name, value) in Self.headers { response.headers[name] = value }
        if request.method == .head {
            if response.body.contentLength == nil { response.headers[.contentLength] = nil }
            response = response.createHeadResponse()
        }
        return written(response, context)
    }

    /// What nobody reads would be waited for.
    private func hasBody(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || (request.headers[.contentLength] ?? "0") != "0"
    }

    /// The response, whose client is dropped if it takes nothing, and after a refusal: it may have more to ask.
    private func written(_ response: Response, _ context: WebContext) -> Response {
        var response = response
        let (body, connections, channel) = (response.body, server.connections, context.channel)
        let isRefusal = response.status.code >= 400
        if isRefusal { response.headers[.connection] = "close" }
        // From here on, since the head too may wait for a client that takes nothing.
        connections.note(channel, isWriting: true)
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(WatchedWriter(writer: writer, channel: channel, connections: connections))
            connections.note(channel, isWriting: false)
            if isRefusal { channel.close(mode: .input, promise: nil) }
        }
        return response
    }

    /// Writes in pieces, and notes since when it waits.
    private struct WatchedWriter: ResponseBodyWriter {
        var writer: any ResponseBodyWriter
        let channel: any Channel
        let connections: Connections

        private static let piece = 64 << 10

        mutating func write(_ buffer: ByteBuffer) async throws {
            var rest = buffer
            while let piece = rest.readSlice(length: min(Self.piece, rest.readableBytes)), piece.readableBytes > 0 {
                connections.note(channel, isWriting: true)
                try await writer.write(piece)
                connections.note(channel, isWriting: false)
            }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            // The end, too, waits for a client that takes nothing.
            connections.note(channel, isWriting: true)
            try await writer.finish(trailingHeaders)
        }
    }

    /// What holds for all answers. The pages need nothing but what this server has.
    private static let headers: [(HTTPField.Name, String)] =
        [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
                    + "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            ),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }

    private func answer(_ request: Request, _ context: WebContext) async -> Response {
        if hasBody(request) { return plain(.badRequest, "A request has no body here.") }
        // The first is not among the fields.
        if field(request, "Host") != nil { return plain(.badRequest, "A request has one Host.") }
        let access = server.access
        let path = request.uri.path
        let visitor = visitor(request, context, access)
        let refusal = access.refusal(of: visitor, at: Date())
        // Where the token is exchanged, before there is a cookie.
        if path == "/enter", request.method == .get, refusal == nil || refusal == .notAuthorized {
            return enter(request, access)
        }
        switch refusal {
        case .foreignHost:
            return plain(
                .misdirectedRequest,
                "This kiosk is not reached by the name '\(PlainText.line(WebAccess.name(of: visitor.host ?? "")).prefix(60))'. Use its "
                    + "address, or start it with --http-name."
            )
        case .foreignSite: return plain(.forbidden, "A page of another site made this request.")
        case .notAuthorized:
            var response = plain(.unauthorized, advice(access))
            response.headers[.wwwAuthenticate] = "Bearer"
            return response
        case nil: break
        }
        guard request.method == .get || request.method == .head else {
            var response = plain(.methodNotAllowed, "There is nothing to change here.")
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        switch path {
        case "/", "/desk":
            var response = page(path == "/" ? "visitor.html" : "desk.html", request)
            // A display that is in use does not have to enter again.
            if access.hasValidCookie(visitor, at: Date()), let cookie = access.cookie(at: Date()) {
                response.headers[.setCookie] = Self.header(cookie, request)
            }
            return response
        case "/v1/screen": return stream(server.visitorFeed.stream(), request, context)
        case "/v1/desk": return stream(server.deskFeed.stream(), request, context)
        case "/v1/events":
            var beginning = server.events.stream(after: field(request, "Last-Event-ID"))
            if beginning.needsSnapshot {
                beginning.first.append(server.events.snapshot(await server.snapshot(), after: beginning.number))
            }
            return stream((beginning.first, beginning.rest), request, context)
        case "/theme/logo": return file(server.theme.logo, request)
        default:
            if path.hasPrefix("/assets/") { return page(String(path.dropFirst(8)), request, isAsset: true) }
            if path.hasPrefix("/theme/sounds/") {
                return file(
                    VisitorScene.Tone(rawValue: String(path.dropFirst(14))).flatMap { server.theme.sounds[$0] },
                    request
                )
            }
            return plain(.notFound, "There is no such page. The screen is at /, the desk's at /desk.")
        }
    }

    private func advice(_ access: WebAccess) -> String {
        if access.token != nil {
            return
                "Open /enter?token=… with the kiosk's token (the file of --http-token), or send it as a bearer token."
        }
        if let header = access.proxyHeader { return "The proxy sent no header \(header)." }
        return "This kiosk shows its screen to its own machine alone, and a proxy needs --http-proxy-header."
    }

    // MARK: Who asks

    private func field(_ request: Request, _ name: String) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    private func visitor(_ request: Request, _ context: WebContext, _ access: WebAccess) -> WebAccess.Visitor {
        var visitor = WebAccess.Visitor(host: request.head.authority, origin: request.headers[.origin])
        visitor.site = field(request, "Sec-Fetch-Site")
        visitor.isNavigation =
            field(request, "Sec-Fetch-Mode") == "navigate" && field(request, "Sec-Fetch-Dest") == "document"
        visitor.authorization = request.headers[.authorization]
        visitor.cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.count == 2 && parts[0] == Self.cookieName(request) ? parts[1] : nil
        }
        visitor.proxied = access.proxyHeader.flatMap { field(request, $0) }
        visitor.isLocal = context.channel.remoteAddress.map(Self.isLoopback) ?? false
        visitor.isForwarded = ["Forwarded", "X-Forwarded-For", "Via"].contains { field(request, $0) != nil }
        return visitor
    }

    static func isLoopback(_ address: SocketAddress) -> Bool {
        guard let text = address.ipAddress else { return false }
        return text.hasPrefix("127.") || text == "::1" || text.hasPrefix("::ffff:127.")
    }

    private func enter(_ request: Request, _ access: WebAccess) -> Response {
        guard access.token != nil else { return redirect("/") }
        let token = request.uri.queryParameters["token"].map { String($0) } ?? ""
        guard access.accepts(token), let cookie = access.cookie(at: Date()) else {
            return plain(.unauthorized, "This is not the kiosk's token.")
        }
        var response = redirect(request.uri.queryParameters["to"] == "desk" ? "/desk" : "/")
        response.headers[.setCookie] = Self.header(cookie, request)
        return response
    }

    /// A browser sends the cookies of all ports of a machine, which may have several kiosks.
    private static func cookieName(_ request: Request) -> String {
        let port = request.head.authority?.split(separator: ":").last.flatMap { UInt16($0) }
        return "clubkit" + (port.map { "-\($0)" } ?? "")
    }

    private static func header(_ cookie: String, _ request: Request) -> String {
        "\(cookieName(request))=\(cookie); Path=/; Max-Age=\(WebAccess.cookieSeconds); HttpOnly; SameSite=Strict"
    }

    // MARK: Answers

    private func redirect(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }

    private func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n"))
        )
    }

    private func page(_ name: String, _ request: Request, isAsset: Bool = false) -> Response {
        guard let page = WebPage.all[name], page.isAsset == isAsset else {
            return plain(.notFound, "There is no such file.")
        }
        let headers: HTTPFields = [.contentType: page.type, .cacheControl: "no-cache", .eTag: page.tag]
        // A proxy that compresses weakens the tag.
        if let tag = request.headers[.ifNoneMatch], tag == page.tag || tag == "W/" + page.tag {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes)))
    }

    private func file(_ path: String?, _ request: Request) -> Response {
        guard let path, let type = WebPage.types[(path as NSString).pathExtension.lowercased()],
            let file = server.themeFiles.file(path)
        else { return plain(.notFound, "The theme has no such file.") }
        return Response(
            status: .ok,
            headers: [
                .contentType: type,
                // With a version it is another address when the file may be another.
                .cacheControl: request.uri.query == nil ? "no-cache" : "private, max-age=31536000, immutable",
            ],
            body: ResponseBody(byteBuffer: file)
        )
    }

    private func stream(
        _ frames: (first: [WebFrame], rest: AsyncStream<WebFrame>),
        _ request: Request,
        _ context: WebContext
    ) -> Response {
        var headers: HTTPFields = [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store"]
        // Proxies are to hold nothing back.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody { writer in
                // Without it a quiet stream would outlive its client.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    var last: Int?
                    for frame in frames.first {
                        last = frame.number ?? last
                        try await writer.write(ByteBuffer(string: frame.text))
                    }
                    for await frame in frames.rest {
                        var text = frame.text
                        if let number = frame.number {
                            if let last, number > last + 1 { text = EventFeed.missed(number - last - 1).text + text }
                            last = number
                        }
                        try await writer.write(ByteBuffer(string: text))
                    }
                }
                try await writer.finish(nil)
            }
        )
    }
}

/// The logo and the sounds of a theme, each read once, however many ask for it.
final class ThemeFiles: Sendable {
    private struct File {
        var mark: [Int]
        var bytes: ByteBuffer
    }

    private let files = Mutex<[String: File]>([:])

    func file(_ path: String) -> ByteBuffer? {
        // A pipe without a writer would be waited for.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Theme.largestFile
        else { return nil }
        let mark = [Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        if let known = files.withLock({ $0[path] }), known.mark == mark { return known.bytes }
        guard let data = try? handle.read(upToCount: Theme.largestFile) else { return nil }
        let bytes = ByteBuffer(bytes: data)
        files.withLock { $0[path] = File(mark: mark, bytes: bytes) }
        return bytes
    }

    /// Forgets the files of a theme that is not shown any more.
    func forget() { files.withLock { $0 = [:] } }
}

/// A file of the pages, which is part of the program.
struct WebPage: Sendable {
    let bytes: [UInt8]
    let type: String
    let tag: String
    let isAsset: Bool

    init(_ name: String, _ bytes: [UInt8]) {
        self.bytes = bytes
        let ending = (name as NSString).pathExtension
        type = Self.types[ending] ?? "application/octet-stream"
        isAsset = ending != "html"
        tag = "\"" + SHA256.hash(bytes).prefix(12).map { String($0, radix: 16) }.joined() + "\""
    }

    static let all: [String: WebPage] = Dictionary(
        uniqueKeysWithValues: [
            ("visitor.html", PackageResources.visitor_html), ("desk.html", PackageResources.desk_html),
            ("screen.css", PackageResources.screen_css), ("icon.svg", PackageResources.icon_svg),
            ("visitor.js", PackageResources.visitor_js), ("desk.js", PackageResources.desk_js),
            ("stream.js", PackageResources.stream_js), ("look.js", PackageResources.look_js),
            ("sounds.js", PackageResources.sounds_js), ("memory.js", PackageResources.memory_js),
        ].map { ($0.0, WebPage($0.0, $0.1)) }
    )

    /// The media types of pages, and of what themes may name.
    static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml; charset=utf-8", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "webp": "image/webp", "gif": "image/gif", "wav": "audio/wav", "mp3": "audio/mpeg", "ogg": "audio/ogg",
        "opus": "audio/ogg", "m4a": "audio/mp4", "flac": "audio/flac",
    ]
}
#endif
