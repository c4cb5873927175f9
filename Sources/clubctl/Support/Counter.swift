import Synchronization

/// Counts, from whatever thread.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    /// Counts one more.
    ///
    /// - Returns: how many there were before.
    @discardableResult
    func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }
}
