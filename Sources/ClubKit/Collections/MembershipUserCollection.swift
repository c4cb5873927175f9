/// A list of members that stays up to date.
public final class MembershipUserCollection<T: MembershipUser> {
    /// A list of all members of ``Club/shared`` in the order in which they came.
    public convenience init() { self.init(club: .shared) }

    /// A list of a club's members.
    public init(
        club: Club,
        order: MemberOrder = .creation,
        filter: MemberFilter = .all,
        lookEvery interval: Duration = .milliseconds(250)
    ) {}

    /// Begins to follow the list.
    public func observeAllRecords(_ completion: @escaping (MembershipUserChanges<T>) -> Void) {}

    /// Ends what ``observeAllRecords(_:)`` began.
    public func stopObserving() {}

    /// How many members the list has.
    public var count: Int { 0 }

    /// The member at that index.
    public func user(at index: Int) -> T? { nil }

    /// All members of the list.
    public var users: [T] { [] }
}
