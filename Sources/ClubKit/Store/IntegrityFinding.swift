/// Something that ``Club/check()`` found wrong with the store.
public struct IntegrityFinding: Sendable, Hashable, Encodable {
    /// How bad it is.
    public var severity: Severity

    /// The kind of finding, for programs.
    public var code: Code

    /// What is wrong and what can be done about it, without identifiers and names.
    public var message: String

    /// How bad a finding is.
    public enum Severity: String, Sendable, Hashable, Encodable {
        /// The data is right, but something around it should be changed.
        case warning
        /// Data is damaged or contradicts itself.
        case error
    }

    /// The kinds of findings.
    public enum Code: String, Sendable, Hashable, Encodable, CaseIterable {
        /// SQLite finds the file damaged (`PRAGMA integrity_check`).
        case damaged
        /// A row refers to one that is not there (`PRAGMA foreign_key_check`).
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
        /// A value that is kept cannot be understood.
        case unreadable
        /// A member is shown otherwise than was said of them.
        case shownDiffers
        /// Somebody who was erased is there.
        case erasedPresent
        /// The journal that lists of members follow lacks changes.
        case journalMismatch
        /// The state of scenarios, or the inbox, contradicts itself.
        case scenarioMismatch
        /// Changes to the ledger were left allowed.
        case ledgerUnlocked
        /// Commits are not written through to the disk.
        case notDurable
        /// Other users of this machine may read the file.
        case permissions
    }

    /// A finding.
    public init(_ severity: Severity, _ code: Code, _ message: String) {
        self.severity = severity
        self.code = code
        self.message = message
    }
}
