import Foundation
import Synchronization

/// Readers that report what they read by themselves: an S550 in Smart Reader mode, on a serial line or typing as a
/// keyboard.
///
/// Such a reader holds the keys of its passes itself. It reports what it read as ``ReaderEvent/cardReported(_:)`` and
/// provides no access to the card, so ``withCard(_:perform:)`` always throws. `$SCRDR` lines, JSON, MK1 and plain text
/// are supported (``SmartReaderFormat``).
///
/// Each line has a thread of its own, which sleeps while nothing arrives. It is open while there is a watch, for this
/// program alone (`flock(2)`, `TIOCEXCL`; `EVIOCGRAB` for a keyboard).
public final class SmartReaderBackend: ReaderBackend {
    private struct Line {
        var source: SmartReaderSource
        var thread: SmartReaderThread
    }

    private struct State {
        var lines: [Line] = []
        var isWatched = false
        var isClosed = false
        var isOver = false
    }

    let configuration: SmartReaderConfiguration
    private let surroundings: SmartReaderThread.Surroundings
    private let serves: @Sendable (ReaderInfo) -> Bool
    private let table: ReaderTable
    private let lookout: SmartReaderLookout
    /// Also keeps the beginning of one watch and the end of another in their order.
    private let state = Mutex(State())

    /// Creates a backend for the configured readers; `now` is the clock of reports.
    ///
    /// - Parameter serves: returns whether to serve a reader with a name in ``SmartReaderConfiguration/folder``; other
    ///   lines are not opened, since opening one makes it unavailable to other programs.
    public convenience init(
        configuration: SmartReaderConfiguration,
        serves: @escaping @Sendable (ReaderInfo) -> Bool = { _ in true },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(configuration: configuration, serves: serves, surroundings: .init(), now: now)
    }

    init(
        configuration: SmartReaderConfiguration,
        serves: @escaping @Sendable (ReaderInfo) -> Bool = { _ in true },
        surroundings: SmartReaderThread.Surroundings,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.surroundings = surroundings
        self.serves = serves
        table = ReaderTable(now: now)
        lookout = SmartReaderLookout(every: configuration.lastBackOff)
        state.withLock { state in
            for source in configuration.sources { add(source, &state) }
        }
    }

    deinit {
        for line in state.withLock({ $0.lines }) { line.thread.stop() }
    }

    /// The kind of backend: Smart Reader mode.
    public var kind: BackendKind { .smartReader }

    // MARK: - Lines

    private func add(_ source: SmartReaderSource, isFound: Bool = false, _ state: inout State) {
        guard !state.isClosed, !state.lines.contains(where: { $0.source.name == source.name }) else { return }
        let thread = SmartReaderThread(source, isFound: isFound, configuration, surroundings) {
            [weak self, table] report in
            table.note(report, of: source.reader)
            if case .ended = report { self?.inputHasEnded() }
        }
        state.lines.append(Line(source: source, thread: thread))
        if state.isWatched { thread.want(true) }
    }

    private func lookAround() {
        guard let folder = configuration.folder else { return }
        let paths = folder.lines().filter { serves(SmartReaderSource($0).reader) }
        guard !paths.isEmpty else { return }
        state.withLock { state in
            // What is open counts by its node: its name may lead to another one by now.
            let held = Set(state.lines.compactMap { $0.thread.openPath ?? DeviceNode.resolve($0.source.name) })
            for path in paths where DeviceNode.resolve(path).map(held.contains) == false {
                add(.serial(path), isFound: true, &state)
            }
        }
    }

    /// Ends the watches if standard input, which has ended, was all there is.
    private func inputHasEnded() {
        let isOver = state.withLock { state in
            state.isOver = configuration.folder == nil && state.lines.allSatisfy { $0.source == .standardInput }
            return state.isOver
        }
        if isOver { table.finish() }
    }

    // MARK: - Watching

    /// Returns the events of the lines. Removed readers are reported, and reported again when they return.
    ///
    /// A connected line that is unusable (another program holds it, this user may not open it) is reported as
    /// ``ReaderEvent/readerStuck(_:_:)``, with the reason, and retried; ``ReaderEvent/readerRecovered(_:)`` precedes
    /// its addition. Reports without a watch are lost. If standard input is the only source, its end ends the stream.
    public func events() -> AsyncStream<ReaderEvent> {
        lookAround()
        return state.withLock { state in
            guard !state.isClosed, !state.isOver else { return AsyncStream { $0.finish() } }
            // Whoever watches keeps the backend: the lines are watched as long as somebody listens.
            let (events, isFirst) = table.watch(forgets: false) { self.endWatch() }
            if isFirst { watch(true, &state) }
            return events
        }
    }

    /// Closes the lines, unless another watch has begun meanwhile.
    private func endWatch() {
        state.withLock { state in
            if !table.isWatched { watch(false, &state) }
        }
    }

    private func watch(_ isWatched: Bool, _ state: inout State) {
        state.isWatched = isWatched
        for line in state.lines { line.thread.want(isWatched) }
        guard isWatched, configuration.folder != nil else { return lookout.want(nil) }
        lookout.want { [weak self] in self?.lookAround() }
    }

    /// Returns the readers whose lines are connected. One that another program has open, or that this user may not use,
    /// has the reason; other errors show when they are watched.
    public func readers() async -> [ReaderStatus] {
        lookAround()
        return state.withLock { $0.lines }.compactMap { line in
            let (source, path) = (line.source, line.source.name)
            guard source != .standardInput else { return ReaderStatus(reader: source.reader) }
            guard DeviceNode.exists(path) else { return nil }
            let obstacle = DeviceNode.obstacle(to: path, isKeyboard: source == .keyboard(path))
            return ReaderStatus(reader: source.reader, unavailability: obstacle)
        }
    }

    /// Ends all watches and closes the lines, which makes them available to other programs.
    public func close() async {
        let threads = state.withLock { state in
            state.isClosed = true
            return state.lines.map(\.thread)
        }
        lookout.want(nil)
        for thread in threads { await waiting { done in thread.stop(then: done) } }
        table.finish()
    }

    /// Always throws ``ReaderError/Kind/unsupported``: a report provides no access to the card.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        throw Self.noConversation(attempting: "connect to the card")
    }

    /// The error for whoever wants to talk to a card on such a reader.
    package static func noConversation(attempting attempt: String) -> ReaderError {
        ReaderError(
            .unsupported,
            attempting: attempt,
            detail: "a reader in Smart Reader mode reports what it read and carries nothing to a card",
            advice: "Set the reader to PC/SC mode, or choose another one."
        )
    }

    /// Returns the counters of input on a reader's line that was no tap; `nil` for a reader that this backend does not
    /// serve.
    public func counts(of reader: ReaderInfo) -> SmartReaderCounts? { thread(of: reader)?.counts }

    func wakeUps(of reader: ReaderInfo) -> Int? { thread(of: reader)?.wakeUps }

    private func thread(of reader: ReaderInfo) -> SmartReaderThread? {
        state.withLock { state in state.lines.first { $0.source.reader == reader }?.thread }
    }
}
