import Synchronization

extension Club {
    /// A window of a list of the members, now and after every change.
    ///
    /// ```swift
    /// for try await window in club.members(in: MemberQuery(order: .lastVisit, limit: 20)) {
    ///     screen.show(window.members, of: window.total)
    /// }
    /// ```
    ///
    /// Only the window is read and held. For the orders that the store has an index of (``MemberOrder/creation``,
    /// ``MemberOrder/userId``, ``MemberOrder/username``, ``MemberOrder/lastVisit``) and without a filter, that takes as
    /// long among a million members as among a thousand, apart from counting them; so does following the changes. The
    /// other orders, and filters that few members meet, have to look through all of them for the first window, and
    /// again when somebody comes into the window over its edges.
    ///
    /// - Parameters:
    ///   - query: which part of which list.
    ///   - interval: how often to look for changes by other processes. Those of this process are seen at once.
    public func members(in query: MemberQuery, pollInterval interval: Duration = .milliseconds(250)) -> MemberWindows {
        MemberWindows(club: self, query: query, interval: interval)
    }

    /// The members who meet the conditions of a filter, in that order.
    ///
    /// ```swift
    /// let ended = try await club.members(matching: MemberFilter(isExpired: true, tag: "gold"))
    /// ```
    ///
    /// All of them are in memory; ``forEachMember(in:_:)`` holds few at a time, and ``members(in:pollInterval:)`` follows a part.
    ///
    /// - Parameter limit: how many at most; all by default.
    public func members(
        matching filter: MemberFilter,
        sortedBy order: MemberOrder = .insertion,
        limit: Int = .max
    ) async throws(ClubError) -> [Member] {
        let found = Mutex<[Member]>([])
        do {
            try await forEachMember(in: MemberQuery(order: order, filter: filter, limit: limit)) { member in
                found.withLock { $0.append(member) }
            }
        } catch {
            throw ClubError(error, attempting: "list the members")
        }
        return found.withLock(\.self)
    }

    /// The members with that text in their name, ``Member/userId`` or a text among their custom fields, in that order.
    /// Upper and lower case count as the same; an empty text finds everybody.
    public func members(
        matching text: String,
        sortedBy order: MemberOrder = .insertion,
        limit: Int = .max
    ) async throws(ClubError) -> [Member] {
        try await members(matching: MemberFilter(text: text), sortedBy: order, limit: limit)
    }

    /// Calls the closure for the members of a list, in its order. However many there are, few are in memory at a time.
    ///
    /// The closure sees one state of the club while taps go on; it must not call the club.
    ///
    /// - Throws: ``ClubError``, or what the closure throws.
    public func forEachMember(
        in query: MemberQuery = MemberQuery(limit: .max),
        _ body: @escaping @Sendable (Member) throws -> Void
    ) async throws {
        try await openStore("list the members").forEachMember(in: query, body)
    }
}
