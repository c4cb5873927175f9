/// A window of a list of members at one moment, and what became of the window before.
public struct MemberWindow: Sendable, Hashable {
    /// The members in the window, in the order of the list.
    public var members: [Member]

    /// How many members the whole list has.
    public var total: Int

    /// What leads from the members of the window before to these; `nil` for the first window.
    public var changes: ListChanges?
}
