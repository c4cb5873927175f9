#if NETWORK
import Cryptography
import Foundation
import HTTPTypes

/// Decides who may look at the screen.
///
/// Every request has to name a known host, so that no page of the internet reaches the kiosk by a name of its own that
/// leads here (DNS rebinding), and must not come from another site. Without a token and a proxy, only requests from
/// this machine are allowed. With a token every request needs it, or the cookie that it is exchanged for; with a proxy
/// the header in which it names whom it has checked.
public struct WebAccess: Sendable {
    /// The names by which the kiosk is reached, in lower case, besides `localhost`, this machine's own and addresses.
    public var names: Set<String> = []
    /// The secret of those who may look, of at least ``shortestToken`` characters: a shorter one lets nobody in.
    /// `nil` if everybody on this machine may look, and nobody else.
    public var token: String?
    /// The header in which a proxy on this machine names whom it has checked; `nil` if there is none.
    public var proxyHeader: String?

    /// The shortest token, in characters.
    public static let shortestToken = 16

    /// How long a cookie is valid, in seconds.
    static let cookieSeconds = 400 * 86_400

    /// Creates the rules of a kiosk that only this machine reaches.
    public init() {}

    /// What a request states of itself.
    struct Visitor {
        /// The `Host`.
        var host: String?
        var origin: String?
        /// `Sec-Fetch-Site`.
        var site: String?
        /// Whether a person opens a page, which a link on another site may lead to.
        var isNavigation = false
        var authorization: String?
        var cookies: [String] = []
        /// What the proxy's header holds.
        var proxied: String?
        /// Whether the other end of the connection is on this machine.
        var isLocal = true
        /// Whether a proxy states that it passes the request on.
        var isForwarded = false
    }

    /// Why a request is refused.
    enum Refusal: Equatable {
        /// The `Host` is not one of the kiosk's names.
        case foreignHost
        /// A page of another site made the request.
        case foreignSite
        /// There is no token, or another one.
        case notAuthorized
    }

    /// Returns why a request is refused; `nil` if it is not.
    func refusal(of visitor: Visitor, at now: Date) -> Refusal? {
        guard let host = visitor.host, isKnown(Self.name(of: host)) else { return .foreignHost }
        if let origin = visitor.origin, origin != "http://\(host)", origin != "https://\(host)" {
            return .foreignSite
        }
        if let site = visitor.site, !["same-origin", "none"].contains(site), !visitor.isNavigation {
            return .foreignSite
        }
        return isAuthorized(visitor, at: now) ? nil : .notAuthorized
    }

    private func isAuthorized(_ visitor: Visitor, at now: Date) -> Bool {
        // A proxy that is not configured brings others from outside.
        if token == nil, proxyHeader == nil { return visitor.isLocal && !visitor.isForwarded }
        // A header that anybody may write counts only from where the proxy is.
        if proxyHeader != nil, visitor.isLocal, visitor.proxied?.isEmpty == false { return true }
        guard token != nil else { return false }
        if let sent = visitor.authorization, sent.lowercased().hasPrefix("bearer "), accepts(String(sent.dropFirst(7)))
        {
            return true
        }
        return hasValidCookie(visitor, at: now)
    }

    /// Returns whether a visitor has exchanged the token.
    func hasValidCookie(_ visitor: Visitor, at now: Date) -> Bool {
        visitor.cookies.contains { isValid(cookie: $0, at: now) }
    }

    /// Returns whether a token is the one.
    func accepts(_ other: String) -> Bool {
        guard let token, token.count >= Self.shortestToken else { return false }
        // Digests are of one length, and are compared in the same time however much of them is equal.
        return ConstantTime.areEqual(SHA256.hash(token.utf8), SHA256.hash(other.utf8))
    }

    // MARK: Hosts

    private func isKnown(_ name: String) -> Bool {
        name == "localhost" || names.contains(name) || Self.ownNames.contains(name) || Self.isAddress(name)
    }

    /// The name of this machine, also as multicast DNS has it.
    static let ownNames: Set<String> = {
        let name = ProcessInfo.processInfo.hostName.lowercased()
        let first = String(name.prefix { $0 != "." })
        return [name, first, first + ".local"]
    }()

    /// The name in a `Host`, without its port; all of it if that is no name and port.
    static func name(of host: String) -> String {
        let host = host.lowercased()
        let match = host.wholeMatch(of: /(\[[^\]]*\]|[^:\[\]]*)(:[0-9]*)?/)
        return match.map { String($0.1) } ?? host
    }

    /// Whether it is an address, which no name server can make lead elsewhere.
    static func isAddress(_ name: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, name, &four) == 1 { return true }
        return name.hasPrefix("[") && name.hasSuffix("]")
            && inet_pton(AF_INET6, String(name.dropFirst().dropLast()), &six) == 1
    }

    // MARK: Cookies

    /// Returns the value of a cookie for somebody who has the token. It is valid until the token is another one.
    func cookie(at now: Date) -> String? {
        let end = Int(now.timeIntervalSince1970) + Self.cookieSeconds
        return signature(of: end).map { "1.\(end).\($0)" }
    }

    func isValid(cookie: String, at now: Date) -> Bool {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "1", let end = Int(parts[1]), Double(end) > now.timeIntervalSince1970,
            let own = signature(of: end)
        else { return false }
        return ConstantTime.areEqual(own.utf8, parts[2].utf8)
    }

    private func signature(of end: Int) -> String? {
        guard let token, token.count >= Self.shortestToken else { return nil }
        let code = HMAC.code(for: "clubkit screen \(end)".utf8, key: SecretBytes(token.utf8))
        return code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
#endif
