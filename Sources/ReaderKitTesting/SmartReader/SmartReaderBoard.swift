import ReaderKit
import Synchronization

/// What a simulated reader in Smart Reader mode is to its line: what is to be sent, and when. Any thread may use it.
final class SmartReaderBoard: TerminalDevice {
    private struct State {
        var delay = Duration.zero
        var noise: LineNoise?
        var outgoing: [UInt8] = []
        var delayed: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
        var wake: (@Sendable () -> Void)?
    }

    let threadName = "S550"

    private let state = Mutex(State())

    /// More than a program leaves unread is lost, as on a serial line.
    private static let mostOutgoing = 65_536

    var delay: Duration {
        get { state.withLock { $0.delay } }
        set { state.withLock { $0.delay = max(.zero, newValue) } }
    }

    func setNoise(_ noise: LineNoise?) { state.withLock { $0.noise = noise } }

    /// Sends bytes, after those that wait already.
    func send(_ bytes: [UInt8], isDelayed: Bool = true) {
        let wake = state.withLock { state in
            // Here, and not when it is collected: the same noise on the same lines, whatever the threads do.
            let bytes = state.noise?.spoil(bytes) ?? bytes
            if isDelayed && state.delay > .zero {
                state.delayed.append((.now + state.delay, bytes))
            } else if state.outgoing.count + bytes.count <= Self.mostOutgoing {
                state.outgoing += bytes
            }
            return state.wake
        }
        wake?()
    }

    // MARK: The line's side

    func collect() -> (bytes: [UInt8], next: ContinuousClock.Instant?) {
        state.withLock { state in
            let now = ContinuousClock.now
            while let first = state.delayed.first, first.due <= now {
                state.outgoing += first.bytes
                state.delayed.removeFirst()
            }
            defer { state.outgoing = [] }
            return (state.outgoing, state.delayed.first?.due)
        }
    }

    /// A reader that speaks MK1 or plain text takes no commands, and this one takes none at all.
    func receive(_ bytes: [UInt8]) {}

    var isWithinFrame: Bool { false }

    func hearSilence() {}

    func setWake(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.wake = wake } }

    func powerOff() {
        state.withLock { state in
            state.wake = nil
            (state.outgoing, state.delayed) = ([], [])
        }
    }
}
