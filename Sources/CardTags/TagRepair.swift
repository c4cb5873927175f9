/// What repairing a tag came to.
public enum TagRepair: String, Sendable, Hashable, Codable {
    /// Writing had been interrupted; the tag is a clean empty one now.
    case repaired
    /// There was nothing to repair, and nothing was written.
    case notNeeded
}
