/// By what a terminal shows a phone whose it is.
public enum SmartTapCredential: Sendable {
    /// With the long-term key, anew at each tap.
    case key(SmartTapKey)
    /// With a signature that was made in advance.
    case preSigned(SmartTapPreSignature)

    /// The collector's number.
    public var collectorID: UInt32 {
        switch self {
        case .key(let key): key.collectorID
        case .preSigned(let signature): signature.collectorID
        }
    }

    /// The version under which the public key was registered.
    public var version: UInt32 {
        switch self {
        case .key(let key): key.version
        case .preSigned(let signature): signature.version
        }
    }
}
