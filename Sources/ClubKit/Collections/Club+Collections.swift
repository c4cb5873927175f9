import GRDB

extension Club {
    /// Returns a sequence of a window of the members: the current one, and a new one after every change.
    ///
    /// ```swift
    /// for try await window in club.members(in: MemberQuery(order: .lastVisit, limit: 20)) {
    ///     screen.show(window.members, of: window.total)
    /// }
    /// ```
    ///
    /// Only the window is read and kept in memory. For orders with an index (``MemberOrder/creation``,
    /// ``MemberOrder/userId``, ``MemberOrder/username``, ``MemberOrder/lastVisit``) without a filter, reading it and
    /// following changes take the same time for a million members as for a thousand, apart from counting them. Other
    /// orders, and filters that match few members, scan all members for the first window, and again when a member
    /// enters the window over its edges.
    ///
    /// - Parameters:
    ///   - query: the list and the part of it to return.
    ///   - interval: how often to check for changes by other processes. Changes of this process are seen at once.
    public func members(in query: MemberQuery, pollInterval interval: Duration = .milliseconds(250)) -> MemberWindows {
        MemberWindows(club: self, query: query, interval: interval)
    }

    /// Returns a part of a list of members once, by its beginning or behind a member.
    ///
    /// Behind a member it is found by that member's values, which takes the same time anywhere in a list of a million:
    /// for orders with an index, a query by ``MemberQuery/offset`` reads all members before.
    ///
    /// - Parameters:
    ///   - query: the list, and how many members to return at most.
    ///   - member: the member behind whom the part begins, as an earlier part had them; `nil` begins at
    ///     ``MemberQuery/offset``, which counts only then.
    public func members(in query: MemberQuery, after member: Member?) async throws(ClubError) -> [Member] {
        let attempt = "list the members"
        let store = try openStore(attempt)
        let listing = MemberListing(order: query.order, filter: query.filter)
        let (offset, limit) = (max(query.offset, 0), max(query.limit, 0))
        return try await store.read(attempt) { db in
            let now = Timestamp.microseconds(store.clock()) ?? 0
            let images =
                if let member {
                    try listing.page(after: MemberImage(of: member, in: db), limit: limit, at: now, in: db)
                } else {
                    try listing.page(offset: offset, limit: limit, at: now, in: db)
                }
            return images.map(\.member)
        }
    }

    /// Returns the members that match a filter, in the given order.
    ///
    /// ```swift
    /// let ended = try await club.members(matching: MemberFilter(isExpired: true, tag: "gold"))
    /// ```
    ///
    /// All of them are in memory; ``forEachMember(in:_:)`` holds few at a time, and ``members(in:pollInterval:)``
    /// follows a part.
    ///
    /// - Parameter limit: the maximum number; all by default.
    public func members(
        matching filter: MemberFilter,
        sortedBy order: MemberOrder = .insertion,
        limit: Int = .max
    ) async throws(ClubError) -> [Member] {
        try await members(in: MemberQuery(order: order, filter: filter, limit: limit), after: nil)
    }

    /// Returns the members with that text in their name, ``Member/userId`` or a text among their custom fields, in the
    /// given order. Case is ignored; an empty text matches every member.
    public func members(
        matching text: String,
        sortedBy order: MemberOrder = .insertion,
        limit: Int = .max
    ) async throws(ClubError) -> [Member] {
        try await members(matching: MemberFilter(text: text), sortedBy: order, limit: limit)
    }

    /// Calls the closure for each member of a list, in order, with few members in memory at a time.
    ///
    /// The closure sees one consistent state of the club while taps go on; it must not call the club.
    ///
    /// - Throws: ``ClubError``, or what the closure throws.
    public func forEachMember(
        in query: MemberQuery = MemberQuery(limit: .max),
        _ body: @escaping @Sendable (Member) throws -> Void
    ) async throws {
        let attempt = "list the members"
        let store = try openStore(attempt)
        let listing = MemberListing(order: query.order, filter: query.filter)
        let now = store.device.now
        try await store.reading(attempt) { db, rethrowing in
            let page = listing.page(offset: max(0, query.offset), limit: max(0, query.limit), at: now)
            let rows = try SQLRequest<Row>(literal: page).fetchCursor(db)
            while let row = try rows.next() {
                let member = try MemberImage(row).member
                try rethrowing { try body(member) }
            }
        }
    }
}
