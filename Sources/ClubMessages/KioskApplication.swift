import ClubRecords
import Foundation
import Synchronization

/// What the kiosk is doing, for the routers, clubs and screens of a program (`UIApplication` in the original library). It
/// may be used from any thread.
///
/// ``MessageRouter/state`` is the state of its application. Clubs note each new tap there, and while the state is
/// ``KioskState/maintenance`` they count none.
public final class KioskApplication: Sendable {
    /// The one of this program.
    public static let shared = KioskApplication()

    private struct State {
        var set: KioskState
        /// When somebody was there last; `nil` until readers are served.
        var lastActivity: Date?
    }

    private let state: Mutex<State>
    private let idleAfter: Duration
    private let clock: @Sendable () -> Date

    /// An application.
    ///
    /// - Parameters:
    ///   - applicationState: what the kiosk is doing at first.
    ///   - idleAfter: how long after the last tap nobody is there any more.
    ///   - clock: the time by which that is judged.
    public init(
        applicationState: KioskState = .serving,
        idleAfter: Duration = .seconds(300),
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        state = Mutex(State(set: applicationState))
        self.idleAfter = idleAfter
        self.clock = clock
    }

    /// What the kiosk is doing. The original's `active`, `inactive` and `background` are ``KioskState/serving``,
    /// ``KioskState/idle`` and ``KioskState/maintenance``.
    ///
    /// Once readers are served, serving becomes idle by itself when no tap has come for five minutes (unless the
    /// initialiser was given another time), and a tap makes it serving again. Maintenance stays until it is set otherwise.
    public var applicationState: KioskState {
        get {
            state.withLock { state in
                guard state.set == .serving, let last = state.lastActivity else { return state.set }
                return clock().timeIntervalSince(last) >= idleAfter / .seconds(1) ? .idle : .serving
            }
        }
        set {
            state.withLock { state in
                state.set = newValue
                if state.lastActivity != nil { state.lastActivity = clock() }
            }
        }
    }

    /// Notes that somebody is there. `Club.serve(_:configuration:)` and each new tap do so; a program that serves in
    /// another way does when it begins, and where people touch the screen.
    public func noteActivity() {
        state.withLock { state in
            state.lastActivity = clock()
            if state.set == .idle { state.set = .serving }
        }
    }
}

/// What the kiosk is doing, as far as it matters to whoever processes a message.
public enum KioskState: String, Sendable, Hashable, Codable, CaseIterable {
    /// It serves people: a message may be shown at once. (The original's `active`.)
    case serving
    /// Nobody is there, or no tap has come for some minutes. (The original's `inactive`.)
    case idle
    /// Somebody works on it: nothing is to be shown, and taps are acknowledged as ignored and not counted. (The original's
    /// `background`.)
    case maintenance
}
