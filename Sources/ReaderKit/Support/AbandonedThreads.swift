import Synchronization

/// Counts the threads of this process that hang in a call that does not return.
///
/// Each holds its stack and its connection to the service for as long as it hangs. At ``limit`` no more is started: the
/// process had better be restarted by its supervisor.
package enum AbandonedThreads {
    /// The most threads that may hang at one time.
    package static let limit = 16

    private static let hanging = Mutex(0)

    /// How many threads hang now.
    package static var count: Int { hanging.withLock { $0 } }

    /// Notes that a thread hangs.
    package static func add() { hanging.withLock { $0 += 1 } }

    /// Notes that a thread came back after all.
    package static func remove() { hanging.withLock { $0 -= 1 } }
}
