import Foundation
import Synchronization

/// Looks now and then which lines have a name in a folder, while that is wanted.
final class SmartReaderLookout: Sendable {
    private struct State {
        var look: (@Sendable () -> Void)?
        var isScheduled = false
    }

    private let interval: Duration
    private let state = Mutex(State())

    init(every interval: Duration) {
        self.interval = interval
    }

    /// Begins to look so, or ends it (`nil`).
    func want(_ look: (@Sendable () -> Void)?) {
        state.withLock { $0.look = look }
        schedule()
    }

    private func schedule() {
        let isNew = state.withLock { state in
            guard state.look != nil, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        guard isNew else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + interval.seconds) { [weak self] in
            guard let self else { return }
            let look = state.withLock { state in
                state.isScheduled = false
                return state.look
            }
            look?()
            schedule()
        }
    }
}
