import CardTags
import Foundation

/// A configuration of passes, or a key that it names, cannot be used.
///
/// It never holds anything of a key.
public enum PassConfigurationError: PassFault {
    /// The file cannot be read.
    case notReadable(String)
    /// The file has something wrong in it.
    case malformed(String, Fault)
    /// A file with a key cannot be read, and why.
    case keyNotReadable(String, String)
    /// A file with a key may be read by others than its owner.
    case keyOpenToOthers(String, mode: UInt32)
    /// A file has no key of that kind.
    case noKey(String, String)
    /// A file that decides who is let in may be changed by others than its owner.
    case writableByOthers(String, mode: UInt32)
    /// A file belongs to another user, who is not root.
    case ownedByAnother(String)
    /// A key itself stands where the name of its file belongs.
    case keyInPlaceOfFile
    /// A file has no public keys that tokens can be checked with.
    case badPublicKeys(String, SignedTokenVerifier.KeyFault)

    /// Something wrong at a place.
    public struct Fault: Error, Sendable, Hashable {
        /// The place, as `smartTap.collector` or `signingTags[0].host`; empty for the whole.
        public var place: String
        /// What is wrong.
        public var what: String

        package init(place: String, what: String) { (self.place, self.what) = (place, what) }

        init(_ error: DecodingError) {
            let (context, what): (DecodingError.Context, String) =
                switch error {
                case .keyNotFound(let key, let context): (context, "'\(key.stringValue)' is missing")
                case .typeMismatch(let type, let context): (context, "\(Self.name(of: type)) belongs here")
                case .valueNotFound(let type, let context): (context, "\(Self.name(of: type)) belongs here")
                case .dataCorrupted(let context): (context, Self.allowed(at: context.codingPath))
                @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "this cannot be read")
                }
            place = context.codingPath.reduce("") { text, key in
                if let index = key.intValue { return "\(text)[\(index)]" }
                return text.isEmpty ? key.stringValue : "\(text).\(key.stringValue)"
            }
            self.what = what
        }

        /// The values that there may be at a place where only some may.
        private static func allowed(at path: [any CodingKey]) -> String {
            let values: [String]
            switch path.last(where: { $0.intValue == nil })?.stringValue {
            case "order": values = Pass.Kind.allCases.map(\.rawValue)
            case "lowestAssurance": values = Pass.Assurance.allCases.map(\.rawValue)
            case "uidDespite": values = PassSite.unread.map(\.rawValue).sorted()
            case "memberKinds": values = SmartTapObject.Kind.allCases.map(\.rawValue)
            case "identity": values = SDMSite.Identity.allCases.map(\.rawValue)
            case "mode": values = SDMLayout.Mode.allCases.map(\.rawValue)
            case "method": values = [KeyDiversification.Method.an10922.rawValue]
            default: return "this is no value that there may be here"
            }
            return "this is no value that there may be here; there are: \(values.joined(separator: ", "))"
        }

        private static func name(of type: Any.Type) -> String {
            switch type {
            case is String.Type: "a text"
            case is Bool.Type: "true or false"
            case is any FixedWidthInteger.Type: "a whole number"
            default: "\(type)".hasPrefix("Array") ? "a list" : "an object"
            }
        }
    }

    /// What was attempted and what happened.
    public var message: String {
        switch self {
        case .notReadable(let path): "could not read the configuration of passes \(path)"
        case .malformed(let path, let fault):
            "could not use the configuration of passes \(path): "
                + (fault.place.isEmpty ? fault.what : "\(fault.place): \(fault.what)")
        case .keyNotReadable(let path, let reason): "could not read the key \(path): \(reason)"
        case .keyOpenToOthers(let path, let mode):
            "could not use the key \(path): others than its owner may read it (mode \(String(mode, radix: 8)))"
        case .noKey(let path, let kind): "could not use the key \(path): it is not \(kind)"
        case .writableByOthers(let path, let mode):
            "could not use \(path): others than its owner may change it (mode \(String(mode, radix: 8)))"
        case .ownedByAnother(let path): "could not use \(path): it belongs to another user, who could change it"
        case .keyInPlaceOfFile:
            "could not use the configuration of passes: a key stands where the name of its file belongs"
        case .badPublicKeys(let path, let fault): "could not use the public keys \(path): \(fault.rawValue)"
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .notReadable: "Check the path, and that this user may read it."
        case .malformed: "Mend that place; Documentation/passes.md has an example of the whole."
        case .keyNotReadable: "Check the path; in a configuration it begins at the folder of that file."
        case .keyOpenToOthers(let path, _): "Take it from them: chmod 600 \(path)"
        case .noKey: "Name a file with such a key: the private one, not encrypted, and of that kind."
        case .writableByOthers(let path, _): "Take it from them: chmod go-w \(path)"
        case .ownedByAnother(let path): "Make it this user's own, or root's: chown \(NSUserName()) \(path)"
        case .keyInPlaceOfFile: "Put the key into a file of its own, of mode 600, and name the file."
        case .badPublicKeys: "Ask the issuer for the public keys, as a JSON Web Key Set or in PEM."
        }
    }
}
