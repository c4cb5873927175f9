#if NETWORK
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOSSL
import SirenKit
import Synchronization

/// Carries requests over HTTP/1.1, and HTTP/2 where the server offers it, with connections of its own.
public final class HTTPTransport: SirenTransport {
    private let client: HTTPClient
    private let wholeTimeout: TimeAmount

    /// Creates a transport.
    ///
    /// - Parameter session: its time-outs, proxy, authorities and longest answer count.
    /// - Throws: ``SirenKit/SirenRequestError/proxyInvalid(_:)`` or ``SirenKit/SirenRequestError/authorityInvalid(_:)``.
    public init(_ session: SirenSession = SirenSession()) throws(SirenRequestError) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .enabled(limit: .size(session.longestAnswer))
        configuration.timeout = HTTPClient.Configuration.Timeout(
            connect: TimeAmount(session.connectTimeout),
            read: TimeAmount(session.readTimeout),
            write: TimeAmount(session.readTimeout)
        )
        // The client repeats what may be repeated.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let proxy = session.proxy { configuration.proxy = try HTTPClient.Configuration.Proxy(proxy) }
        if !session.certificateAuthorities.isEmpty {
            var tls = TLSConfiguration.makeClientConfiguration()
            for path in session.certificateAuthorities {
                guard let authorities = try? NIOSSLCertificate.fromPEMFile(path), !authorities.isEmpty else {
                    throw .authorityInvalid(path)
                }
                tls.additionalTrustRoots.append(.certificates(authorities))
            }
            configuration.tlsConfiguration = tls
        }
        wholeTimeout = TimeAmount(session.wholeTimeout)
        // One loop for all requests and connections, so that what becomes of a request is told in its order.
        let loop = HTTPClient.defaultEventLoopGroup.any()
        client = HTTPClient(eventLoopGroupProvider: .shared(loop), configuration: configuration)
    }

    deinit {
        // Its connections have to be closed before it goes.
        Task { [client] in try? await client.shutdown() }
    }

    /// Sends one request and returns its answer whole.
    public func send(_ request: SirenRequest) async throws -> SirenResponse {
        let exchange = Exchange(longestAnswer: request.longestAnswer)
        do {
            return try await withThrowingTaskGroup(of: SirenResponse.self) { group in
                group.addTask { try await self.perform(request, exchange) }
                group.addTask { [wholeTimeout] in
                    try await Task.sleep(for: .nanoseconds(wholeTimeout.nanoseconds))
                    throw HTTPClientError.deadlineExceeded
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        } catch {
            try Task.checkCancellation()
            throw SirenTransportError(error, wasSent: exchange.wasSent)
        }
    }

    private func perform(_ request: SirenRequest, _ exchange: Exchange) async throws -> SirenResponse {
        guard request.url.port.map((1...65_535).contains) ?? true else {
            throw SirenTransportError(.notConnected, "there is no such port")
        }
        var headers = HTTPHeaders(request.headers.fields.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "Accept-Encoding", value: "gzip, deflate")
        let method = HTTPMethod(rawValue: request.method)
        guard let upload = try request.body.map({ try Upload($0, exchange) }), upload.length > 0 else {
            let empty = request.body.map { _ in HTTPClient.Body.byteBuffer(ByteBuffer()) }
            let outgoing = try HTTPClient.Request(url: request.url, method: method, headers: headers, body: empty)
            let task = client.execute(request: outgoing, delegate: exchange)
            return try await withTaskCancellationHandler {
                try await task.get()
            } onCancel: {
                task.cancel()
            }
        }
        // Only in this way an answer can come before all of the body was sent.
        var outgoing = HTTPClientRequest(url: request.url.absoluteString)
        outgoing.method = method
        outgoing.headers = headers
        outgoing.body = .stream(upload, length: .known(Int64(upload.length)))
        let response = try await client.execute(outgoing, deadline: .distantFuture)
        exchange.receive(response.status, response.headers)
        for try await part in response.body { try exchange.receive(part) }
        return exchange.response
    }
}

/// What becomes of one request.
private final class Exchange: HTTPClientResponseDelegate {
    private struct State {
        var wasSent = false
        var response = SirenResponse()
    }

    private let longestAnswer: Int
    private let state = Mutex(State())

    init(longestAnswer: Int) { self.longestAnswer = longestAnswer }

    var wasSent: Bool { state.withLock { $0.wasSent } }

    var response: SirenResponse { state.withLock { $0.response } }

    func send() { state.withLock { $0.wasSent = true } }

    func receive(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        let headers = SirenHeaders(headers.map { SirenHeaders.Field($0.name, $0.value) })
        state.withLock { $0.response = SirenResponse(status: Int(status.code), headers: headers) }
    }

    func receive(_ part: ByteBuffer) throws(SirenTransportError) {
        let fits = state.withLock { state in
            guard state.response.body.count + part.readableBytes <= longestAnswer else { return false }
            state.response.body.append(contentsOf: part.readableBytesView)
            return true
        }
        guard fits else { throw SirenTransportError(.tooLong) }
    }

    func didSendRequestHead(task: HTTPClient.Task<SirenResponse>, _ head: HTTPRequestHead) { send() }

    func didReceiveHead(task: HTTPClient.Task<SirenResponse>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        receive(head.status, head.headers)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<SirenResponse>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        task.eventLoop.makeCompletedFuture { try receive(part) }
    }

    func didFinishRequest(task: HTTPClient.Task<SirenResponse>) -> SirenResponse { response }
}

/// A body whose files are open, so that each of them can be read and its length is known. It is asked for its bytes when the
/// request's head was sent.
private struct Upload: AsyncSequence, Sendable {
    fileprivate enum Part: Sendable {
        case bytes(ByteBuffer)
        case file(SirenFile.Opened)
    }

    private let exchange: Exchange
    private var parts: [Part] = []
    private(set) var length = 0

    init(_ body: SirenBody, _ exchange: Exchange) throws(SirenTransportError) {
        self.exchange = exchange
        for piece in body.pieces {
            switch piece {
            case .bytes(let bytes):
                parts.append(.bytes(ByteBuffer(bytes: bytes)))
                length += bytes.count
            case .path(let path):
                guard let file = SirenFile.Opened(path) else { throw SirenTransportError(.fileUnreadable) }
                parts.append(.file(file))
                length += file.length
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(exchange: exchange, parts: parts[...]) }

    struct Iterator: AsyncIteratorProtocol {
        let exchange: Exchange
        var parts: ArraySlice<Part>
        var file: (handle: FileHandle, due: Int)?

        mutating func next() async throws -> ByteBuffer? {
            exchange.send()
            while true {
                if let (handle, due) = file {
                    // One byte more than is due, to see that there is none.
                    let data = (try? handle.read(upToCount: Swift.min(due + 1, 1 << 16))) ?? Data()
                    guard data.count <= due, due == 0 || !data.isEmpty else { throw SirenTransportError(.fileChanged) }
                    file = data.isEmpty ? nil : (handle, due - data.count)
                    if !data.isEmpty { return ByteBuffer(bytes: data) }
                }
                switch parts.popFirst() {
                case .bytes(let bytes): return bytes
                case .file(let opened): file = (opened.handle, opened.length)
                case nil: return nil
                }
            }
        }
    }
}

extension SirenTransportError {
    /// - Parameter wasSent: whether the request's head was written to a connection.
    fileprivate init(_ error: any Error, wasSent: Bool) {
        if let error = error as? SirenTransportError {
            self = error
            return
        }
        let kind: Kind
        switch error {
        case NIOSSLError.handshakeFailed(.sslError(let stack)) where !wasSent:
            kind = stack.contains(.eofDuringHandshake) ? .notConnected : .notTrusted
        case is NIOSSLExtraError where !wasSent: kind = .notTrusted
        case _ where !wasSent: kind = .notConnected
        case let error as HTTPClientError where [.readTimeout, .writeTimeout, .deadlineExceeded].contains(error):
            kind = .timedOut
        case NIOHTTPDecompression.DecompressionError.limit: kind = .tooLong
        default: kind = .lost
        }
        self.init(kind, (error as? HTTPClientError)?.shortDescription ?? "")
    }
}

extension HTTPClient.Configuration.Proxy {
    fileprivate init(_ url: URL) throws(SirenRequestError) {
        guard let host = url.host(), !host.isEmpty, url.port.map((1...65_535).contains) ?? true else {
            throw .proxyInvalid(url)
        }
        let authorization = url.user().map { user in
            HTTPClient.Authorization.basic(
                username: user.removingPercentEncoding ?? user,
                password: url.password().map { $0.removingPercentEncoding ?? $0 } ?? ""
            )
        }
        switch url.scheme?.lowercased() {
        case "http": self = .server(host: host, port: url.port ?? 3128, authorization: authorization)
        case "socks5" where authorization == nil: self = .socksServer(host: host, port: url.port ?? 1080)
        default: throw .proxyInvalid(url)
        }
    }
}

extension TimeAmount {
    /// Up to 68 years, so that moments can be reckoned from it.
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(Int32.max)).components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

extension SirenClient {
    /// Creates a client over HTTP.
    ///
    /// - Parameters:
    ///   - baseURL: the API's address, of HTTP. One without a slash at its end gets one.
    ///   - manifestPath: the reference to the API's first entity; empty where the API begins at its address.
    ///   - store: where links and actions are kept.
    /// - Throws: ``SirenKit/SirenRequestError/referenceInvalid(_:)`` if the manifest has no URL of HTTP,
    ///   ``SirenKit/SirenRequestError/proxyInvalid(_:)`` or ``SirenKit/SirenRequestError/authorityInvalid(_:)``.
    public convenience init(
        baseURL: URL,
        manifestPath: String = "",
        session: SirenSession = SirenSession(),
        store: any SirenStore = MemorySirenStore()
    ) throws(SirenRequestError) {
        try self.init(
            baseURL: baseURL,
            manifestPath: manifestPath,
            session: session,
            transport: HTTPTransport(session),
            store: store
        )
    }
}
#endif
