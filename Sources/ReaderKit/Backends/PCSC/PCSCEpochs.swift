import Foundation
import Synchronization

/// Numbers the stays of readers, as each watch sees them, and knows which of them are over.
///
/// The counter that distinguishes two cards of a reader begins anew with each stay. Without this, a presentation of
/// before pcscd was restarted could stand for a card that came after.
final class PCSCEpochs: Sendable {
    private struct State {
        var last = 0
        /// The stays that running watches see, and whose they are.
        var current: [Int: UUID] = [:]
        /// The latest of those that were not over when their watch ended, oldest first. Nothing reports when they end.
        var left: [Int] = []
    }

    static let mostLeft = 256

    private let state = Mutex(State())

    func begin(in watch: UUID) -> Int {
        state.withLock { state in
            state.last += 1
            state.current[state.last] = watch
            return state.last
        }
    }

    func end(_ epoch: Int) {
        _ = state.withLock { $0.current.removeValue(forKey: epoch) }
    }

    func leave(_ watch: UUID) {
        state.withLock { state in
            let epochs = state.current.filter { $0.value == watch }.keys.sorted()
            for epoch in epochs { state.current[epoch] = nil }
            state.left = (state.left + epochs).suffix(Self.mostLeft)
        }
    }

    func isCurrent(_ epoch: Int) -> Bool {
        epoch == 0 || state.withLock { $0.current[epoch] != nil || $0.left.contains(epoch) }
    }
}
