#if NETWORK
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import SirenKit

/// Carries requests over HTTP/1.1, and HTTP/2 where the server offers it, with connections of its own.
public final class HTTPTransport: SirenTransport {
    private let client: HTTPClient
    private let wholeTimeout: Duration

    /// Creates a transport.
    ///
    /// - Parameter session: its time-outs, proxy, authorities and longest answer count.
    /// - Throws: ``SirenKit/SirenRequestError/proxyInvalid(_:)``, or an error of the system if a file of authorities cannot
    ///   be read.
    public init(_ session: SirenSession = SirenSession()) throws {
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
        configuration.proxy = try session.proxy.map(HTTPClient.Configuration.Proxy.init)
        if !session.certificateAuthorities.isEmpty {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = try session.certificateAuthorities.map { path in
                .certificates(try NIOSSLCertificate.fromPEMFile(path))
            }
            configuration.tlsConfiguration = tls
        }
        wholeTimeout = session.wholeTimeout
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        // Its connections have to be closed before it goes.
        Task { [client] in try? await client.shutdown() }
    }

    /// Sends one request and returns its answer whole.
    public func send(_ request: SirenRequest) async throws -> SirenResponse {
        do {
            return try await withThrowingTaskGroup(of: SirenResponse.self) { group in
                group.addTask { try await self.exchange(request) }
                group.addTask { [wholeTimeout] in
                    try await Task.sleep(for: wholeTimeout)
                    throw SirenTransportError(.timedOut)
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        } catch {
            try Task.checkCancellation()
            throw SirenTransportError(error)
        }
    }

    private func exchange(_ request: SirenRequest) async throws -> SirenResponse {
        var outgoing = HTTPClientRequest(url: request.url.absoluteString)
        outgoing.method = HTTPMethod(rawValue: request.method)
        for field in request.headers.fields {
            outgoing.headers.add(name: field.name, value: field.value)
        }
        outgoing.headers.replaceOrAdd(name: "Accept-Encoding", value: "gzip, deflate")
        if let body = request.body {
            guard let length = body.length else { throw UnreadableFile() }
            outgoing.body = .stream(Chunks(pieces: body.pieces), length: .known(Int64(length)))
        }
        let response = try await client.execute(outgoing, deadline: .distantFuture)
        var bytes: [UInt8] = []
        for try await chunk in response.body {
            guard bytes.count + chunk.readableBytes <= request.longestAnswer else {
                throw SirenTransportError(.tooLong)
            }
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        return SirenResponse(
            status: Int(response.status.code),
            headers: SirenHeaders(response.headers.map { SirenHeaders.Field($0.name, $0.value) }),
            body: bytes
        )
    }
}

private struct UnreadableFile: Error {}

/// The bytes of a body, files piece by piece.
private struct Chunks: AsyncSequence, Sendable {
    let pieces: [SirenBody.Piece]

    func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var pieces: ArraySlice<SirenBody.Piece>
        var file: FileHandle?

        mutating func next() async throws -> ByteBuffer? {
            while true {
                if let file {
                    if let data = try file.read(upToCount: 1 << 16), !data.isEmpty {
                        return ByteBuffer(bytes: data)
                    }
                    self.file = nil
                }
                switch pieces.popFirst() {
                case .bytes(let bytes): return ByteBuffer(bytes: bytes)
                case .path(let path):
                    guard let file = FileHandle(forReadingAtPath: path) else { throw UnreadableFile() }
                    self.file = file
                case nil: return nil
                }
            }
        }
    }
}

extension SirenTransportError {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as SirenTransportError: self = error
        case is UnreadableFile: self.init(.lost, "a file that was sent cannot be read")
        case let error as HTTPClientError: self.init(Self.kind(error), error.shortDescription)
        case is NIOConnectionError: self.init(.notConnected)
        case let error as ChannelError:
            if case .connectTimeout = error { self.init(.notConnected) } else { self.init(.lost) }
        case is NIOSSLError, is NIOSSLExtraError: self.init(.notTrusted)
        case NIOHTTPDecompression.DecompressionError.limit: self.init(.tooLong)
        default: self.init(.lost)
        }
    }

    private static func kind(_ error: HTTPClientError) -> Kind {
        switch error {
        case .connectTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
            .tlsHandshakeTimeout,
            .getConnectionFromPoolTimeout, .invalidProxyResponse, .proxyAuthenticationRequired:
            .notConnected
        case .readTimeout, .writeTimeout, .deadlineExceeded: .timedOut
        default: .lost
        }
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
    ///   ``SirenKit/SirenRequestError/proxyInvalid(_:)``, or an error of the system if a file of authorities cannot be read.
    public convenience init(
        baseURL: URL,
        manifestPath: String = "",
        session: SirenSession = SirenSession(),
        store: any SirenStore = MemorySirenStore()
    ) throws {
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
