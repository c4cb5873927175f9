import CardCore
import Dispatch
import Synchronization

/// An answer that is given once, by whoever comes first, and awaited by one.
package final class OneAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
        case over
    }

    private let state = Mutex(State.open)

    package init() {}

    /// Gives the answer. Any but the first is ignored.
    package func give(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(value)
                return nil
            case .awaited(let continuation):
                state = .over
                return continuation
            case .given, .over:
                return nil
            }
        }
        waiting?.resume(returning: value)
    }

    package var isGiven: Bool {
        state.withLock { state in
            switch state {
            case .open, .awaited: false
            case .given, .over: true
            }
        }
    }

    /// Waits for the answer, also in a cancelled task. To be called once.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = state.withLock { state in
                if case .given(let value) = state {
                    state = .over
                    return value
                }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

/// Work of the application's that may block, or never end.
enum LimitedWork {
    /// Threads of its own, so that work that blocks takes none from Swift's pool.
    private final class Executor: TaskExecutor {
        static let shared = Executor()

        let queue = DispatchQueue(label: "club.routing", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Runs work to its end, or for so long. Then its task is cancelled and it is left alone.
    ///
    /// - Returns: what the work gave; `nil` if it was not done in time.
    static func run<Value: Sendable>(
        within limit: Duration,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let answer = OneAnswer<Value?>()
        let task = Task(executorPreference: Executor.shared) { answer.give(await work()) }
        // Not a sleeping task: that would wake up on Swift's pool, which others may keep busy.
        let end = DispatchWorkItem { answer.give(nil) }
        Executor.shared.queue.asyncAfter(deadline: .now() + limit.seconds, execute: end)
        let value = await answer.value()
        end.cancel()
        if value == nil { task.cancel() }
        return value
    }
}

/// Lets one piece of async work after the other have its turn, in the order of arrival.
final class TurnQueue: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func inTurn<Value, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await take()
        defer { give() }
        return try await work()
    }

    private func take() async {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isMine { continuation.resume() }
        }
    }

    private func give() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
