import CardCore

/// A person's word that a card may be made read-only for ever.
///
/// It names the card, so that the one on the reader cannot be locked in place of the one that was meant:
/// ``NDEFTag/lock(_:)`` compares the identifier first and locks no other card.
public struct PermanentLock: Sendable, Hashable {
    /// The identifier of the card that may be locked.
    public let uid: CardUID

    /// Confirms that the card with that identifier may be locked for ever.
    public init(ofCardWith uid: CardUID) {
        self.uid = uid
    }
}
