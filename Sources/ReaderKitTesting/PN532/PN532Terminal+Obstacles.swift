import ReaderKit

extension PN532Terminal {
    /// Why a program could make nothing of a card on such a board, in words; `nil` if it could.
    ///
    /// The chip knows nothing of ISO 15693. A recorded card has to bring its identifier, and the frames or APDUs that
    /// were exchanged with it: of what a PC/SC reader did by commands of its own, the frames are not known.
    public static func obstacle(to card: any SimulatedCard) -> String? {
        var inner = card
        while let torn = inner as? TornCard { inner = torn.card }
        if inner.kind.isVicinity { return "a PN532 cannot reach cards of ISO 15693" }
        if let recorded = inner as? RecordedCard {
            if recorded.uid.isEmpty { return "the capture does not tell the card's identifier" }
            let exchanges = recorded.presentation.exchanges
            let isReaders = exchanges.contains { $0.request.apdu.map { !$0.starts(with: [0xFF, 0xCA]) } ?? false }
            if case .storage = recorded.kind, isReaders, !exchanges.contains(where: \.request.isFrame) {
                return
                    "the capture has only what a PC/SC reader answered for the card, and none of the card's own frames"
            }
        }
        return RadioFace(card, uid: card.uid) == nil ? "a PN532 cannot see such a card" : nil
    }
}
