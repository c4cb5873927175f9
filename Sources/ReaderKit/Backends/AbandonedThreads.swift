import Synchronization

/// Counts the threads that hang in a call that does not return.
///
/// Each holds its stack and its connection to the service for as long as it hangs. At ``limit`` no more is started: the
/// process had better be restarted by its supervisor.
package final class AbandonedThreads: Sendable {
    /// The threads of this process.
    package static let ofProcess = AbandonedThreads()

    /// The most threads that may hang at one time.
    package let limit: Int

    private let hanging = Mutex(0)

    package init(limit: Int = 16) {
        self.limit = limit
    }

    /// How many threads hang now.
    package var count: Int { hanging.withLock { $0 } }

    /// Whether as many threads hang as may.
    package var isFull: Bool { count >= limit }

    /// Notes that a thread hangs.
    package func add() { hanging.withLock { $0 += 1 } }

    /// Notes that a thread came back after all.
    package func remove() { hanging.withLock { $0 -= 1 } }
}
