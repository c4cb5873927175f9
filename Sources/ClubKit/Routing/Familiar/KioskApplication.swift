import Synchronization

/// The application that processors of the original library are given (`UIApplication` there): it says what the kiosk is
/// doing. It may be used from any thread.
public final class KioskApplication: Sendable {
    /// The one of this program.
    public static let shared = KioskApplication()

    private let state: Mutex<KioskState>

    /// An application.
    public init(applicationState: KioskState = .serving) {
        state = Mutex(applicationState)
    }

    /// What the kiosk is doing. The original's `active`, `inactive` and `background` are ``KioskState/serving``,
    /// ``KioskState/idle`` and ``KioskState/maintenance``.
    public var applicationState: KioskState {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
