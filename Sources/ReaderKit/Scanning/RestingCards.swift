import Synchronization

/// Remembers the card that rested on a reader when the reader or its service went away, so that it is no new tap when
/// both come back.
///
/// A backend reports the removal of the card right before that of its reader; a card that is taken away is followed by
/// anything else.
final class RestingCards: Sendable {
    private enum Place {
        /// It rests on the reader.
        case there
        /// It was reported as removed, perhaps because the reader is about to be.
        case leaving
        /// Its reader went away under it.
        case lost
    }

    private struct Card {
        var presence: CardPresence
        var tap: ScanEvent?
        var place = Place.there
    }

    private let cards = Mutex<[String: Card]>([:])

    /// Takes over what happened, in its order.
    func note(_ event: ReaderEvent) {
        cards.withLock { cards in
            switch event {
            case .cardInserted(let presence):
                let name = presence.reader.name
                // Kept until it is read: only then is it known whether it is the one that rested here.
                if presence.wasAlreadyThere, cards[name]?.place == .lost { return }
                cards[name] = Card(presence: presence)
            case .cardRemoved(let presence):
                let name = presence.reader.name
                if cards[name]?.place == .there { cards[name]?.place = .leaving } else { cards[name] = nil }
            case .readerRemoved(let reader):
                if cards[reader.name]?.place == .leaving { cards[reader.name]?.place = .lost }
            case .cardMissed(let presence):
                cards[presence.reader.name] = nil
            case .serviceLost, .serviceBack, .readerAdded, .readerStuck, .readerRecovered, .failed:
                break
            }
        }
    }

    /// Whether what was read is a tap of its own, rather than the card that rested here before.
    func isNew(_ tap: ScanEvent, of presence: CardPresence) -> Bool {
        cards.withLock { cards in
            let name = presence.reader.name
            if presence.wasAlreadyThere, let card = cards[name], card.place == .lost, let before = card.tap {
                let isSame = before.uid != nil && before.uid == tap.uid && before.atr == tap.atr
                cards[name] = Card(presence: presence, tap: isSame ? before : tap)
                return !isSame
            }
            if cards[name]?.presence == presence { cards[name]?.tap = tap }
            return true
        }
    }
}
