import Foundation

/// What merging members into the club did, or would do.
///
/// The `Encodable` form has the keys `dryRun`, `total`, `created`, `changed`, `kept`, `conflicting`, `skipped`, `rows`
/// and `omittedRows`.
public struct MergeReport: Sendable, Hashable, Encodable {
    /// Whether nothing was changed, as asked for.
    public var dryRun = false

    /// How many members were given.
    public var total = 0

    /// How many were created.
    public var created = 0

    /// How many were there and were changed.
    public var changed = 0

    /// How many stay as they were, since the club knows all that was reported, or knows better.
    public var kept = 0

    /// How many, changed or kept, have a value on which the club's was preferred. The other one is kept too.
    public var conflicting = 0

    /// How many must not be taken, with the reason in ``rows``.
    public var skipped = 0

    /// The first ones that a person should look at, at most ``keptRows``: those that were skipped or have conflicts.
    public var rows: [ImportedRow] = []

    /// How many of those that need a look are not in ``rows``.
    public var omittedRows = 0

    /// How many rows ``rows`` has at most.
    public static let keptRows = 1000

    /// A report of nothing yet.
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

    /// When it was merged.
    package var at: Date
}
