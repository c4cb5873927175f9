import Foundation
import Synchronization

/// Watches the blocking calls of one thread, and gives up on a call that does not return.
///
/// The thread marks the beginning and end of each call into the library below. Somebody who waits for the thread
/// registers what is to happen when a call takes longer than ``deadline``. Giving up is final: the thread is abandoned
/// where it is, since nothing that could be done to it from outside is safe.
package final class CallWatch: Sendable {
    /// Called when a call was given up.
    package typealias Fail = @Sendable (ReaderError) -> Void

    private struct State {
        var call: (attempt: String, since: ContinuousClock.Instant)?
        /// Set for good when a call was given up: what is reported to everybody from then on.
        var verdict: ReaderError?
        var waiters: [Int: Fail] = [:]
        var nextWaiter = 0
        var isWatching = false
        var hasComeBack = false
    }

    package let deadline: Duration
    private let state = Mutex(State())
    private let abandoned: AbandonedThreads
    private let onExpiry: Fail

    /// - Parameters:
    ///   - abandoned: where a thread that is given up is counted.
    ///   - onExpiry: called once, from no particular thread, when a call is given up, before the waiting callers are
    ///     notified.
    package init(deadline: Duration, abandoned: AbandonedThreads = .ofProcess, onExpiry: @escaping Fail) {
        self.deadline = deadline
        self.abandoned = abandoned
        self.onExpiry = onExpiry
    }

    /// Whether the thread was given up. A call that returns after all must then do nothing more but clean up.
    package var isAbandoned: Bool { state.withLock { $0.verdict != nil } }

    /// Makes one call into the library, under the deadline; none on a thread that was given up.
    ///
    /// - Parameter late: cleans up the result of a call that returned only after it was given up.
    package func call<Value>(
        _ attempt: String,
        late: (Value) -> Void = { _ in },
        _ body: () -> Value
    ) throws(ReaderError) -> Value {
        try begin(attempt)
        let value = body()
        do throws(ReaderError) {
            try end()
        } catch {
            late(value)
            throw error
        }
        return value
    }

    /// Marks the beginning of a call; to be paired with ``end()``. Throws on a thread that was given up.
    package func begin(_ attempt: String) throws(ReaderError) {
        let now = ContinuousClock.now
        let verdict = state.withLock { state in
            if state.verdict == nil { state.call = (attempt, now) }
            return state.verdict
        }
        if let verdict { throw verdict }
    }

    /// Marks the end of a call. Throws when it was given up meanwhile.
    package func end() throws(ReaderError) {
        let verdict = state.withLock { state in
            state.call = nil
            return state.verdict
        }
        if let verdict { throw verdict }
    }

    /// Counts a thread that was given up as alive again; called on it when it has returned and cleaned up.
    package func comeBack() {
        let isNew = state.withLock { state in
            guard state.verdict != nil, !state.hasComeBack else { return false }
            state.hasComeBack = true
            return true
        }
        if isNew { abandoned.remove() }
    }

    /// Registers somebody who waits for the thread; `fail` is called at most once.
    ///
    /// - Returns: `nil` if the thread was given up before; then `fail` was called already.
    package func addWaiter(_ fail: @escaping Fail) -> Int? {
        let (id, verdict, mustWatch) = state.withLock { state -> (Int?, ReaderError?, Bool) in
            if let verdict = state.verdict { return (nil, verdict, false) }
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = fail
            defer { state.isWatching = true }
            return (state.nextWaiter, nil, !state.isWatching)
        }
        if let verdict { fail(verdict) }
        if mustWatch { Task { await watch() } }
        return id
    }

    package func removeWaiter(_ id: Int) {
        _ = state.withLock { $0.waiters.removeValue(forKey: id) }
    }

    private enum Step {
        case nobodyWaits
        case sleep(until: ContinuousClock.Instant)
        case giveUp(ReaderError, [Fail])
    }

    private func watch() async {
        while true {
            switch step(at: .now) {
            case .nobodyWaits: return
            case .sleep(let instant): try? await ContinuousClock().sleep(until: instant)
            case .giveUp(let error, let waiters):
                onExpiry(error)
                for waiter in waiters { waiter(error) }
                return
            }
        }
    }

    /// Decides, and gives up, in one go: a call that ends a moment before is not given up, and one that was given up
    /// finds out when it ends.
    private func step(at now: ContinuousClock.Instant) -> Step {
        state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.isWatching = false
                return .nobodyWaits
            }
            guard let call = state.call else { return .sleep(until: now + deadline) }
            guard call.since + deadline <= now else { return .sleep(until: call.since + deadline) }
            let detail = "the call did not return within \(deadline)"
            let error = ReaderError(.stuck, attempting: call.attempt, detail: detail)
            state.verdict = error
            state.isWatching = false
            abandoned.add()
            defer { state.waiters = [:] }
            return .giveUp(error, Array(state.waiters.values))
        }
    }
}

/// Counts the threads that hang in a call that does not return, each with its stack and its connection to the service.
/// At ``limit`` no more is started: the process had better be restarted by its supervisor.
package final class AbandonedThreads: Sendable {
    package static let ofProcess = AbandonedThreads()

    package let limit: Int

    private let hanging = Mutex(0)

    package init(limit: Int = 16) {
        self.limit = limit
    }

    package var count: Int { hanging.withLock { $0 } }

    package var isFull: Bool { count >= limit }

    /// Fails if no other thread may be started.
    func check() throws(ReaderError) {
        guard isFull else { return }
        let detail = "\(count) threads hang in calls that do not return"
        throw ReaderError(.exhausted, attempting: "use the reader", detail: detail)
    }

    package func add() { hanging.withLock { $0 += 1 } }

    package func remove() { hanging.withLock { $0 -= 1 } }
}

/// An actor on a thread of its own, whose calls into a C library are watched.
///
/// A whole conversation is one hop and may block. When a call does not return, ``watch`` gives the thread up, the
/// waiting callers are notified, and the actor is never used again; whoever made it makes a new one.
protocol CallThread: Actor {
    nonisolated var executor: ThreadExecutor { get }

    nonisolated var watch: CallWatch { get }

    var isRetired: Bool { get }

    func cleanUp()
}

extension CallThread {
    /// Runs code in this actor's isolation, and stops waiting for it when a call in it does not return.
    ///
    /// A cancelled task does not wait for code that has begun either: a call may be blocked for as long as another program
    /// holds the card. The code ends by itself, at its next exchange, and nobody else is served by this thread before.
    ///
    /// - Parameters:
    ///   - evenIfCancelled: whether a cancelled task waits all the same, as for cleaning up.
    ///   - onCancel: called when the task is cancelled while it waits, from no particular thread.
    nonisolated func run<Result: Sendable>(
        evenIfCancelled: Bool = false,
        onCancel: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (isolated Self, Cancellation) throws -> Result
    ) async throws -> Result {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let pending = PendingResult(continuation)
                guard let waiter = watch.addWaiter({ pending.resume(with: .failure($0)) }) else { return }
                cancellation.whenCancelled {
                    pending.resume(with: .failure(ReaderError(.cancelled, attempting: "use the reader")))
                }
                submit { me in
                    // Until then somebody waits, even if the task has left: a call that hangs must be noticed.
                    defer { me.watch.removeWaiter(waiter) }
                    // Given up or cancelled while this was in the queue: the waiting caller was notified.
                    guard !me.watch.isAbandoned, !cancellation.isCancelled else { return }
                    let result = Swift.Result { try body(me, cancellation) }
                    pending.resume(with: result)
                }
            }
        } onCancel: {
            guard !evenIfCancelled else { return }
            cancellation.cancel()
            onCancel()
        }
    }

    /// Runs code on the thread, after what was submitted before.
    nonisolated func submit(
        _ work: @escaping @Sendable (isolated Self) -> Void,
        afterwards: @escaping @Sendable () -> Void = {}
    ) {
        executor.submit { [self] in
            assumeIsolated { me in
                work(me)
                me.tidyUp()
            }
            afterwards()
        }
    }

    /// Runs code on the thread for which nobody waits; a call in it that hangs is noticed all the same.
    ///
    /// - Parameter done: called when that is done, or will never be since a call does not return; perhaps for both.
    nonisolated func submitWatched(
        _ work: @escaping @Sendable (isolated Self) -> Void,
        then done: @escaping @Sendable () -> Void = {}
    ) {
        guard let waiter = watch.addWaiter({ _ in done() }) else { return }
        submit(work) { [watch] in
            watch.removeWaiter(waiter)
            done()
        }
    }

    /// Ends the thread if it is not wanted any more: it was stopped, or a call that was given up has returned after all.
    /// This is the one thread on which it is safe to clean up.
    private func tidyUp() {
        guard watch.isAbandoned || isRetired else { return }
        cleanUp()
        watch.comeBack()
        executor.stop()
    }
}

/// Whether somebody has lost interest in work that waits in a queue, or is under way there and looks between two calls.
final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var tell: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let alarm = Alarm()

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the work, and returns whether nobody had before.
    @discardableResult
    func cancel() -> Bool {
        let (isFirst, tell) = state.withLock { state in
            defer { state.isCancelled = true }
            return (!state.isCancelled, state.tell.take())
        }
        alarm.ring()
        tell?()
        return isFirst
    }

    /// Sets whom to notify when the work is cancelled. Notifies at once if that has happened already.
    func whenCancelled(_ tell: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.tell = tell }
            return state.isCancelled
        }
        if isCancelled { tell() }
    }

    /// Blocks until the work is cancelled, or for that time.
    func wait(atMost seconds: Double) { alarm.wait(atMost: seconds) }
}

/// What threads wait for by the monotonic clock. A semaphore of Dispatch goes by the wall clock on Linux, and waits an
/// hour longer if that is set back by one.
///
/// `@unchecked Sendable`: `hasRung` is touched only with the mutex held, and the pointers never change.
private final class Alarm: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var hasRung = false

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func ring() {
        pthread_mutex_lock(mutex)
        hasRung = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    func wait(atMost seconds: Double) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(max(0, min(seconds, 1e9)) * 1e9)
        end = timespec(tv_sec: end.tv_sec + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        pthread_mutex_lock(mutex)
        while !hasRung, pthread_cond_timedwait(condition, mutex, &end) == 0 {}
        pthread_mutex_unlock(mutex)
    }
}
