/// The order of a list of members. Members that are equal in it follow by ``Member/userId``.
public enum MemberOrder: String, Sendable, Hashable, CaseIterable {
    /// In the order in which they came into this store: whoever is new comes last.
    case creation
    /// By ``Member/userId``.
    case userId
    /// By ``Member/username``; members without a name first.
    case username
    /// The oldest membership first.
    case added
    /// The most visits first.
    case visits
    /// The latest visitor first.
    case lastVisit
}
