import Logging
import Synchronization

/// What was logged.
final class LogStore: Sendable {
    private let all = Mutex<[String]>([])

    var lines: [String] { all.withLock { $0 } }

    func append(_ line: String) { all.withLock { $0.append(line) } }
}

/// Notes all that is logged, whatever its level.
struct LogCollector: LogHandler {
    let store: LogStore
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        store.append("\(event.level) \(event.message) \(event.metadata ?? [:])")
    }
}
