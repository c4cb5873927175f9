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
