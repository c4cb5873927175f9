import Foundation

/// The result of ``Club/repair(by:from:choosing:)``.
public struct RepairReport: Sendable, Hashable, Encodable {
    /// The repaired faults, in words.
    public var mended: [String] = []

    /// The data that could be neither read nor restored, in words, without identifiers and names.
    public var lost: [String] = []

    /// Whether the file itself was damaged, so that its readable content was copied into a new one.
    public var isNewFile = false

    /// The former database, which is kept; `nil` if nothing was repaired, or it was in memory.
    public var keptFile: String?

    /// The snapshot that replaced the damaged file; `nil` if the file itself was repaired.
    public var restoredFrom: String?

    /// The remaining findings of ``Club/check()``.
    public var remaining: [IntegrityFinding] = []

    /// Whether there was nothing to repair.
    public var wasClean: Bool { mended.isEmpty && lost.isEmpty && !isNewFile }

    /// Creates an empty report.
    public init() {}
}

/// The latest intact snapshot of a damaged database, compared with the readable content of the file.
public struct RepairOffer: Sendable, Hashable {
    /// Chooses which of both replaces the damaged file.
    public typealias Chooser = @Sendable (RepairOffer) async -> Choice

    /// The replacement of the damaged file.
    public enum Choice: Sendable, Hashable {
        /// The readable content of the file.
        case rescue
        /// The snapshot.
        case snapshot
        /// None; the file stays as it is.
        case neither
    }

    /// The snapshot.
    public var snapshot: URL

    /// The time at which it was made.
    public var madeAt: Date

    /// Whether anything in the damaged file could be read.
    public var isFileReadable = true

    /// The data in the damaged file that could not be read, in words; see ``RepairReport/lost``.
    public var lost: [String] = []

    /// The number of members in the damaged file that are not in the snapshot.
    public var membersOnlyInFile = 0

    /// The number of visits in the damaged file that are not in the snapshot, without undone ones.
    public var visitsOnlyInFile = 0

    /// The number of members only in the snapshot: unreadable in the damaged file, or deleted since.
    public var membersOnlyInSnapshot = 0

    /// The number of visits only in the snapshot, without undone ones.
    public var visitsOnlyInSnapshot = 0

    /// The data that is lost with the snapshot, in words.
    public var lostWithSnapshot: [String] {
        let since = "since \(madeAt.formatted(.iso8601))"
        var lost: [String] = []
        if membersOnlyInFile > 0 { lost.append("\(membersOnlyInFile) members who came \(since)") }
        if visitsOnlyInFile > 0 { lost.append("\(visitsOnlyInFile) visits \(since)") }
        return lost + ["what else was changed \(since)" + (isFileReadable ? "" : ", and who came")]
    }
}
