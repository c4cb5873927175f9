import Dispatch
import Synchronization

/// Whether somebody has lost interest in work that waits in a queue, or is under way there.
///
/// Whoever waits for the work is told at once. The work itself is not begun any more, or looks between two calls.
final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var tell: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        let tell = state.withLock { state in
            state.isCancelled = true
            defer { state.tell = nil }
            return state.tell
        }
        signal.signal()
        tell?()
    }

    /// Sets whom to tell when the work is cancelled. Tells at once if that has happened already.
    func whenCancelled(_ tell: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.tell = tell }
            return state.isCancelled
        }
        if isCancelled { tell() }
    }

    /// Blocks the thread for that many seconds, or until the work is cancelled.
    func wait(atMost seconds: Double) {
        guard !isCancelled else { return }
        _ = signal.wait(timeout: .now() + seconds)
    }
}
