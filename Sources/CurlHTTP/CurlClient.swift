#if NETWORK
import Foundation

/// What one request is.
package struct CurlRequest: Sendable {
    /// The method, whatever it is.
    package var method: String
    /// Where to, without a user.
    package var url: String
    /// All header fields but those that follow from the URL and the body's length.
    package var headers: [(name: String, value: String)]
    /// What is sent.
    package var body: CurlBody?
    /// How long the answer's body may be, in bytes, unpacked.
    package var longestAnswer: Int

    package init(
        _ method: String,
        _ url: String,
        headers: [(name: String, value: String)] = [],
        body: CurlBody? = nil,
        longestAnswer: Int = .max
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.longestAnswer = longestAnswer
    }
}

/// What is sent with a request, of a length that is known before.
package struct CurlBody: Sendable {
    /// In bytes.
    package var length: Int
    /// Writes the next bytes into a place and returns how many; called on the client's thread. What it throws ends the request.
    package var read: @Sendable (UnsafeMutableRawBufferPointer) throws -> Int

    package init(length: Int, read: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.length = length
        self.read = read
    }
}

/// An answer.
package struct CurlResponse: Sendable {
    package var status = 0
    package var headers: [(name: String, value: String)] = []
    /// Unpacked.
    package var body: [UInt8] = []
}

/// Why there is no answer.
package struct CurlError: Error, Sendable {
    package enum Kind: Sendable {
        /// There is no libcurl on this machine, or one that lacks something.
        case unavailable
        /// There was no connection: nothing was sent.
        case notConnected
        /// The server did not prove who it is: nothing was sent.
        case notTrusted
        case timedOut
        case tooLong
        /// The connection ended, or what came was no answer.
        case lost
        case cancelled
    }

    package var kind: Kind
    /// libcurl's words.
    package var detail: String
    /// What the request's body threw.
    package var underlying: (any Error)?

    init(_ kind: Kind, _ detail: String = "", underlying: (any Error)? = nil) {
        self.kind = kind
        self.detail = detail
        self.underlying = underlying
    }
}

/// How a client reaches servers.
package struct CurlOptions: Sendable {
    package let connectTimeout: Duration
    /// How long nothing may come or go once there is a connection.
    package let readTimeout: Duration
    package let wholeTimeout: Duration
    package let proxy: Proxy?
    /// Certificates in PEM that are trusted beside the machine's.
    package let authorities: [UInt8]

    package struct Proxy: Sendable {
        /// With `http://` or `socks5h://`.
        package let url: String
        package let user: String?
        package let password: String

        package init(url: String, user: String? = nil, password: String = "") {
            self.url = url
            self.user = user
            self.password = password
        }
    }

    package init(
        connectTimeout: Duration = .seconds(10),
        readTimeout: Duration = .seconds(30),
        wholeTimeout: Duration = .seconds(300),
        proxy: Proxy? = nil,
        authorities: [UInt8] = []
    ) {
        // Up to 68 years, so that moments can be reckoned from them.
        func bounded(_ duration: Duration) -> Duration { min(max(duration, .zero), .seconds(Int32.max)) }
        self.connectTimeout = bounded(connectTimeout)
        self.readTimeout = bounded(readTimeout)
        self.wholeTimeout = bounded(wholeTimeout)
        self.proxy = proxy
        self.authorities = authorities
    }
}

/// Carries requests over HTTP/1.1, and HTTP/2 where the server offers it, with connections of its own: libcurl's multi
/// interface on a thread of its own, which ends with the client.
///
/// It follows no redirects, repeats nothing, keeps no cookies, and takes nothing from the environment, besides `SSLKEYLOGFILE`,
/// into which libcurl writes the keys of connections for whoever looks for a fault.
package final class CurlClient: Sendable {
    private let loop: CurlLoop

    /// - Throws: ``CurlError`` where there is no libcurl.
    package init(_ options: CurlOptions = CurlOptions()) throws(CurlError) {
        loop = try CurlLoop(options)
        Thread { [loop] in loop.run() }.start()
    }

    deinit { loop.stop() }

    /// Sends one request and returns its answer whole.
    ///
    /// - Throws: ``CurlError``; of the kind `cancelled` if the task was cancelled.
    package func send(_ request: CurlRequest) async throws -> CurlResponse {
        let transfer = CurlTransfer(request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                transfer.begin(continuation)
                loop.add(transfer)
            }
        } onCancel: {
            loop.cancel(transfer)
        }
    }
}
#endif
