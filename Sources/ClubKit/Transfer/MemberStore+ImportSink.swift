extension MemberStore {
    /// What takes in the rows of one file.
    ///
    /// - Parameters:
    ///   - mode: what becomes of members who are there.
    ///   - dryRun: whether nothing is to be changed; the verdicts are the same.
    ///   - format: the form of the file, for the audit log.
    ///   - context: who imports it, and why.
    ///   - committed: called after each commit with the members who were there before and are changed now.
    func importSink(
        mode: MergeMode,
        dryRun: Bool,
        format: TransferFormat,
        _ context: ActionContext,
        committed: @escaping @Sendable ([Changed]) -> Void
    ) throws(ClubError) -> any ImportSink {
        throw ClubError(.other, attempting: "import members")
    }
}
