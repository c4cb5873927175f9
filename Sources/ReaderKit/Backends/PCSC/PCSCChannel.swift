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
    private var frames: FrameExchange
    /// Taken once per card, since a response may be 64 KiB long and most are a few bytes.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ReaderLimits.responseLength,
        alignment: MemoryLayout<UInt>.alignment
    )

    init(
        _ io: PCSCCardIO,
        _ presence: CardPresence,
        _ handle: PCSCLibrary.Handle,
        _ activeProtocol: UInt32,
        _ cancellation: Cancellation
    ) {
        self.io = io
        library = io.library
        watch = io.watch
        self.presence = presence
        self.handle = handle
        self.activeProtocol = activeProtocol
        self.cancellation = cancellation
        frames = FrameExchange(reader: presence.reader.name, facts: presence.facts)
    }

    deinit {
        buffer.deallocate()
    }

    var facts: CardFacts { presence.facts }

    /// What the driver reports about the reader, asked once for each reader.
    var capabilities: ChannelCapabilities {
        if let known = io.capabilities.withLock(\.self) { return known }
        guard let told = try? askForCapabilities() else { return PCSCFeatures.capabilities(dataSize: nil, input: nil) }
        io.capabilities.withLock { $0 = told }
        return told
    }

    /// Fails when something else than a refusal came in between, so that the answer is not kept.
    private func askForCapabilities() throws(ReaderError) -> ChannelCapabilities {
        let attempt = "ask what the reader carries"
        try checkLocked(attempt)
        func ask(_ call: () -> (PCSCCode, [UInt8])) throws(ReaderError) -> [UInt8] {
            let (code, answer) = try watch.call(attempt, call)
            switch code {
            case .success: return answer
            case .unsupportedFeature, .notTransacted, .invalidParameter, .invalidValue, .insufficientBuffer: return []
            default: throw code.error(attempting: attempt)
            }
        }
        let features = try ask { library.control(handle, PCSCFeatures.request, []) }
        if let code = PCSCFeatures.controlCode(of: PCSCFeatures.properties, in: features) {
            let properties = try ask { library.control(handle, code, []) }
            if let size = PCSCFeatures.property(PCSCFeatures.maxAPDUDataSize, in: properties) {
                return PCSCFeatures.capabilities(dataSize: size, input: nil)
            }
        }
        let input = try ask { library.getAttribute(handle, PCSCFeatures.maxInput) }
        return PCSCFeatures.capabilities(dataSize: nil, input: PCSCFeatures.number(input))
    }

    var elapsed: Duration { ContinuousClock.now - start }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        // A reader in a transparent session does not serve other commands.
        try frames.endSession(exchange)
        return try exchange(command)
    }

    func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame { try frames.transceive(frame, exchange) }

    private func exchange(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "exchange an APDU with the card"
        try checkLocked(attempt)
        try watch.begin(attempt)
        let (code, count) = command.withUnsafeBytes { library.transmit(handle, activeProtocol, $0, buffer) }
        try watch.end()
        guard code.isSuccess else { throw failure(code, attempt) }
        guard count >= 2 else {
            // Some drivers answer so, and report success, when the card has left.
            if let place = try? cardState(), place == .removed {
                throw ReaderError(.cardRemoved, attempting: attempt)
            }
            throw ReaderError(.invalidAnswer, attempting: attempt, detail: "\(count) bytes are no response APDU")
        }
        return Array(buffer[..<count])
    }

    func control(_ controlCode: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "send a control code to the reader"
        try checkLocked(attempt)
        let (code, answer) = try watch.call(attempt) { library.control(handle, controlCode, data) }
        guard code.isSuccess else {
            // A refused control code states nothing of the card, so only a reset is looked into.
            throw code == .resetCard ? failure(code, attempt) : code.controlError(attempting: attempt)
        }
        return answer
    }

    func reset() throws(ReaderError) {
        try frames.endSession(exchange)
        try reconnect(.reset)
    }

    // MARK: - Life

    /// Begins the transaction. A card that was reset by somebody else before is taken over as it is.
    func lock() throws(ReaderError) {
        let attempt = "lock the card"
        var code = try watch.call(attempt) { library.beginTransaction(handle) }
        if code == .resetCard {
            try reconnectOnly(.leave)
            code = try watch.call(attempt) { library.beginTransaction(handle) }
        }
        guard code.isSuccess else { throw code.error(attempting: attempt) }
        isLocked = true
    }

    /// Ends the transaction and the connection. Never fails: what cannot be ended is gone already.
    func close(_ disposition: PCSCLibrary.Disposition) {
        // On a thread that was given up the release of the context ends both, once the call has returned.
        guard !isClosed, !watch.isAbandoned else { return }
        isClosed = true
        do {
            if isLocked, let command = frames.takeSessionEnd() {
                // Sent although the conversation may be cancelled: a reader in a session sees no further card.
                _ = try watch.call("end the session") {
                    command.withUnsafeBytes { library.transmit(handle, activeProtocol, $0, buffer) }
                }
            }
            if isLocked { _ = try watch.call("unlock the card") { library.endTransaction(handle, .leave) } }
            let code = try watch.call("let the card go") { library.disconnect(handle, disposition) }
            // Whatever the reason: a handle that cannot be released must not stay, and its context takes it along.
            if !code.isSuccess { io.assumeIsolated { $0.dropContext() } }
        } catch {
            // Abandoned in the middle: nothing may be called any more.
        }
    }

    private func reconnect(_ initialization: PCSCLibrary.Disposition) throws(ReaderError) {
        isLocked = false
        try reconnectOnly(initialization)
        let code = try watch.call("lock the card") { library.beginTransaction(handle) }
        guard code.isSuccess else { throw code.error(attempting: "lock the card") }
        isLocked = true
    }

    private func reconnectOnly(_ initialization: PCSCLibrary.Disposition) throws(ReaderError) {
        let attempt = "reconnect to the card"
        try checkUsable(attempt)
        let (code, active) = try watch.call(attempt) {
            library.reconnect(handle, .shared, 3, initialization)
        }
        guard code.isSuccess else { throw code.error(attempting: attempt) }
        activeProtocol = active
    }

    private func checkUsable(_ attempt: String) throws(ReaderError) {
        if isClosed { throw ReaderError(.cancelled, attempting: attempt, detail: "the conversation is over") }
        if cancellation.isCancelled { throw ReaderError(.cancelled, attempting: attempt) }
    }

    /// Other programs must not come between two exchanges: what cannot be locked again after a reset is not used.
    private func checkLocked(_ attempt: String) throws(ReaderError) {
        try checkUsable(attempt)
        guard isLocked else {
            throw ReaderError(.cardReset, attempting: attempt, detail: "the card could not be locked again")
        }
    }

    /// The error for a failed exchange.
    ///
    /// The code alone does not distinguish a card that was taken away from one that is held badly, nor either from a
    /// reader or a service that is gone, so the reader is asked. A card reset by another program is connected again, so
    /// that the conversation can be started over.
    private func failure(_ code: PCSCCode, _ attempt: String) -> ReaderError {
        var error = code.error(attempting: attempt)
        switch code {
        case .resetCard:
            try? reconnect(.leave)
        case .communicationError, .notTransacted, .unpoweredCard, .unresponsiveCard, .noSmartcard, .invalidHandle,
            .noService, .serviceStopped:
            let code = error.code
            do throws(ReaderError) {
                switch try cardState() {
                case .present: break
                case .removed: error = ReaderError(.cardRemoved, attempting: attempt, code: code)
                case .noReader: error = ReaderError(.readerUnavailable, attempting: attempt, code: code)
                }
            } catch {
                // The reader could not even be asked.
                switch error.kind {
                case .stuck: return error
                case .serviceUnavailable, .serviceStopped:
                    return ReaderError(.serviceStopped, attempting: attempt, code: code)
                default: return ReaderError(.communication, attempting: attempt, code: code)
                }
            }
        default:
            break
        }
        return error
    }

    private func cardState() throws(ReaderError) -> PCSCCardIO.CardState {
        try io.onThread { [presence] (io) throws(ReaderError) in try io.cardState(of: presence) }
    }
}
