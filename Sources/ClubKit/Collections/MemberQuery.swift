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
