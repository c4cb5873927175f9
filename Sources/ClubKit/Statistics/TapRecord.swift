import Foundation

/// A tap, or a visit that was recorded by hand, and whether it counts.
public struct TapRecord: Sendable, Hashable, Identifiable {
    /// The identifier of the tap or visit.
    public var id: UUID

    /// When it was.
    public var at: Date

    /// The ``Member/userId`` of the member whose it is, `nil` if it belongs to nobody.
    public var userId: String?

    /// The name of that member.
    public var username: String?

    /// The name of the reader; empty for a visit that was recorded by hand.
    public var reader: String

    /// How it was recorded.
    public var source: Visit.Source

    /// Whether it counts, or why not.
    public var standing: Standing

    /// Why it was recorded by hand, undone, ignored or rejected.
    public var reason: String?

    /// Whether a tap or visit counts, or why not.
    public enum Standing: String, Sendable, Hashable, Codable, CaseIterable {
        /// It is a visit.
        case counted
        /// It was a visit and was undone.
        case undone
        /// It was the visit of a member who was deleted since.
        case deleted
        /// It was inside the cooldown.
        case `repeat`
        /// By configuration nothing was done about it.
        case ignored
        /// It was rejected.
        case rejected
    }

    /// Whether it counts.
    public var isCounted: Bool { standing == .counted }
}
