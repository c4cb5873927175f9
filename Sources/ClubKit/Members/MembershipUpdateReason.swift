/// Why a member changed.
public enum MembershipUpdateReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// A tap was counted.
    case visit
    /// A visit was recorded by hand.
    case manualVisit
    /// A visit was undone.
    case undo
    /// Somebody changed the member's values, cards or standing.
    case edit
    /// Another device's records, a file, or another member were merged into this one.
    case merge
}
