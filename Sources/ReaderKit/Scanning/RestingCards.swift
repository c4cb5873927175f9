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
        var tap: ScanEvent?
        /// What was read of the card that rested here before; perhaps this one.
        var before: ScanEvent?
        var removedAt: ContinuousClock.Instant?
        var isLost = false
    }

    private let cards = Mutex<[String: Card]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
    }

    /// Takes over what happened, in its order, and returns for an inserted card what was read of the card that rested
    /// there before and may be this one.
    @discardableResult
    func note(_ event: ReaderEvent) -> ScanEvent? {
        cards.withLock { cards in
            switch event {
            case .cardInserted(let presence):
                let name = presence.reader.deviceName
                let rested = cards[name].flatMap { $0.isLost && presence.wasAlreadyThere ? $0 : nil }
                let before = rested.flatMap { $0.tap ?? $0.before }
                cards[name] = Card(presence: presence, before: before)
                return before
            case .cardRemoved(let presence):
                // What was read of it may be reported only after this.
                cards[presence.reader.deviceName]?.removedAt = now()
            case .readerRemoved(let reader):
                guard let card = cards[reader.deviceName], !card.isLost else { return nil }
                if let removedAt = card.removedAt, now() - removedAt <= Self.pause {
                    cards[reader.deviceName]?.isLost = true
                } else {
                    cards[reader.deviceName] = nil
                }
            case .cardMissed(let presence):
                cards[presence.reader.deviceName] = nil
            case .serviceLost, .serviceBack, .readerAdded, .cardReported, .readerStuck, .readerRecovered, .batteryLevel,
                .failed:
                break
            }
            return nil
        }
    }

    /// Whether what was read is a tap of its own, rather than the card that rested here before.
    ///
    /// A card that could not be read before and can now is a tap of its own: its member was not reported yet. Reading
    /// takes its time, and the card may be gone and followed by others when this is asked.
    func isNew(_ tap: ScanEvent, of presence: CardPresence, before: ScanEvent?) -> Bool {
        let isSame =
            before.map { $0.uid != nil && $0.uid == tap.uid && $0.atr == tap.atr && $0.memberKey == tap.memberKey }
            ?? false
        cards.withLock { cards in
            let name = presence.reader.deviceName
            if cards[name]?.presence == presence { cards[name]?.tap = isSame ? before : tap }
        }
        return !isSame
    }
}
