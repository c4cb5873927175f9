import Foundation

/// What a server answered.
public struct SirenAnswer: Sendable, Hashable {
    /// What became of the request.
    public enum Outcome: String, Sendable, Hashable {
        /// It was done.
        case done
        /// Something was created; ``SirenAnswer/location`` specifies where.
        case created
        /// It will be done; ``SirenAnswer/location`` may specify where to look.
        case accepted
        /// What was known still holds.
        case unchanged
        /// It was refused or failed.
        case failed
    }

    /// What came with the answer.
    public enum Content: Sendable, Hashable {
        /// An entity, with absolute references. One of the class `error` describes what failed.
        ///
        /// A link's template (RFC 6570) that leads elsewhere depending on its values has the document's URL before it,
        /// in `{@` and `}`; ``SirenClient/follow(_:parameters:)`` takes it like any other.
        case entity(SirenEntity)
        /// A description of what failed (RFC 9457).
        case problem(SirenProblem)
        /// Something that is no Siren, with its media type.
        case other([UInt8], type: String?)
        /// Nothing.
        case none
    }

    /// Where it came from, after all redirects; without a fragment, which is for those who read it.
    public var url: URL
    /// The HTTP status.
    public var status: Int
    /// What became of the request.
    public var outcome: Outcome
    /// What came with the answer.
    public var content: Content
    /// The bytes of the body.
    public var bytes: [UInt8]
    /// The header fields.
    public var headers: SirenHeaders
    /// Where a document is not as it should be.
    public var violations: [SirenViolation] = []
    /// The URLs that led here by redirects.
    public var redirects: [URL] = []
    /// What was passed for an action and not sent.
    public var dropped: [SirenForm.Dropped] = []
    /// What did not come out as it should when the entities' GUIDs were worked out.
    public var identityProblems: [SirenGUIDMapping.Problem] = []
    /// Whether the link or action was kept for longer than the server states that it holds.
    public var isFromStale = false

    /// The entity, if one came.
    public var entity: SirenEntity? {
        if case .entity(let entity) = content { entity } else { nil }
    }

    /// Where what was created is, or where one can look.
    public var location: URL? { headers["Location"].flatMap { SirenReference.resolve($0, against: url) } }

    init(_ response: SirenResponse, from url: URL, redirects: [URL], mode: SirenDocument.Mode)
        throws(SirenTransferError)
    {
        let url = url.withoutFragment
        self.url = url
        self.redirects = redirects
        (status, headers, bytes) = (response.status, response.headers, response.body)
        let type = response.headers["Content-Type"]
        switch type.map(MediaType.essence) {
        case _ where bytes.isEmpty: content = .none
        case SirenEntity.mediaType:
            do throws(SirenDecodingError) {
                let document = try SirenDocument(decoding: bytes, mode)
                content = .entity(document.entity.resolved(against: url))
                violations = document.violations
            } catch {
                throw .documentRefused(url, error)
            }
        case "application/problem+json":
            content = SirenProblem(bytes).map(Content.problem) ?? .other(bytes, type: type)
        default: content = .other(bytes, type: type)
        }
        switch status {
        case 201: outcome = .created
        case 202: outcome = .accepted
        case 304: outcome = .unchanged
        case 200..<400: outcome = .done
        default: outcome = .failed
        }
        if entity?.classes.contains("error") == true { outcome = .failed }
        if case .problem = content { outcome = .failed }
    }
}

/// A description of what failed (RFC 9457).
public struct SirenProblem: Sendable, Hashable {
    /// A URI for the kind of problem; `about:blank` is none but the status.
    public var type: String
    /// The kind of problem in a few words.
    public var title: String?
    /// The HTTP status.
    public var status: Int?
    /// What happened this time.
    public var detail: String?
    /// A URI for this time.
    public var instance: String?
    /// All members, those of the server's own included.
    public var members: SirenObject

    init?(_ bytes: [UInt8]) {
        guard case .object(let members) = try? SirenReader.value(in: bytes) else { return nil }
        self.members = members
        type = members["type"]?.string ?? "about:blank"
        title = members["title"]?.string
        status = members["status"]?.number?.int
        detail = members["detail"]?.string
        instance = members["instance"]?.string
    }
}

/// A request was sent, and there is no answer that can be used. Whether the server did what it was asked to is not known.
public enum SirenTransferError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There was no answer, or not all of it.
    case notAnswered(SirenTransportError)
    /// The server led from one URL to the next for too long.
    case tooManyRedirects(Int)
    /// The server led to where one cannot go.
    case redirectInvalid(String)
    /// The server led to where the request may not go: with its body to another origin that is neither the manifest's nor
    /// one of ``SirenSession/furtherOrigins``, or from HTTPS to HTTP.
    case redirectRefused(URL)
    /// The answer is declared as Siren, and is not.
    case documentRefused(URL, SirenDecodingError)

    /// What was attempted, what happened, and what a person can do.
    public var description: String {
        switch self {
        case .notAnswered(let error): "the request was sent, and \(error.description)"
        case .tooManyRedirects(let most):
            "the server led from one URL to the next more than \(most) times; ask its maker"
        case .redirectInvalid: "the server led to where one cannot go; ask its maker"
        case .redirectRefused(let url):
            "the server led to \(url.forLogs), where the request may not go; ask its maker, or trust that origin if it has HTTPS"
        case .documentRefused(let url, let error): "\(url.forLogs): \(error.description)"
        }
    }
}

extension SirenEntity {
    /// The entity with absolute references, also of all within it. What cannot be resolved stays.
    func resolved(against base: URL) -> SirenEntity {
        func absolute(_ link: SirenLink) -> SirenLink {
            var link = link
            link.href = SirenReference.absolute(link.href, against: base)
            return link
        }
        var entity = self
        entity.links = links.map(absolute)
        entity.entities = entities.map { sub in
            switch sub {
            case .link(let link): .link(absolute(link))
            case .representation(let inner, let rel): .representation(inner.resolved(against: base), rel: rel)
            }
        }
        entity.actions = actions.map { action in
            var action = action
            // Nobody expands it.
            action.href = SirenReference.resolve(action.href, against: base)?.absoluteString ?? action.href
            return action
        }
        return entity
    }
}

extension SirenReference {
    /// The absolute reference; what cannot be resolved stays.
    ///
    /// A template (RFC 6570) is resolved up to its first expression where that leads to the same as to expand it first. Where
    /// it does not, as of `{?page}` with a base that has a query itself, its base stands before it, as ``URITemplate`` has it.
    ///
    /// - Parameter base: a URL without a fragment.
    static func absolute(_ reference: String, against base: URL) -> String {
        guard let open = reference.firstIndex(of: "{") else {
            return resolve(reference, against: base)?.absoluteString ?? reference
        }
        let literal = reference[..<open]
        guard URIReference.isValid(String(literal)) else { return reference }
        if resolve(String(literal), against: nil) != nil { return reference }
        if literal.hasPrefix("//") { return "\(base.scheme ?? ""):\(reference)" }
        let endsPath = reference[open...].hasPrefix("{?") || reference[open...].hasPrefix("{#")
        let last = literal.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let isSettled =
            literal.isEmpty
            ? reference[open...].hasPrefix("{#") || endsPath && base.query() == nil
            : endsPath || literal.contains { $0 == "?" || $0 == "#" }
                || literal.contains("/") && last != "." && last != ".."
        guard isSettled, let url = resolve(String(literal), against: base) else {
            return "{@\(base.absoluteString)}\(reference)"
        }
        return url.absoluteString + reference[open...]
    }

    /// A reference without what may be personal: user, password, query and fragment.
    static func forLogs(_ reference: String) -> String {
        let text = reference.prefix { $0 != "?" && $0 != "#" }
        // Such as `mailto:`, behind which is nothing but what may be personal.
        if let colon = text.prefix(while: { $0 != "/" }).firstIndex(of: ":"), !text[colon...].hasPrefix("://") {
            return String(text[...colon])
        }
        guard let slashes = text.firstRange(of: "//") else { return String(text.prefix(200)) }
        let authority = text[slashes.upperBound...].prefix { $0 != "/" }
        let host = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        return String("\(text[..<slashes.upperBound])\(host)\(text[authority.endIndex...])".prefix(200))
    }
}

extension URL {
    /// The URL of the document itself.
    var withoutFragment: URL {
        let text = absoluteString
        return text.firstIndex(of: "#").flatMap { URL(string: String(text[..<$0])) } ?? self
    }
}
