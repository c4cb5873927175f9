import CardCore

/// Gathers what is found of a card: the surest product is kept, and everything that was found.
struct CardDossier {
    private(set) var card: Card

    init(technology: Technology?) {
        card = Card(
            product: CardProduct(.unknown, "unknown card"),
            certainty: .possible,
            technology: technology
        )
    }

    /// Something that says nothing of the product.
    mutating func note(_ source: Card.Source, _ finding: String) {
        card.evidence.append(Card.Evidence(source, finding))
    }

    /// A product that something speaks for. What is at least as sure as before takes its place, for it was asked later.
    mutating func suppose(
        _ product: CardProduct,
        _ certainty: Card.Certainty,
        _ source: Card.Source,
        _ finding: String? = nil
    ) {
        note(source, finding ?? product.name)
        guard certainty >= card.certainty else { return }
        card.product = product
        card.certainty = certainty
    }

    /// Something speaks against the product: it is not certain any more.
    mutating func doubt(_ source: Card.Source, _ finding: String) {
        note(source, finding)
        card.certainty = min(card.certainty, .likely)
    }

    /// What the card is for.
    mutating func use(_ use: Card.Use) { card.use = use }

    /// Which kind of tag it is.
    mutating func tag(_ type: TagType?) { card.tagType = type }

    /// The size that was measured takes the place of the one in the tables.
    mutating func measure(_ memory: Int) { card.product.memory = memory }
}
