import ReaderKit
import Synchronization

/// What a simulated board is between its line and its chip. Any thread may use it.
final class PN532Board: TerminalDevice {
    struct State {
        var chip: PN532Chip
        var output = LineOutput()
        fileprivate var decoder = PN532FrameDecoder()
        /// When the command that waits for a card has waited long enough.
        fileprivate var end: ContinuousClock.Instant?
    }

    let threadName = "PN532"
    let state: Mutex<State>

    init(_ chip: PN532Chip) {
        state = Mutex(State(chip: chip))
    }

    var chip: PN532Chip { state.withLock { $0.chip } }

    /// The board has power again: the chip is another one, and the card that lay there lies there still.
    func restart(_ chip: PN532Chip) {
        state.withLock { state in
            let card = state.chip.field.card
            state.chip.remove()
            state.chip = chip
            card.map { _ = state.chip.insert($0) }
            state.decoder.reset()
            state.output.clear()
            state.end = nil
        }
    }

    /// Lays a card before the chip, and sends the chip's answers.
    func insert(_ card: any SimulatedCard) {
        let wake = state.withLock { state in
            let answers = state.chip.insert(card)
            state.put(answers)
            return answers.isEmpty ? nil : state.output.wake
        }
        wake?()
    }

    func send(_ bytes: [UInt8]) {
        let wake = state.withLock { state in
            state.output.put(bytes, isDelayed: false)
            return state.output.wake
        }
        wake?()
    }

    // MARK: The line's side

    func setWake(_ wake: (@Sendable () -> Void)?) { state.withLock { $0.output.wake = wake } }

    func powerOff() {
        state.withLock { state in
            state.output.wake = nil
            state.chip.field.switchOff()
            state.output.clear()
            state.end = nil
        }
    }

    func receive(_ bytes: [UInt8]) {
        state.withLock { state in
            state.decoder.append(state.output.noise?.spoil(bytes) ?? bytes)
            while let item = state.decoder.next() {
                // A frame that is not well formed gets no answer.
                guard case .frame(let frame) = item else { continue }
                switch frame {
                // Whoever gives a command up, or sends the next one, no longer waits for its answer.
                case .acknowledgement, .command: state.output.clear(onlyDelayed: true)
                default: break
                }
                let answers = state.chip.receive(frame)
                state.put(answers)
                state.end = state.chip.patience.map { ContinuousClock.now + $0 }
            }
        }
    }

    func hearSilence() { state.withLock { $0.decoder.reset() } }

    var isWithinFrame: Bool { state.withLock { $0.decoder.isWithinFrame } }

    func collect() -> (bytes: [UInt8], next: ContinuousClock.Instant?) {
        state.withLock { state in
            if let end = state.end, end <= .now {
                state.end = nil
                let answers = state.chip.giveUp()
                state.put(answers)
            }
            let (bytes, next) = state.output.collect()
            return (state.output.noise?.spoil(bytes) ?? bytes, [state.end, next].compactMap(\.self).min())
        }
    }
}

extension PN532Board.State {
    /// An acknowledgement goes at once, an answer when its time has come.
    fileprivate mutating func put(_ frames: [PN532Frame]) {
        for frame in frames { output.put(frame.bytes, isDelayed: frame != .acknowledgement) }
        if !chip.isWaiting { end = nil }
    }
}
