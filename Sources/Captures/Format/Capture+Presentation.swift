import CardCore

extension Capture {
    /// One presentation of a card: from `card at T` to `removed at T`.
    public struct Presentation: Sendable {
        /// The number of the reader, or `nil` if the capture has only one.
        public var reader: Int?

        /// When the card was seen, since the start of the capture.
        public var at: Duration

        /// What the reader knew of the card.
        public var facts: CardFacts

        /// Why no conversation with the card was possible (a fault directly after `card`), or `nil`.
        public var connectFault: Fault?

        /// What was said, in its order.
        public var exchanges: [Exchange]

        /// When the card left, or `nil` if the capture does not say: then it stays until the next card comes to its
        /// reader, or to the end.
        public var removedAt: Duration?

        /// The line of the file that opened the presentation. It does not count when presentations are compared.
        public var sourceLine: Int?

        /// A presentation.
        public init(
            reader: Int? = nil,
            at: Duration,
            facts: CardFacts = CardFacts(),
            connectFault: Fault? = nil,
            exchanges: [Exchange] = [],
            removedAt: Duration? = nil,
            sourceLine: Int? = nil
        ) {
            self.reader = reader
            self.at = at
            self.facts = facts
            self.connectFault = connectFault
            self.exchanges = exchanges
            self.removedAt = removedAt
            self.sourceLine = sourceLine
        }
    }
}

extension Capture.Presentation: Hashable {
    /// Equal presentations say the same; their place in a file does not count.
    public static func == (left: Self, right: Self) -> Bool {
        left.reader == right.reader && left.at == right.at && left.facts == right.facts
            && left.connectFault == right.connectFault && left.exchanges == right.exchanges
            && left.removedAt == right.removedAt
    }

    /// Hashes what the presentation says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reader)
        hasher.combine(at)
        hasher.combine(facts)
        hasher.combine(connectFault)
        hasher.combine(exchanges)
        hasher.combine(removedAt)
    }
}
