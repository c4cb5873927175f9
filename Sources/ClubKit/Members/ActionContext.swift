/// Who does something, and why: for the audit log.
public struct ActionContext: Sendable, Hashable {
    /// Who does it, such as "desk" or a name; `nil` if nobody said.
    public var actor: String?

    /// Why it is done.
    public var reason: String?

    /// A context.
    public init(actor: String? = nil, reason: String? = nil) {
        self.actor = actor
        self.reason = reason
    }
}
