import Foundation

/// Tags that sign their address, by the place in the web that it leads to.
public struct SDMSite: Sendable {
    /// The host of the address; case does not count.
    public var host: String

    /// How the path begins; empty for any.
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

    /// Whether an address is one of these tags'.
    package func matches(_ url: String) -> Bool {
        guard let address = URLComponents(string: url), let host = address.host else { return false }
        return host.lowercased() == self.host.lowercased() && address.path.hasPrefix(path)
    }
}
