import Foundation
import Synchronization

/// A serial executor on a thread of its own, for work that may block.
///
/// An actor with this executor can call into C libraries that block without taking a thread from Swift's cooperative
/// pool. The thread starts with the first work and ends with ``stop()``, once the work accepted before is done.
package final class ThreadExecutor: SerialExecutor {
    private enum Work {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private struct Queue {
        var work: [Work] = []
        var isStarted = false
        var isStopped = false
        var thread: pthread_t?
    }

    private let name: String
    private let queue = Mutex(Queue())
    private let signal = DispatchSemaphore(value: 0)

    package init(name: String) {
        self.name = name
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Runs a call on the thread. Cheaper than a task, for code that assumes the isolation of the thread's actor.
    package func submit(_ call: @escaping @Sendable () -> Void) {
        add(.call(call))
    }

    /// Ends the thread after the work that was accepted so far. Work that comes later starts it again.
    package func stop() {
        queue.withLock { $0.isStopped = true }
        signal.signal()
    }

    package func checkIsolated() {
        let isHere = queue.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
        // Reached only by a programming error inside this package: state of one thread touched from another.
        precondition(isHere, "not on the thread of \(name)")
    }

    private func add(_ work: Work) {
        let mustStart = queue.withLock { queue in
            queue.work.append(work)
            queue.isStopped = false
            defer { queue.isStarted = true }
            return !queue.isStarted
        }
        if mustStart {
            DetachedThread.start(name: name) { self.run() }
        }
        signal.signal()
    }

    private func run() {
        queue.withLock { $0.thread = pthread_self() }
        while true {
            signal.wait()
            let (work, ends) = queue.withLock { queue in
                let work = queue.work
                queue.work = []
                let ends = work.isEmpty && queue.isStopped
                if ends {
                    queue.isStarted = false
                    queue.thread = nil
                }
                return (work, ends)
            }
            if ends { return }
            for item in work {
                switch item {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .call(let call): call()
                }
            }
        }
    }
}

/// A thread outside every pool, for one piece of blocking work.
package enum DetachedThread {
    /// Starts a thread that runs the work and ends.
    package static func start(name: String, _ work: @escaping @Sendable () -> Void) {
        let thread = Thread(block: work)
        thread.name = name
        thread.start()
    }
}
