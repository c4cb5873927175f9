import Foundation

/// What passes a place reads, and which of them it accepts as the member.
public struct PassSite: Sendable {
    /// How passes of Apple Wallet are read; `nil` if they are not.
    public var appleVAS: AppleVASReader?

    /// How old the phone may say that its pass of Apple Wallet is, and how far in the future. It is the phone's own clock.
    public var longestAge: Duration

    /// How passes of Google Wallet are read; `nil` if they are not.
    public var smartTap: SmartTapReader?

    /// Tags that sign their address at each tap.
    public var signingTags: [SDMSite]

    /// Which pass stands for the member where there are several: the first of these kinds. Those of no kind here count for
    /// nothing.
    public var order: [Pass.Kind]

    /// How far a pass has to be trusted to stand for the member.
    public var lowestAssurance: Pass.Assurance

    /// What was presented before.
    public var memory: any PassMemory

    /// A place.
    public init(
        appleVAS: AppleVASReader? = nil,
        longestAge: Duration = .seconds(300),
        smartTap: SmartTapReader? = nil,
        signingTags: [SDMSite] = [],
        order: [Pass.Kind] = [.appleVAS, .smartTap, .sdm, .text, .ndef, .uid],
        lowestAssurance: Pass.Assurance = .identifier,
        memory: any PassMemory = VolatilePassMemory()
    ) {
        self.appleVAS = appleVAS
        self.longestAge = longestAge
        self.smartTap = smartTap
        self.signingTags = signingTags
        self.order = order
        self.lowestAssurance = lowestAssurance
        self.memory = memory
    }
}

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
    func matches(_ url: String) -> Bool {
        guard let address = URLComponents(string: url), let host = address.host else { return false }
        return host.lowercased() == self.host.lowercased() && address.path.hasPrefix(path)
    }
}
