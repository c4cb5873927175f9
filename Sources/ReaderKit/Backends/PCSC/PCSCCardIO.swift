import Foundation
import Synchronization

/// Card conversations of one reader: a thread and a context of its own, made anew when the thread was given up.
actor PCSCCardIO: CallThread {
    nonisolated let reader: ReaderInfo
    nonisolated let watch: CallWatch
    nonisolated let executor = ThreadExecutor(name: "pcsc-card")
    nonisolated let library: PCSCLibrary
    private nonisolated let surroundings: PCSCSurroundings
    /// The number of the presentation of the last conversation; what hangs, hangs there.
    nonisolated let presentation = Mutex<Int?>(nil)
    nonisolated let capabilities = Mutex<ChannelCapabilities?>(nil)
    private var context: PCSCLibrary.Context?
    /// Whether this was stopped: what comes late is still served, but leaves no context and no thread behind.
    private(set) var isRetired = false
    /// Whether a ``PCSCConnection`` holds the card. Its lock would make a second lock on this thread wait for ever.
    var isHeld = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(reader: ReaderInfo, surroundings: PCSCSurroundings, onStuck: @escaping CallWatch.Fail) {
        self.reader = reader
        self.surroundings = surroundings
        library = surroundings.library
        watch = surroundings.callWatch(onExpiry: onStuck)
    }

    nonisolated func stop() { submitWatched { $0.isRetired = true } }

    func cleanUp() { dropContext() }

    // MARK: - On the thread

    /// Releases the context, and with it every handle that it has.
    func dropContext() {
        guard let context = context.take() else { return }
        if watch.isAbandoned {
            _ = library.releaseContext(context)
        } else {
            _ = try? watch.call("release the context") { library.releaseContext(context) }
        }
    }

    private func establishedContext() throws(ReaderError) -> PCSCLibrary.Context {
        if let context { return context }
        let attempt = "reach pcscd"
        let (code, new) = try watch.call(
            attempt,
            late: { if $0.code.isSuccess { _ = library.releaseContext($0.context) } },
            { library.establishContext() }
        )
        guard code.isSuccess else { throw code.error(attempting: attempt) }
        context = new
        return new
    }

    enum ReaderSnapshot {
        case noReader
        case unchanged
        case state(UInt32)

        func shows(_ number: Int) -> Bool {
            guard case .state(let state) = self else { return false }
            return state & PCSCState.present != 0 && PCSCState.counter(state) == number
        }
    }

    /// The state of the reader now, or after it has changed from `current` within the time given.
    func look(waiting: Duration = .zero, from current: UInt32 = 0) throws(ReaderError) -> ReaderSnapshot {
        let attempt = "ask for the state of the reader"
        let context = try establishedContext()
        // Rounded up: the rest of a millisecond must not become a wait that returns at once, again and again.
        let milliseconds = UInt32(max(0, min((waiting.seconds * 1000).rounded(.up), 60_000)))
        let (code, states) = try watch.call(attempt) {
            var states = [PCSCLibrary.ReaderState(name: reader.name, current: current)]
            let code = library.getStatusChange(context, milliseconds, &states)
            return (code, states)
        }
        switch code {
        case .success:
            guard let state = states.first, state.event & PCSCState.unknown == 0 else { return .noReader }
            return .state(state.event & ~PCSCState.changed)
        case .timeout where current != 0: return .unchanged
        case .unknownReader: return .noReader
        default:
            if code.meansServiceLost { dropContext() }
            throw code.serviceError(attempting: attempt)
        }
    }

    enum CardState {
        case present
        case removed
        case noReader
    }

    /// Whether the card of that presentation is gone, or goes within the grace that polling drivers need.
    func cardState(of presence: CardPresence) throws(ReaderError) -> CardState {
        let deadline = ContinuousClock.now + surroundings.configuration.removalGrace
        var current: UInt32 = 0
        while true {
            let left = deadline - ContinuousClock.now
            let look = try look(waiting: current == 0 ? .zero : left, from: current)
            switch look {
            case .noReader: return .noReader
            case .unchanged: break
            case .state(let state):
                guard look.shows(presence.number), surroundings.epochs.isCurrent(presence.epoch) else {
                    return .removed
                }
                // Programs that come and go change the state too, again and again perhaps.
                if current != 0 { Thread.sleep(forTimeInterval: 0.005) }
                current = state
            }
            if ContinuousClock.now >= deadline { return .present }
        }
    }

    #if PCSC
    func snapshot(at now: Date) throws(ReaderError) -> [ReaderStatus] {
        let context = try establishedContext()
        let attempt = "ask for the state of the readers"
        for _ in 0..<4 {
            let (code, names) = try watch.call("list the readers") { library.listReaders(context) }
            guard code.isSuccess else { throw code.serviceError(attempting: "list the readers") }
            guard !names.isEmpty else { return [] }
            let (stateCode, states) = try watch.call(attempt) {
                var states = names.map { PCSCLibrary.ReaderState(name: $0) }
                let code = library.getStatusChange(context, 0, ofAll: &states)
                return (code, states)
            }
            // Unplugged since it was listed.
            if stateCode == .unknownReader { continue }
            guard stateCode.isSuccess || stateCode == .timeout else {
                throw stateCode.serviceError(attempting: attempt)
            }
            return states.filter { $0.event & PCSCState.unknown == 0 }.map { ReaderStatus($0, at: now) }
        }
        throw PCSCCode.unknownReader.error(attempting: attempt)
    }
    #endif

    func open(_ presence: CardPresence, cancellation: Cancellation) throws(ReaderError) -> PCSCChannel {
        let attempt = "connect to the card"
        guard !cancellation.isCancelled else { throw ReaderError(.cancelled, attempting: attempt) }
        presentation.withLock { $0 = presence.number }
        return try connecting(attempt) { () throws(ReaderError) in try connect(presence, cancellation) }
    }

    /// Makes a connection, which one to a card that this program holds cannot be.
    func connecting<Connection>(
        _ attempt: String,
        toCard: Bool = true,
        _ connect: () throws(ReaderError) -> Connection
    ) throws(ReaderError) -> Connection {
        guard !toCard || !isHeld else {
            throw ReaderError(
                .sharingViolation,
                attempting: attempt,
                detail: "a connection of this program holds the card",
                advice: "Close that connection first."
            )
        }
        do throws(ReaderError) {
            return try connect()
        } catch let error where error.kind == .serviceStopped || error.kind == .serviceUnavailable {
            // The context is older than the daemon: once more, with a new one.
            dropContext()
            return try connect()
        }
    }

    /// Work for the channels, which run on this actor's thread and nowhere else.
    nonisolated func onThread<Value: Sendable>(
        _ work: @Sendable (isolated PCSCCardIO) throws(ReaderError) -> Value
    ) throws(ReaderError) -> Value {
        try assumeIsolated { io in Result { () throws(ReaderError) in try work(io) } }.get()
    }

    private func connect(_ presence: CardPresence, _ cancellation: Cancellation) throws(ReaderError) -> PCSCChannel {
        let attempt = "connect to the card"
        let (handle, activeProtocol) = try connect(.shared, attempt, cancellation)
        let channel = PCSCChannel(self, presence, handle, activeProtocol, cancellation)
        do throws(ReaderError) {
            try channel.lock()
            let look = try look()
            if case .noReader = look { throw PCSCCode.unknownReader.error(attempting: attempt) }
            // Asked last: a watch that notices the end of pcscd does so before a new one can have answered.
            guard look.shows(presence.number), surroundings.epochs.isCurrent(presence.epoch) else {
                throw ReaderError(.cardRemoved, attempting: attempt, detail: "that presentation is over")
            }
        } catch {
            channel.close(.leave)
            throw error
        }
        return channel
    }

    /// Connects to the card, or directly to the reader, which powers no card.
    func connect(
        _ sharing: PCSCLibrary.ShareMode,
        _ attempt: String,
        _ cancellation: Cancellation
    ) throws(ReaderError) -> (handle: PCSCLibrary.Handle, protocol: UInt32) {
        let context = try establishedContext()
        let protocols: UInt32 = sharing == .direct ? 0 : 3
        func connectOnce() throws(ReaderError) -> (code: PCSCCode, handle: PCSCLibrary.Handle, protocol: UInt32) {
            try watch.call(attempt) { library.connect(context, reader.name, sharing, protocols) }
        }
        var (code, handle, activeProtocol) = try connectOnce()
        var pause = 0.02
        for _ in 0..<max(0, surroundings.configuration.sharingRetries) where code == .sharingViolation {
            cancellation.wait(atMost: pause)
            pause = min(pause * 2, 1)
            guard !cancellation.isCancelled else { throw ReaderError(.cancelled, attempting: attempt) }
            (code, handle, activeProtocol) = try connectOnce()
        }
        guard code.isSuccess else {
            if code == .sharingViolation { throw surroundings.clients.sharingError(attempting: attempt) }
            guard code.meansServiceLost else { throw code.error(attempting: attempt) }
            dropContext()
            throw code.serviceError(attempting: attempt)
        }
        return (handle, activeProtocol)
    }
}
