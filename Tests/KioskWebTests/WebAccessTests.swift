#if NETWORK
import Foundation
import Testing

@testable import KioskWeb

@Suite struct WebAccessTests {
    private typealias Visitor = WebAccess.Visitor
    private static let token = "0123456789abcdef"
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)

    private func access(token: String? = nil, names: Set<String> = [], proxy: String? = nil) -> WebAccess {
        var access = WebAccess()
        (access.token, access.names, access.proxyHeader) = (token, names, proxy)
        return access
    }

    @Test("Which hosts are the kiosk's")
    func hosts() {
        let table: [(String?, Bool)] = [
            ("localhost", true), ("LOCALHOST:8080", true), ("127.0.0.1:8080", true), ("192.168.1.7", true),
            ("[::1]:8080", true), ("[fe80::1]", true), ("screen.club.example:80", true), ("Screen.club.example", true),
            ("evil.example", false), ("localhost.evil.example", false), ("127.0.0.1.evil.example", false),
            ("127.1", false), ("0x7f000001", false), ("[::1", false), ("", false), (nil, false), ("::1", false),
            ("localhost@evil.example", false), ("[::1].evil.example", false), ("[::1]evil.example", false),
            ("localhost:80:evil", false), ("localhost:80x", false), ("[::1]:80", true), ("club.example", false),
        ]
        for (host, isKnown) in table {
            let refusal = access(names: ["screen.club.example"]).refusal(of: Visitor(host: host), at: Self.now)
            #expect(refusal == (isKnown ? nil : .foreignHost), "\(host ?? "nil")")
        }
    }

    @Test("Which sites may make requests")
    func sites() {
        let table: [(origin: String?, site: String?, isNavigation: Bool, isRefused: Bool)] = [
            (nil, nil, false, false), ("http://localhost:8080", "same-origin", false, false),
            ("https://localhost:8080", nil, false, false), ("http://localhost:8081", nil, false, true),
            ("http://evil.example", nil, false, true), ("null", nil, false, true), (nil, "cross-site", false, true),
            (nil, "same-site", false, true), (nil, "none", true, false), (nil, "cross-site", true, false),
            ("http://evil.example", "cross-site", true, true), (nil, "", false, true),
        ]
        for row in table {
            var visitor = Visitor(host: "localhost:8080", origin: row.origin, site: row.site)
            visitor.isNavigation = row.isNavigation
            #expect(
                access().refusal(of: visitor, at: Self.now) == (row.isRefused ? .foreignSite : nil),
                "\(row)"
            )
        }
    }

    @Test("Without a token whoever is on this machine may look, and nobody else")
    func local() {
        var visitor = Visitor(host: "192.168.1.7:8080")
        #expect(access().refusal(of: visitor, at: Self.now) == nil)
        visitor.isLocal = false
        #expect(access().refusal(of: visitor, at: Self.now) == .notAuthorized)
        // A proxy on this machine that the kiosk was not told of.
        (visitor.isLocal, visitor.isForwarded) = (true, true)
        #expect(access().refusal(of: visitor, at: Self.now) == .notAuthorized)
    }

    @Test("The token opens, also as a bearer's; a guessed one, a part of it and one that is longer do not")
    func tokens() {
        let access = access(token: Self.token)
        let table: [(String?, Bool)] = [
            (nil, false), ("Bearer \(Self.token)", true), ("bearer \(Self.token)", true), ("Bearer ", false),
            ("Bearer \(Self.token)0", false), ("Bearer \(Self.token.dropLast())", false), (Self.token, false),
            ("Basic \(Self.token)", false),
        ]
        for (authorization, isAllowed) in table {
            let visitor = Visitor(host: "localhost", authorization: authorization)
            #expect(access.refusal(of: visitor, at: Self.now) == (isAllowed ? nil : .notAuthorized))
        }
        #expect(!self.access().accepts(""))
        // One that is too short is no secret, and an empty one none at all.
        for short in ["", "0123456789abcde"] {
            let access = self.access(token: short)
            #expect(!access.accepts(short) && access.cookie(at: Self.now) == nil)
            let visitor = Visitor(host: "localhost", authorization: "Bearer \(short)")
            #expect(access.refusal(of: visitor, at: Self.now) == .notAuthorized)
        }
    }

    @Test("A cookie is valid until its time is over or the token is another one; it cannot be made without it")
    func cookies() throws {
        let access = access(token: Self.token)
        let cookie = try #require(access.cookie(at: Self.now))
        let allows = { (access: WebAccess, cookie: String, time: Date) in
            access.refusal(of: Visitor(host: "localhost", cookies: ["x", cookie]), at: time) == nil
        }
        #expect(allows(access, cookie, Self.now))
        #expect(allows(access, cookie, Self.now + 399 * 86_400))
        #expect(!allows(access, cookie, Self.now + 401 * 86_400))
        // The token was leaked, and changed.
        #expect(!allows(self.access(token: "another token of the club"), cookie, Self.now))
        let parts = cookie.split(separator: ".")
        let later = "1.\(Int.max).\(parts[2])"
        for forged in [later, "2." + parts[1] + "." + parts[2], "1.\(parts[1]).", "1.\(parts[1])", cookie + "0", ""] {
            #expect(!allows(access, forged, Self.now), "\(forged)")
        }
        #expect(self.access().cookie(at: Self.now) == nil)
    }

    @Test("A proxy's header counts from this machine alone")
    func proxies() {
        let access = access(proxy: "X-Remote-User")
        for (header, isLocal, isAllowed) in [("ann", true, true), ("ann", false, false), ("", true, false)] {
            var visitor = Visitor(host: "localhost", proxied: header)
            visitor.isLocal = isLocal
            #expect(access.refusal(of: visitor, at: Self.now) == (isAllowed ? nil : .notAuthorized))
        }
        #expect(access.refusal(of: Visitor(host: "localhost"), at: Self.now) == .notAuthorized)
        #expect(
            self.access().refusal(of: Visitor(host: "localhost", proxied: "ann", isLocal: false), at: Self.now) != nil
        )
    }
}
#endif
