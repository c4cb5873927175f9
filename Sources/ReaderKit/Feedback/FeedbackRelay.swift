import Synchronization

/// Gives signals beside the taps, so that no tap waits for a light.
///
/// At each reader one signal is under way, and one at most waits for its end: the newest. A signal that has waited for
/// longer than the deadline is dropped, since it would answer somebody else.
public final class FeedbackRelay: Sendable {
    private struct Signal: Sendable {
        var signal: FeedbackSignal
        var feedback: any ReaderFeedback
        var at = ContinuousClock.now
    }

    /// A reader at which a signal is under way.
    private struct Place {
        var giving: Task<Void, Never>
        var waiting: Signal?
    }

    /// The time after which the task of a signal is cancelled.
    public let deadline: Duration

    private let places = Mutex<[ReaderInfo: Place]>([:])

    /// Creates a relay without signals.
    public init(deadline: Duration = .seconds(2)) { self.deadline = deadline }

    /// Begins to give a signal, or lets it wait for the one under way at that reader; returns at once.
    public func give(_ signal: FeedbackSignal, at reader: ReaderInfo, by feedback: any ReaderFeedback) {
        let next = Signal(signal: signal, feedback: feedback)
        places.withLock { places in
            if places[reader] == nil {
                places[reader] = Place(giving: Task { await self.give(next, at: reader) })
            } else {
                places[reader]?.waiting = next
            }
        }
    }

    /// Waits until the signals given so far have ended, at most for the deadline.
    public func finish() async {
        let giving = places.withLock { $0.values.map(\.giving) }
        guard !giving.isEmpty else { return }
        await waiting(atMost: deadline) { done in
            Task {
                for task in giving { await task.value }
                done()
            }
        }
    }

    private func give(_ first: Signal, at reader: ReaderInfo) async {
        var next: Signal? = first
        while let signal = next {
            let giving = Task { await signal.feedback.give(signal.signal, at: reader) }
            let limit = Task {
                try await Task.sleep(for: deadline)
                giving.cancel()
            }
            await giving.value
            limit.cancel()
            next = places.withLock { places in
                if let waiting = places[reader]?.waiting.take(), .now - waiting.at < deadline { return waiting }
                places[reader] = nil
                return nil
            }
        }
    }
}
