/// A fault of the store that ``Club/check()`` found.
public struct IntegrityFinding: Sendable, Hashable, Encodable {
    /// The severity.
    public var severity: Severity

    /// The kind of finding, for programs.
    public var code: Code

    /// A description of the fault and its remedy, without identifiers and names.
    public var message: String

    /// The severity of a finding.
    public enum Severity: String, Sendable, Hashable, Encodable {
        /// The data is correct, but something around it should be changed.
        case warning
        /// Data is damaged or contradicts itself.
        case error
    }

    /// The kinds of findings.
    public enum Code: String, Sendable, Hashable, Encodable, CaseIterable {
        /// SQLite finds the file damaged (`PRAGMA integrity_check`).
        case damaged
        /// A row refers to a missing one (`PRAGMA foreign_key_check`).
        case danglingReference
        /// A member's totals differ from the ledger.
        case totalsDiffer
        /// A tap was counted twice.
        case duplicateEvent
        /// A visit belongs to no member.
        case visitWithoutMember
        /// A visit and the receipts of taps contradict each other.
        case receiptMismatch
        /// The logical clock of this device is behind its records.
        case clockOrder
        /// The custom fields of a member are no JSON object.
        case malformedFields
        /// A stored value cannot be read.
        case unreadable
        /// The shown values of a member differ from their facts.
        case shownDiffers
        /// An erased member is present.
        case erasedPresent
        /// The journal of changes, which live lists follow, lacks some.
        case journalMismatch
        /// The state of scenarios, or the inbox, contradicts itself.
        case scenarioMismatch
        /// Changes to the ledger were left permitted.
        case ledgerUnlocked
        /// Commits are not synced to disk.
        case notDurable
        /// Other users of this machine can read the file.
        case permissions
    }

    /// Creates a finding.
    public init(_ severity: Severity, _ code: Code, _ message: String) {
        self.severity = severity
        self.code = code
        self.message = message
    }
}
