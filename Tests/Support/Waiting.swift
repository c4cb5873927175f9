import Synchronization

/// A condition did not come true in the time that it may take on a loaded machine.
package struct NotInTime: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) {
        self.description = description
    }
}

/// Waits until a condition holds: looks often, and gives up after a time that no sound run needs.
package func until(
    _ what: String,
    within limit: Duration = .seconds(120),
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(description: "not in time: \(what)") }
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// Begins consumers and cancels each at once, while events are handed over. Whoever cancels a task holds what handing
/// over to that task waits for.
package func consumersComeAndGo<Element: Sendable>(_ count: Int, _ stream: () -> AsyncStream<Element>) async {
    for _ in 0..<count {
        let stream = stream()
        let consumer = Task.detached { for await _ in stream {} }
        await Task.yield()
        consumer.cancel()
    }
}

/// A value that several closures share.
package final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    package init(_ value: Value) { self.value = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { stored in
            var copy = stored
            defer { stored = copy }
            return body(&copy)
        }
    }
}

/// Counts calls from any thread.
package final class Counter: Sendable {
    private let value = Mutex(0)

    package init() {}

    package func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}

/// A door at which tasks wait until it is opened, also cancelled ones.
package final class Door: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])

    package init() {}

    package func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOpen { continuation.resume() }
        }
    }

    package func open() { waiting.withLock { $0.take() }?.forEach { $0.resume() } }
}
