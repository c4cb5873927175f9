import Foundation

/// Which part of which list of members is to be shown: `limit` members from the one at `offset` on.
public struct MemberQuery: Sendable, Hashable {
    /// The order of the list.
    public var order: MemberOrder

    /// Whom the list shows.
    public var filter: MemberFilter

    /// How many members of the list come before the window. A negative number counts as 0.
    public var offset: Int

    /// How many members the window holds at most. A negative number counts as 0.
    public var limit: Int

    /// A window of a list.
    public init(order: MemberOrder = .creation, filter: MemberFilter = .all, offset: Int = 0, limit: Int = 100) {
        self.order = order
        self.filter = filter
        self.offset = offset
        self.limit = limit
    }
}

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

/// A window of a list of members at one moment, and what became of the window before.
public struct MemberWindow: Sendable, Hashable {
    /// The members in the window, in the order of the list.
    public var members: [Member]

    /// How many members the whole list has.
    public var total: Int

    /// What leads from the members of the window before to these; `nil` for the first window.
    public var changes: ListChanges?
}
