/// What the half of a club that deals with members can do, for applications that put something else in its place.
public protocol CaptureMembershipProtocol: CaptureMiddlewareProtocol {
    /// The class of the records.
    associatedtype userType: IdentifiableUserProtocol  // swift-format-ignore: TypeNamesShouldBeCapitalized

    /// See ``Club/Configuration``.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    static var Configuration: MembershipConfiguration { get set }

    /// See ``Club/createUser(with:)-(CaptureDataInformation)``.
    func createUser(with captureDataInformation: CaptureDataInformation)

    /// See ``Club/merge(importedUsers:)``.
    func merge(importedUsers: [MembershipUser])

    /// See ``Club/getUser(withMemberId:)``.
    func getUser(withMemberId memberId: String) throws(ClubError) -> userType?

    /// See ``Club/getUser(withPassId:)``.
    func getUser(withPassId passId: String) throws(ClubError) -> userType?

    /// See ``Club/update(user:withChanges:)``.
    func update(user: userType, withChanges changes: () -> Void)

    /// See ``Club/deleteUser(withMemberId:)``.
    func deleteUser(withMemberId memberId: String)

    /// See ``Club/deleteUser(withPassId:)``.
    func deleteUser(withPassId passId: String)

    /// See ``Club/deleteUser(_:)``.
    func deleteUser(_ user: userType)
}
