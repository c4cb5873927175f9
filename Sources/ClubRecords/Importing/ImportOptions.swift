/// How a file is imported.
public struct ImportOptions: Sendable, Hashable {
    /// The form of the file; `nil` distinguishes it from the extension, or from the content when that states nothing.
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

/// What becomes of members who are in the club and in what is merged.
public enum MergeMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Both are taken together: visits are added up by the rule of the ledger, of each value what was said last counts,
    /// and what is empty in a file hides nothing.
    case merge
    /// Members who are there stay as they are; only unknown ones are taken.
    case addOnly
    /// As ``merge``, and the names and custom fields of a file count as said now: for somebody who corrected them in a
    /// spreadsheet. Of several rows of one member the first counts so; on what the others say differently they are
    /// reported as conflicts.
    case overwrite
}

/// What a column of a file means: the name of the column and that of the member's value.
public struct ColumnMapping: Sendable, Hashable {
    /// The name in the file: a column of a CSV file, a key of a user list.
    public var column: String

    /// The value: one of the five base values (`MembershipUser.CodingKeys`) or a custom field; `nil` leaves the
    /// column out.
    public var field: String?

    /// A mapping.
    public init(column: String, field: String?) {
        self.column = column
        self.field = field
    }

    /// Reads `COLUMN=FIELD`; `COLUMN=` leaves the column out. The last `=` divides, since names of fields have none.
    /// `nil` without one, or without a column.
    public init?(_ text: String) {
        guard let divider = text.lastIndex(of: "="), divider > text.startIndex else { return nil }
        column = String(text[..<divider])
        let field = String(text[text.index(after: divider)...])
        self.field = field.isEmpty ? nil : field
    }
}
