import Foundation
import Synchronization

/// Replays captures as a backend: their readers, their cards and the cards' answers.
///
/// The stream of events is driven by its consumer: an event is created when it is requested, so a consumer that
/// finishes with a card before it requests the next event gets the same results each time, and nothing of a capture is
/// decided before all events of the previous one were consumed. The consumer is free to communicate with no card, or
/// with a card that has left already.
public final class ReplayBackend: ReaderBackend {
    /// The captures, in the order in which they are replayed.
    public let captures: [Capture]

    /// How answers are determined.
    public let mode: ReplayMode

    /// The speed of events.
    public let speed: ReplaySpeed

    private let clock: any Clock<Duration>
    let startOf: @Sendable (Capture) async -> Date
    /// Conversations run here, for they may block.
    private let queue = DispatchQueue(label: "ReaderKit.ReplayBackend")
    private let state = Mutex(State())

    private struct State {
        /// The cards that were announced; a presentation's number is its index plus 1.
        var cards: [ReplayCard] = []
        var differences: [ReaderError] = []
    }

    /// Creates a replay of captures, in their order.
    ///
    /// - Parameters:
    ///   - mode: how answers are determined.
    ///   - speed: the speed of events.
    ///   - clock: waits for the recorded times, at recorded speed.
    ///   - startOf: returns the moment of time 0 of a capture, when its first event is requested; by default the
    ///     header's `started`, else the present.
    public init(
        _ captures: [Capture],
        mode: ReplayMode = .byCommand,
        speed: ReplaySpeed = .asFastAsPossible,
        clock: any Clock<Duration> = ContinuousClock(),
        startOf: @escaping @Sendable (Capture) async -> Date = { $0.started ?? Date() }
    ) {
        self.captures = captures
        self.mode = mode
        self.speed = speed
        self.clock = clock
        self.startOf = startOf
    }

    /// Always ``BackendKind/replay``.
    public var kind: BackendKind { .replay }

    /// Always true.
    public var isRecording: Bool { true }

    /// In strict mode, all differences from the captures so far: commands that were not recorded, and recorded ones
    /// that were not sent to a card before it left.
    public var differences: [ReaderError] { state.withLock { $0.differences } }

    /// Returns the events of all captures from the beginning.
    public func events() -> AsyncStream<ReaderEvent> {
        let run = ReplayRun(backend: self)
        return AsyncStream { await run.next() }
    }

    /// Returns the readers of all captures, each once, without cards, which come with time.
    public func readers() async -> [ReaderStatus] {
        var names: [String] = []
        for name in captures.flatMap(\.readerNames) where !names.contains(name) { names.append(name) }
        return names.map { ReaderStatus(reader: ReaderInfo(recordedName: $0)) }
    }

    /// Performs a conversation with the recorded card.
    ///
    /// - Throws: ``ReaderError/Kind/cardRemoved`` for a presentation that this backend did not announce, the recorded
    ///   fault if the card could not be connected, or the error of the conversation.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        let announced = state.withLock { state in
            state.cards.indices.contains(presence.number - 1) ? state.cards[presence.number - 1] : nil
        }
        guard let card = announced, card.reader == presence.reader else {
            throw ReaderError(.cardRemoved, attempting: "connect to the card")
        }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                let (result, differences) = card.converse(conversation)
                self.state.withLock { $0.differences += differences }
                continuation.resume(with: result)
            }
        }
    }

    // MARK: For the runs

    func pace() -> ReplayRun.Pace? { speed == .recorded ? clock.pace() : nil }

    func present(_ presentation: Capture.Presentation, on reader: ReaderInfo, file: String?) -> Int {
        let card = ReplayCard(presentation, reader: reader, mode: mode, file: file)
        return state.withLock { state in
            state.cards.append(card)
            return state.cards.count
        }
    }

    /// A card left: what was not asked of it is a difference, unless nobody talked to it at all.
    func remove(_ number: Int) {
        let card = state.withLock { $0.cards[number - 1] }
        guard let rest = card.rest else { return }
        state.withLock { $0.differences.append(rest) }
    }
}

extension Clock<Duration> {
    fileprivate func pace() -> ReplayRun.Pace {
        let origin = now
        return { time in try await self.sleep(until: origin.advanced(by: time), tolerance: nil) }
    }
}

/// How a replay determines the answer to a command.
public enum ReplayMode: String, Sendable, Hashable, CaseIterable {
    /// The recorded exchanges are answered in their order; any other command is a ``ReaderError/Kind/replayMismatch``
    /// with the line of the file.
    case strict

    /// The answer is looked up by the command, within the presentation and the last successful SELECT, so that the
    /// order of commands may change.
    ///
    /// A repeated command gets its next answer, then its last. A SELECT is successful if it is answered `9000` or
    /// `61xx`. Commands to the reader itself (class `FF`), raw frames and escape commands do not depend on a SELECT; a
    /// SELECT that was recorded only after another one is found too. An APDU that was never recorded gets `6D00`, a raw
    /// frame a time-out (or, where the recorded reader refused commands and carried no frame, the same as with it), an escape
    /// command `SCARD_E_UNSUPPORTED_FEATURE`.
    case byCommand
}

/// The speed at which a replay reports events.
public enum ReplaySpeed: String, Sendable, Hashable, CaseIterable {
    /// One event after the other, as soon as requested. The times of the events are the recorded ones.
    case asFastAsPossible
    /// Each event at its recorded time after the beginning of its capture.
    case recorded
}
