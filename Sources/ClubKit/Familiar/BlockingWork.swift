import Dispatch
import Synchronization

/// Runs async work while the calling thread waits, for methods that the original library has without `async`.
enum BlockingWork {
    /// Threads of its own, so that the work ends even when every thread of Swift's pool waits like this.
    private final class Executor: TaskExecutor {
        static let shared = Executor()

        private let queue = DispatchQueue(label: "club.blocking", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Runs the work to its end, and gives its result.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () async -> Result<Value, ClubError>
    ) throws(ClubError) -> Value {
        let done = DispatchSemaphore(value: 0)
        let result = ResultBox<Value>()
        Task(executorPreference: Executor.shared) {
            let value = await work()
            result.value.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.value.withLock({ $0 }) else {
            throw ClubError(.other, attempting: "wait for the store")
        }
        return try value.get()
    }

    private final class ResultBox<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, ClubError>?>(nil)
    }
}
