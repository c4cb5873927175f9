import Dispatch
import Foundation
import ReaderKit

/// The set-up and file interface of a club, for applications that substitute another implementation.
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

/// The member interface of a club, for applications that substitute another implementation.
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

/// The reader interface of a club, for applications that substitute another implementation.
public protocol CaptureMiddlewareProtocol: AnyObject {
    /// See ``Club/capture``.
    var capture: (any ReaderBackend)? { get }

    /// See ``Club/setCapture(instance:)``.
    @discardableResult func setCapture(instance: (any ReaderBackend)?) -> Club

    /// See ``Club/numberOfFailedOpenCaptureAttempts``.
    var numberOfFailedOpenCaptureAttempts: Int { get }

    /// See ``Club/open(withAppKey:appId:developerId:completion:)``.
    func open(
        withAppKey appKey: String,
        appId: String,
        developerId: String,
        completion: ((CaptureLayerResult) -> Void)?
    )

    /// See ``Club/close(_:)``.
    func close(_ completion: ((CaptureLayerResult) -> Void)?)

    /// See ``Club/onDecodedData(decodedData:device:)``.
    @discardableResult func onDecodedData(
        decodedData: CaptureLayerDecodedData?,
        device: CaptureLayerDevice
    ) -> (any Error)?

    /// See ``Club/decodedDataFormat``.
    var decodedDataFormat: Club.DecodedDataParseFormat { get }

    /// See ``Club/setDecodedDataParse(format:)``.
    func setDecodedDataParse(format: Club.DecodedDataParseFormat)

    /// See ``Club/startAutoDiscovery(numSeconds:completion:)``.
    func startAutoDiscovery(numSeconds: Int, completion: @escaping ([DiscoveredDeviceInfo]) -> Void)

    /// See ``Club/setFavorite(discoveredDeviceInfo:)``.
    func setFavorite(discoveredDeviceInfo: DiscoveredDeviceInfo)

    /// See ``Club/resetFavorite()``.
    func resetFavorite()
}
