import Dispatch

/// Work of the application's that may block, or never end.
enum LimitedWork {
    /// Threads of its own, so that work that blocks takes none from Swift's pool.
    private final class Executor: TaskExecutor {
        static let shared = Executor()

        private let queue = DispatchQueue(label: "club.routing", attributes: .concurrent)

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
        let timer = Task(executorPreference: Executor.shared) {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            answer.give(nil)
        }
        let value = await answer.value()
        timer.cancel()
        if value == nil { task.cancel() }
        return value
    }
}
