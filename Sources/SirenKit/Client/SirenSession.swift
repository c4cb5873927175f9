import Foundation
import Logging

/// How a client speaks to servers.
public struct SirenSession: Sendable {
    /// Header fields of every request to the manifest's origin, and to ``furtherOrigins``; never to another.
    public var headers: SirenHeaders = [:]
    /// Further origins that may get ``headers`` and the authorization, and that speak for the API (``SirenRecord/isTrusted``):
    /// URLs of which only scheme, host and port count.
    public var furtherOrigins: [URL] = []
    /// How documents are read.
    public var mode: SirenDocument.Mode = .lenient
    /// By what entities are known.
    public var mapping = SirenGUIDMapping()
    /// How forms become bytes.
    public var encodings = SirenEncodings()
    /// Whether actions with hidden values or defaults are kept, which are needed to submit them by name. If not, such
    /// actions are found only in the entities that were just received.
    public var storesValues = true
    /// For how long links and actions count as fresh if the server does not specify it.
    public var freshness: Duration = .seconds(300)
    /// For how long they count as fresh at most, whatever the server specifies.
    public var longestFreshness: Duration = .seconds(86_400)

    /// The longest answer, in bytes, unpacked.
    public var longestAnswer = 8 << 20
    /// How many redirects are followed.
    public var redirects = 10
    /// How often a request that may be repeated is repeated.
    public var retries = 3
    /// The longest pause before the first repetition; before each further one it may be twice as long.
    public var retryPause: Duration = .milliseconds(250)
    /// The longest pause at all. A server that asks for a longer one (`Retry-After`) is not asked again.
    public var longestRetryPause: Duration = .seconds(30)
    /// Whether POST and PATCH carry an `Idempotency-Key` and are repeated, too.
    public var sendsIdempotencyKeys = false

    /// How long a connection may take to open.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a server may be silent.
    public var readTimeout: Duration = .seconds(30)
    /// How long a request may take, with its body and the answer.
    public var wholeTimeout: Duration = .seconds(300)
    /// A proxy for all requests: `http://host:port`, with user and password if it wants them, or `socks5://host:port`.
    public var proxy: URL?
    /// Files of certificate authorities (PEM) that are trusted beside the system's.
    public var certificateAuthorities: [String] = []

    /// Where methods, URLs without their queries, and statuses are logged; nothing else is.
    public var logger = Logger(label: "siren", factory: { _ in SwiftLogNoOpLogHandler() })

    /// What the client takes from its surroundings: tests have their own.
    public struct Surroundings: Sendable {
        /// The present.
        public var now: @Sendable () -> Date = { Date() }
        /// Waits.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// A number from 0 to 1.
        public var random: @Sendable () -> Double = { Double.random(in: 0...1) }
        /// A name that nothing else has.
        public var makeUUID: @Sendable () -> UUID = { UUID() }

        /// The real surroundings.
        public init() {}
    }

    /// What the client takes from its surroundings.
    public var surroundings = Surroundings()

    /// Creates a session with the usual values.
    public init() {}

    /// Whether requests to the URL may carry what is secret.
    func trusts(_ url: URL, manifest: URL) -> Bool {
        let origin = url.origin
        return origin != nil && ([manifest] + furtherOrigins).contains { $0.origin == origin }
    }
}

extension URL {
    /// Scheme, host and port, by which origins are compared (RFC 6454); `nil` of what is not HTTP.
    package var origin: String? {
        guard let scheme = scheme?.lowercased(), let host = host()?.lowercased(), !host.isEmpty,
            let usual = ["http": 80, "https": 443][scheme]
        else { return nil }
        return "\(scheme)://\(host):\(port ?? usual)"
    }

    /// The URL without what may be personal: user, password, query and fragment.
    var forLogs: String {
        guard let origin else { return "\(scheme ?? "?"):" }
        return origin + path()
    }
}
