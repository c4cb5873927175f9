import CardCore
import Dispatch

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
