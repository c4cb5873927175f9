import ClubRecords
import Foundation
import Synchronization

/// The state of the kiosk, for the routers, clubs and screens of a program (`UIApplication` in the original library).
/// It may be used from any thread.
///
/// ``MessageRouter/state`` is the state of its application. Clubs record activity at each new tap, and in
/// ``KioskState/maintenance`` they count no taps.
public final class KioskApplication: Sendable {
    /// The shared application of this program.
    public static let shared = KioskApplication()

    private struct State {
        var set: KioskState
        /// When somebody was there last; `nil` until readers are served.
        var lastActivity: Date?
        var idleAfter: Duration
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> Date

    /// Creates an application.
    ///
    /// - Parameters:
    ///   - applicationState: the initial state.
    ///   - idleAfter: the time after the last tap at which the kiosk becomes idle.
    ///   - clock: the clock for that.
    public init(
        applicationState: KioskState = .serving,
        idleAfter: Duration = .seconds(300),
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        state = Mutex(State(set: applicationState, idleAfter: idleAfter))
        self.clock = clock
    }

    /// The state of the kiosk. The original's `active`, `inactive` and `background` are ``KioskState/serving``,
    /// ``KioskState/idle`` and ``KioskState/maintenance``.
    ///
    /// Once readers are served, serving becomes idle after ``idleAfter`` without a tap, and a tap makes it serving again.
    /// Maintenance stays until another state is set.
    public var applicationState: KioskState {
        get {
            state.withLock { state in
                guard state.set == .serving, let last = state.lastActivity else { return state.set }
                return clock().timeIntervalSince(last) >= state.idleAfter / .seconds(1) ? .idle : .serving
            }
        }
        set {
            state.withLock { state in
                state.set = newValue
                if state.lastActivity != nil { state.lastActivity = clock() }
            }
        }
    }

    /// The time after the last tap at which the kiosk becomes idle; five minutes by default.
    public var idleAfter: Duration {
        get { state.withLock(\.idleAfter) }
        set { state.withLock { $0.idleAfter = newValue } }
    }

    /// Records activity. `Club.serve(_:configuration:)` and each new tap call it; a program that serves in another way
    /// calls it when it begins, and when the screen is touched.
    public func noteActivity() {
        state.withLock { state in
            state.lastActivity = clock()
            if state.set == .idle { state.set = .serving }
        }
    }
}

/// The state of the kiosk, as far as it matters for processing messages.
public enum KioskState: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is in use: a message may be shown at once. (The original's `active`.)
    case serving
    /// It is not in use, or no tap came for some minutes. (The original's `inactive`.)
    case idle
    /// It is under maintenance: nothing is shown, and taps are acknowledged as ignored and not counted. (The original's
    /// `background`.)
    case maintenance
}
