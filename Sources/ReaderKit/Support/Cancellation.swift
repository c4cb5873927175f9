import Synchronization

/// Whether somebody has lost interest in a conversation; looked at between two calls.
final class Cancellation: Sendable {
    private let flag = Mutex(false)

    var isCancelled: Bool { flag.withLock { $0 } }

    func cancel() { flag.withLock { $0 = true } }
}
