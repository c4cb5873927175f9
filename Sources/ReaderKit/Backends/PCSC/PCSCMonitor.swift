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
        /// The context, from before a wait until after it: what a cancel is to be sent to.
        var waiting: PCSCLibrary.Context?
    }

    private let library: PCSCLibrary
    private let configuration: PCSCConfiguration
    private let now: @Sendable () -> Date
    private let emit: @Sendable (ReaderEvent) -> Void
    private let onEnd: @Sendable () -> Void
    private let state = Mutex(State())
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
                let (ended, context) = state.withLock { ($0.hasEnded, $0.waiting) }
                if ended { return }
                if let context { _ = library.cancel(context) }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    private func run() {
        var isServiceLost = false
        var backOff = configuration.firstBackOff
        while !isCancelled {
            let (code, context) = library.establishContext()
            if code.isSuccess {
                if isServiceLost { emit(.serviceBack) }
                isServiceLost = false
                backOff = configuration.firstBackOff
                let started = ContinuousClock.now
                let failure = watch(context)
                _ = library.releaseContext(context)
                if let failure {
                    isServiceLost = true
                    emit(.serviceLost(failure))
                }
                // A service that answers and fails again at once is not asked again at once.
                if ContinuousClock.now - started < .seconds(1) { pause(&backOff) }
            } else {
                if !isServiceLost { emit(.serviceLost(code.error(attempting: "reach pcscd"))) }
                isServiceLost = true
                pause(&backOff)
            }
        }
        state.withLock { $0.hasEnded = true }
        onEnd()
    }

    private func pause(_ backOff: inout Duration) {
        guard !isCancelled else { return }
        _ = wakeUp.wait(timeout: .now() + backOff.seconds)
        backOff = min(backOff * 2, configuration.lastBackOff)
    }

    /// Watches with one context until it fails or the watch is cancelled (then `nil`).
    private func watch(_ context: PCSCLibrary.Context) -> ReaderError? {
        var table = PCSCReaderTable()
        func lost(_ code: PCSCCode, _ attempt: String) -> ReaderError {
            table.clear().forEach(emit)
            return code.error(attempting: attempt)
        }
        var mustList = true
        var failuresInARow = 0
        while !isCancelled {
            if mustList {
                let (code, names) = library.listReaders(context)
                guard code.isSuccess else { return lost(code, "list the readers") }
                table.update(names: names).forEach(emit)
                mustList = false
            }
            var states = table.query
            state.withLock { $0.waiting = context }
            // Checked after the context is known to the canceller: either it sees the context or this sees the flag.
            let code = isCancelled ? .cancelled : library.getStatusChange(context, PCSCLibrary.infinite, &states)
            state.withLock { $0.waiting = nil }
            switch code {
            case .success:
                failuresInARow = 0
                let changed = states.contains { state in
                    state.name == PCSCLibrary.plugAndPlay
                        ? state.event & PCSCState.changed != 0
                        : state.event & (PCSCState.unknown | PCSCState.unavailable) != 0
                }
                table.update(states: states, at: now()).forEach(emit)
                mustList = changed
                // A name that is listed and yet unknown, again and again, must not turn this into a busy loop.
                if states.contains(where: { $0.event & PCSCState.unknown != 0 && $0.name != PCSCLibrary.plugAndPlay }) {
                    _ = wakeUp.wait(timeout: .now() + 0.02)
                }
            case .cancelled, .timeout:
                continue
            case .unknownReader, .readerUnavailable:
                mustList = true
                failuresInARow += 1
            default:
                return lost(code, "watch the readers")
            }
            if failuresInARow > 3 { return lost(code, "watch the readers") }
        }
        return nil
    }
}

extension Duration {
    /// The duration in seconds.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
