import Foundation

/// A request that was not made: nothing was sent.
public enum SirenRequestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Nothing is kept of a link of that relation of the entity known by that GUID.
    case linkNotFound(rel: String, guid: String)
    /// Nothing is kept of an action of that name of the entity known by that GUID.
    case actionNotFound(name: String, guid: String)
    /// A value is not of its field's type.
    case fieldTypeMismatch(SirenFieldProblem)
    /// Values break constraints of their fields.
    case fieldsRefused([SirenFieldProblem])
    /// No encoding of that media type is known.
    case encodingUnknown(String)
    /// The encoding has no form for a field's value, which is a file.
    case encodingTooNarrow(encoding: String, field: String)
    /// A file that is to be sent cannot be read.
    case fileUnreadable(field: String)
    /// A reference leads to no URL of HTTP.
    case referenceInvalid(String)
    /// HTTP has no form for an action's method.
    case methodInvalid(String)
    /// HTTP has no form for a header field's name or value.
    case headerInvalid(String)
    /// Proxies are not reached in that way.
    case proxyInvalid(URL)
    /// A file of certificate authorities cannot be read, or holds no certificate as PEM.
    case authorityInvalid(String)
    /// There was no connection, or the transport could send nothing.
    case notConnected(SirenTransportError)

    /// What was attempted, what happened, and what a person can do.
    public var description: String {
        switch self {
        case .linkNotFound(let rel, _):
            "nothing was requested: no link '\(rel)' of that entity is kept; request the entity, then follow its link"
        case .actionNotFound(let name, _):
            "nothing was requested: no action '\(name)' of that entity is kept; request the entity, then submit its action"
        case .fieldTypeMismatch(let problem):
            "nothing was sent: \(problem.description); give another value"
        case .fieldsRefused(let problems):
            "nothing was sent: \(problems.map(\.description).joined(separator: "; ")); give other values"
        case .encodingUnknown(let type):
            "nothing was sent: there is no encoding for '\(type)'; register one"
        case .encodingTooNarrow(let encoding, let field):
            "nothing was sent: '\(encoding)' has no form for the file of the field '\(field)'; ask the server's maker"
        case .fileUnreadable(let field):
            "nothing was sent: the file of the field '\(field)' cannot be read; give another"
        case .referenceInvalid(let reference):
            "nothing was requested: '\(SirenReference.forLogs(reference))' is no reference to a resource; ask the server's maker"
        case .methodInvalid(let method):
            "nothing was sent: '\(method.prefix(100))' is no method of HTTP; ask the server's maker"
        case .headerInvalid(let name):
            "nothing was sent: the header '\(name.prefix(100))' has characters that it cannot have; correct it"
        case .proxyInvalid:
            "nothing can be requested: the proxy is none of http://host:port and socks5://host:port; correct it"
        case .authorityInvalid(let path):
            "nothing can be requested: '\(path)' is no file of certificates (PEM) that can be read; name another"
        case .notConnected(let error): "nothing was sent: \(error.description)"
        }
    }
}
