import Foundation
import Synchronization

/// Watches the blocking calls of one thread, and gives up on a call that does not return.
///
/// The thread marks the beginning and end of each call into the library below. Somebody who waits for the thread
/// registers what is to happen when a call takes longer than ``deadline``. Giving up is final: the thread is abandoned
/// where it is, since nothing that could be done to it from outside is safe.
package final class CallWatch: Sendable {
    private struct State {
        var call: (attempt: String, since: ContinuousClock.Instant)?
        var isAbandoned = false
        var waiters: [Int: @Sendable (ReaderError) -> Void] = [:]
        var nextWaiter = 0
        var isWatching = false
    }

    package let deadline: Duration
    private let state = Mutex(State())
    private let onExpiry: @Sendable (ReaderError) -> Void

    /// - Parameter onExpiry: called once, from no particular thread, when a call is given up.
    package init(deadline: Duration, onExpiry: @escaping @Sendable (ReaderError) -> Void) {
        self.deadline = deadline
        self.onExpiry = onExpiry
    }

    /// Whether the thread was given up. A call that returns after all must then do nothing more but clean up.
    package var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Marks the beginning of a call; to be paired with ``end()``.
    package func begin(_ attempt: String) {
        let now = ContinuousClock.now
        state.withLock { $0.call = (attempt, now) }
    }

    /// Marks the end of a call. Returns false when it was given up meanwhile.
    @discardableResult
    package func end() -> Bool {
        state.withLock {
            $0.call = nil
            return !$0.isAbandoned
        }
    }

    /// Registers somebody who waits for the thread; `fail` is called at most once.
    package func addWaiter(_ fail: @escaping @Sendable (ReaderError) -> Void) -> Int {
        let (id, mustWatch) = state.withLock { state in
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = fail
            defer { state.isWatching = true }
            return (state.nextWaiter, !state.isWatching)
        }
        if mustWatch {
            Task { await watch() }
        }
        return id
    }

    /// Removes a waiter that got its result.
    package func removeWaiter(_ id: Int) {
        _ = state.withLock { $0.waiters.removeValue(forKey: id) }
    }

    /// Sleeps from deadline to deadline while somebody waits; costs nothing per call.
    private func watch() async {
        while true {
            let now = ContinuousClock.now
            let next: ContinuousClock.Instant? = state.withLock { state in
                guard !state.waiters.isEmpty else {
                    state.isWatching = false
                    return nil
                }
                return (state.call?.since ?? now) + deadline
            }
            guard let next else { return }
            if next <= now {
                expire()
                return
            }
            try? await ContinuousClock().sleep(until: next)
        }
    }

    private func expire() {
        let (error, waiters) = state.withLock { state in
            state.isAbandoned = true
            state.isWatching = false
            defer { state.waiters = [:] }
            let attempt = state.call?.attempt ?? "use the reader"
            let error = ReaderError(.stuck, attempting: attempt, detail: "the call did not return within \(deadline)")
            return (error, Array(state.waiters.values))
        }
        onExpiry(error)
        for waiter in waiters { waiter(error) }
    }
}

/// The result of a call on another thread: given once, whoever comes first.
package final class PendingResult<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

    package init(_ continuation: CheckedContinuation<Value, any Error>) {
        self.continuation = Mutex(continuation)
    }

    package func resume(with result: sending Result<Value, any Error>) {
        let continuation = continuation.withLock { stored in
            defer { stored = nil }
            return stored
        }
        continuation?.resume(with: result)
    }
}
