import Synchronization

/// Delivers every event to every consumer that is there. A slow consumer loses none, unless it wants the newest only:
/// what it has not taken waits in memory.
package final class EventBroadcaster<Event: Sendable>: Sendable {
    private struct State {
        var consumers: [Int: AsyncStream<Event>.Continuation] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    /// Held while events are handed over, so that all consumers get those of concurrent callers in the same order. What
    /// ends a consumer never takes it: whoever cancels a task holds what handing over to that task waits for.
    private let order = Mutex(())

    package init() {}

    deinit {
        finish()
    }

    /// A sequence of what is given and of all events from now on. It ends with ``finish()``.
    ///
    /// - Parameter onEnd: called once nobody consumes the sequence any more. As the caller may hold what events wait
    ///   for, it must take no lock that somebody holds who calls ``yield(_:)``.
    package func stream(
        beginningWith first: [Event] = [],
        bufferingPolicy: AsyncStream<Event>.Continuation.BufferingPolicy = .unbounded,
        onEnd: @escaping @Sendable () -> Void = {}
    ) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: bufferingPolicy)
        for event in first { continuation.yield(event) }
        let number = state.withLock { state in
            state.nextNumber += 1
            state.consumers[state.nextNumber] = continuation
            return state.nextNumber
        }
        continuation.onTermination = { [weak self] _ in
            // Out of the lock, as this frees the continuation.
            _ = self?.state.withLock { $0.consumers.removeValue(forKey: number) }
            onEnd()
        }
        return stream
    }

    /// How many would get an event.
    package var consumerCount: Int { state.withLock { $0.consumers.count } }

    package func yield(_ events: Event...) {
        order.withLock { _ in
            let consumers = state.withLock { Array($0.consumers.values) }
            for event in events {
                for consumer in consumers { consumer.yield(event) }
            }
        }
    }

    package func finish() {
        let consumers = state.withLock { state in
            defer { state.consumers = [:] }
            return state.consumers
        }
        for consumer in consumers.values { consumer.finish() }
    }
}
