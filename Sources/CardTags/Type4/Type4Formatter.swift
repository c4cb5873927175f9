import CardCore

/// Smart cards on which the NDEF application is made, and its file locked, with commands of the card's maker.
///
/// ``Type4Tag/formatters`` lists the kinds that are known. Each looks whether the card is of its kind before it changes
/// anything.
protocol Type4Formatter {
    /// Makes the NDEF application with an empty message on a card that has none.
    ///
    /// - Returns: `false` if the card is not of this kind; nothing was written then.
    /// - Throws: ``TagError``; ``TagError/cannotFormat(_:reason:)`` before anything was written.
    static func createApplication(over channel: any CardChannel) throws(TagError) -> Bool

    /// Takes away the right to write a file of the NDEF application, for ever. The identifier has been compared.
    ///
    /// - Returns: `false` if the card is not of this kind; nothing was written then.
    /// - Throws: ``TagError``.
    static func lock(file: UInt16, over channel: any CardChannel) throws(TagError) -> Bool
}

extension Type4Tag {
    /// The kinds of smart cards that can be formatted and locked by commands of their own.
    static var formatters: [any Type4Formatter.Type] { [DESFireType4Formatter.self] }
}

/// Makes and locks the NDEF application of DESFire and NTAG 424 without a key: as far as their owner left that free.
enum DESFireType4Formatter: Type4Formatter {
    static func createApplication(over channel: any CardChannel) throws(TagError) -> Bool {
        guard try isOfThisKind(channel) else { return false }
        try DESFireNDEF.format(over: channel)
        return true
    }

    static func lock(file: UInt16, over channel: any CardChannel) throws(TagError) -> Bool {
        guard file == 0xE104, try isOfThisKind(channel) else { return false }
        var locker = DESFireNDEFLocker(card: DESFireCard(channel), channel: channel)
        do {
            try locker.lock(nil, key: nil)
        } catch {
            throw error.tagError
        }
        return true
    }

    private static func isOfThisKind(_ channel: any CardChannel) throws(TagError) -> Bool {
        var card = DESFireCard(channel)
        do {
            return try card.version().product != nil
        } catch .link(let error) {
            throw .link(error)
        } catch {
            return false
        }
    }
}
