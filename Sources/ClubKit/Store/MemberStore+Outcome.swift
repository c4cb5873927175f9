/// What became of a change that may be none.
extension MemberStore {
    struct Outcome: Sendable {
        var changed: Changed
        /// Whether something was written.
        var isNews: Bool
    }

    /// Tells of what was written, and of nothing else.
    func news(_ committed: @escaping @Sendable (Changed) -> Void) -> @Sendable (Outcome) -> Void {
        { if $0.isNews { committed($0.changed) } }
    }
}
