import Synchronization

/// Whether somebody has lost interest in work that waits in a queue, or is under way there.
///
/// Work that has not begun is told at once, and is then not begun; work under way looks between two calls.
final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var hasBegun = false
        var whenCancelledBefore: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        let tell = state.withLock { state in
            state.isCancelled = true
            defer { state.whenCancelledBefore = nil }
            return state.hasBegun ? nil : state.whenCancelledBefore
        }
        tell?()
    }

    /// Sets whom to tell when the work is cancelled before it has begun. Tells at once if that has happened already.
    func whenCancelledBeforeItBegins(_ tell: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.whenCancelledBefore = tell }
            return state.isCancelled
        }
        if isCancelled { tell() }
    }

    /// Begins the work, unless it was cancelled before.
    func begin() -> Bool {
        state.withLock { state in
            state.hasBegun = true
            state.whenCancelledBefore = nil
            return !state.isCancelled
        }
    }
}
