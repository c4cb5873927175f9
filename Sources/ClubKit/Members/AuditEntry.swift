import Foundation

/// An entry of the audit log: an action of a person, or of the club itself.
public struct AuditEntry: Sendable, Hashable {
    /// The time of the action.
    public var at: Date

    /// The actor, if known.
    public var actor: String?

    /// The action.
    public var action: Action

    /// The ``Member/userId`` of the affected member.
    public var subject: String?

    /// Details by name, such as the reason.
    public var detail: [String: FieldValue]

    /// The particulars that are identifiers of members or cards.
    static let identifiers: Set<String> = ["card", "old", "new", "into", "distinctFrom"]

    /// The device that recorded it.
    public var device: UUID

    /// The kinds of actions. The names are those of JSON and of the store.
    public enum Action: String, Sendable, Hashable, Codable, CaseIterable {
        /// A member was added by hand.
        case added
        /// A member's name or custom fields were changed.
        case edited
        /// A member was deleted.
        case deleted
        /// All data of a member was erased.
        case erased
        /// A member was blocked.
        case blocked
        /// A member was unblocked.
        case unblocked
        /// The end of a membership was set.
        case setExpiry
        /// A member bought visits.
        case soldVisits
        /// A member's limit on visits was removed.
        case unlimited
        /// Notes on a member were changed.
        case noted
        /// A member's tags were changed.
        case tagged
        /// A visit was recorded by hand.
        case recordedVisit
        /// A visit was undone.
        case undidVisit
        /// A card was added to a member.
        case addedCard
        /// A card was blocked.
        case blockedCard
        /// A card was unblocked.
        case unblockedCard
        /// A card was replaced by another.
        case replacedCard
        /// Two members were merged.
        case joined
        /// A file or another device's records were merged.
        case merged
        /// Members were written to a file.
        case exported
        /// All data on a member was written to a file.
        case disclosed
        /// Old visits were removed.
        case removedVisits
        /// A copy of the database was made.
        case backedUp
        /// The database was repaired.
        case repaired
    }
}

/// The actor of an action and the reason for it, for the audit log.
public struct ActionContext: Sendable, Hashable {
    /// The actor, such as "desk" or a name; `nil` if unknown.
    public var actor: String?

    /// The reason.
    public var reason: String?

    /// Creates a context.
    public init(actor: String? = nil, reason: String? = nil) {
        self.actor = actor
        self.reason = reason
    }
}

/// A former value of a member's name, custom field or notes. The last few of each are kept, also those of another kiosk
/// that were overruled in a merge.
public struct FormerValue: Sendable, Hashable {
    /// The ``Member/userId`` of the member to whom it was written.
    public var userId: String

    /// The name of the value: `username`, the name of a custom field, or `$notes`.
    public var name: String

    /// The former value; ``FieldValue/null`` if it had been removed.
    public var value: FieldValue

    /// When it was set; `nil` if a file did not state it.
    public var saidAt: Date?

    /// When it was replaced by a newer value; `nil` if a file did not state it.
    public var until: Date?

    /// The device that set it; `nil` if a file did not state it.
    public var device: UUID?
}

extension MemberFacts {
    /// The overruled values of the name, custom fields and notes. The audit log contains what else the club keeps.
    func formerValues(of userID: String) -> [FormerValue] {
        func date(_ stamp: Stamp) -> Date? {
            // What a file states without a time counts as stated at the beginning.
            stamp.time >> 16 == 0 ? nil : stamp.date
        }
        var former: [FormerValue] = []
        for (name, versions) in values where !name.hasPrefix("$") || name == SystemValues.Name.notes {
            // What a file left empty was never shown beside anything else.
            let said = versions.filter { $0.kind != .emptyInFile }
            for (newer, older) in zip(said, said.dropFirst()) where newer.value != older.value {
                former.append(
                    FormerValue(
                        userId: userID,
                        name: name,
                        value: older.value,
                        saidAt: date(older.stamp),
                        until: date(newer.stamp),
                        device: older.stamp.isLegacy ? nil : older.stamp.device
                    )
                )
            }
        }
        return former
    }
}
