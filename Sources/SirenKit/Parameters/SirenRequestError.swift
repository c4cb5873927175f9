/// A request that was not made: nothing was sent.
public enum SirenRequestError: Error, Sendable, Hashable, CustomStringConvertible {
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

    /// What was attempted, what happened, and what a person can do.
    public var description: String {
        switch self {
        case .fieldTypeMismatch(let problem): "nothing was sent: \(problem.description); give another value"
        case .fieldsRefused(let problems):
            "nothing was sent: \(problems.map(\.description).joined(separator: "; ")); give other values"
        case .encodingUnknown(let type): "nothing was sent: there is no encoding for '\(type)'; register one"
        case .encodingTooNarrow(let encoding, let field):
            "nothing was sent: '\(encoding)' has no form for the file of the field '\(field)'; ask the server's maker"
        case .fileUnreadable(let field):
            "nothing was sent: the file of the field '\(field)' cannot be read; give another"
        }
    }
}
