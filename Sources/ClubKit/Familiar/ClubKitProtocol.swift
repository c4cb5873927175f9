import Dispatch
import Foundation

/// What is set up and moved in a club, for applications that put something else in its place.
public protocol ClubKitProtocol {
    /// See ``Club/shared``.
    static var shared: Club { get }

    /// See ``Club/delegate``.
    var delegate: (any ClubMiddlewareDelegate)? { get }

    /// See ``Club/OverridableMembershipUserClassType``.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var OverridableMembershipUserClassType: MembershipUser.Type { get }

    /// See ``Club/getExportableURLForDataSource(ofType:fileType:)``.
    func getExportableURLForDataSource<T: MembershipUser>(ofType objectType: T.Type, fileType: IOFileType) -> URL?

    /// See ``Club/getImportedDataSource(ofType:from:)``.
    func getImportedDataSource<T: MembershipUser>(ofType objectType: T.Type, from url: URL)

    /// See ``Club/setDelegate(to:)``.
    @discardableResult func setDelegate(to delegate: (any ClubMiddlewareDelegate)?) -> Club

    /// See ``Club/setDispatchQueue(_:)``.
    @discardableResult func setDispatchQueue(_ queue: DispatchQueue) -> Club

    /// See ``Club/setDebugMode(isActivated:)``.
    @discardableResult func setDebugMode(isActivated: Bool) -> Club

    /// See ``Club/setCustomMembershipUser(classType:)``.
    @discardableResult func setCustomMembershipUser(classType: MembershipUser.Type) -> Club

    /// See ``Club/addVersionMigration(changeBlock:)``.
    @discardableResult func addVersionMigration(changeBlock: @escaping VersionMigrationChangeBlock) -> Club

    /// See ``Club/build()``.
    func build() -> [MigrationChange]

    /// See ``Club/assumeCaptureDelegate()``.
    func assumeCaptureDelegate()

    /// See ``Club/resignCaptureDelegate(to:)``.
    func resignCaptureDelegate(to replacement: any CaptureMiddlewareDelegate)
}

extension Club: CaptureMembershipProtocol, ClubKitProtocol {}
