/// What an import did, or would do.
public struct ImportReport: Sendable, Hashable, Encodable {
    /// The file.
    public var file: String

    /// Its form.
    public var format: TransferFormat

    /// Whether nothing was changed, as asked for.
    public var dryRun: Bool

    /// What each column was taken for.
    public var columns: [Column] = []

    /// Rows of the file, without the line of column names and without empty lines.
    public var total = 0

    /// Members that were created.
    public var created = 0

    /// Rows that changed a member.
    public var changed = 0

    /// Rows that changed nothing, since the club knows all they tell, or knows better.
    public var kept = 0

    /// Rows, changed or kept, on which the club and the file differ in a value and the club's stays.
    public var conflicting = 0

    /// Rows that must not be taken, with the reason in ``rows``.
    public var skipped = 0

    /// Rows that could not be understood, with the reason in ``rows``.
    public var malformed = 0

    /// Of the rows of a club's file, those that are no members: cards, visits, undoings, erasures, entries of the audit
    /// log. They count in ``total``, and in ``skipped`` and ``malformed``.
    public var records = 0

    /// How many of ``records`` were not known before.
    public var newRecords = 0

    /// The first rows that a person should look at, at most ``ImportOptions/keptRows``. All rows are told to the
    /// closure that is given to the import.
    public var rows: [ImportedRow] = []

    /// How many rows that need a look are not in ``rows``.
    public var omittedRows = 0

    /// What is worth knowing of the file as a whole, such as two columns of one name.
    public var notes: [String] = []

    /// What a column was taken for.
    public struct Column: Sendable, Hashable, Encodable {
        /// The name in the file.
        public var column: String
        /// The value that it holds, `nil` if it was left out.
        public var field: String?

        /// A column.
        public init(column: String, field: String?) {
            self.column = column
            self.field = field
        }
    }

    /// An empty report.
    public init(file: String, format: TransferFormat, dryRun: Bool) {
        self.file = file
        self.format = format
        self.dryRun = dryRun
    }
}
