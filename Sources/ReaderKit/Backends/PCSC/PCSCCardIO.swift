import Foundation

/// Card conversations of one reader: a thread and a context of its own.
///
/// The actor runs on that thread, so that a whole conversation is one hop and may block. When a call does not return,
/// ``watch`` gives the thread up and this actor is never used again; ``PCSCBackend`` makes a new one.
actor PCSCCardIO {
    /// What a conversation with a card ends with.
    struct Ending: Sendable {
        var disposition: PCSCLibrary.Disposition = .leave
    }

    nonisolated let reader: ReaderInfo
    nonisolated let watch: CallWatch
    nonisolated let configuration: PCSCConfiguration
    private nonisolated let executor: ThreadExecutor
    nonisolated let library: PCSCLibrary
    private var context: PCSCLibrary.Context?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        reader: ReaderInfo,
        library: PCSCLibrary,
        configuration: PCSCConfiguration,
        onStuck: @escaping @Sendable (ReaderError) -> Void
    ) {
        self.reader = reader
        self.library = library
        self.configuration = configuration
        executor = ThreadExecutor(name: "pcsc-card")
        watch = CallWatch(deadline: configuration.callDeadline) { error in
            AbandonedThreads.add()
            onStuck(error)
        }
    }

    /// Runs code in this actor's isolation, and stops waiting for it when a call in it does not return.
    nonisolated func run<Result: Sendable>(
        _ body: @escaping @Sendable (isolated PCSCCardIO, Cancellation) throws -> Result
    ) async throws -> Result {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let pending = PendingResult(continuation)
                let waiter = watch.addWaiter { pending.resume(with: .failure($0)) }
                executor.submit { [self] in
                    assumeIsolated { me in
                        let result = Swift.Result { try body(me, cancellation) }
                        me.watch.removeWaiter(waiter)
                        if me.watch.isAbandoned { me.comeBack() }
                        pending.resume(with: result)
                    }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Ends the thread, after what it is doing now. The context is released on it.
    nonisolated func stop() {
        executor.submit { [self] in
            assumeIsolated { $0.dropContext() }
        }
        executor.stop()
    }

    /// A call that was given up has returned after all: clean up here, on the one thread where that is safe.
    private func comeBack() {
        dropContext()
        AbandonedThreads.remove()
        executor.stop()
    }

    // MARK: - On the thread

    /// One call into the library, under the deadline.
    func call<Value>(_ attempt: String, _ body: () -> Value) throws(ReaderError) -> Value {
        watch.begin(attempt)
        let value = body()
        guard watch.end() else { throw ReaderError(.stuck, attempting: attempt) }
        return value
    }

    func dropContext() {
        if let context { _ = library.releaseContext(context) }
        context = nil
    }

    private func establishedContext() throws(ReaderError) -> PCSCLibrary.Context {
        if let context { return context }
        let (code, new) = try call("reach pcscd") { library.establishContext() }
        guard code.isSuccess else { throw code.error(attempting: "reach pcscd") }
        context = new
        return new
    }

    /// The state of the reader now, or after it has changed from `current` within the time given.
    func state(
        waiting: Duration = .zero,
        from current: UInt32 = 0
    ) throws(ReaderError) -> PCSCLibrary.ReaderState? {
        let context = try establishedContext()
        var states = [PCSCLibrary.ReaderState(name: reader.name, current: current)]
        let milliseconds = UInt32(max(0, min(waiting.seconds * 1000, 60_000)))
        let (code, result) = try call("ask for the state of the reader") {
            let code = library.getStatusChange(context, milliseconds, &states)
            return (code, states)
        }
        if code == .timeout || code == .unknownReader { return nil }
        guard code.isSuccess else {
            if code.meansServiceLost { dropContext() }
            throw code.error(attempting: "ask for the state of the reader")
        }
        return result.first
    }

    /// Whether the presentation with that number is still on the reader.
    func isPresent(_ number: Int) throws(ReaderError) -> Bool {
        guard let state = try state() else { return false }
        return state.event & PCSCState.present != 0 && PCSCState.counter(state.event) == number
    }

    /// The readers that pcscd has now, each with its card.
    func snapshot(at now: Date) throws(ReaderError) -> [PCSCBackend.ReaderStatus] {
        let context = try establishedContext()
        let (code, names) = try call("list the readers") { library.listReaders(context) }
        guard code.isSuccess else {
            dropContext()
            throw code.error(attempting: "list the readers")
        }
        guard !names.isEmpty else { return [] }
        var states = names.map { PCSCLibrary.ReaderState(name: $0) }
        let (stateCode, result) = try call("ask for the state of the readers") {
            let code = library.getStatusChange(context, 0, &states)
            return (code, states)
        }
        guard stateCode.isSuccess || stateCode == .timeout else {
            throw stateCode.error(attempting: "ask for the state of the readers")
        }
        return result.map { state in
            let reader = ReaderInfo(pcscName: state.name)
            var card: CardPresence?
            if state.event & PCSCState.present != 0 {
                card = CardPresence(
                    reader: reader,
                    number: PCSCState.counter(state.event),
                    facts: CardFacts(atr: state.atr.isEmpty ? nil : state.atr),
                    at: now
                )
            }
            return PCSCBackend.ReaderStatus(reader: reader, card: card)
        }
    }

    /// Connects to the card of that presentation and locks it.
    func open(_ presence: CardPresence, cancellation: Cancellation) throws(ReaderError) -> PCSCChannel {
        do throws(ReaderError) {
            return try connect(presence, cancellation)
        } catch where error.kind == .serviceStopped || error.kind == .serviceUnavailable {
            // The context is older than the daemon: once more, with a new one.
            dropContext()
            return try connect(presence, cancellation)
        }
    }

    private func connect(_ presence: CardPresence, _ cancellation: Cancellation) throws(ReaderError) -> PCSCChannel {
        let attempt = "connect to the card"
        let context = try establishedContext()
        var (code, handle, activeProtocol) = try call(attempt) { library.connect(context, reader.name, .shared, 3) }
        var pause = 0.02
        for _ in 0..<configuration.sharingRetries where code == .sharingViolation && !cancellation.isCancelled {
            Thread.sleep(forTimeInterval: pause)
            pause *= 2
            (code, handle, activeProtocol) = try call(attempt) { library.connect(context, reader.name, .shared, 3) }
        }
        guard code.isSuccess else {
            if code.meansServiceLost { dropContext() }
            throw code.error(attempting: attempt)
        }
        let channel = PCSCChannel(
            io: self,
            presence: presence,
            handle: handle,
            protocol: activeProtocol,
            cancellation: cancellation
        )
        do throws(ReaderError) {
            try channel.lock()
            guard try isPresent(presence.number) else {
                throw ReaderError(.cardRemoved, attempting: attempt, detail: "another presentation took its place")
            }
        } catch {
            channel.close(.leave)
            throw error
        }
        return channel
    }
}
