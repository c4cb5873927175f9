import Foundation

/// Which members a list shows: those who meet all conditions that are set.
public struct MemberFilter: Sendable, Hashable {
    /// A part of the name, of the ``Member/userId`` or of a text among the custom fields. Upper and lower case count as
    /// the same. An empty text is no condition.
    public var text: String?

    /// Whether the member is blocked.
    public var isBlocked: Bool?

    /// Whether the membership has ended. A list is compared anew when the next membership ends.
    public var isExpired: Bool?

    /// Whether all visits that were bought are used up. Who may come without limit has visits left.
    public var hasNoVisitsLeft: Bool?

    /// A time at or after which the latest counted visit was.
    public var visitedSince: Date?

    /// A tag that the member has, in exactly this spelling.
    public var tag: String?

    /// A filter with those conditions; `nil` is none.
    public init(
        text: String? = nil,
        isBlocked: Bool? = nil,
        isExpired: Bool? = nil,
        hasNoVisitsLeft: Bool? = nil,
        visitedSince: Date? = nil,
        tag: String? = nil
    ) {
        self.text = text
        self.isBlocked = isBlocked
        self.isExpired = isExpired
        self.hasNoVisitsLeft = hasNoVisitsLeft
        self.visitedSince = visitedSince
        self.tag = tag
    }

    /// No condition: every member.
    public static let all = MemberFilter()
}
