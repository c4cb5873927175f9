import Foundation

/// A window of a list of members: at most `limit` members, from the one at `offset` on.
public struct MemberQuery: Sendable, Hashable {
    /// The order of the list.
    public var order: MemberOrder

    /// The filter of the list.
    public var filter: MemberFilter

    /// The number of members of the list before the window. A negative number counts as 0.
    public var offset: Int

    /// The maximum number of members in the window. A negative number counts as 0.
    public var limit: Int

    /// Creates a query.
    public init(order: MemberOrder = .creation, filter: MemberFilter = .all, offset: Int = 0, limit: Int = 100) {
        self.order = order
        self.filter = filter
        self.offset = offset
        self.limit = limit
    }
}

/// A filter for members: those that meet all conditions set.
public struct MemberFilter: Sendable, Hashable {
    /// A part of the name, of the ``Member/userId`` or of a text among the custom fields. An empty text is no condition.
    ///
    /// Case is ignored as by Unicode's full case folding, with `i` for all four of Turkish, and so are accents, widths,
    /// blanks, hyphens and apostrophes; ä, ö, ü, ø and å are also found as `ae`, `oe`, `ue`, `oe` and `aa`. Words without
    /// digits may stand in any order. A telephone number of seven digits or more is found in a custom field by its last
    /// nine.
    public var text: String?

    /// Whether the member is blocked.
    public var isBlocked: Bool?

    /// Whether the membership has ended. A live list is updated when the next membership ends.
    public var isExpired: Bool?

    /// Whether all bought visits are used up. Members without a limit have visits left.
    public var hasNoVisitsLeft: Bool?

    /// The earliest time of the latest counted visit, inclusive.
    public var visitedSince: Date?

    /// A tag that the member has, in exactly this spelling.
    public var tag: String?

    /// Creates a filter; `nil` is no condition.
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

    /// A filter that matches every member.
    public static let all = MemberFilter()
}

/// A window of a list of members at one moment, and the changes from the previous one.
public struct MemberWindow: Sendable, Hashable {
    /// The members in the window, in the order of the list.
    public var members: [Member]

    /// The number of members in the whole list.
    public var total: Int

    /// The changes from the members of the previous window; `nil` for the first.
    public var changes: ListChanges?
}
