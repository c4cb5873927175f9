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
    public func members(in query: MemberQuery, lookEvery interval: Duration = .milliseconds(250)) -> MemberWindows {
        MemberWindows(club: self, query: query, interval: interval)
    }
}
