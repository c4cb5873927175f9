extension Club {
    /// A window of a list of the members, now and after every change.
    public func members(in query: MemberQuery, lookEvery interval: Duration = .milliseconds(250)) -> MemberWindows {
        MemberWindows()
    }
}
