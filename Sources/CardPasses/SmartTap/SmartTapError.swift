import CardCore

/// A phone's answer to Smart Tap, or what it holds, cannot be used.
///
/// It never holds a key or anything of a pass.
public enum SmartTapError: PassFault {
    /// What the phone sent breaks the protocol there.
    case malformed(Part)
    /// Smart Tap 2.1 is not among what the phone offers.
    case unsupported
    /// The phone refused, with that status word.
    case refused(StatusWord)
    /// The session that the phone answers in is not the one that was begun, or it states that something is wrong with
    /// it.
    case session(status: UInt8)
    /// The code over the encrypted data is wrong: they were changed, or are of another session.
    case forged
    /// The data are longer than any pass.
    case tooLong

    /// A part of what a phone sends; the raw value is what is wrong with it.
    public enum Part: String, Sendable, Hashable, CaseIterable {
        case selection = "its answer to SELECT is malformed"
        case nonce = "it gives no number to sign"
        case records = "its records are malformed"
        case session = "its answer has no session"
        case ephemeralKey = "its key is no point of the curve"
        case data = "its data are malformed"
        case compression = "its data do not inflate"
    }

    /// What was attempted and what happened.
    public var message: String {
        switch self {
        case .malformed(let part): "could not read the phone's passes: \(part.rawValue)"
        case .unsupported: "could not ask the phone for passes: it does not offer Smart Tap 2.1"
        case .refused(let status): "could not get the phone's passes: \(SmartTapStatus(status).meaning) (\(status))"
        case .session(let status):
            "could not get the phone's passes: the phone reports a fault of the session (\(status))"
        case .forged: "could not accept the phone's passes: their code is wrong"
        case .tooLong: "could not read the phone's passes: they are longer than any pass"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .refused(let status): SmartTapStatus(status).advice
        case .unsupported: "Use a phone with Google Wallet and a pass of this place."
        case .malformed, .session, .tooLong:
            "Hold the phone to the reader again; if it happens each time, record it and report it."
        case .forged: "Hold the phone to the reader again; if it happens each time, do not trust it."
        }
    }
}
