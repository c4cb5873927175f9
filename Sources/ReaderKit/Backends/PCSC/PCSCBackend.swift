import Foundation

#if PCSC
import Synchronization

/// Readers served by pcscd, through libpcsclite.
///
/// ``events()`` watches with a thread and a context of its own for each watcher. Conversations run on one thread and
/// context per reader, so that a reader that hangs does not delay others. Creating a backend does not access pcscd,
/// which need not run.
public final class PCSCBackend: ReaderBackend {
    private struct State {
        /// By the reader's name; the number distinguishes a thread from an earlier one of the same reader.
        var conversations: [String: (number: Int, io: PCSCCardIO)] = [:]
        var lastConversations = 0
        /// Readers with a call that did not return, and the presentation during which that happened.
        var stuck: [String: (presence: Int?, error: ReaderError)] = [:]
        var watchers: [UUID: AsyncStream<ReaderEvent>.Continuation] = [:]
    }

    private let surroundings: PCSCSurroundings
    private let state = Mutex(State())

    /// Creates a backend for the PC/SC readers of this machine; `now` is the clock of presentations.
    public convenience init(
        configuration: PCSCConfiguration = PCSCConfiguration(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(library: .system, configuration: configuration, now: now)
    }

    package init(
        library: PCSCLibrary,
        configuration: PCSCConfiguration = PCSCConfiguration(),
        abandoned: AbandonedThreads = .ofProcess,
        clients: PCSCClients = PCSCClients(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        surroundings = .init(
            library: library,
            configuration: configuration,
            abandoned: abandoned,
            clients: clients,
            now: now
        )
    }

    deinit {
        for io in state.withLock({ $0.conversations.values.map(\.io) }) { io.stop() }
    }

    /// The kind of backend: PC/SC.
    public var kind: BackendKind { .pcsc }

    /// Returns the events of readers and cards (`SCardGetStatusChange`). If pcscd is killed and started again, the
    /// stream reports both and continues.
    public func events() -> AsyncStream<ReaderEvent> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(of: ReaderEvent.self)
        let monitor = PCSCMonitor(
            surroundings,
            emit: { [weak self] event in
                continuation.yield(event)
                self?.note(event)
            },
            onEnd: { continuation.finish() }
        )
        state.withLock { $0.watchers[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.watchers.removeValue(forKey: id) }
            monitor.cancel()
        }
        monitor.start()
        return stream
    }

    /// Ends all watches.
    public func close() async {
        let watchers = state.withLock { Array($0.watchers.values) }
        // Not under the lock: each removes itself.
        for watcher in watchers { watcher.finish() }
    }

    /// Returns the connected readers, each with its card.
    ///
    /// - Throws: ``ReaderError`` if pcscd cannot be reached. The absence of readers is no error.
    public func readers() async throws -> [ReaderStatus] {
        try surroundings.abandoned.check()
        let nobody = ReaderInfo(name: "", backend: .pcsc)
        let io = PCSCCardIO(reader: nobody, surroundings: surroundings) { _ in }
        defer { io.stop() }
        let now = surroundings.now
        return try await io.run { io, _ in try io.snapshot(at: now()) }
    }

    /// Performs a conversation with the card of that presentation, inside one transaction (`SCardConnect` shared,
    /// `SCardBeginTransaction`, …, `SCardEndTransaction`, `SCardDisconnect` leaving the card powered).
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        let io = try conversations(of: presence.reader, presence.number)
        return try await io.run { io, cancellation in
            let channel = try io.open(presence, cancellation: cancellation)
            defer { channel.close(.leave) }
            return try conversation(channel)
        }
    }

    /// Connects to the card of that presentation for single exchanges from any task.
    ///
    /// Each exchange switches to the reader's thread and back; a whole conversation in ``withCard(_:perform:)``
    /// switches once. The card stays locked until ``PCSCConnection/close()``.
    public func connect(to presence: CardPresence) async throws -> PCSCConnection {
        let io = try conversations(of: presence.reader, presence.number)
        let connection = PCSCConnection(backend: self, io: io)
        try await connection.open(presence)
        return connection
    }

    /// Does some work with the reader itself: `SCardControl` on a direct connection, `SCardTransmit` on a shared one.
    public func withReader<Result: Sendable>(
        _ reader: ReaderInfo,
        perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result {
        let io = try conversations(of: reader, nil)
        return try await io.run { io, cancellation in
            let channel = PCSCReaderChannel(io, cancellation)
            defer { channel.close() }
            return try work(channel)
        }
    }

    /// - Parameter presentation: that of the card; `nil` for the reader itself, which a stuck one is not before its card
    ///   has left.
    private func conversations(of reader: ReaderInfo, _ presentation: Int?) throws -> PCSCCardIO {
        let (io, recovery) = try state.withLock { state in
            var recovery: [AsyncStream<ReaderEvent>.Continuation] = []
            if let (stuckPresence, error) = state.stuck[reader.name] {
                // The same card still hangs there; another presentation means that it is gone.
                guard let presentation, stuckPresence != presentation else { throw error }
            }
            if let (_, io) = state.conversations[reader.name] { return (io, recovery) }
            try surroundings.abandoned.check()
            if state.stuck.removeValue(forKey: reader.name) != nil { recovery = Array(state.watchers.values) }
            state.lastConversations += 1
            let number = state.lastConversations
            let io = PCSCCardIO(reader: reader, surroundings: surroundings) { [weak self] in
                self?.giveUp(reader, number, $0)
            }
            state.conversations[reader.name] = (number, io)
            return (io, recovery)
        }
        for watcher in recovery { watcher.yield(.readerRecovered(reader)) }
        return io
    }

    private func giveUp(_ reader: ReaderInfo, _ number: Int, _ error: ReaderError) {
        let (isServing, watchers) = state.withLock { state in
            // Only the reader's present thread reports on it; an earlier one hangs on a reader that was pulled out.
            let serving = state.conversations[reader.name]
            let isServing = serving?.number == number
            if let serving, isServing {
                // Not stopped: its thread hangs, and would be asked to release a context that must not be touched.
                state.conversations[reader.name] = nil
                state.stuck[reader.name] = (serving.io.presentation.withLock(\.self), error)
            }
            return (isServing, Array(state.watchers.values))
        }
        for watcher in watchers {
            if isServing { watcher.yield(.readerStuck(reader, error)) }
            if surroundings.abandoned.isFull {
                watcher.yield(.failed(ReaderError(.exhausted, attempting: "use the readers")))
            }
        }
    }

    /// Keeps what the conversations must know of what the monitor saw.
    private func note(_ event: ReaderEvent) {
        let name: String
        switch event {
        case .cardRemoved(let presence): name = presence.reader.name
        case .readerRemoved(let reader): name = reader.name
        default: return
        }
        let (recovered, finished, watchers) = state.withLock { state in
            let recovered = state.stuck.removeValue(forKey: name) != nil
            var finished: PCSCCardIO?
            if case .readerRemoved = event { finished = state.conversations.removeValue(forKey: name)?.io }
            return (recovered, finished, Array(state.watchers.values))
        }
        finished?.stop()
        if recovered {
            let reader = ReaderInfo(pcscName: name)
            for watcher in watchers { watcher.yield(.readerRecovered(reader)) }
        }
    }
}

extension ReaderStatus {
    init(_ state: PCSCLibrary.ReaderState, at now: Date) {
        self.init(reader: ReaderInfo(pcscName: state.name))
        guard state.event & PCSCState.present != 0 else { return }
        card = CardPresence(
            reader: reader,
            number: PCSCState.counter(state.event),
            facts: CardFacts(atr: state.atr.isEmpty ? nil : state.atr),
            at: now
        )
    }
}
#endif

struct PCSCSurroundings: Sendable {
    var library: PCSCLibrary
    var configuration: PCSCConfiguration
    var abandoned: AbandonedThreads
    var clients: PCSCClients
    var epochs = PCSCEpochs()
    var now: @Sendable () -> Date

    func callWatch(onExpiry: @escaping CallWatch.Fail) -> CallWatch {
        CallWatch(deadline: configuration.callDeadline, abandoned: abandoned, onExpiry: onExpiry)
    }
}

/// Time limits of the PC/SC backend.
public struct PCSCConfiguration: Sendable, Hashable {
    /// The maximum time of one call to a card, after which its thread is abandoned and the reader is reported as stuck.
    ///
    /// Wallets and DESFire cards answer within two seconds; the driver's own time-outs end most faulty calls earlier.
    public var callDeadline: Duration

    /// The first pause before unavailable pcscd is retried; each further pause is twice as long.
    public var firstBackOff: Duration

    /// The longest pause between two attempts to reach pcscd.
    public var lastBackOff: Duration

    /// The time to watch for a removal after the link to a card failed, to distinguish a removed card from an unstable
    /// one. Drivers that poll notice a removal up to 0.4 s late.
    public var removalGrace: Duration

    /// The number of retries, with pauses in between, while another program holds the reader.
    public var sharingRetries: Int

    /// Creates a configuration.
    public init(
        callDeadline: Duration = .seconds(10),
        firstBackOff: Duration = .milliseconds(50),
        lastBackOff: Duration = .seconds(1),
        removalGrace: Duration = .milliseconds(600),
        sharingRetries: Int = 5
    ) {
        self.callDeadline = callDeadline
        self.firstBackOff = firstBackOff
        self.lastBackOff = lastBackOff
        self.removalGrace = removalGrace
        self.sharingRetries = sharingRetries
    }
}
