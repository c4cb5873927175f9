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
