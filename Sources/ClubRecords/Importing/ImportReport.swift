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

    /// The first rows that a person should look at, at most ``ImportOptions/keptRows``. All rows are reported to the
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

/// What became of one row of a file.
public struct ImportedRow: Sendable, Hashable, Encodable {
    /// Where the row is: the line on which it begins in a CSV or club file (the first line is 1), the number of the
    /// element (the first is 1) in a user list.
    public var row: Int

    /// Whom the row tells of; `nil` where that could not be read, or where the row is not of a member.
    public var userId: String?

    /// What became of it.
    public var outcome: Outcome

    /// The values that were changed by it, with what was there before.
    public var changes: [FieldDifference]

    /// The values on which the file was overruled by what the club knows. Both are kept.
    public var conflicts: [FieldDifference]

    /// The name of the column or value that is wrong, of a malformed row.
    public var column: String?

    /// Why the row was skipped or could not be read, and what to do. It never quotes the row.
    public var reason: String?

    /// What the row is of a club's file, if it is no member: `card`, `visit`, `undo`, `erasure` or `audit`.
    public var record: String?

    /// What becomes of rows.
    public enum Outcome: String, Sendable, Hashable, Encodable, CaseIterable {
        /// A member was created.
        case created
        /// A member was there and was changed, or a record was not known.
        case changed
        /// A member was there and stays as it was.
        case kept
        /// The row was understood and must not be taken: the member was erased, or deleted later than the row tells of.
        case skipped
        /// The row could not be understood. The others are taken all the same.
        case malformed
    }

    /// A row.
    public init(
        row: Int,
        userId: String? = nil,
        outcome: Outcome,
        changes: [FieldDifference] = [],
        conflicts: [FieldDifference] = [],
        column: String? = nil,
        reason: String? = nil
    ) {
        self.row = row
        self.userId = userId
        self.outcome = outcome
        self.changes = changes
        self.conflicts = conflicts
        self.column = column
        self.reason = reason
    }

    /// Whether a person should look at it.
    public var needsAttention: Bool { outcome == .malformed || outcome == .skipped || !conflicts.isEmpty }
}

/// A value on which a file and the club differ.
public struct FieldDifference: Sendable, Hashable, Encodable {
    /// The name of the value: `username`, `numVisits`, `timeStampAdded`, `timeStampOfLastVisit` or a custom field.
    public var field: String

    /// What the club had, `nil` for nothing.
    public var stored: FieldValue?

    /// What the file says, `nil` for nothing.
    public var imported: FieldValue?

    /// A difference.
    public init(_ field: String, stored: FieldValue?, imported: FieldValue?) {
        self.field = field
        self.stored = stored
        self.imported = imported
    }
}
