import Foundation

/// One connected and locked card. Lives and dies on the thread of its ``PCSCCardIO``.
final class PCSCChannel: CardChannel {
    private let io: PCSCCardIO
    private let library: PCSCLibrary
    private let watch: CallWatch
    private let presence: CardPresence
    private let handle: PCSCLibrary.Handle
    private let cancellation: Cancellation
    private let start = ContinuousClock.now
    private var activeProtocol: UInt32
    private var isLocked = false
    private var isClosed = false
    /// Taken once per card, since a response may be 64 KiB long and most are a few bytes.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ReaderLimits.responseLength,
        alignment: MemoryLayout<UInt>.alignment
    )

    init(
        io: PCSCCardIO,
        presence: CardPresence,
        handle: PCSCLibrary.Handle,
        protocol activeProtocol: UInt32,
        cancellation: Cancellation
    ) {
        self.io = io
        library = io.library
        watch = io.watch
        self.presence = presence
        self.handle = handle
        self.activeProtocol = activeProtocol
        self.cancellation = cancellation
    }

    deinit {
        buffer.deallocate()
    }

    var facts: CardFacts { presence.facts }

    var elapsed: Duration { ContinuousClock.now - start }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "exchange an APDU with the card"
        try checkUsable(attempt)
        watch.begin(attempt)
        let (code, count) = command.withUnsafeBytes { library.transmit(handle, activeProtocol, $0, buffer) }
        guard watch.end() else { throw ReaderError(.stuck, attempting: attempt) }
        guard code.isSuccess else { throw failure(code, attempt) }
        guard count >= 2 else {
            throw ReaderError(.invalidAnswer, attempting: attempt, detail: "\(count) bytes are no response APDU")
        }
        return Array(buffer[..<count])
    }

    func control(_ controlCode: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "send a control code to the reader"
        try checkUsable(attempt)
        let (code, answer) = try io.assumeIsolatedCall(attempt) { library.control(handle, controlCode, data) }
        guard code.isSuccess else { throw code.error(attempting: attempt) }
        return answer
    }

    func reset() throws(ReaderError) {
        try reconnect(.reset)
    }

    // MARK: - Life

    /// Begins the transaction. A card that was reset by somebody else before is taken over as it is.
    func lock() throws(ReaderError) {
        let attempt = "lock the card"
        var code = try io.assumeIsolatedCall(attempt) { library.beginTransaction(handle) }
        if code == .resetCard {
            try reconnectOnly(.leave)
            code = try io.assumeIsolatedCall(attempt) { library.beginTransaction(handle) }
        }
        guard code.isSuccess else { throw code.error(attempting: attempt) }
        isLocked = true
    }

    /// Ends the transaction and the connection. Never fails: what cannot be ended is gone already.
    func close(_ disposition: PCSCLibrary.Disposition) {
        guard !isClosed, !watch.isAbandoned else { return }
        isClosed = true
        do {
            if isLocked { _ = try io.assumeIsolatedCall("unlock the card") { library.endTransaction(handle, .leave) } }
            _ = try io.assumeIsolatedCall("let the card go") { library.disconnect(handle, disposition) }
        } catch {
            // Abandoned in the middle: nothing may be called any more.
        }
    }

    private func reconnect(_ initialization: PCSCLibrary.Disposition) throws(ReaderError) {
        isLocked = false
        try reconnectOnly(initialization)
        let code = try io.assumeIsolatedCall("lock the card") { library.beginTransaction(handle) }
        guard code.isSuccess else { throw code.error(attempting: "lock the card") }
        isLocked = true
    }

    private func reconnectOnly(_ initialization: PCSCLibrary.Disposition) throws(ReaderError) {
        let attempt = "reconnect to the card"
        try checkUsable(attempt)
        let (code, active) = try io.assumeIsolatedCall(attempt) {
            library.reconnect(handle, .shared, 3, initialization)
        }
        guard code.isSuccess else { throw code.error(attempting: attempt) }
        activeProtocol = active
    }

    private func checkUsable(_ attempt: String) throws(ReaderError) {
        if isClosed {
            throw ReaderError(.cancelled, attempting: attempt, detail: "the conversation is over")
        }
        if cancellation.isCancelled {
            throw ReaderError(.cancelled, attempting: attempt)
        }
    }

    /// The error for a failed exchange.
    ///
    /// The code alone does not tell a card that was taken away from one that is held badly, so the reader is asked. A
    /// card reset by another program is connected again, so that the conversation can be started over.
    private func failure(_ code: PCSCCode, _ attempt: String) -> ReaderError {
        switch code {
        case .resetCard:
            try? reconnect(.leave)
        case .communicationError, .notTransacted, .unpoweredCard, .unresponsiveCard, .noSmartcard, .invalidHandle,
            .readerUnavailable:
            if (try? io.assumeIsolatedRemoval(of: presence)) == true {
                return ReaderError(
                    .cardRemoved,
                    attempting: attempt,
                    code: ReaderError.Code(rawValue: Int64(code.rawValue), name: code.name)
                )
            }
        default:
            break
        }
        return code.error(attempting: attempt)
    }
}

extension PCSCCardIO {
    /// ``call(_:_:)`` for the channel, which runs on this actor's thread and nowhere else.
    nonisolated func assumeIsolatedCall<Value>(_ attempt: String, _ body: () -> Value) throws(ReaderError) -> Value {
        watch.begin(attempt)
        let value = body()
        guard watch.end() else { throw ReaderError(.stuck, attempting: attempt) }
        return value
    }

    /// Whether the card of that presentation is gone, or goes within the grace that polling drivers need.
    nonisolated func assumeIsolatedRemoval(of presence: CardPresence) throws -> Bool {
        try assumeIsolated { me in
            guard let state = try me.state() else { return true }
            let isSame = state.event & PCSCState.present != 0 && PCSCState.counter(state.event) == presence.number
            guard isSame else { return true }
            let current = state.event & ~PCSCState.changed
            // Programs that come and go change the state too, so look at what it is, not at that it changed.
            let deadline = ContinuousClock.now + me.configuration.removalGrace
            while ContinuousClock.now < deadline {
                let left = deadline - ContinuousClock.now
                guard let next = try me.state(waiting: left, from: current) else { continue }
                let isStill =
                    next.event & PCSCState.present != 0 && PCSCState.counter(next.event) == presence.number
                if !isStill { return true }
                Thread.sleep(forTimeInterval: 0.005)
            }
            return false
        }
    }
}
