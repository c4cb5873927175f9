import CardCore
import Dispatch
import Synchronization

/// An answer that is given once, by whoever comes first, and awaited by one.
package final class OneAnswer<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: CheckedContinuation<Value, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Gives the answer. Any but the first is ignored.
    package func give(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            guard state.value == nil else { return nil }
            state.value = value
            return state.waiting
        }
        waiting?.resume(returning: value)
    }

    package var isGiven: Bool { state.withLock { $0.value != nil } }

    /// Waits for the answer, also in a cancelled task. To be called once.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                state.waiting = continuation
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

/// Threads of its own, so that work that blocks takes none from Swift's pool.
package final class ConcurrentExecutor: TaskExecutor {
    let queue: DispatchQueue

    package init(_ label: String) {
        queue = DispatchQueue(label: label, attributes: .concurrent)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Work of the application's that may block, or never end.
enum LimitedWork {
    private static let executor = ConcurrentExecutor("club.routing")

    /// Runs work to its end, or for so long. Then its task is cancelled and it is left alone. Returns the result of the
    /// work; `nil` if it was not done in time.
    static func run<Value: Sendable>(
        within limit: Duration,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let answer = OneAnswer<Value?>()
        let task = Task(executorPreference: executor) { answer.give(await work()) }
        // Not a sleeping task: that would wake up on Swift's pool, which others may keep busy.
        let end = DispatchWorkItem { answer.give(nil) }
        executor.queue.asyncAfter(deadline: .now() + limit.seconds, execute: end)
        let value = await answer.value()
        end.cancel()
        if value == nil { task.cancel() }
        return value
    }
}

/// Lets one piece of async work after the other have its turn, in the order in which the turns were taken.
final class TurnQueue: Sendable {
    /// A turn, which begins when the one before it is over.
    struct Turn: Sendable {
        fileprivate let former: OneAnswer<Void>?
        fileprivate let isOver = OneAnswer<Void>()
    }

    private let last = Mutex<OneAnswer<Void>?>(nil)

    /// Takes a turn behind all others, which has to be used once.
    func take() -> Turn {
        last.withLock { last in
            let turn = Turn(former: last)
            last = turn.isOver
            return turn
        }
    }

    /// Waits for a turn, and works.
    func inTurn<Value, Failure: Error>(
        _ turn: Turn? = nil,
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let turn = turn ?? take()
        await turn.former?.value()
        defer { turn.isOver.give(()) }
        return try await work()
    }
}
