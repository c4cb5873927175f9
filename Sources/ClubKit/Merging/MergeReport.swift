import Foundation

/// The result of merging members into the club, or of a dry run.
///
/// The `Encodable` form has the keys `dryRun`, `total`, `created`, `changed`, `kept`, `conflicting`, `skipped`, `rows`
/// and `omittedRows`.
public struct MergeReport: Sendable, Hashable, Encodable {
    /// Whether it was a dry run, which changes nothing.
    public var dryRun = false

    /// The number of members to merge.
    public var total = 0

    /// The number of created members.
    public var created = 0

    /// The number of existing members that were changed.
    public var changed = 0

    /// The number of members that stay as they were, since the club has the same or newer values.
    public var kept = 0

    /// The number of changed or kept members of which a value conflicts and the club's was preferred. The other one is
    /// kept too.
    public var conflicting = 0

    /// The number of skipped members, with the reason in ``rows``.
    public var skipped = 0

    /// The first members to review, at most ``keptRows``: those that were skipped or have conflicts.
    public var rows: [ImportedRow] = []

    /// The number of members to review that are not in ``rows``.
    public var omittedRows = 0

    /// The maximum number of ``rows``.
    public static let keptRows = 1000

    /// Creates an empty report.
    public init(dryRun: Bool = false) {
        self.dryRun = dryRun
    }

    mutating func count(_ verdict: ImportVerdict, of userID: String, row number: Int) {
        total += 1
        let row = ImportedRow(row: number, userId: userID, verdict)
        switch row.outcome {
        case .created: created += 1
        case .changed: changed += 1
        case .kept: kept += 1
        case .skipped: skipped += 1
        case .malformed: break
        }
        if !row.conflicts.isEmpty { conflicting += 1 }
        guard row.needsAttention else { return }
        if rows.count < Self.keptRows { rows.append(row) } else { omittedRows += 1 }
    }
}

/// A member who was there before a merge that has changed or deleted them.
package struct MergedMember: Sendable, Hashable {
    /// As shown after the merge, or before it if they are no member any more.
    package var member: Member

    /// Whether they were deleted or erased elsewhere.
    package var isDeleted: Bool

    package var at: Date
}
