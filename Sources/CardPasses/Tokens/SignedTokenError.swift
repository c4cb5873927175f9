/// A signed token is not accepted.
///
/// It never holds anything of the token.
public enum SignedTokenError: Error, Sendable, Hashable {
    /// It is no token: not three parts of Base64url, or no JSON in them.
    case malformed
    /// It is signed in another way than with EdDSA or ES256, or asks for extensions that are not known.
    case unsupported
    /// It names a key that is not here.
    case unknownKey
    /// The signature is none of the keys here.
    case forged
    /// Its time is over.
    case expired
    /// Its time has not begun.
    case notYetValid
    /// It has no end, and has to have one here.
    case endless
    /// It was issued by somebody else.
    case wrongIssuer
    /// It was issued for somebody else.
    case wrongAudience
    /// It was issued for another card than the one that it is on.
    case wrongCard
    /// It names nobody.
    case nobody
    /// There is no key to check it with.
    case noVerifier

    /// What was attempted and what happened.
    public var message: String {
        switch self {
        case .malformed: "could not accept the card's token: it is malformed"
        case .unsupported: "could not accept the card's token: it is signed in a way that is not accepted here"
        case .unknownKey: "could not accept the card's token: it was signed with a key that is not known here"
        case .forged: "could not accept the card's token: its signature is wrong"
        case .expired: "could not accept the card's token: its time is over"
        case .notYetValid: "could not accept the card's token: its time has not begun"
        case .endless: "could not accept the card's token: it has no end"
        case .wrongIssuer: "could not accept the card's token: somebody else issued it"
        case .wrongAudience: "could not accept the card's token: it is for another place"
        case .wrongCard: "could not accept the card's token: it was made for another card"
        case .nobody: "could not accept the card's token: it names nobody"
        case .noVerifier: "could not accept the card's token: there is no key to check it with"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .malformed, .endless, .nobody: "Write the card anew."
        case .noVerifier: "Name the issuer's public keys in the configuration."
        case .unsupported: "Sign tokens with EdDSA or ES256."
        case .unknownKey: "Add the issuer's public key to the configuration, or write the card anew."
        case .forged: "Check the keys in the configuration; if they are right, the card was not written by the issuer."
        case .expired: "Renew the membership and write the card anew."
        case .notYetValid: "Come back when it has; check the clock of the reader's computer."
        case .wrongIssuer, .wrongAudience: "Check issuer and audience in the configuration; use a card of this place."
        case .wrongCard: "It is a copy: use the card that it was written to."
        }
    }

    /// Whether it is a matter of time alone.
    package var isOfTime: Bool { self == .expired || self == .notYetValid }
}

extension SignedTokenError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String { "\(message). \(hint)" }
}
