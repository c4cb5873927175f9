import CardCore

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
