import Foundation

/// A member with cards, notes, tags and limits, as the desk needs them.
public struct MemberDetails: Sendable, Hashable {
    /// The member.
    public var member: Member

    /// The reason why the member is blocked; `nil` for a member who is not.
    public var blocked: String?

    /// When the membership ends; `nil` without an end.
    public var expires: Date?

    /// The number of visits left; `nil` without a limit.
    public var visitsLeft: Int?

    /// Notes of the staff.
    public var notes: String?

    /// Tags, sorted.
    public var tags: [String]

    /// All current and former cards of the member, sorted. The first is ``Member/userId``.
    public var cards: [Card]

    /// A card of a member.
    public struct Card: Sendable, Hashable {
        /// The identifier on the card.
        public var id: String
        /// The reason why it is blocked; `nil` for a usable card.
        public var blocked: String?
    }
}

/// The order of a list of members. Equal members are ordered by ``Member/userId``.
public enum MemberOrder: String, Sendable, Hashable, CaseIterable {
    /// The order of creation in this store: new members last.
    case creation
    /// By ``Member/userId``.
    case userId
    /// By ``Member/username``; members without a name first.
    case username
    /// The oldest membership first.
    case insertion = "added"
    /// The most visits first.
    case visits
    /// The latest visitor first.
    case lastVisit
}

/// The result of merging two members.
public struct JoinReport: Sendable, Hashable {
    /// The remaining member.
    public var member: Member

    /// What was carried over from the merged member.
    public var carried: [Part]

    /// What the merged member had and was not carried over.
    public var notCarried: [Part]

    /// The custom fields that were not carried over.
    public var fieldsNotCarried: [String]

    /// The data of a member besides visits and cards. The names are those of JSON and of the audit log.
    public enum Part: String, Sendable, Hashable, Codable, CaseIterable {
        /// The block and its reason. Of two reasons that of the remaining member stays.
        case blocked
        /// The end of the membership.
        case expires
        /// The bought visits that are left.
        case visitsLeft
        /// The tags.
        case tags
        /// The notes.
        case notes
        /// The name.
        case username
    }
}
