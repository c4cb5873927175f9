import CardCore

/// The NDEF application of DESFire and NTAG 424 cards, as far as a Type 4 tag's own commands do not reach it: making it,
/// and locking its message for ever.
///
/// Once made it is a Type 4 tag like any other, and read and written as one.
public enum DESFireNDEF {
    /// The longest message that ``format(over:masterKey:applicationKey:capacity:)`` makes room for.
    public static let greatestCapacity = 0x7FFF - 2

    /// The name of the NDEF application.
    static let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
    /// The number of the file that is the capability container, and of the one that holds the message. NTAG 424 has
    /// them from the factory, and applications made by the maker's recommendation too.
    static let containerFile: UInt8 = 1
    static let messageFile: UInt8 = 2
    /// The identifier of that file for a Type 4 tag's commands.
    static let messageElementaryFile: UInt16 = 0xE104
    /// Where in the capability container it reports who may write the message.
    static let writeAccessOffset = 14
    /// Listing is free, making files takes the master key; master key and settings can be changed.
    static let keyOptions: UInt8 = 0x0B

    /// Makes the NDEF application on a DESFire EV1 to EV3, without a message in it.
    ///
    /// Nothing that is on the card is changed: it is refused where there is an NDEF application already, and other
    /// applications stay as they are. A card that was taken away meanwhile is finished by formatting it again. The new
    /// application has one AES key, all zeros; anybody may read and write the message until it is locked.
    ///
    /// - Parameters:
    ///   - channel: the conversation with the card.
    ///   - masterKey: the card's AES master key, for cards on which applications are not made freely. It is tried once.
    ///     Cards leave the factory with free making, and with a DES key, which this cannot be.
    ///   - applicationKey: the key of an NDEF application whose making was interrupted; it is tried once.
    ///   - capacity: the longest message to make room for, 1...``greatestCapacity``.
    /// - Throws: ``TagError``; ``TagError/cannotFormat(_:reason:)`` before anything was written.
    public static func format(
        over channel: any CardChannel,
        masterKey: SecretKey? = nil,
        applicationKey: SecretKey = .factory,
        capacity: Int = 1022
    ) throws(TagError) {
        guard (1...greatestCapacity).contains(capacity) else {
            throw .cannotFormat(.type4, reason: "there cannot be room for \(capacity) bytes")
        }
        var maker = DESFireNDEFMaker(card: DESFireCard(channel), size: capacity + 2)
        try maker.make(masterKey: masterKey, applicationKey: applicationKey)
    }

    /// Locks the message of a DESFire or NTAG 424 for ever: nobody may write the message or change who may.
    ///
    /// The capability container states it first, then the card refuses it. Secure dynamic messaging, which the card itself
    /// writes, goes on. On a DESFire the card's owner can still delete the whole application.
    ///
    /// - Parameters:
    ///   - confirmation: names the card; see ``PermanentLock``.
    ///   - channel: the conversation with the card.
    ///   - key: the AES key that may change the files' settings: on cards that nobody has changed the application's key
    ///     0, ``SecretKey/factory``. It is tried once. `nil` for cards that take no key for it.
    /// - Throws: ``TagError``; ``TagError/wrongCard(expected:)`` and ``TagError/guarded(attempt:reason:)`` before anything
    ///   was written.
    public static func lock(
        _ confirmation: PermanentLock,
        over channel: any CardChannel,
        key: SecretKey? = nil
    ) throws(TagError) {
        try lock(confirmation.uid, over: channel, key: key)
    }

    /// - Parameter uid: the card that may be locked, or `nil` if that was compared already.
    static func lock(_ uid: CardUID?, over channel: any CardChannel, key: SecretKey?) throws(TagError) {
        var locker = DESFireNDEFLocker(card: DESFireCard(channel), channel: channel)
        try locker.lock(uid, key: key)
    }

    /// Whether the card is one of the family.
    static func isOfThisKind(_ channel: any CardChannel) throws(TagError) -> Bool {
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

extension DESFireCard {
    /// Runs a step of making or locking; what fails in it is an error of the tag.
    mutating func step<Value>(_ body: (inout DESFireCard) throws(DESFireError) -> Value) throws(TagError) -> Value {
        do {
            return try body(&self)
        } catch {
            throw error.tagError
        }
    }
}
