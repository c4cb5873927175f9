import CardCore
import Dispatch
import Foundation
import ReaderKit
import Synchronization

/// Readers and cards that exist only in this process, for tests of everything that stands above a ``ReaderBackend``.
///
/// ```swift
/// let backend = SimulatedBackend()
/// backend.insert(card)            // a tap …
/// backend.remove()                // … and its end
/// ```
///
/// Commands and events are in step: an event is in every watcher's stream when the call that caused it returns. Each new
/// watcher first gets what is there: `serviceBack` or `serviceLost`, readers, cards.
public final class SimulatedBackend: ReaderBackend {
    /// Always ``BackendKind/simulated``.
    public var kind: BackendKind { .simulated }

    /// What the reader's part is, for all readers.
    public let reader: SimulatedReader

    private let now: @Sendable () -> Date
    fileprivate let state: Mutex<State>

    fileprivate struct Slot {
        var info: ReaderInfo
        var queue: DispatchQueue
        var card: (any SimulatedCard)?
        var presence: CardPresence?
        var faults: [SimulatedFault] = []
    }

    fileprivate struct State {
        var isServing = true
        var slots: [Slot] = []
        var presentations = 0
        let watchers = EventBroadcaster<ReaderEvent>()

        func publish(_ event: ReaderEvent) { watchers.yield(event) }
    }

    /// Readers without cards, with the same habits; `now` is the clock that dates the presentations.
    public init(
        readers: [String] = [SimulatedBackend.defaultReader],
        reader: SimulatedReader = SimulatedReader(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.reader = reader
        self.now = now
        state = Mutex(State(slots: readers.map(SimulatedBackend.slot)))
    }

    /// The name of the one reader that is there unless specified otherwise.
    public static let defaultReader = "Simulated Reader 00 00"

    private static func slot(named name: String) -> Slot {
        Slot(info: ReaderInfo(name: name, backend: .simulated), queue: DispatchQueue(label: "simulated reader \(name)"))
    }

    // MARK: What happens to the readers

    /// Presents a card to a reader (the first one if `nil`), with what goes wrong in each conversation; a card that is
    /// there is taken away first.
    ///
    /// - Returns: the presentation, or `nil` if there is no such reader or no service.
    @discardableResult
    public func insert(
        _ card: any SimulatedCard,
        into name: String? = nil,
        faults: [SimulatedFault] = []
    ) -> CardPresence? {
        remove(from: name)
        return state.withLock { state in
            guard let index = state.slots.index(of: name), state.isServing else { return nil }
            card.powerOn()
            let presence = state.presence(of: card, at: index, now())
            state.slots[index].card = card
            state.slots[index].presence = presence
            state.slots[index].faults = faults
            state.publish(.cardInserted(presence))
            return presence
        }
    }

    /// Takes the card away; nothing happens if there is none.
    public func remove(from name: String? = nil) {
        let card = state.withLock { state in state.slots.index(of: name).flatMap { state.empty($0) } }
        card?.powerOff()
    }

    /// Publishes a tap too quick to be read: only its edge is seen.
    @discardableResult
    public func flash(_ card: any SimulatedCard, at name: String? = nil) -> CardPresence? {
        remove(from: name)
        return state.withLock { state in
            guard let index = state.slots.index(of: name), state.isServing else { return nil }
            let presence = state.presence(of: card, at: index, now())
            state.publish(.cardMissed(presence))
            return presence
        }
    }

    /// Plugs a reader in; nothing happens if one of that name is there.
    public func addReader(named name: String) {
        state.withLock { state in
            guard !state.slots.contains(where: { $0.info.name == name }) else { return }
            let slot = SimulatedBackend.slot(named: name)
            state.slots.append(slot)
            if state.isServing { state.publish(.readerAdded(slot.info)) }
        }
    }

    /// Pulls a reader out, together with its card.
    public func removeReader(named name: String) {
        let card = state.withLock { state -> (any SimulatedCard)? in
            guard let index = state.slots.index(of: name) else { return nil }
            let card = state.empty(index)
            let slot = state.slots.remove(at: index)
            if state.isServing { state.publish(.readerRemoved(slot.info)) }
            return card
        }
        card?.powerOff()
    }

    /// Ends the service: all cards and readers are reported as gone, then the service.
    public func loseService() {
        let cards = state.withLock { state -> [any SimulatedCard] in
            guard state.isServing else { return [] }
            let cards = state.slots.indices.compactMap { state.empty($0) }
            for slot in state.slots { state.publish(.readerRemoved(slot.info)) }
            state.isServing = false
            state.publish(.serviceLost(SimulatedBackend.serviceError))
            return cards
        }
        for card in cards { card.powerOff() }
    }

    /// Starts the service again; the readers are there, without cards.
    public func restoreService() {
        state.withLock { state in
            guard !state.isServing else { return }
            state.isServing = true
            state.publish(.serviceBack)
            for slot in state.slots { state.publish(.readerAdded(slot.info)) }
        }
    }

    /// Publishes an event that nothing here would cause, such as ``ReaderEvent/readerStuck(_:_:)``.
    public func publish(_ event: ReaderEvent) {
        state.withLock { $0.publish(event) }
    }

    /// Ends all streams of events.
    public func finish() { state.withLock(\.watchers).finish() }

    /// How many watches are under way.
    public var watchers: Int { state.withLock(\.watchers).consumerCount }

    fileprivate static let serviceError = ReaderError(.serviceUnavailable, attempting: "watch the simulated readers")

    // MARK: ReaderBackend

    /// Starts a watch, beginning with all that is there.
    public func events() -> AsyncStream<ReaderEvent> {
        state.withLock { state in state.watchers.stream(beginningWith: state.present) }
    }

    /// The readers that are there now, each with its card; ``ReaderError/Kind/serviceUnavailable`` after
    /// ``loseService()``.
    public func readers() async throws -> [ReaderStatus] {
        try state.withLock { state throws(ReaderError) in
            guard state.isServing else { throw SimulatedBackend.serviceError }
            return state.slots.map { ReaderStatus(reader: $0.info, card: $0.presence) }
        }
    }

    /// Runs a conversation with the card of that presentation, on a thread of its reader.
    ///
    /// A card that is taken away meanwhile is gone for the conversation too: its next exchange throws
    /// ``ReaderError/Kind/cardRemoved``.
    public func withCard<Result: Sendable>(
        _ presence: CardPresence,
        perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> Result {
        let attempt = "talk to the card"
        let found = try state.withLock { state throws(ReaderError) -> Slot in
            guard state.isServing else { throw ReaderError(.serviceUnavailable, attempting: attempt) }
            guard let index = state.slots.index(of: presence.reader.name) else {
                throw ReaderError(.readerUnavailable, attempting: attempt)
            }
            return state.slots[index]
        }
        guard found.presence?.number == presence.number, let card = found.card else {
            throw ReaderError(.cardRemoved, attempting: attempt)
        }
        let (reader, faults) = (reader, found.faults)
        return try await withCheckedThrowingContinuation { continuation in
            found.queue.async { [weak self] in
                let channel = SimulatedCardChannel(card, reader: reader, faults: faults) {
                    self?.isPresent(presence) ?? false
                }
                continuation.resume(with: Swift.Result { try conversation(channel) })
            }
        }
    }

    /// Does some work with the reader itself, on its thread, if it has a ``SimulatedReader/control``.
    public func withReader<Result: Sendable>(
        _ info: ReaderInfo,
        perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result {
        let attempt = "control the reader"
        let found = try state.withLock { state throws(ReaderError) -> Slot in
            guard state.isServing else { throw ReaderError(.serviceUnavailable, attempting: attempt) }
            guard let index = state.slots.index(of: info.name) else {
                throw ReaderError(.readerUnavailable, attempting: attempt)
            }
            return state.slots[index]
        }
        guard let control = reader.control else { throw ReaderError(.unsupported, attempting: attempt) }
        let (reader, card) = (reader, found.card)
        return try await withCheckedThrowingContinuation { continuation in
            found.queue.async {
                let channel = SimulatedReaderChannel(reader, control, card)
                continuation.resume(with: Swift.Result { try work(channel) })
            }
        }
    }

    private func isPresent(_ presence: CardPresence) -> Bool {
        state.withLock { state in
            guard state.isServing, let index = state.slots.index(of: presence.reader.name) else { return false }
            return state.slots[index].presence?.number == presence.number
        }
    }
}

extension SimulatedBackend.State {
    /// What a new watcher is told.
    fileprivate var present: [ReaderEvent] {
        guard isServing else { return [.serviceLost(SimulatedBackend.serviceError)] }
        return [.serviceBack]
            + slots.map { .readerAdded($0.info) }
            + slots.compactMap { slot in slot.presence.map { .cardInserted($0) } }
    }

    fileprivate mutating func presence(of card: any SimulatedCard, at index: Int, _ now: Date) -> CardPresence {
        presentations += 1
        return CardPresence(reader: slots[index].info, number: presentations, facts: CardFacts(atr: card.atr), at: now)
    }

    /// Takes the card out of a reader, and reports it.
    fileprivate mutating func empty(_ index: Int) -> (any SimulatedCard)? {
        guard let presence = slots[index].presence else { return nil }
        let card = slots[index].card
        slots[index].presence = nil
        slots[index].card = nil
        if isServing { publish(.cardRemoved(presence)) }
        return card
    }
}

extension [SimulatedBackend.Slot] {
    /// The reader of that name; the first one if `nil`.
    fileprivate func index(of name: String?) -> Int? {
        guard let name else { return isEmpty ? nil : 0 }
        return firstIndex { $0.info.name == name }
    }
}

/// Something that goes wrong with one exchange between a reader and a simulated card.
public struct SimulatedFault: Sendable, Hashable {
    /// What the caller sees.
    public var kind: Kind

    /// The exchange that fails, counted from 0 over all APDUs, raw frames and control codes of the conversation.
    public var exchange: Int

    /// Whether the card receives and carries out the command, only its answer being lost.
    public var afterCommand: Bool

    /// What can go wrong.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The card is taken away; it stays away for the rest of the conversation.
        case removed
        /// Another program resets the card: it loses its power for a moment.
        case reset
        /// No answer comes in time.
        case timeout
        /// The radio link fails.
        case communication
    }

    /// A fault at an exchange.
    public init(_ kind: Kind, atExchange exchange: Int, afterCommand: Bool = false) {
        self.kind = kind
        self.exchange = exchange
        self.afterCommand = afterCommand
    }

    /// The card is taken away before it receives that exchange's command.
    public static func tear(beforeExchange exchange: Int) -> SimulatedFault {
        SimulatedFault(.removed, atExchange: exchange)
    }

    /// The card is taken away after it carried out that exchange's command; the answer is lost.
    public static func tear(afterExchange exchange: Int) -> SimulatedFault {
        SimulatedFault(.removed, atExchange: exchange, afterCommand: true)
    }
}
