/// What a return code of a library below means: a line of its table of codes.
struct CodeEntry: Sendable {
    /// The name in the library's header.
    var name: String
    var kind: ReaderError.Kind
    var detail: String?
    var advice: String?

    /// The advice for a code that this package's own use of the library should never cause.
    static let bug = "This should not happen; please report it with the steps that led to it."

    init(_ name: String, _ kind: ReaderError.Kind, _ detail: String? = nil, _ advice: String? = nil) {
        self.name = name
        self.kind = kind
        self.detail = detail
        self.advice = advice
    }

    /// The typed error of a code.
    ///
    /// - Parameter entry: its line, or `nil` if the library's header does not define it.
    static func error(
        _ entry: CodeEntry?,
        _ code: ReaderError.Code,
        attempting attempt: String,
        detail: String?
    ) -> ReaderError {
        ReaderError(
            entry?.kind ?? .other,
            attempting: attempt,
            code: code,
            detail: detail ?? entry?.detail,
            advice: entry?.advice
        )
    }
}
