import Foundation

/// What ``Club/repair(by:from:choosing:)`` did.
public struct RepairReport: Sendable, Hashable, Encodable {
    /// What was put right, in words.
    public var mended: [String] = []

    /// What could not be read any more and is not known from elsewhere, in words, without identifiers and names.
    public var lost: [String] = []

    /// Whether the file itself was damaged, so that what could be read was brought into a new one.
    public var isNewFile = false

    /// Where the database is kept as it was before; `nil` if nothing had to be done, or it was in memory.
    public var keptFile: String?

    /// The snapshot that took the place of the damaged file; `nil` if that was repaired itself.
    public var restoredFrom: String?

    /// What ``Club/check()`` still finds.
    public var remaining: [IntegrityFinding] = []

    /// Whether there was nothing to repair.
    public var wasClean: Bool { mended.isEmpty && lost.isEmpty && !isNewFile }

    /// A report of nothing.
    public init() {}
}

/// The latest good snapshot of a database that is damaged, beside what can still be read of it.
public struct RepairOffer: Sendable, Hashable {
    /// Asks which of both is to take the place of the damaged file.
    public typealias Chooser = @Sendable (RepairOffer) async -> Choice

    /// What takes the place of the damaged file.
    public enum Choice: Sendable, Hashable {
        /// What could be read of it.
        case rescue
        /// The snapshot.
        case snapshot
        /// Nothing; it stays as it is.
        case neither
    }

    /// The snapshot.
    public var snapshot: URL

    /// When it was made.
    public var madeAt: Date

    /// Whether anything could be read of the damaged file.
    public var isFileReadable = true

    /// What could not be read of the damaged file, in words; see ``RepairReport/lost``.
    public var lost: [String] = []

    /// Members who could be read of the damaged file and are not in the snapshot.
    public var membersOnlyInFile = 0

    /// Visits that could be read of the damaged file and are not in the snapshot, without undone ones.
    public var visitsOnlyInFile = 0

    /// Members who are in the snapshot only. They could not be read of the damaged file, or were deleted since.
    public var membersOnlyInSnapshot = 0

    /// Visits that are in the snapshot only, without undone ones.
    public var visitsOnlyInSnapshot = 0

    init(snapshot: URL, madeAt: Date) {
        self.snapshot = snapshot
        self.madeAt = madeAt
    }

    /// What is lost with the snapshot, in words.
    public var lostWithSnapshot: [String] {
        let since = "since \(madeAt.formatted(.iso8601))"
        var lost: [String] = []
        if membersOnlyInFile > 0 { lost.append("\(membersOnlyInFile) members who came \(since)") }
        if visitsOnlyInFile > 0 { lost.append("\(visitsOnlyInFile) visits \(since)") }
        return lost + ["what else was changed \(since)" + (isFileReadable ? "" : ", and who came")]
    }
}
