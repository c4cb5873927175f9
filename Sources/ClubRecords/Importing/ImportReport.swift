/// The result of an import, or of a dry run.
public struct ImportReport: Sendable, Hashable, Encodable {
    /// The file.
    public var file: String

    /// The format of the file.
    public var format: TransferFormat

    /// Whether it was a dry run, which changes nothing.
    public var dryRun: Bool

    /// The mapping of each column.
    public var columns: [Column] = []

    /// The number of rows of the file, without the header and empty lines.
    public var total = 0

    /// The number of created members.
    public var created = 0

    /// The number of rows that changed a member.
    public var changed = 0

    /// The number of rows that changed nothing, since the club has the same or newer values.
    public var kept = 0

    /// The number of rows, changed or kept, of which a value conflicts and the club's stays.
    public var conflicting = 0

    /// The number of rows that raised a member's total of visits: the file knows of more than the club did.
    public var raised = 0

    /// The first totals that were raised, at most ``mostRaisedTotals``.
    public var raisedTotals: [RaisedTotal] = []

    /// The most totals in ``raisedTotals``.
    public static let mostRaisedTotals = 100

    /// The number of skipped rows, with the reason in ``rows``.
    public var skipped = 0

    /// The number of malformed rows, with the reason in ``rows``.
    public var malformed = 0

    /// The number of rows, whatever became of them, that have ``ImportedRow/notes``.
    public var noted = 0

    /// The number of rows of a club's file other than members: cards, visits, undoings, erasures, entries of the audit
    /// log. They count in ``total``, and in ``skipped`` and ``malformed``.
    public var records = 0

    /// The number of new ``records``.
    public var newRecords = 0

    /// The first rows to review, at most ``ImportOptions/keptRows``. All rows are passed to the closure of the import.
    public var rows: [ImportedRow] = []

    /// The number of rows to review that are not in ``rows``.
    public var omittedRows = 0

    /// Notes on the file as a whole, such as two columns of one name.
    public var notes: [String] = []

    /// A total of visits that a row raised.
    public struct RaisedTotal: Sendable, Hashable, Encodable {
        /// See ``ImportedRow/row``.
        public var row: Int
        /// The member.
        public var userId: String
        /// The total before.
        public var from: Int
        /// The total now.
        public var to: Int
    }

    /// Takes note of a row that raised a total, if it did.
    mutating func noteRaised(_ row: ImportedRow) {
        guard let userId = row.userId, let change = row.changes.first(where: { $0.field == "numVisits" }),
            case (.int(let from)?, .int(let to)?) = (change.stored, change.imported), to > from
        else { return }
        raised += 1
        guard raisedTotals.count < Self.mostRaisedTotals else { return }
        raisedTotals.append(RaisedTotal(row: row.row, userId: userId, from: from, to: to))
    }

    /// The mapping of a column.
    public struct Column: Sendable, Hashable, Encodable {
        /// The name in the file.
        public var column: String
        /// The value that it holds; `nil` if it was omitted.
        public var field: String?
    }

    /// Creates an empty report.
    public init(file: String, format: TransferFormat, dryRun: Bool) {
        self.file = file
        self.format = format
        self.dryRun = dryRun
    }
}

/// The result of one row of a file.
public struct ImportedRow: Sendable, Hashable, Encodable {
    /// The position of the row: the line on which it begins in a CSV or club file, or the number of the element in a
    /// user list, both from 1.
    public var row: Int

    /// The member of the row; `nil` if it could not be read or the row is not of a member.
    public var userId: String?

    /// The outcome of the row.
    public var outcome: Outcome

    /// The values that the row changed, with their former ones.
    public var changes: [FieldDifference] = []

    /// The values of the file that were overruled by the club's. Both are kept.
    public var conflicts: [FieldDifference] = []

    /// The column or value that is malformed.
    public var column: String?

    /// The reason why the row was skipped or is malformed, and the remedy. It quotes at most a number or a date that
    /// cannot be read.
    public var reason: String?

    /// What a person has to know of the row although it was read, such as that another row is of the same member, or
    /// that a value has no effect. They quote at most the known member whom the identifier resembles.
    public var notes: [String] = []

    /// The kind of record in a club's file, other than a member: `card`, `visit`, `undo`, `erasure` or `audit`.
    public var record: String?

    /// The outcomes of rows.
    public enum Outcome: String, Sendable, Hashable, Encodable, CaseIterable {
        /// A member was created.
        case created
        /// An existing member was changed, or a record was new.
        case changed
        /// An existing member stays as it was.
        case kept
        /// The row is valid and was not imported: the member was erased, or deleted after the time of the row.
        case skipped
        /// The row is malformed. The others are imported all the same.
        case malformed
    }

    /// Whether a person should review it.
    public var needsAttention: Bool {
        outcome == .malformed || outcome == .skipped || !conflicts.isEmpty || !notes.isEmpty
    }
}

/// A value on which a file and the club differ.
public struct FieldDifference: Sendable, Hashable, Encodable {
    /// The name of the value: `username`, `numVisits`, `timeStampAdded`, `timeStampOfLastVisit` or a custom field.
    public var field: String

    /// The club's value; `nil` if absent.
    public var stored: FieldValue?

    /// The file's value; `nil` if absent.
    public var imported: FieldValue?

    /// Creates a difference.
    public init(_ field: String, stored: FieldValue?, imported: FieldValue?) {
        self.field = field
        self.stored = stored
        self.imported = imported
    }
}
