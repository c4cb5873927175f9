/// How a file is imported.
public struct ImportOptions: Sendable, Hashable {
    /// The form of the file; `nil` tells it from the extension, or from the content when that says nothing.
    public var format: TransferFormat?

    /// What columns mean whose name does not say it.
    public var mappings: [ColumnMapping]

    /// What becomes of members who are there.
    public var mode: MergeMode

    /// Whether to say only what an import would do. The report is the same and nothing is changed.
    public var dryRun: Bool

    /// How many rows that need a look (malformed, skipped, with conflicts) ``ImportReport/rows`` keeps.
    public var keptRows: Int

    /// Options.
    public init(
        format: TransferFormat? = nil,
        mappings: [ColumnMapping] = [],
        mode: MergeMode = .merge,
        dryRun: Bool = false,
        keptRows: Int = 1000
    ) {
        self.format = format
        self.mappings = mappings
        self.mode = mode
        self.dryRun = dryRun
        self.keptRows = keptRows
    }
}
