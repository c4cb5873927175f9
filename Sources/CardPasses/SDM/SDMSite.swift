import Foundation

/// Tags that sign their address, by the place in the web that it leads to.
public struct SDMSite: Sendable {
    /// The host of the address; case does not count.
    public var host: String

    /// How the path begins, in whole segments; empty for any.
    public var path: String

    /// Checks the address.
    public var verifier: SDMVerifier

    /// What names the member.
    public var identity: Identity

    /// What names the member.
    public enum Identity: String, Sendable, Hashable, Codable {
        /// The tag's identifier.
        case uid
        /// The text that the tag had encrypted of its file, without what fills it up.
        case fileData
    }

    /// Tags of one set-up.
    public init(host: String, path: String = "", verifier: SDMVerifier, identity: Identity = .uid) {
        self.host = host
        self.path = path
        self.verifier = verifier
        self.identity = identity
    }

    /// Whether all addresses of the second place are of the first.
    static func covers(_ host: String, _ path: String, _ other: String, _ otherPath: String) -> Bool {
        guard let address = URLComponents(string: "https://\(other)\(otherPath)") else { return false }
        return WebPlace(host: host, path: path).rest(of: address) != nil
    }

    /// Whether an address is one of these tags'.
    package func matches(_ url: String) -> Bool {
        guard let address = URLComponents(string: url) else { return false }
        return WebPlace(host: host, path: path).rest(of: address) != nil
    }
}
