import Foundation
import Synchronization

/// Carries requests to servers. It follows no redirects, repeats nothing and keeps no cookies: the client does what is to
/// be done of that, the same over every transport.
public protocol SirenTransport: Sendable {
    /// Sends one request and returns its answer whole.
    ///
    /// - Throws: ``SirenTransportError``, or `CancellationError` if the task was cancelled.
    func send(_ request: SirenRequest) async throws -> SirenResponse
}

/// Header fields in their order; names in whatever case.
public struct SirenHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, CustomStringConvertible,
    CustomDebugStringConvertible, CustomReflectable
{
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields.
    public var fields: [Field]

    /// Creates header fields.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Creates header fields.
    public init(dictionaryLiteral elements: (String, String)...) { fields = elements.map { Field($0, $1) } }

    /// The first value of a name. Setting replaces all values of that name.
    public subscript(name: String) -> String? {
        get { fields.first { SirenRelation.isSame($0.name, name) }?.value }
        set {
            fields.removeAll { SirenRelation.isSame($0.name, name) }
            if let newValue { fields.append(Field(name, newValue)) }
        }
    }

    /// The names alone: a value may be a secret.
    public var description: String { fields.map(\.name).joined(separator: ", ") }

    /// The names alone: a value may be a secret.
    public var debugDescription: String { description }

    /// The names alone: a value may be a secret.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: fields.map(\.name)) }

    /// The name of a field that HTTP has no form for (RFC 9110), such as one with a line break.
    package var unsendable: String? {
        fields.first { field in
            !Self.isToken(field.name) || field.value.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
        }?.name
    }

    /// Whether it has the form of a header field's name, which is that of a method too.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }
}

/// A request as a transport sends it.
public struct SirenRequest: Sendable, Hashable {
    /// The HTTP method.
    public var method: String
    /// Where to, absolute.
    public var url: URL
    /// All header fields but those that follow from the URL and the body's length.
    public var headers: SirenHeaders
    /// What is sent; its type is among the header fields.
    public var body: SirenBody?
    /// How long the answer's body may be, in bytes, unpacked.
    public var longestAnswer: Int

    /// Creates a request.
    public init(
        method: String = "GET",
        url: URL,
        headers: SirenHeaders = [:],
        body: SirenBody? = nil,
        longestAnswer: Int = .max
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.longestAnswer = longestAnswer
    }
}

/// An answer as a transport gets it.
public struct SirenResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The header fields.
    public var headers: SirenHeaders
    /// The body, unpacked.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int = 200, headers: SirenHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Why a transport has no answer.
public struct SirenTransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Kind: String, Sendable, Hashable {
        /// Nothing on this machine carries requests: nothing was sent.
        case unavailable
        /// There was no connection: nothing was sent.
        case notConnected
        /// The server did not prove who it is: nothing was sent.
        case notTrusted
        /// A file that is to be sent cannot be read: nothing was sent.
        case fileUnreadable
        /// A file did not keep its length while it was sent, or could no longer be read.
        case fileChanged
        /// It took too long.
        case timedOut
        /// The connection ended before the answer did.
        case lost
        /// The answer is longer than it may be.
        case tooLong
    }

    /// What happened.
    public var kind: Kind
    /// The transport's own words, without anything that was sent.
    public var detail: String

    /// Creates an error.
    public init(_ kind: Kind, _ detail: String = "") {
        self.kind = kind
        self.detail = detail
    }

    /// Whether it is certain that nothing of the request was sent.
    public var isUnsent: Bool { [.unavailable, .notConnected, .notTrusted, .fileUnreadable].contains(kind) }

    /// What happened, in words.
    public var description: String {
        let words =
            switch kind {
            case .unavailable: "this machine cannot send requests; install what is missing"
            case .notConnected: "the server cannot be reached; check the network and the server's address"
            case .notTrusted: "the server's certificate is not trusted; check its address, or add its authority"
            case .fileUnreadable: "a file that is to be sent cannot be read; give another"
            case .fileChanged: "a file changed while it was sent; send it again when nothing writes to it"
            case .timedOut: "the server took too long; try again later"
            case .lost: "the connection ended before the answer did; try again later"
            case .tooLong: "the answer is longer than it may be; raise the limit if that is meant"
            }
        return detail.isEmpty ? words : "\(words) (\(detail))"
    }
}

/// Answers requests in process, for tests and for replays.
public final class InMemoryTransport: SirenTransport {
    private let answer: @Sendable (SirenRequest) async throws -> SirenResponse
    private let seen = Mutex<[SirenRequest]>([])

    /// Creates a transport.
    public init(_ answer: @escaping @Sendable (SirenRequest) async throws -> SirenResponse) { self.answer = answer }

    /// All requests so far.
    public var requests: [SirenRequest] { seen.withLock { $0 } }

    /// Answers the request, within its limit.
    public func send(_ request: SirenRequest) async throws -> SirenResponse {
        try Task.checkCancellation()
        seen.withLock { $0.append(request) }
        let response = try await answer(request)
        guard response.body.count <= request.longestAnswer else { throw SirenTransportError(.tooLong) }
        return response
    }
}
