import Dispatch
import Synchronization

/// Runs callbacks on the application's queue: one at a time and in order, whatever kind of queue that is, also when it
/// is replaced while callbacks are waiting.
final class CallbackQueue: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var queue: DispatchQueue
        var incoming: [Job] = []
        /// The next job is the last one.
        var outgoing: [Job] = []
        /// Whether a block is on the queue that will run a job.
        var isScheduled = false

        mutating func next() -> Job? {
            if outgoing.isEmpty {
                outgoing = incoming.reversed()
                incoming = []
            }
            return outgoing.popLast()
        }
    }

    private let state: Mutex<State>

    init(_ queue: DispatchQueue) {
        state = Mutex(State(queue: queue))
    }

    /// Replaces the queue for the callbacks that have not begun.
    func setQueue(_ queue: DispatchQueue) {
        state.withLock { $0.queue = queue }
    }

    /// The queue on which the next callback begins.
    var currentQueue: DispatchQueue { state.withLock { $0.queue } }

    func enqueue(_ job: @escaping Job) {
        let queue: DispatchQueue? = state.withLock { state in
            state.incoming.append(job)
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            return state.queue
        }
        if let queue { schedule(on: queue) }
    }

    /// One block a job, so that a callback that comes from elsewhere gets its turn on the queue in between.
    private func schedule(on queue: DispatchQueue) {
        queue.async {
            let job = self.state.withLock { $0.next() }
            job?()
            let next: DispatchQueue? = self.state.withLock { state in
                guard state.incoming.isEmpty, state.outgoing.isEmpty else { return state.queue }
                state.isScheduled = false
                return nil
            }
            if let next { self.schedule(on: next) }
        }
    }
}
