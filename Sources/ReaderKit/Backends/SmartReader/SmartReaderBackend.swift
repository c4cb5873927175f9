import Foundation
import Synchronization

/// Readers that report by themselves what they read: an S550 in Smart Reader mode, on a serial line or typing as a
/// keyboard.
///
/// Such a reader has the keys of its passes itself. It tells what it read as ``ReaderEvent/cardReported(_:)`` and carries
/// nothing to a card, so ``withCard(_:perform:)`` always throws. `$SCRDR` lines, JSON, MK1 and plain text are understood
/// (``SmartReaderFormat``).
///
/// Each line has a thread of its own, which sleeps while nothing comes. It is opened while somebody watches, for this
/// program alone (`flock(2)`, `TIOCEXCL`; `EVIOCGRAB` for a keyboard).
public final class SmartReaderBackend: ReaderBackend {
    private let sources: [SmartReaderSource]
    private let infos: [ReaderInfo]
    private let table: SmartReaderTable
    private let threads: [SmartReaderThread]
    /// Keeps the beginning of one watch and the end of another in their order.
    private let watching = Mutex(())

    /// Readers at these places.
    ///
    /// - Parameters:
    ///   - configuration: which readers, and how they are set.
    ///   - now: the clock that dates reports.
    public convenience init(
        configuration: SmartReaderConfiguration,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(configuration: configuration, surroundings: SmartReaderThread.Surroundings(), now: now)
    }

    init(
        configuration: SmartReaderConfiguration,
        surroundings: SmartReaderThread.Surroundings,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        var sources: [SmartReaderSource] = []
        for source in configuration.sources where !sources.contains(where: { $0.name == source.name }) {
            sources.append(source)
        }
        let infos = sources.map(\.reader)
        let table = SmartReaderTable(infos, now: now)
        self.sources = sources
        self.infos = infos
        self.table = table
        threads = sources.enumerated().map { index, source in
            SmartReaderThread(source, configuration, surroundings) { table.note($0, of: index) }
        }
    }

    deinit {
        for thread in threads { thread.stop() }
    }

    /// Smart Reader mode.
    public var kind: BackendKind { .smartReader }

    /// Watches the lines. A reader that goes away is told, and told again when it is back.
    ///
    /// A line that is there and cannot be used (another program holds it, this user may not open it) is told as
    /// ``ReaderEvent/readerStuck(_:_:)``, with the reason, and tried again; ``ReaderEvent/readerRecovered(_:)`` comes
    /// before it is told as added. What is reported while nobody watches is lost.
    public func events() -> AsyncStream<ReaderEvent> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderEvent.self)
        // Whoever watches keeps the backend: the lines are watched as long as somebody listens.
        continuation.onTermination = { _ in self.endWatch(id) }
        watching.withLock { _ in
            guard table.add(id, continuation) else { return }
            for thread in threads { thread.want(true) }
        }
        return stream
    }

    private func endWatch(_ id: UUID) {
        watching.withLock { _ in
            guard table.remove(id) else { return }
            for thread in threads { thread.want(false) }
        }
    }

    /// The readers whose lines are there now. Whether they can be used shows when they are watched.
    public func readers() async -> [ReaderStatus] {
        zip(sources, infos).compactMap { source, info in
            switch source {
            case .serial(let path), .keyboard(let path):
                DeviceNode.exists(path) ? ReaderStatus(reader: info) : nil
            case .standardInput: ReaderStatus(reader: info)
            }
        }
    }

    /// Always throws ``ReaderError/Kind/unsupported``: a report is no card that can be talked to.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        throw ReaderError(
            .unsupported,
            attempting: "connect to the card",
            detail: "a reader in Smart Reader mode reports what it read and carries nothing to a card",
            advice: "Set the reader to PC/SC mode to talk to cards."
        )
    }

    /// What came over a reader's line and was no tap, or `nil` for a reader that this backend does not serve.
    public func counts(of reader: ReaderInfo) -> SmartReaderCounts? {
        infos.firstIndex(of: reader).map { threads[$0].counts }
    }

    /// How often the thread of a reader woke up.
    func wakeUps(of reader: ReaderInfo) -> Int? {
        infos.firstIndex(of: reader).map { threads[$0].wakeUps }
    }
}
