import Synchronization

/// Remembers the card that rested on a reader when the reader or its service went away, so that it is no new tap when
/// both come back.
///
/// A backend reports the removal of the card right before that of its reader. A card that was taken away before is
/// followed by other events, or by a while without any.
final class RestingCards: Sendable {
    /// The longest time between the two reports of one loss.
    static let pause: Duration = .seconds(1)

    private struct Card {
        var presence: CardPresence
        /// What was read of it.
        var tap: ScanEvent?
        /// What was read of the card that rested here before; perhaps this one.
        var before: ScanEvent?
        /// When it was reported as removed.
        var removedAt: ContinuousClock.Instant?
        /// Whether its reader went away under it.
        var isLost = false
    }

    private let cards = Mutex<[String: Card]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// Takes over what happened, in its order.
    func note(_ event: ReaderEvent) {
        cards.withLock { cards in
            switch event {
            case .cardInserted(let presence):
                let name = presence.reader.name
                let rested = cards[name].flatMap { $0.isLost && presence.wasAlreadyThere ? $0 : nil }
                cards[name] = Card(presence: presence, before: rested.flatMap { $0.tap ?? $0.before })
            case .cardRemoved(let presence):
                // What was read of it may be told only after this.
                cards[presence.reader.name]?.removedAt = now()
            case .readerRemoved(let reader):
                guard let card = cards[reader.name], !card.isLost else { return }
                if let removedAt = card.removedAt, now() - removedAt <= Self.pause {
                    cards[reader.name]?.isLost = true
                } else {
                    cards[reader.name] = nil
                }
            case .cardMissed(let presence):
                cards[presence.reader.name] = nil
            case .serviceLost, .serviceBack, .readerAdded, .readerStuck, .readerRecovered, .failed:
                break
            }
        }
    }

    /// Whether what was read is a tap of its own, rather than the card that rested here before.
    ///
    /// A card that could not be read before and can now is a tap of its own: its member was not told yet.
    func isNew(_ tap: ScanEvent, of presence: CardPresence) -> Bool {
        cards.withLock { cards in
            let name = presence.reader.name
            guard let card = cards[name], card.presence == presence else { return true }
            let isSame =
                card.before.map {
                    $0.uid != nil && $0.uid == tap.uid && $0.atr == tap.atr && $0.memberKey == tap.memberKey
                } ?? false
            cards[name]?.tap = isSame ? card.before : tap
            return !isSame
        }
    }
}
