import Foundation
import Synchronization

/// Watches readers and cards on a thread and a context of its own, for as long as it is wanted.
///
/// It outlives everything below it: no reader, no pcscd, pcscd killed and restarted. A lost context is dropped and a new
/// one made, with growing pauses while pcscd is away. While it waits it sits in `SCardGetStatusChange` and uses no CPU.
final class PCSCMonitor: Sendable {
    private struct State {
        var hasEnded = false
        var isServiceLost = false
        var told: PCSCReaderTable

        /// Whether it was not lost before.
        mutating func loseService() -> Bool {
            defer { isServiceLost = true }
            return !isServiceLost
        }
    }

    private let surroundings: PCSCSurroundings
    private let library: PCSCLibrary
    private let emit: @Sendable (ReaderEvent) -> Void
    private let onEnd: @Sendable () -> Void
    private let id = UUID()
    private let state: Mutex<State>
    /// The context, from before a wait until after it: what a cancel is to be sent to. Locked while one is sent, so that
    /// the context is not released meanwhile.
    private let waiting = Mutex<PCSCLibrary.Context?>(nil)
    private let cancellation = Cancellation()

    init(
        _ surroundings: PCSCSurroundings,
        emit: @escaping @Sendable (ReaderEvent) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.surroundings = surroundings
        library = surroundings.library
        state = Mutex(State(told: PCSCReaderTable(epochs: surroundings.epochs, watch: id)))
        self.emit = emit
        self.onEnd = onEnd
    }

    func start() {
        let calls = surroundings.callWatch { self.takeOver($0) }
        DetachedThread.start(name: "pcsc-monitor") { self.run(calls) }
    }

    /// A call of the watch hangs, as with a pcscd that neither works nor ends: its thread is given up, what it had
    /// reported is withdrawn, and another thread goes on with a context of its own.
    private func takeOver(_ error: ReaderError) {
        let (gone, isNew) = state.withLock { ($0.told.clear(), $0.loseService()) }
        gone.forEach(emit)
        if isNew { emit(.serviceLost(error)) }
        if isCancelled { return end() }
        if surroundings.abandoned.isFull {
            emit(.failed(ReaderError(.exhausted, attempting: "watch the readers")))
            return end()
        }
        start()
    }

    private func end() {
        state.withLock { $0.hasEnded = true }
        surroundings.epochs.leave(id)
        onEnd()
    }

    private func call<Value>(
        _ calls: CallWatch,
        _ attempt: String,
        late: (Value) -> Void = { _ in },
        _ body: () -> Value
    ) throws(ReaderError) -> Value {
        guard let waiter = calls.addWaiter({ _ in }) else { throw ReaderError(.stuck, attempting: attempt) }
        defer { calls.removeWaiter(waiter) }
        return try calls.call(attempt, late: late, body)
    }

    /// Ends the watch within some milliseconds. `SCardCancel` is lost when it comes just before the wait begins, so it
    /// is repeated until the wait has returned.
    func cancel() {
        guard cancellation.cancel() else { return }
        DetachedThread.start(name: "pcsc-cancel") { [self] in
            while true {
                if state.withLock(\.hasEnded) { return }
                waiting.withLock { context in
                    if let context { _ = library.cancel(context) }
                }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private var isCancelled: Bool { cancellation.isCancelled }

    private func run(_ calls: CallWatch) {
        let configuration = surroundings.configuration
        var backOff = configuration.firstBackOff
        while !isCancelled {
            let started = ContinuousClock.now
            let failure: ReaderError?
            do throws(ReaderError) {
                failure = try watchOnce(calls)
            } catch {
                // Given up: another thread has taken over.
                return calls.comeBack()
            }
            guard let failure else { continue }
            let isNew = state.withLock { $0.loseService() }
            if isNew { emit(.serviceLost(failure)) }
            // A service that answers and fails again at once is not asked again at once.
            if ContinuousClock.now - started >= .seconds(1) { backOff = configuration.firstBackOff }
            pause(backOff)
            backOff = min(backOff * 2, configuration.lastBackOff)
        }
        end()
    }

    /// Watches with a new context until it fails or the watch is cancelled (then `nil`). It throws when this thread was
    /// given up and all is cleaned up.
    private func watchOnce(_ calls: CallWatch) throws(ReaderError) -> ReaderError? {
        let (code, context) = try call(
            calls,
            "reach pcscd",
            late: { if $0.code.isSuccess { _ = library.releaseContext($0.context) } },
            { library.establishContext() }
        )
        guard code.isSuccess else { return code.error(attempting: "reach pcscd") }
        let failure: ReaderError?
        do throws(ReaderError) {
            failure = try watch(context, calls)
        } catch {
            _ = library.releaseContext(context)
            throw error
        }
        _ = try call(calls, "release the context") { library.releaseContext(context) }
        return failure
    }

    private func pause(_ duration: Duration) { cancellation.wait(atMost: duration.seconds) }

    private var emptyTable: PCSCReaderTable { PCSCReaderTable(epochs: surroundings.epochs, watch: id) }

    private func watch(_ context: PCSCLibrary.Context, _ calls: CallWatch) throws(ReaderError) -> ReaderError? {
        var table = emptyTable
        var isReady = false
        var untold: [ReaderEvent] = []
        func lost(_ code: PCSCCode, _ attempt: String) -> ReaderError {
            let gone = table.clear()
            if isReady { gone.forEach(emit) }
            state.withLock { $0.told = emptyTable }
            return code.serviceError(attempting: attempt)
        }
        func tell() {
            guard isReady else { return }
            state.withLock { [table] in $0.told = table }
            untold.forEach(emit)
            untold = []
        }
        var mustList = true
        var failuresInARow = 0
        var idleRounds = 0
        while !isCancelled {
            let started = ContinuousClock.now
            var news: [ReaderEvent] = []
            if mustList {
                let (code, names) = try call(calls, "list the readers") { library.listReaders(context) }
                guard code.isSuccess else { return lost(code, "list the readers") }
                news = table.update(names: names)
                untold += news
                mustList = false
                // Before the wait, which may last: that a reader is gone may be all there is to report.
                tell()
            }
            // The first look only asks, so that the service counts as back when it has answered everything once.
            var states = table.query
            let code: PCSCCode
            if isReady {
                code = wait(context, &states)
            } else {
                // Not known to the canceller: what hangs must not be cancelled from elsewhere.
                (code, states) = try call(calls, "ask for the state of the readers") { [query = states] in
                    var states = query
                    return (isCancelled ? .cancelled : library.getStatusChange(context, 0, ofAll: &states), states)
                }
            }
            switch code {
            case .success:
                failuresInARow = 0
                mustList = states.contains { state in
                    state.name == PCSCLibrary.plugAndPlay
                        ? state.event & PCSCState.changed != 0
                        : state.event & (PCSCState.unknown | PCSCState.unavailable) != 0
                }
                let edges = table.update(states: states, at: surroundings.now())
                news += edges
                untold += edges
                // A name that is listed and yet unknown, again and again, must not turn this into a busy loop.
                if states.contains(where: { $0.event & PCSCState.unknown != 0 && $0.name != PCSCLibrary.plugAndPlay }) {
                    pause(.milliseconds(20))
                }
            case .cancelled, .timeout:
                failuresInARow = 0
            case .unknownReader, .readerUnavailable:
                // Unplugged since it was listed.
                mustList = true
                failuresInARow += 1
                if failuresInARow > 3 { return lost(code, "watch the readers") }
                pause(.milliseconds(20))
                continue
            default:
                return lost(code, "watch the readers")
            }
            if !isReady, code != .cancelled {
                let isBack = state.withLock { state in
                    defer { state.isServiceLost = false }
                    return state.isServiceLost
                }
                if isBack { emit(.serviceBack) }
                isReady = true
            }
            let isIdle = news.isEmpty && ContinuousClock.now - started < .milliseconds(5)
            idleRounds = isIdle ? idleRounds + 1 : 0
            tell()
            // Other programs that use a card end the wait without news. A wait that keeps ending for nothing, though,
            // must not use up the processor.
            if idleRounds > 8 { pause(min(.milliseconds(5 * (idleRounds - 8)), .milliseconds(200))) }
        }
        return nil
    }

    private func wait(_ context: PCSCLibrary.Context, _ states: inout [PCSCLibrary.ReaderState]) -> PCSCCode {
        waiting.withLock { $0 = context }
        defer { waiting.withLock { $0 = nil } }
        // Checked after the context is known to the canceller: either it sees the context or this sees the flag.
        if isCancelled { return .cancelled }
        return library.getStatusChange(context, PCSCLibrary.infinite, ofAll: &states) { isCancelled }
    }
}
