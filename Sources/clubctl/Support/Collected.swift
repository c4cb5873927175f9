import Synchronization

/// Texts that come one after the other, from whatever thread.
final class Collected: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock(\.self) }

    func add(_ text: String) {
        texts.withLock { $0.append(text) }
    }
}
