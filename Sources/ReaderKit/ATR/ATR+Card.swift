extension ATR {
    /// Whether a contactless reader built it: `3B 8n 80 01 …` (PC/SC part 3, section 3.1.3.2.3).
    public var isContactless: Bool { false }
    /// The radio technology, or `nil` for a contact card and where the ATR does not tell.
    public var technology: Technology? { nil }
    /// The name of the card.
    public var cardName: String { "unknown" }
}
