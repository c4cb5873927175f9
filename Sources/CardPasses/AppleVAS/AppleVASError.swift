import CardCore

/// A phone's answer, or what it holds, is no pass that can be used.
///
/// It describes what is wrong and what a person can do. It never holds a key or anything of a pass.
public enum AppleVASError: PassFault {
    /// What the phone sent breaks the protocol there.
    case malformed(Part)
    /// A version of the protocol that is not known here.
    case unsupportedVersion(AppleVASApplication.Version)
    /// The pass is encrypted for another key: its identifier.
    case noKey([UInt8])
    /// The cryptogram does not open with the key that it names: it was changed, or is of another kind of pass.
    case notDecrypted

    /// A part of what a phone sends; the raw value is what is wrong with it.
    public enum Part: String, Sendable, Hashable, CaseIterable {
        case version = "it does not tell its version"
        case answer = "its answer is malformed"
        case token = "its token is too long"
        case cryptogram = "the cryptogram is too short or too long"
        case ephemeralKey = "the cryptogram has a key that is no point of the curve"
        case message = "the message is no text"
    }

    /// What was attempted and what happened.
    public var message: String {
        switch self {
        case .malformed(let part): "could not read the phone's pass: \(part.rawValue)"
        case .unsupportedVersion(let version):
            "could not ask the phone for a pass: it speaks version \(version.major).\(version.minor) of Apple VAS, not 1"
        case .noKey(let identifier):
            "could not open the phone's pass: it is encrypted for key \(Hex.encode(identifier)), which is not here"
        case .notDecrypted: "could not open the phone's pass: it was not made for this reader and pass type"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .malformed: "Hold the phone to the reader again; if it happens each time, record it and report it."
        case .unsupportedVersion: "Update this software."
        case .noKey: "Add the key for which the pass was issued to the configuration, or issue the pass anew."
        case .notDecrypted: "Check that pass type and key in the configuration belong together."
        }
    }
}

/// An error while reading passes, which states what was attempted, what happened, and what a person can do.
public protocol PassFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was attempted and what happened.
    var message: String { get }
    /// What a person can do about it.
    var hint: String { get }
}

extension PassFault {
    /// One line: what was attempted, what happened, what to do.
    public var description: String { "\(message). \(hint)" }
}
