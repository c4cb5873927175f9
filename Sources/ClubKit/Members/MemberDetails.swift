import Foundation

/// All that the desk needs to know of a member.
public struct MemberDetails: Sendable, Hashable {
    /// The member.
    public var member: Member

    /// Why the member is not let in; `nil` for a member who is.
    public var blocked: String?

    /// When the membership ends; `nil` without an end.
    public var expires: Date?

    /// How many visits may still be made; `nil` without a limit.
    public var visitsLeft: Int?

    /// Notes of the staff.
    public var notes: String?

    /// Tags, sorted.
    public var tags: [String]

    /// All cards that lead to the member, or did, sorted. The first is ``Member/userId``.
    public var cards: [Card]

    /// A card of a member.
    public struct Card: Sendable, Hashable {
        /// What is read from the card.
        public var id: String
        /// Why it is blocked; `nil` for a card that may be used.
        public var blocked: String?
    }
}

/// The order of a list of members. Members that are equal in it follow by ``Member/userId``.
public enum MemberOrder: String, Sendable, Hashable, CaseIterable {
    /// In the order in which they came into this store: whoever is new comes last.
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

/// What became of two members who were joined.
public struct JoinReport: Sendable, Hashable {
    /// The member who remains, as they are now.
    public var member: Member

    /// What was taken over from the one who joined.
    public var carried: [Part]

    /// What the one who joined had and the one who remains does not have from them.
    public var notCarried: [Part]

    /// The custom fields that the same is true of.
    public var fieldsNotCarried: [String]

    /// What is kept of a member besides visits and cards. The names are those of JSON and of the audit log.
    public enum Part: String, Sendable, Hashable, Codable, CaseIterable {
        /// That the member is not let in, and why. Of two reasons that of the member who remains stays.
        case blocked
        /// The end of the membership.
        case expires
        /// The visits that were bought and not made yet.
        case visitsLeft
        /// The tags.
        case tags
        /// The notes.
        case notes
        /// The name.
        case username
    }
}
