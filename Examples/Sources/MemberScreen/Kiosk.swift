import ClubKit
import Dispatch
import Foundation

/// A kiosk in the words of the original library.
class Kiosk: ClubMiddlewareDelegate {
    private let club: Club
    private let screen: MemberListScreen

    init(_ club: Club) {
        self.club = club
        screen = MemberListScreen(of: club)
    }

    func setupClub() {
        club.setDelegate(to: self)
            .setCustomMembershipUser(classType: CustomMembershipUser.self)
            .setDispatchQueue(DispatchQueue.main)
            .setDebugMode(isActivated: true)
            .open(
                withAppKey: "not needed here",
                appId: "Front desk",
                developerId: "Riverside Gym",
                completion: { [weak self] (result) in
                    if result != CaptureLayerResult.E_NOERROR {
                        exit(1)
                    }
                    self?.screen.observeChanges()
                }
            )
    }

    // MARK: Members

    func club(_ clubMiddleware: Club, didReceive error: Error) {
        print(error)
    }

    func club(_ clubMiddleware: Club, didCreateNewMembership user: MembershipUser) {
        print("Welcome, \(user.shownName)!")
        guard let user = user as? CustomMembershipUser, user.emailAddress?.isEmpty != false else { return }
        clubMiddleware.update(user: user) {
            user.emailAddress = "member-\(user.userId ?? "")@club.example"
        }
    }

    func club(_ clubMiddleware: Club, didUpdateMembership user: MembershipUser) {
        print("\(user.shownName), visits so far: \(user.numVisits)")
    }

    func club(_ clubMiddleware: Club, didReceiveImported users: [MembershipUser]) {
        print("Received \(users.count) users to import.")
        clubMiddleware.merge(importedUsers: users)
    }

    // MARK: Readers

    func capture(
        _ middleware: CaptureMiddleware,
        didNotifyArrivalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    ) {
        print("Reader: \(device.deviceInfo.name)")
    }

    func capture(
        _ middleware: CaptureMiddleware,
        didNotifyRemovalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    ) {
        guard result == .E_NOERROR else { return print("There is no reader service; waiting for it.") }
        // The recording is over.
        if let url = middleware.getExportableURLForDataSource(ofType: CustomMembershipUser.self, fileType: .csv) {
            print("Exported to \(url.path)")
        }
        screen.stopObserving()
        middleware.close { _ in exit(0) }
    }
}
