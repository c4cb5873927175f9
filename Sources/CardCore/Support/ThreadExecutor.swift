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
        /// How much of what the thread has taken is still to be done, without what it does now.
        var left = 0
        var isStarted = false
        var isStopped = false
        var thread: pthread_t?
    }

    private let name: String
    private let lingering: Duration
    private let queue = Mutex(Queue())
    private let signal = DispatchSemaphore(value: 0)
    /// How often the thread was signalled, ever; what it looks at while it lingers.
    private let signals = Atomic(0)
    /// How many of the signals it has taken.
    private let taken = Atomic(0)

    /// - Parameter lingering: how long the thread looks for more work before it sleeps. To wake a thread on a processor
    ///   that is idle may take longer than its work; while it looks it yields to every other thread.
    package init(name: String, lingering: Duration = .zero) {
        self.name = name
        self.lingering = lingering
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    /// Runs a call on the thread. Cheaper than a task, for code that assumes the isolation of the thread's actor.
    package func submit(_ call: @escaping @Sendable () -> Void) { add(.call(call)) }

    /// Ends the thread after the work that was accepted so far. Work that comes later starts it again.
    package func stop() {
        queue.withLock { $0.isStopped = true }
        wake()
    }

    /// Whether the caller is on the thread, and no other work waits for it.
    package var isHereAlone: Bool { queue.withLock { $0.work.isEmpty && $0.left == 0 && Self.isHere($0) } }

    private static func isHere(_ queue: borrowing Queue) -> Bool {
        queue.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }

    /// Whether the caller is on the thread.
    package var isHere: Bool { queue.withLock { Self.isHere($0) } }

    package func checkIsolated() {
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
        if mustStart { DetachedThread.start(name: name) { self.run() } }
        wake()
    }

    private func wake() {
        signal.signal()
        // After it, for the thread must find what it sees here.
        signals.add(1, ordering: .releasing)
    }

    private func run() {
        queue.withLock { $0.thread = pthread_self() }
        while true {
            linger()
            signal.wait()
            taken.add(1, ordering: .relaxed)
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
            for (index, item) in work.enumerated() {
                queue.withLock { $0.left = work.count - index - 1 }
                switch item {
                case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
                case .call(let call): call()
                }
            }
        }
    }

    private func linger() {
        guard lingering > .zero else { return }
        let taken = taken.load(ordering: .relaxed)
        let end = ContinuousClock.now + lingering
        while signals.load(ordering: .acquiring) <= taken, ContinuousClock.now < end { sched_yield() }
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
