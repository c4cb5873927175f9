import ReaderKit
import Synchronization

/// A tap that is to be committed.
final class Tap: Sendable {
    /// How a tap was met.
    enum Answer: Sendable {
        case new(Receipt)
        case seenBefore(Receipt)
        case unknownCard

        var receipt: Receipt? {
            switch self {
            case .new(let receipt), .seenBefore(let receipt): receipt
            case .unknownCard: nil
            }
        }

        var isNew: Bool { if case .new = self { true } else { false } }
    }

    let event: ScanEvent
    let rules: TapRules
    let unknown: UnknownCard
    /// Told of the receipt after the commit, if it is new.
    let committed: @Sendable (Receipt) -> Void

    init(
        _ event: ScanEvent,
        rules: TapRules,
        unknown: UnknownCard,
        committed: @escaping @Sendable (Receipt) -> Void
    ) {
        self.event = event
        self.rules = rules
        self.unknown = unknown
        self.committed = committed
    }
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

    private let thread = ThreadExecutor(name: "club-taps", lingering: .microseconds(200))
    let waiting = Mutex<[(tap: Tap, answer: CheckedContinuation<Committed, Never>)]>([])

    deinit {
        thread.stop()
    }

    /// Commits a tap on the thread, after those that came before it.
    ///
    /// - Parameter commit: commits some taps, and gives the answer to each. It may block.
    func add(_ tap: Tap, _ commit: @escaping @Sendable ([Tap]) -> [Committed]) async -> Committed {
        // A task of this executor need not wait for its own thread.
        if thread.isHereAlone { return commit([tap])[0] }
        return await withCheckedContinuation { answer in
            waiting.withLock { $0.append((tap, answer)) }
            thread.submit {
                let taps = self.next()
                guard !taps.isEmpty else { return }
                for (tap, answer) in zip(taps, commit(taps.map(\.tap))) { tap.answer.resume(returning: answer) }
            }
        }
    }

    /// Runs a task that prefers this executor.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        thread.submit { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Ends the thread when what was added is done. Taps that come later start it again.
    func stop() {
        thread.stop()
    }

    private func next() -> [(tap: Tap, answer: CheckedContinuation<Committed, Never>)] {
        waiting.withLock { waiting in
            let rest = waiting.dropFirst(Self.mostTogether)
            defer { waiting = Array(rest) }
            return rest.isEmpty ? waiting : Array(waiting.prefix(Self.mostTogether))
        }
    }
}
