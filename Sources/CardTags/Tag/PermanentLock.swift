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

extension PermanentLock {
    /// Compares the card at the other end of a channel with the one that was named.
    ///
    /// - Throws: ``TagError/wrongCard(expected:)`` for another card, ``TagError/unsupported(_:attempt:)`` if the reader
    ///   does not name which card it has.
    func check(over channel: any CardChannel, type: TagType) throws(TagError) {
        guard let found = try Self.identifier(over: channel) else {
            throw .unsupported(type, attempt: "compare the card with the one to lock")
        }
        guard found.bytes == uid.bytes else { throw .wrongCard(expected: uid) }
    }

    /// The identifier of the card, or `nil` if the reader does not report it.
    static func identifier(over channel: any CardChannel) throws(TagError) -> CardUID? {
        do {
            return try channel.identifier()
        } catch {
            throw .link(error)
        }
    }
}
