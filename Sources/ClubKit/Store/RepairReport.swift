/// What ``Club/repair(by:)`` did.
public struct RepairReport: Sendable, Hashable, Encodable {
    /// What was put right, in words.
    public var mended: [String] = []

    /// What could not be read any more and is not known from elsewhere, in words, without identifiers and names.
    public var lost: [String] = []

    /// Whether the file itself was damaged, so that what could be read was brought into a new one.
    public var isNewFile = false

    /// Where the database is kept as it was before; `nil` if nothing had to be done, or it was in memory.
    public var keptFile: String?

    /// What ``Club/check()`` still finds.
    public var remaining: [IntegrityFinding] = []

    /// Whether there was nothing to repair.
    public var wasClean: Bool { mended.isEmpty && lost.isEmpty && !isNewFile }

    /// A report of nothing.
    public init() {}
}
