#if NETWORK
import Cryptography
import CurlHTTP
import Foundation
import SirenKit

/// Carries requests over HTTP/1.1, and HTTP/2 where the server offers it, with connections of its own, over libcurl.
public final class HTTPTransport: SirenTransport {
    private let client: CurlClient

    /// Creates a transport.
    ///
    /// - Parameter session: its time-outs, proxy and authorities count.
    /// - Throws: ``SirenKit/SirenRequestError/proxyInvalid(_:)`` or ``SirenKit/SirenRequestError/authorityInvalid(_:)``;
    ///   ``SirenKit/SirenRequestError/notConnected(_:)`` where the machine has no libcurl.
    public init(_ session: SirenSession = SirenSession()) throws(SirenRequestError) {
        var authorities: [UInt8] = []
        for path in session.certificateAuthorities {
            guard let data = FileManager.default.contents(atPath: path),
                let certificates = CertificateFile.certificates(of: String(decoding: data, as: UTF8.self))
            else { throw .authorityInvalid(path) }
            authorities += certificates.utf8
        }
        let options = CurlOptions(
            connectTimeout: session.connectTimeout,
            readTimeout: session.readTimeout,
            wholeTimeout: session.wholeTimeout,
            proxy: try session.proxy.map(CurlOptions.Proxy.init),
            authorities: authorities
        )
        do {
            client = try CurlClient(options)
        } catch {
            throw .notConnected(SirenTransportError(error))
        }
    }

    /// Sends one request and returns its answer whole.
    ///
    /// - Throws: ``SirenKit/SirenTransportError``; ``SirenKit/SirenRequestError`` for a method or a header field that HTTP has no
    ///   form for, such as one with a line break.
    public func send(_ request: SirenRequest) async throws -> SirenResponse {
        guard SirenHeaders.isToken(request.method) else { throw SirenRequestError.methodInvalid(request.method) }
        if let name = request.headers.unsendable { throw SirenRequestError.headerInvalid(name) }
        let port = request.url.port
        guard port.map((1...65_535).contains) ?? true,
            var url = URLComponents(url: request.url, resolvingAgainstBaseURL: true)
        else { throw SirenTransportError(.notConnected, "there is no such port") }
        (url.user, url.password, url.fragment) = (nil, nil, nil)
        // A method that is about content says that there is none (RFC 9110, 8.6).
        let empty = ["PATCH", "POST", "PUT"].contains(request.method) ? SirenBody([SirenBody.Piece](), type: "") : nil
        let body = try (request.body ?? empty).map { try Upload($0) }
        let outgoing = CurlRequest(
            request.method,
            url.string ?? "",
            headers: request.headers.fields.map { ($0.name, $0.value) },
            body: body.map { body in CurlBody(length: body.length) { try body.read(into: $0) } },
            longestAnswer: request.longestAnswer
        )
        do {
            let answer = try await client.send(outgoing)
            let headers = SirenHeaders(answer.headers.map { SirenHeaders.Field($0.name, $0.value) })
            return SirenResponse(status: answer.status, headers: headers, body: answer.body)
        } catch {
            try Task.checkCancellation()
            throw (error as? CurlError).map(SirenTransportError.init) ?? error
        }
    }
}

/// A body whose files are open, so that each of them can be read and its length is known.
///
/// `@unchecked Sendable`: it is read on the client's thread alone.
private final class Upload: @unchecked Sendable {
    private enum Part {
        case bytes([UInt8])
        case file(SirenFile.Opened)
    }

    private var parts: ArraySlice<Part> = []
    /// What is left of the first part.
    private var bytes: ArraySlice<UInt8> = []
    private var file: (handle: FileHandle, due: Int)?
    let length: Int

    init(_ body: SirenBody) throws(SirenTransportError) {
        var length = 0
        for piece in body.pieces {
            switch piece {
            case .bytes(let bytes):
                parts.append(.bytes(bytes))
                length += bytes.count
            case .path(let path):
                guard let file = SirenFile.Opened(path) else { throw SirenTransportError(.fileUnreadable) }
                parts.append(.file(file))
                length += file.length
            }
        }
        self.length = length
    }

    /// Writes the next bytes, and returns how many; 0 at the end.
    func read(into place: UnsafeMutableRawBufferPointer) throws(SirenTransportError) -> Int {
        while true {
            if let (handle, due) = file {
                // One byte more than is due, to see that there is none.
                let data = (try? handle.read(upToCount: due > place.count ? place.count : due + 1)) ?? Data()
                guard data.count <= due, due == 0 || !data.isEmpty else { throw SirenTransportError(.fileChanged) }
                file = data.isEmpty ? nil : (handle, due - data.count)
                if !data.isEmpty {
                    data.copyBytes(to: place)
                    return data.count
                }
            }
            if !bytes.isEmpty {
                let some = bytes.prefix(place.count)
                place.copyBytes(from: some)
                bytes = bytes.dropFirst(some.count)
                return some.count
            }
            switch parts.popFirst() {
            case .bytes(let next): bytes = next[...]
            case .file(let opened): file = (opened.handle, opened.length)
            case nil: return 0
            }
        }
    }
}

extension SirenTransportError {
    fileprivate init(_ error: CurlError) {
        if let error = error.underlying as? SirenTransportError {
            self = error
            return
        }
        let kind: Kind =
            switch error.kind {
            case .unavailable: .unavailable
            case .notConnected, .cancelled: .notConnected
            case .notTrusted: .notTrusted
            case .timedOut: .timedOut
            case .tooLong: .tooLong
            case .lost: .lost
            }
        self.init(kind, error.detail)
    }
}

extension CurlOptions.Proxy {
    fileprivate init(_ url: URL) throws(SirenRequestError) {
        guard let host = url.host(), !host.isEmpty, url.port.map((1...65_535).contains) ?? true else {
            throw .proxyInvalid(url)
        }
        let user = url.user().map { $0.removingPercentEncoding ?? $0 }
        let password = url.password().map { $0.removingPercentEncoding ?? $0 } ?? ""
        let place = host.contains(":") ? "[\(host)]" : host
        switch url.scheme?.lowercased() {
        case "http": self.init(url: "http://\(place):\(url.port ?? 3128)", user: user, password: password)
        // The proxy looks names up.
        case "socks5" where user == nil: self.init(url: "socks5h://\(place):\(url.port ?? 1080)")
        default: throw .proxyInvalid(url)
        }
    }
}

extension SirenClient {
    /// Creates a client over HTTP.
    ///
    /// - Parameters:
    ///   - baseURL: the API's address, of HTTP. One without a slash at its end gets one.
    ///   - manifestPath: the reference to the API's first entity; empty where the API begins at its address.
    ///   - store: where links and actions are kept.
    /// - Throws: ``SirenKit/SirenRequestError/referenceInvalid(_:)`` if the manifest has no URL of HTTP, and as
    ///   ``HTTPTransport/init(_:)``.
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
