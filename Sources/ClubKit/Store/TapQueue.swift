import Dispatch
import ReaderKit
import Synchronization

struct Tap: Sendable {
    /// How a tap was met; without a receipt, its card is unknown.
    struct Answer: Sendable {
        var receipt: Receipt?
        var isNew = false
    }

    let event: ScanEvent
    let rules: TapRules
    let unknown: UnknownCard
    /// What is kept in the inbox with it.
    let messages: [KeptMessage]
    /// Called with the receipt after the commit, if it is new.
    let committed: @Sendable (Receipt) -> Void
}

/// Taps that wait for their commit, and the thread on which they are committed: those that come while a commit is under
/// way share the next one.
///
/// A commit waits for the disk, so it must not keep a thread of Swift's pool; and with several readers the disk would be
/// what all wait for if each tap had a commit of its own.
final class TapQueue: TaskExecutor {
    typealias Committed = Result<Receipt?, ClubError>

    /// How many taps share one commit at most, so that nobody waits for long in a crowd.
    private static let mostTogether = 64

    private struct State {
        var waiting: [(tap: Tap, answer: CheckedContinuation<Committed, Never>)] = []
        /// How many the thread has taken and not answered yet.
        var taken = 0
    }

    /// Internal, so that a test can see that it ends.
    let thread = ThreadExecutor(name: "club-taps", lingering: .microseconds(200))
    private let state = Mutex(State())

    deinit {
        thread.stop()
    }

    /// How many taps wait for the commit that is under way.
    var numberOfWaiting: Int { state.withLock(\.waiting.count) }

    /// Commits a tap on the thread, after those that came before it.
    ///
    /// - Parameter commit: commits some taps, and answers each by its place among them. It may block.
    func add(_ tap: Tap, _ commit: @escaping @Sendable ([Tap], (Int, Committed) -> Void) -> Void) async -> Committed {
        await withCheckedContinuation { answer in
            // A task of this executor need not wait for its own thread.
            guard !thread.isHereAlone else { return commit([tap]) { answer.resume(returning: $1) } }
            state.withLock { $0.waiting.append((tap, answer)) }
            thread.submit {
                let taps = self.next()
                guard !taps.isEmpty else { return }
                commit(taps.map(\.tap)) { index, result in
                    self.state.withLock { $0.taken -= 1 }
                    taps[index].answer.resume(returning: result)
                }
            }
        }
    }

    /// Runs a task that prefers this executor.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.submit { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Blocks until the taps that are waiting now have their answers.
    func drain() {
        guard state.withLock({ !$0.waiting.isEmpty || $0.taken > 0 }), !thread.isHere else { return }
        let isDone = DispatchSemaphore(value: 0)
        thread.submit { isDone.signal() }
        isDone.wait()
    }

    /// Ends the thread when what was added is done. Taps that come later start it again.
    func stop() {
        thread.stop()
    }

    private func next() -> [(tap: Tap, answer: CheckedContinuation<Committed, Never>)] {
        state.withLock { state in
            let rest = state.waiting.dropFirst(Self.mostTogether)
            let taps = rest.isEmpty ? state.waiting : Array(state.waiting.prefix(Self.mostTogether))
            state.waiting = Array(rest)
            state.taken += taps.count
            return taps
        }
    }
}
