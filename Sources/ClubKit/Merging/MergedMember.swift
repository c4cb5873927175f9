import Foundation

/// A member who was there before a merge that has changed or deleted them.
package struct MergedMember: Sendable, Hashable {
    /// As shown after the merge, or before it if they are no member any more.
    package var member: Member

    /// Whether they were deleted or erased elsewhere.
    package var isDeleted: Bool

    /// When it was merged.
    package var at: Date
}
