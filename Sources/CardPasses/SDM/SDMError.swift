/// A URL is no tap of a signing tag, or its code is wrong.
///
/// It never holds a key, an identifier or what the tag says.
public enum SDMError: Error, Sendable, Hashable {
    /// The URL lacks a parameter, by its name.
    case missing(String)
    /// The parameter of that name is not hexadecimal, or not as long as it should be.
    case malformed(String)
    /// There is no key to open what is encrypted.
    case noKey
    /// The code is not the one that the tag's key gives: another key, or a URL that was changed.
    case wrongCode

    /// What was attempted and what happened.
    public var message: String {
        switch self {
        case .missing(let name): "could not check the tag's signature: its address has no parameter '\(name)'"
        case .malformed(let name):
            "could not check the tag's signature: the parameter '\(name)' of its address is not what a tag writes"
        case .noKey: "could not check the tag's signature: there is no key for its encrypted part"
        case .wrongCode: "could not accept the tag: its signature is wrong"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .missing, .malformed: "Check the layout in the configuration against what the tag was set up with."
        case .noKey: "Add the key for reading PICC data (SDMMetaRead) to the configuration."
        case .wrongCode: "Check the keys in the configuration; if they are right, the tag is a copy."
        }
    }
}

extension SDMError {
    /// Whether the address is not what a tag of that layout writes, so that nothing could be checked.
    package var isMalformed: Bool {
        switch self {
        case .missing, .malformed, .noKey: true
        case .wrongCode: false
        }
    }
}

extension SDMError: CustomStringConvertible {
    /// One line: what was attempted, what happened, what to do.
    public var description: String { "\(message). \(hint)" }
}
