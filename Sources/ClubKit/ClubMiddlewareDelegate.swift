import Dispatch
import ReaderKit

/// The delegate of a club, notified of its events. Every method has an empty default.
///
/// The methods are called on the queue of ``Club/setDispatchQueue(_:)``, one at a time, in order, after the commit and
/// never inside a transaction, so that they may call the club. The default queue is the main one: a program whose main
/// queue does not run gets no callbacks.
///
/// A method must be declared in the class that conforms: one that only its subclass declares is not called. A class
/// that is isolated to the main actor conforms as `@MainActor ClubMiddlewareDelegate` (in a module that isolates
/// everything to the main actor by default, plainly) and leaves the queue at `.main`. Do not rely on
/// `Thread.isMainThread`, which is not always true on the main queue on Linux.
public protocol ClubMiddlewareDelegate: CaptureMiddlewareDelegate {
    /// Called when an operation failed: the store, a reader, a file, or the custom class on a record. The error is a
    /// ``ClubError``, a ``CKError``, a ``TransferError`` or a `ReaderError` of ReaderKit. A counted visit stays
    /// counted. A tap whose text is no membership text is ``CKError/invalidPassInformation(_:)``, one that is no text
    /// ``CKError/nonExistentUTF8DecodedDataString(_:)``, one without readable data ``CKError/nullDecodedData(_:)``; its
    /// receipt comes before.
    func club(_ club: Club, didReceive error: any Error)

    /// Called when a tap was recorded, also a `repeat` and one that was `ignored` or `rejected`, with the reason in
    /// words for the person at the reader. It precedes the tap's other callbacks; a duplicate (by its
    /// ``Receipt/eventID``) has no others.
    func club(_ club: Club, didReceive receipt: Receipt)

    /// Called when an unknown card became a member; ``MembershipUser/numVisits`` is 1. ``club(_:didUpdateMembership:)``
    /// is not called for the same tap.
    func club(_ club: Club, didCreateNewMembership user: MembershipUser)

    /// Called when a member changed: a visit was counted, recorded by hand or undone, the record was edited, or a merge
    /// changed it (once for each member, after the commit). ``ClubEvent/updateReason`` of the event in ``Club/events``
    /// has the reason. A repeat inside the cooldown does not call it.
    func club(_ club: Club, didUpdateMembership user: MembershipUser)

    /// Called when a member was deleted; `user` is a valid copy of the record.
    func club(_ club: Club, didDeleteMembership user: MembershipUser)

    /// Called when a file was read; nothing is stored until the application merges the members.
    func club(_ club: Club, didReceiveImported users: [MembershipUser])

    /// Called when a scenario was executed for a member, a group or the kiosk, or an execution was refunded (see
    /// ``ScenarioExecution/state``), after the callback of its visit.
    func club(_ club: Club, didExecute result: ScenarioResult)

    /// Called when a message was passed to its processor, or no processor accepted it.
    func club(_ club: Club, didRoute result: RoutingResult)
}

extension ClubMiddlewareDelegate {
    /// Does nothing.
    public func club(_ club: Club, didReceive error: any Error) {}

    /// Does nothing.
    public func club(_ club: Club, didReceive receipt: Receipt) {}

    /// Does nothing.
    public func club(_ club: Club, didCreateNewMembership user: MembershipUser) {}

    /// Does nothing.
    public func club(_ club: Club, didUpdateMembership user: MembershipUser) {}

    /// Does nothing.
    public func club(_ club: Club, didDeleteMembership user: MembershipUser) {}

    /// Does nothing.
    public func club(_ club: Club, didReceiveImported users: [MembershipUser]) {}

    /// Does nothing.
    public func club(_ club: Club, didExecute result: ScenarioResult) {}

    /// Does nothing.
    public func club(_ club: Club, didRoute result: RoutingResult) {}
}

/// The reader half of a ``Club``, under the name of the original library.
public typealias CaptureMiddleware = Club

/// The delegate for the readers that a club serves. Every method has an empty default.
///
/// The methods are called on the queue of ``Club/setDispatchQueue(_:)``, in order with those of
/// ``ClubMiddlewareDelegate``, and with the same requirements on the conforming class. Errors are also reported by
/// ``ClubMiddlewareDelegate/club(_:didReceive:)``.
public protocol CaptureMiddlewareDelegate: AnyObject {
    /// Called when the service behind readers (pcscd) is available, for the first time or again. Its readers follow.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    )

    /// Called when the service behind readers is unavailable: `E_NOTINITIALIZED` if it was lost or not found,
    /// `E_NOERROR` if the club no longer serves it. The removal of its readers was reported before.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    )

    /// Called when a reader was connected.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    )

    /// Called when a reader was removed.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    )

    /// Called when the charge of a reader's battery is first known and when it changes, in percent: of SpringCard's readers
    /// with a battery, such as the S550, if the driver passes escape commands.
    func capture(_ capture: CaptureMiddleware, batteryLevelDidChange value: Int, for device: CaptureLayerDevice)

    /// Called when a card was presented, before its receipt; the data is `nil` if the card left before anything could
    /// be read.
    func capture(
        _ capture: CaptureMiddleware,
        didReceive decodedData: CaptureLayerDecodedData?,
        for device: CaptureLayerDevice,
        withResult result: CaptureLayerResult
    )
}

extension CaptureMiddlewareDelegate {
    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        batteryLevelDidChange value: Int,
        for device: CaptureLayerDevice
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didReceive decodedData: CaptureLayerDecodedData?,
        for device: CaptureLayerDevice,
        withResult result: CaptureLayerResult
    ) {}
}

/// The service behind readers, as passed to ``CaptureMiddlewareDelegate``: pcscd, or another backend.
public struct CaptureLayerDeviceManager: Sendable {
    /// The kind of backend of its readers.
    public let backend: BackendKind

    private let club: Club

    init(_ backend: BackendKind, of club: Club) {
        self.backend = backend
        self.club = club
    }

    /// The queue of all callbacks of the club. Setting it is ``Club/setDispatchQueue(_:)``; `nil` changes nothing.
    ///
    /// Programs written for the original library set it when the manager arrives.
    public var dispatchQueue: DispatchQueue? {
        get { club.callbacks.currentQueue }
        nonmutating set {
            if let newValue { club.setDispatchQueue(newValue) }
        }
    }
}

extension CaptureLayerDeviceManager: Hashable {
    /// Returns whether both are the same service of the same club.
    public static func == (one: CaptureLayerDeviceManager, other: CaptureLayerDeviceManager) -> Bool {
        one.backend == other.backend && one.club === other.club
    }

    /// Hashes the backend and the club.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(backend)
        hasher.combine(ObjectIdentifier(club))
    }
}
