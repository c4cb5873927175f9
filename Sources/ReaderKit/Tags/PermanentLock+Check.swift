extension PermanentLock {
    /// Compares the card at the other end of a channel with the one that was named.
    ///
    /// - Throws: ``TagError/wrongCard(expected:)`` for another card, ``TagError/unsupported(_:attempt:)`` if the reader
    ///   does not tell which card it has.
    func check(over channel: any CardChannel, type: TagType) throws(TagError) {
        guard let found = try channel.identifier() else {
            throw .unsupported(type, attempt: "compare the card with the one to lock")
        }
        guard found.bytes == uid.bytes else { throw .wrongCard(expected: uid) }
    }
}

extension CardChannel {
    /// The identifier of the card, from anticollision or from the reader (`FF CA 00 00 00`); `nil` if it does not tell.
    ///
    /// - Throws: ``TagError`` if the link fails.
    func identifier() throws(TagError) -> CardUID? {
        let technology = TagReader.type(of: facts) == .type5 ? Technology.iso15693 : facts.technology
        if let uid = facts["uid"] ?? facts["idm"], !uid.isEmpty {
            return CardUID(readerBytes: uid, technology: technology)
        }
        guard capabilities.hasPseudoAPDUs else { return nil }
        let answer: ResponseAPDU
        do {
            answer = try exchange(.getUID)
        } catch {
            throw .link(error)
        }
        guard answer.isSuccess, !answer.data.isEmpty else { return nil }
        return CardUID(readerBytes: answer.data, technology: technology)
    }
}
