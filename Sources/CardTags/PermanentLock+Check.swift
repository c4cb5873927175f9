import CardCore

extension PermanentLock {
    /// Compares the card at the other end of a channel with the one that was named.
    ///
    /// - Throws: ``TagError/wrongCard(expected:)`` for another card, ``TagError/unsupported(_:attempt:)`` if the reader
    ///   does not tell which card it has.
    func check(over channel: any CardChannel, type: TagType) throws(TagError) {
        guard let found = try Self.identifier(over: channel) else {
            throw .unsupported(type, attempt: "compare the card with the one to lock")
        }
        guard found.bytes == uid.bytes else { throw .wrongCard(expected: uid) }
    }

    /// The identifier of the card, or `nil` if the reader does not tell it.
    static func identifier(over channel: any CardChannel) throws(TagError) -> CardUID? {
        do {
            return try channel.identifier()
        } catch {
            throw .link(error)
        }
    }
}
