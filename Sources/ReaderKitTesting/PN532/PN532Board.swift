import Glibc
import ReaderKit
import Synchronization

/// What a simulated board is between its line and its chip: what came, what is to be sent and when. Any thread may use it.
final class PN532Board: TerminalDevice {
    fileprivate struct State {
        var chip: PN532Chip
        var decoder = PN532FrameDecoder()
        var delay = Duration.zero
        var noise: LineNoise?
        /// To be sent now.
        var outgoing: [UInt8] = []
        /// To be sent when its time has come.
        var delayed: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
        /// When the command that waits for a card has waited long enough.
        var end: ContinuousClock.Instant?
        /// What wakes the line's thread.
        var wake: (@Sendable () -> Void)?
    }

    let threadName = "PN532"

    private let state: Mutex<State>

    /// More than a program leaves unread is lost, as on a serial line.
    fileprivate static let mostOutgoing = 65_536

    init(_ chip: PN532Chip) {
        state = Mutex(State(chip: chip))
    }

    var chip: PN532Chip { state.withLock { $0.chip } }

    var delay: Duration {
        get { state.withLock { $0.delay } }
        set { state.withLock { $0.delay = max(.zero, newValue) } }
    }

    func setNoise(_ noise: LineNoise?) { state.withLock { $0.noise = noise } }

    /// The board has power again: the chip is another one, and the card that lay there lies there still.
    func restart(_ chip: PN532Chip) {
        state.withLock { state in
            let card = state.chip.field.card
            state.chip.remove()
            state.chip = chip
            card.map { _ = state.chip.insert($0) }
            state.decoder.reset()
            (state.outgoing, state.delayed, state.end) = ([], [], nil)
        }
    }

    /// Does something to the chip, and sends what it says to that.
    func change(_ body: (inout PN532Chip) -> [PN532Frame]) {
        let wake = state.withLock { state in
            let answers = body(&state.chip)
            state.put(answers)
            return answers.isEmpty ? nil : state.wake
        }
        wake?()
    }

    /// Sends bytes that are none of the chip's.
    func send(_ bytes: [UInt8]) {
        let wake = state.withLock { state in
            state.outgoing += bytes
            return state.wake
        }
        wake?()
    }

    // MARK: The line's side

    /// Sets what wakes the thread that sends.
    func setWake(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.wake = wake } }

    /// The board loses its power.
    func powerOff() {
        state.withLock { state in
            state.wake = nil
            state.chip.field.switchOff()
            (state.outgoing, state.delayed, state.end) = ([], [], nil)
        }
    }

    /// Takes what came over the line.
    func receive(_ bytes: [UInt8]) {
        state.withLock { state in
            state.decoder.append(state.noise?.spoil(bytes) ?? bytes)
            while let item = state.decoder.next() {
                // A frame that is not well formed gets no answer.
                guard case .frame(let frame) = item else { continue }
                switch frame {
                // Whoever gives a command up, or sends the next one, no longer waits for its answer.
                case .acknowledgement, .command: state.delayed = []
                default: break
                }
                let answers = state.chip.receive(frame)
                state.put(answers)
                state.end = state.chip.patience.map { ContinuousClock.now + $0 }
            }
        }
    }

    /// Nothing came for a while: what has begun will not be ended.
    func hearSilence() { state.withLock { $0.decoder.reset() } }

    /// Whether a frame has begun that is not there whole.
    var isWithinFrame: Bool { state.withLock { $0.decoder.isWithinFrame } }

    /// What is to be sent now, and when there is something to be done next without anybody asking.
    func collect() -> (bytes: [UInt8], next: ContinuousClock.Instant?) {
        state.withLock { state in
            let now = ContinuousClock.now
            if let end = state.end, end <= now {
                state.end = nil
                let answers = state.chip.giveUp()
                state.put(answers)
            }
            while let first = state.delayed.first, first.due <= now {
                state.outgoing += first.bytes
                state.delayed.removeFirst()
            }
            defer { state.outgoing = [] }
            let next = [state.end, state.delayed.first?.due].compactMap(\.self).min()
            return (state.noise?.spoil(state.outgoing) ?? state.outgoing, next)
        }
    }
}

extension PN532Board.State {
    /// An acknowledgement goes at once, an answer when its time has come.
    fileprivate mutating func put(_ frames: [PN532Frame]) {
        for frame in frames {
            if frame == .acknowledgement || delay == .zero {
                outgoing += frame.bytes
            } else {
                delayed.append((ContinuousClock.now + delay, frame.bytes))
            }
        }
        if !chip.isWaiting { end = nil }
        if outgoing.count > PN532Board.mostOutgoing { outgoing = [] }
    }
}
