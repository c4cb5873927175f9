import Foundation

/// One presentation of a card, from the moment it is seen until it leaves. A card that returns is a new presentation,
/// however quickly that happens.
public struct CardPresence: Sendable, Hashable {
    /// The reader that sees the card.
    public var reader: ReaderInfo

    /// Identifies this presentation among those of the same reader. PC/SC: the event counter of `dwEventState`.
    ///
    /// Numbers restart when the reader is reconnected or its service restarted; ``epoch`` distinguishes those.
    public var number: Int

    /// The connection of the reader in which ``number`` is unique; 0 if unknown.
    ///
    /// A backend uses a new one each time it finds a reader, so that an earlier presentation never stands for a later
    /// card. A presentation that was not announced by a watch has none, and is identified by its number alone.
    public var epoch: Int

    /// The known properties of the card.
    public var facts: CardFacts

    /// The time at which it was seen.
    public var at: Date

    /// Whether the card was present when the reader was first checked. If the reader or its service was away for a
    /// while, the card may have rested there all the time.
    public var wasAlreadyThere: Bool

    /// Creates a presentation.
    public init(
        reader: ReaderInfo,
        number: Int,
        epoch: Int = 0,
        facts: CardFacts,
        at: Date,
        wasAlreadyThere: Bool = false
    ) {
        self.reader = reader
        self.number = number
        self.epoch = epoch
        self.facts = facts
        self.at = at
        self.wasAlreadyThere = wasAlreadyThere
    }
}

extension CardPresence {
    /// The card's technology, as far as the reader or the answer to reset states it.
    package var technology: Technology? { facts.technology ?? facts.atr.flatMap { try? ATR($0) }?.technology }

    /// Whether it may be what a visitor holds to the reader. It is not, unless an identifier is read, where the answer to
    /// reset is of something with contacts, or there is none in a slot for such cards.
    package var mayBeVisitors: Bool {
        !facts.areOfContacts && !(facts.effectiveATR == nil && facts.technology == nil && reader.isContactSlot)
    }
}
