import Foundation

/// One presentation of a card: from the moment it was seen until it leaves.
///
/// A card that is taken away and brought back is a new presentation, however quickly that happens.
public struct CardPresence: Sendable, Hashable {
    /// The reader that sees the card.
    public var reader: ReaderInfo

    /// Tells this presentation from the others of the same reader. PC/SC: the event counter of `dwEventState`.
    ///
    /// Numbers begin anew when the reader is plugged in again or its service restarted; ``epoch`` tells those apart.
    public var number: Int

    /// Within which stay of the reader ``number`` counts, or 0 if that is not known.
    ///
    /// A backend gives a new one each time it finds a reader, so that a presentation of before never stands for a card
    /// that came after. A presentation that was not announced by a watch has none, and goes by its number alone.
    public var epoch: Int

    /// What is known of the card.
    public var facts: CardFacts

    /// When it was seen.
    public var at: Date

    /// Whether the card was there already when the reader was first looked at. After the reader or its service was away
    /// for a while, it may have rested there all the time.
    public var wasAlreadyThere: Bool

    /// A presentation.
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
