/// Why a member's record changed, and with it why ``ClubMiddlewareDelegate/club(_:didUpdateMembership:)`` is called.
public enum MembershipUpdateReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// A tap was counted.
    case visit
    /// A person recorded a visit.
    case manualVisit
    /// A person took a visit back.
    case undo
    /// The record was edited: its name, its fields, its cards, a block, an expiry, notes, tags or visits bought.
    case edit
    /// Records of a file or of another device were merged, and changed this one.
    case merge
}
