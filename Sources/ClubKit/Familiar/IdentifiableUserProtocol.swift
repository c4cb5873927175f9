/// What everything that stands for a member can tell.
public protocol IdentifiableUserProtocol: AnyObject {
    /// The identifier that the member's record has in the original library from version 1.0.32 on.
    var memberId: String? { get }

    /// What is on the member's pass: the same as ``MembershipUser/userId``.
    var passId: String? { get }

    /// The member's name; empty when the card did not tell one.
    var username: String? { get }

    /// When the member was created, in seconds since 1970 (UTC).
    var timeStampAdded: Double { get }
}
