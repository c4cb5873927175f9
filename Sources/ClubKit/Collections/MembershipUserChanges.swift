/// What ``MembershipUserCollection/observeAllRecords(_:)`` tells.
///
/// Deletions and modifications are indices in the list before, insertions in the list after, all ascending; whoever
/// moved is deleted and inserted. So a list on a screen deletes first, then inserts.
public enum MembershipUserChanges<T: MembershipUser> {
    /// The list is there for the first time. Also told, once, when nobody is in it.
    case initial(MembershipUserCollection<T>)

    /// The list changed.
    case update(MembershipUserCollection<T>, deletions: [Int], insertions: [Int], modifications: [Int])

    /// The list cannot be followed; the error is a ``ClubError``.
    case error(any Error)
}
