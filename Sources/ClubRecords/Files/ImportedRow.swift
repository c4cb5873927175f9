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
