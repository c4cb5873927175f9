import CardCore
import NDEFCodec

/// Finds out what kind of tag a card is, and opens it.
public enum TagReader {
    /// Opens the card as a tag of its kind. The reader may be asked what it knows; the card is asked nothing yet.
    ///
    /// - Parameters:
    ///   - channel: the conversation with the card; ``CardChannel/facts`` decide what it is taken for.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    /// - Returns: `nil` for a card that is no tag.
    /// - Throws: ``TagError`` if the link to the reader fails.
    public static func open(
        over channel: any CardChannel,
        limits: NDEFLimits = .default
    ) throws(TagError) -> (any NDEFTag)? {
        var type = type(of: channel.facts)
        if type == nil { type = try askReader(channel) }
        return switch type {
        case .type2: Type2Tag(channel, limits: limits)
        case .type4: Type4Tag(channel, limits: limits)
        case .type1: Type1Tag(channel, limits: limits)
        case .type3: Type3Tag(channel, limits: limits)
        case .type5: Type5Tag(channel, limits: limits)
        case .mifareClassic: MIFAREClassicTag(channel, limits: limits)
        case nil: nil
        }
    }

    /// Reads the NDEF message of the card, of whatever kind it is.
    ///
    /// On a card of a kind that is no tag no command is sent, and the message is ``TagNDEF/absent``. A storage card without a
    /// name that is known, of type A or of no technology, is read as a Type 2 tag, and one with the ATR of a contact card as
    /// a Type 4 tag or, if it knows no SELECT, as a Type 2 tag too.
    ///
    /// - Parameters:
    ///   - channel: the conversation with the card; ``CardChannel/facts`` decide what is asked.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    /// - Throws: ``TagError``; ``TagError/notAsked(_:attempt:status:)`` if the kind of card is not known, or the reader or
    ///   the card does not take the question.
    public static func readNDEF(
        over channel: any CardChannel,
        limits: NDEFLimits = .default
    ) throws(TagError) -> TagContent {
        if var tag = try open(over: channel, limits: limits) { return try tag.readNDEF() }
        let facts = channel.facts
        if facts.atr == nil, facts.technology != nil { return .absent(nil) }
        guard let atr = facts.atr.flatMap({ try? ATR($0) }) else { throw unknownKind }
        guard atr.isContactless else {
            var tag = Type4Tag(channel, limits: limits)
            let content = try tag.readNDEF()
            guard !tag.files.knowsSelect, !atr.isOfLowFrequency else { return content }
            return try readType2(over: channel, limits, orElse: content)
        }
        guard let card = atr.storageCard, card.mayBeType2 else { return .absent(nil) }
        return try readType2(over: channel, limits)
    }

    /// Reads a card as a Type 2 tag of which it is not known whether it is one.
    ///
    /// - Parameter content: what it is where pages are refused too, once a first question was; but for a status word that
    ///   says only that it went wrong.
    private static func readType2(
        over channel: any CardChannel,
        _ limits: NDEFLimits,
        orElse content: TagContent? = nil
    ) throws(TagError) -> TagContent {
        var tag = Type2Tag(channel, limits: limits)
        do throws(TagError) {
            return try tag.readNDEF()
        } catch {
            guard tag.memory.header.isEmpty else { throw error }
            let wentWrong = error.status.map { [0x63, 0x64, 0x65].contains($0.sw1) } ?? false
            let isAnswer = error.isRefusal || error.isUnusable || error.isSilence(inFrames: false)
            if let content, isAnswer, !wentWrong { return content }
            throw error.isRefusal ? .notAsked(.type2, attempt: error.attempt, status: error.status) : error
        }
    }

    private static let unknownKind = TagError.notAsked(nil, attempt: "look for the message of the card", status: nil)

    /// The kind of tag, as far as the reader knows it without asking the card; `nil` where it does not.
    ///
    /// The result is what the reader found, not a proof: a copy may be reported as what it copies, and only reading
    /// shows whether there is an NDEF message.
    public static func type(of facts: CardFacts) -> TagType? {
        if let bytes = facts.atr {
            guard let atr = try? ATR(bytes), atr.isContactless else { return nil }
            return atr.storageCard.map(type) ?? .type4
        }
        switch facts.technology {
        case .iso14443a:
            if let sak = facts["sak"]?.first { return type(sak: sak) }
            return facts.isType1 ? .type1 : nil
        case .iso14443b: return .type4
        case .felica: return .type3
        case .iso15693: return .type5
        case nil: return nil
        }
    }

    /// The tag types of the names that PC/SC part 3 assigns to storage cards.
    private static func type(_ card: StorageCard) -> TagType? {
        switch card.technology {
        case .iso14443a: break
        case .felica: return .type3
        case .iso15693: return .type5
        case .iso14443b, nil: return nil
        }
        switch card.nameCode {
        case 0x0003, 0x0027, 0x0028, 0x003A, 0x003D: return .type2
        case 0x0001, 0x0002, 0x0026, 0x0036, 0x0037: return .mifareClassic
        case 0x002F, 0x0030, 0xF004: return .type1
        default: return card.sak.flatMap(type(sak:))
        }
    }

    /// The tag types of a card's answer to SELECT in anticollision (ISO/IEC 14443-3; the Classic bits are NXP's).
    private static func type(sak: UInt8) -> TagType? {
        switch sak {
        case _ where sak & 0x20 != 0: .type4
        case 0x00: .type2
        default: ClassicSize(sak: sak) == nil ? nil : .mifareClassic
        }
    }

    /// SpringCard's readers report the NFC Forum's tag type (`FF CA F1 01 00`). Asked where an ATR names a storage card
    /// and neither a product nor a technology but type A; other readers refuse the command, which is no answer.
    private static func askReader(_ channel: any CardChannel) throws(TagError) -> TagType? {
        guard let bytes = channel.facts.atr, let card = (try? ATR(bytes))?.storageCard, card.mayBeType2
        else { return nil }
        let answer: ResponseAPDU
        do {
            answer = try channel.exchange(CommandAPDU(trusted: 0xFF, Instruction.getData, 0xF1, 0x01, [], 256))
        } catch {
            throw .link(error)
        }
        guard answer.isSuccess, answer.data.count == 1, (1...5).contains(answer.data[0]) else { return nil }
        return TagType.allCases[Int(answer.data[0]) - 1]
    }
}
