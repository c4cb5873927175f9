import Dispatch
import ReaderKit

/// Is told what happens in a club. Every method has an empty default.
///
/// The methods are called on the queue of ``Club/setDispatchQueue(_:)``, one at a time, in the order of what happened,
/// after it was committed and never inside a transaction, so that they may call the club. The default queue is the main
/// one: a program whose main queue does not run gets no callbacks.
///
/// A method must be declared in the class that conforms: one that only its subclass declares is not called. A class
/// that is isolated to the main actor conforms as `@MainActor ClubMiddlewareDelegate` (in a module that isolates
/// everything to the main actor by default, plainly) and leaves the queue at `.main`. Do not rely on
/// `Thread.isMainThread`, which is not always true on the main queue on Linux.
public protocol ClubMiddlewareDelegate: CaptureMiddlewareDelegate {
    /// Something failed: the store, a reader, a file, or the custom class on a record. It is a ``ClubError``, a
    /// ``CKError``, a ``TransferError`` or a `ReaderError` of ReaderKit. A visit that was counted stays counted. A tap whose
    /// text is no membership text is ``CKError/invalidPassInformation(_:)``, one that is no text
    /// ``CKError/nonExistentUTF8DecodedDataString(_:)``, one of which nothing was read ``CKError/nullDecodedData(_:)``; its
    /// receipt comes before.
    func club(_ club: Club, didReceive error: any Error)

    /// A tap was recorded: what became of it, also of a `repeat`, and of one that was `ignored` or `rejected`, with the reason
    /// in words for the person at the reader. It comes before the tap's other callbacks; a tap that was seen before
    /// (by its ``Receipt/eventID``) has had its own.
    func club(_ club: Club, didReceive receipt: Receipt)

    /// An unknown card became a member; ``MembershipUser/numVisits`` is 1. ``club(_:didUpdateMembership:)`` is not
    /// called for the same tap.
    func club(_ club: Club, didCreateNewMembership user: MembershipUser)

    /// A member changed: a visit was counted, recorded by hand or undone, the record was edited, or a merge changed it
    /// (once for each member, after the commit). ``ClubEvent/updateReason`` of the event in ``Club/events`` reports
    /// which. A repeat inside the cooldown does not call it.
    func club(_ club: Club, didUpdateMembership user: MembershipUser)

    /// A member was deleted; `user` is a valid copy of the record.
    func club(_ club: Club, didDeleteMembership user: MembershipUser)

    /// A file was read; nothing of it is stored before the application merges it.
    func club(_ club: Club, didReceiveImported users: [MembershipUser])

    /// A scenario happened to a member, a group or the kiosk, or what it was charged with was refunded
    /// (``ScenarioExecution/state`` tells). After the callback of the visit at which it did.
    func club(_ club: Club, didExecute result: ScenarioResult)

    /// A message was handed to its processor, or nobody could take it.
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

/// The half of a ``Club`` that deals with readers, under the name of the original library.
public typealias CaptureMiddleware = Club

/// Is told what happens to the readers of a club, while the club serves some. Every method has an empty default.
///
/// The methods are called on the queue of ``Club/setDispatchQueue(_:)``, in order with those of
/// ``ClubMiddlewareDelegate``; what is said there of the class that conforms holds here too. What went wrong is
/// reported by ``ClubMiddlewareDelegate/club(_:didReceive:)`` besides.
public protocol CaptureMiddlewareDelegate: AnyObject {
    /// The service behind readers (pcscd) is there, for the first time or again. Its readers follow.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    )

    /// The service behind readers is not there: `E_NOTINITIALIZED` when it was lost or not found, `E_NOERROR` when the
    /// club no longer serves it. Its readers were reported as removed before.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    )

    /// A reader is there.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    )

    /// A reader is gone.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    )

    /// The charge of a reader's battery changed, in percent. Nothing calls it yet: no reader of this library reports its
    /// charge.
    func capture(_ capture: CaptureMiddleware, batteryLevelDidChange value: Int, for device: CaptureLayerDevice)

    /// A card was presented; what the club makes of it follows. `nil` when it left before anything could be read.
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

/// The service behind readers, as the callbacks of ``CaptureMiddlewareDelegate`` name it: pcscd, or another backend.
public struct CaptureLayerDeviceManager: Sendable {
    /// The way by which its readers are reached.
    public let backend: BackendKind

    private let club: Club

    init(_ backend: BackendKind, of club: Club) {
        self.backend = backend
        self.club = club
    }

    /// The queue of all callbacks of the club. Setting it is ``Club/setDispatchQueue(_:)``; `nil` leaves it as it is.
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
    /// Whether both are the same service of the same club.
    public static func == (one: CaptureLayerDeviceManager, other: CaptureLayerDeviceManager) -> Bool {
        one.backend == other.backend && one.club === other.club
    }

    /// Feeds the backend and the club.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(backend)
        hasher.combine(ObjectIdentifier(club))
    }
}
