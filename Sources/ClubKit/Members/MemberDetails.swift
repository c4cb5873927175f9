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
