import Foundation

/// Something that was done by a person, or by the club itself.
public struct AuditEntry: Sendable, Hashable {
    /// When it was done.
    public var at: Date

    /// Who did it, if that was said.
    public var actor: String?

    /// What was done.
    public var action: Action

    /// The ``Member/userId`` of the member whom it concerns.
    public var subject: String?

    /// Particulars, such as the reason, by name.
    public var detail: [String: FieldValue]

    /// The particulars that are identifiers of members or cards.
    static let identifiers: Set<String> = ["card", "old", "new", "into", "distinctFrom"]

    /// The device on which it was done.
    public var device: UUID

    /// What can be done. The names are those of JSON and of the store.
    public enum Action: String, Sendable, Hashable, Codable, CaseIterable {
        /// A member was added by hand.
        case added
        /// A member's name or custom fields were changed.
        case edited
        /// A member was deleted.
        case deleted
        /// All that was known of a member was erased.
        case erased
        /// A member was blocked.
        case blocked
        /// A member was let in again.
        case unblocked
        /// The end of a membership was set.
        case setExpiry
        /// A member bought visits.
        case soldVisits
        /// A member's visits are unlimited again.
        case unlimited
        /// Notes on a member were changed.
        case noted
        /// A member's tags were changed.
        case tagged
        /// A visit was recorded by hand.
        case recordedVisit
        /// A visit was undone.
        case undidVisit
        /// A card was given to a member.
        case addedCard
        /// A card was blocked.
        case blockedCard
        /// A blocked card may be used again.
        case unblockedCard
        /// A card was replaced by another.
        case replacedCard
        /// Two members were joined.
        case joined
        /// A file or another device's records were taken in.
        case merged
        /// Members were written to a file.
        case exported
        /// All that is held on a member was written to a file.
        case disclosed
        /// Old visits were removed.
        case removedVisits
        /// A copy of the database was made.
        case backedUp
        /// The database was repaired.
        case repaired
    }
}

/// Who does something, and why: for the audit log.
public struct ActionContext: Sendable, Hashable {
    /// Who does it, such as "desk" or a name; `nil` if nobody said.
    public var actor: String?

    /// Why it is done.
    public var reason: String?

    /// A context.
    public init(actor: String? = nil, reason: String? = nil) {
        self.actor = actor
        self.reason = reason
    }
}

/// What a member's name, a custom field or the notes were, before somebody said something else. Of each value the last
/// few are kept, also those of another kiosk that was overruled in a merge.
public struct FormerValue: Sendable, Hashable {
    /// The ``Member/userId`` of the member of whom it was said.
    public var userId: String

    /// Which value it is: `username`, the name of a custom field, or `$notes`.
    public var name: String

    /// What it was; ``FieldValue/null`` if it had been taken away.
    public var value: FieldValue

    /// When that was said; `nil` if a file did not tell.
    public var saidAt: Date?

    /// Until when it was the value: when something newer was said. `nil` if a file did not tell.
    public var until: Date?

    /// The device on which it was said; `nil` if a file said it that does not tell.
    public var device: UUID?
}

extension MemberFacts {
    /// What was said of the name, the custom fields and the notes and is overruled. The audit log tells of what else the
    /// club keeps.
    func formerValues(of userID: String) -> [FormerValue] {
        func date(_ stamp: Stamp) -> Date? {
            // What a file says without a time counts as said at the beginning.
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
