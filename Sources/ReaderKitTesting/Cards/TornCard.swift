import ReaderKit
import Synchronization

/// A card that loses its power in the middle: it is taken away before or after it carries out a command.
///
/// From then on it is silent, until it is powered again; its memory is what it was at that moment. Commands are those
/// that reach the card: APDUs and raw frames, but not what a reader answers by itself.
public final class TornCard: SimulatedCard {
    /// The card that is taken away.
    public let card: any SimulatedCard

    private let state: Mutex<State>

    private struct State {
        var tear: Tear?
        var commands = 0
        var isGone = false
    }

    /// A moment at which a card is taken away.
    public struct Tear: Sendable, Hashable {
        /// The command, counted from 0 since the card was last powered.
        public var command: Int
        /// Whether the card carries the command out, its answer being lost.
        public var afterwards: Bool

        /// Before or after a command.
        public init(_ command: Int, afterwards: Bool) {
            self.command = command
            self.afterwards = afterwards
        }
    }

    /// A card that is taken away once, at that moment; never without one, which counts commands only.
    public init(_ card: any SimulatedCard, _ tear: Tear? = nil) {
        self.card = card
        state = Mutex(State(tear: tear))
    }

    /// The card's.
    public var uid: [UInt8] { card.uid }

    /// The card's.
    public var kind: SimulatedCardKind { card.kind }

    /// The card's.
    public var atr: [UInt8] { card.atr }

    /// How many commands have reached the card since it was last powered.
    public var commands: Int { state.withLock { $0.commands } }

    /// Whether the card was taken away and has not been powered since.
    public var isGone: Bool { state.withLock { $0.isGone } }

    /// Plans the next time that it is taken away; `nil` takes the plan back. Commands count from now on.
    public func plan(_ tear: Tear?) {
        state.withLock {
            $0.tear = tear
            $0.commands = 0
        }
    }

    /// The card is there again.
    public func powerOn() {
        state.withLock {
            $0.isGone = false
            $0.commands = 0
        }
        card.powerOn()
    }

    /// The card loses its power.
    public func powerOff() { card.powerOff() }

    /// Answers until it is gone.
    public func receive(apdu: [UInt8]) -> [UInt8]? { answer { card.receive(apdu: apdu) } }

    /// Answers until it is gone.
    public func receive(frame: RawFrame) -> RawFrame? { answer { card.receive(frame: frame) } }

    private func answer<Answer>(_ body: () -> Answer?) -> Answer? {
        let (isGone, tear) = state.withLock { state -> (Bool, Tear?) in
            guard !state.isGone else { return (true, nil) }
            state.commands += 1
            guard let tear = state.tear, tear.command == state.commands - 1 else { return (false, nil) }
            state.tear = nil
            state.isGone = true
            return (false, tear)
        }
        if isGone { return nil }
        guard let tear else { return body() }
        if tear.afterwards { _ = body() }
        card.powerOff()
        return nil
    }
}
