import Dispatch
import ReaderKit

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
