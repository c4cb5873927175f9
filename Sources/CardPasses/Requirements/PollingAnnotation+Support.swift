import CardCore

extension PollingAnnotation {
    /// Whether a reader sends annotations, as far as its name tells.
    public enum Support: String, Sendable, Hashable, Codable, CaseIterable {
        /// Its firmware can send them; whether it does may be a matter of its configuration.
        case supported
        /// It does not: a phone offers no pass to it by itself.
        case notSupported
        /// Nothing is known.
        case unknown
    }

    /// Whether a reader sends annotations.
    ///
    /// It is judged by the reader's name and by how it is reached, for no reader tells it: SpringCard's Puck, the H518
    /// platform of the S550 (also in Smart Reader mode), ACS's WalletMate and VTAP readers can; the ACR122U, Identiv's
    /// and SCM's readers and whatever libnfc drives cannot.
    public static func support(by reader: ReaderInfo) -> Support {
        switch reader.backend {
        case .nfc: return .notSupported
        case .smartReader: return .supported
        case .pcsc, .replay, .simulated: break
        }
        let name = reader.name.lowercased()
        if able.contains(where: name.contains) { return .supported }
        if unable.contains(where: name.contains) { return .notSupported }
        return .unknown
    }

    /// Parts of the names of readers that can.
    private static let able = [
        "springcard puck", "springcard h518", "springcard s550", "socket mobile s550", "walletmate", "vtap",
    ]

    /// Parts of the names of readers that cannot.
    private static let unable = [
        "acr122", "touchatag", "utrust", "identiv", "scm micro", "scl3711", "scl01", "sdi01", "pn531", "pn532", "pn533",
        "arygon",
    ]
}

extension PollingAnnotation.Support {
    /// What that is, in words.
    public var meaning: String {
        switch self {
        case .supported: "can send them, if it is configured to"
        case .notSupported: "sends none"
        case .unknown: "not known; no reader tells it"
        }
    }
}
