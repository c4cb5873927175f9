import Foundation
import Synchronization

/// Watches readers and cards on a thread and a context of its own, for as long as it is wanted.
///
/// It outlives everything below it: no reader, no pcscd, pcscd killed and restarted. A lost context is dropped and a new
/// one made, with growing pauses while pcscd is away. While it waits it sits in `SCardGetStatusChange` and uses no CPU.
final class PCSCMonitor: Sendable {
    private struct State {
        var isCancelled = false
        var hasEnded = false
    }

    private let library: PCSCLibrary
    private let configuration: PCSCConfiguration
    private let now: @Sendable () -> Date
    private let emit: @Sendable (ReaderEvent) -> Void
    private let onEnd: @Sendable () -> Void
    private let state = Mutex(State())
    /// The context, from before a wait until after it: what a cancel is to be sent to. Locked while one is sent, so that
    /// the context is not released meanwhile.
    private let waiting = Mutex<PCSCLibrary.Context?>(nil)
    private let wakeUp = DispatchSemaphore(value: 0)

    init(
        library: PCSCLibrary,
        configuration: PCSCConfiguration,
        now: @escaping @Sendable () -> Date,
        emit: @escaping @Sendable (ReaderEvent) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.library = library
        self.configuration = configuration
        self.now = now
        self.emit = emit
        self.onEnd = onEnd
    }

    func start() {
        DetachedThread.start(name: "pcsc-monitor") { self.run() }
    }

    /// Ends the watch. Returns at once; the thread ends within some milliseconds.
    ///
    /// `SCardCancel` is lost when it comes just before the wait begins, so it is repeated until the wait has returned.
    func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        guard isFirst else { return }
        wakeUp.signal()
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

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    private func run() {
        var isServiceLost = false
        var backOff = configuration.firstBackOff
        while !isCancelled {
            let started = ContinuousClock.now
            let (code, context) = library.establishContext()
            var failure: ReaderError?
            if code.isSuccess {
                failure = watch(context) {
                    if isServiceLost { emit(.serviceBack) }
                    isServiceLost = false
                }
                _ = library.releaseContext(context)
            } else {
                failure = code.error(attempting: "reach pcscd")
            }
            guard let failure else { continue }
            if !isServiceLost { emit(.serviceLost(failure)) }
            isServiceLost = true
            // A service that answers and fails again at once is not asked again at once.
            if ContinuousClock.now - started >= .seconds(1) { backOff = configuration.firstBackOff }
            pause(backOff)
            backOff = min(backOff * 2, configuration.lastBackOff)
        }
        state.withLock { $0.hasEnded = true }
        onEnd()
    }

    /// Waits, but not for longer than until the watch is cancelled.
    private func pause(_ duration: Duration) {
        guard !isCancelled else { return }
        _ = wakeUp.wait(timeout: .now() + duration.seconds)
    }

    /// Watches with one context until it fails or the watch is cancelled (then `nil`).
    ///
    /// - Parameter onReady: called once, when the service has shown its readers and before any of them is told.
    private func watch(_ context: PCSCLibrary.Context, onReady: () -> Void) -> ReaderError? {
        var table = PCSCReaderTable()
        var isReady = false
        var untold: [ReaderEvent] = []
        func lost(_ code: PCSCCode, _ attempt: String) -> ReaderError {
            let gone = table.clear()
            if isReady { gone.forEach(emit) }
            return code.serviceError(attempting: attempt)
        }
        var mustList = true
        var failuresInARow = 0
        var idleRounds = 0
        while !isCancelled {
            let (started, told) = (ContinuousClock.now, untold.count)
            if mustList {
                let (code, names) = library.listReaders(context)
                guard code.isSuccess else { return lost(code, "list the readers") }
                untold += table.update(names: names)
                mustList = false
            }
            // The first look only asks, so that the service counts as back when it has answered everything once.
            var states = table.query
            let code = wait(context, isReady ? PCSCLibrary.infinite : 0, &states)
            switch code {
            case .success:
                failuresInARow = 0
                mustList = states.contains { state in
                    state.name == PCSCLibrary.plugAndPlay
                        ? state.event & PCSCState.changed != 0
                        : state.event & (PCSCState.unknown | PCSCState.unavailable) != 0
                }
                untold += table.update(states: states, at: now())
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
                onReady()
                isReady = true
            }
            let isIdle = untold.count == told && ContinuousClock.now - started < .milliseconds(5)
            idleRounds = isIdle ? idleRounds + 1 : 0
            if isReady {
                untold.forEach(emit)
                untold = []
            }
            // Other programs that use a card end the wait without news. A wait that keeps ending for nothing, though,
            // must not use up the processor.
            if idleRounds > 8 { pause(min(.milliseconds(5 * (idleRounds - 8)), .milliseconds(200))) }
        }
        return nil
    }

    private func wait(
        _ context: PCSCLibrary.Context,
        _ milliseconds: UInt32,
        _ states: inout [PCSCLibrary.ReaderState]
    ) -> PCSCCode {
        waiting.withLock { $0 = context }
        defer { waiting.withLock { $0 = nil } }
        // Checked after the context is known to the canceller: either it sees the context or this sees the flag.
        return isCancelled ? .cancelled : library.getStatusChange(context, milliseconds, &states)
    }
}
