import Logging
import Synchronization

/// What was logged.
package final class LogStore: Sendable {
    private let all = Mutex<[String]>([])

    package init() {}

    package var lines: [String] { all.withLock { $0 } }

    package func append(_ line: String) { all.withLock { $0.append(line) } }
}

/// Notes all that is logged, whatever its level.
package struct LogCollector: LogHandler {
    private let store: LogStore
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.trace

    package init(store: LogStore) { self.store = store }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        store.append("\(event.level) \(event.message) \(event.metadata ?? [:])")
    }
}
