import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct TagReaderTests {
    @Test(
        arguments: [
            ("3B8F8001804F0CA0000003060300030000000068", .type2),
            ("3B8F8001804F0CA00000030603003A0000000051", .type2),
            ("3B8F8001804F0CA00000030603003D0000000056", .type2),
            ("3B8F8001804F0CA000000306030001000000006A", .mifareClassic),
            ("3B8F8001804F0CA0000003060300020000000069", .mifareClassic),
            ("3B8F8001804F0CA000000306030026000000004D", .mifareClassic),
            ("3B8F8001804F0CA000000306030030000000005B", .type1),
            ("3B8F8001804F0CA00000030611003B0000000042", .type3),
            ("3B8F8001804F0CA00000030609003B000000005A", .type3),
            ("3B8F8001804F0CA00000030603003B0000000050", .type3),
            ("3B8F8001804F0CA00000030603F011000000008A", .type3),
            ("3B8F8001804F0CA00000030603F0120000000089", .type3),
            ("3B8F8001804F0CA00000030603F004000000009F", .type1),
            ("3B8F8001804F0CA0000003060300140000000000", .type5),
            ("3B8F8001804F0CA00000030600000300000000", .type2), ("3B8B8001804F08A00000030603000300", .type2),
            ("3B8F8001804F0CA0000003060000000000000068", nil),
            ("3B8F8001804F0CA00000030603000300000000", .type2),
            ("3B808001", .type4),
            ("3B8F8001804F0CA0000003060B00140000000077", .type5),
            ("3B8F8001804F0CA00000030603FFA00000000034", nil),
            ("3B8F8001804F0CA0000003060600070000000069", nil),
            ("3B80800101", .type4),
            ("3B8180018080", .type4),
            ("3B8880010000000033818100 3A", .type4),
            ("3B6500002063CB6600", nil),
            ("", nil),
            ("FFFF", nil),
            ("3B", nil),
        ] as [(String, TagType?)]
    )
    func typeFromATR(_ atr: String, _ type: TagType?) {
        #expect(TagReader.type(of: CardFacts(atr: bytes(atr))) == type)
    }

    @Test(
        arguments: [
            (.iso14443a, 0x00, .type2), (.iso14443a, 0x20, .type4), (.iso14443a, 0x28, .type4),
            (.iso14443a, 0x08, .mifareClassic), (.iso14443a, 0x18, .mifareClassic), (.iso14443a, 0x40, nil),
            (.iso14443a, nil, nil), (.iso14443b, nil, .type4), (.felica, nil, .type3), (.iso15693, nil, .type5),
            (nil, 0x00, nil),
        ] as [(Technology?, UInt8?, TagType?)]
    )
    func typeFromAnticollision(_ technology: Technology?, _ sak: UInt8?, _ type: TagType?) {
        let values = sak.map { [CardFacts.Value("sak", [$0])] } ?? []
        #expect(TagReader.type(of: CardFacts(technology: technology, values: values)) == type)
    }

    @Test func cardsWithoutAPlaceForAMessage() throws {
        let cards: [(any SimulatedCard, TagType?)] = [
            (SimulatedIdentityCard.classic1K(), .mifareClassic), (SimulatedIdentityCard.feliCa(), .type3),
            (SimulatedIdentityCard.vicinity(), .type5),
        ]
        for (card, type) in cards {
            let channel = SimulatedCardChannel(card)
            #expect(try TagReader.readNDEF(over: channel) == TagContent(type: type, ndef: .absent))
            #expect(channel.exchanges < 8)
        }
        for card in [SimulatedIdentityCard.desFire(), .phone()] {
            #expect(
                try TagReader.readNDEF(over: SimulatedCardChannel(card)) == TagContent(type: .type4, ndef: .absent)
            )
        }
    }

    @Test(arguments: [true, false]) func unknownStorageCard(readerTells: Bool) throws {
        // The reader knows no name for the card; some can tell the tag type instead.
        let atr = bytes("3B8F8001804F0CA0000003060300000000006B")
        let unknown = SimulatedCardKind.storage(standard: 0x03, name: 0x0000).atr
        #expect(atr.count == 19)
        let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0x00, 0x00]))
        let reader = SimulatedReader(tellsTagType: readerTells)
        let channel = AnsweringChannel(facts: CardFacts(atr: unknown)) { command throws(ReaderError) in
            reader.transmit(command, to: tag) ?? []
        }
        // Where it does not, it is asked as a Type 2 tag.
        #expect(try TagReader.readNDEF(over: channel).ndef == .message([0xD0, 0x00, 0x00]))
    }

    /// Cards whose kind the reader does not tell: what is asked, and what a refusal means.
    @Test(
        arguments: [
            // No kind at all: nothing is asked.
            ("FFFF", "9000", .notAsked), ("3B", "9000", .notAsked), ("3B81", "6A82", .notAsked),
            ("", "6A82", .notAsked),
            (nil, "6A82", .notAsked),
            // Kinds without a mapping.
            ("3B8F8001804F0CA0000003060600070000000069", "6A82", .absent),
            ("3B8F8001804F0CA00000030603FF400000000000", "6D00", .absent),
            ("3B8F8001804F0CA0000003060300380000000000", "6D00", .absent),
            ("3B8F8001804F0CA0000003064000000000000028", "6300", .absent),
            ("3B8F8001804F0CA0000003060D00000000000065", "6A81", .absent),
            ("3B8F8001804F0CA0000003061000000000000078", "6982", .absent),
            // Without a name: as Type 2.
            ("3B8F8001804F0CA0000003060300000000006B", "6982", .notAsked),
            ("3B8F8001804F0CA00000030603FFA00000000034", "6D00", .notAsked),
            ("3B8F8001804F0CA0000003060000000000000068", "6300", .notAsked),
            ("3B8F8001804F0CA000000306040000000000006F", "6A82", .notAsked),
            ("3B8F8001804F0CA00000030600FF000000000000", "6D00", .notAsked),
            ("3B8F8001804F0CA000000306080000000000006F", "6300", .notAsked),
            ("3B8F8001804F0CA000000306120000000000007A", "6300", .notAsked),
            // A contact card's ATR: as Type 4.
            ("3B6500002063CB6600", "6A82", .absent), ("3B6500002063CB6600", "6D00", .absent),
            ("3B6500002063CB6600", "6700", .notAsked), ("3B0400000000", "6D00", .absent),
        ] as [(String?, String, MessageQuestion.Meaning)]
    )
    func unknownKinds(_ atr: String?, _ answer: String, _ meaning: MessageQuestion.Meaning) throws {
        let channel = AnsweringChannel(facts: CardFacts(atr: atr.map { bytes($0) })) { _ throws(ReaderError) in
            bytes(answer)
        }
        #expect(Self.meaning(of: channel) == meaning)
    }

    /// Cards of Types 2, 1, 3 and 5 by a reader that reads no block and carries no frames: what its words mean.
    @Test(
        arguments: [
            ("6982", .absent), ("6A82", .absent), ("6F01", .failed), ("6F1B", .failed), ("6FFF", .failed),
            ("6282", .notAsked), ("6300", .notAsked), ("6400", .notAsked), ("6581", .notAsked), ("6700", .notAsked),
            ("6981", .notAsked), ("6984", .notAsked), ("6988", .notAsked), ("6A81", .notAsked), ("6A88", .notAsked),
            ("6B00", .notAsked), ("6C04", .notAsked), ("6D00", .notAsked), ("6F00", .notAsked), ("9001", .notAsked),
        ] as [(String, MessageQuestion.Meaning)]
    )
    func readersWithoutAWay(_ answer: String, _ meaning: MessageQuestion.Meaning) {
        for card in ["0300030000000068", "030030000000005B", "11003B0000000042", "0B00140000000077"] {
            let facts = CardFacts(atr: bytes("3B8F8001804F0CA000000306" + card))
            let channel = AnsweringChannel(facts: facts) { _ throws(ReaderError) in bytes(answer) }
            let status = bytes(answer).reduce(0) { $0 << 8 | UInt16($1) }
            let isType2 = card.hasPrefix("030003")
            // What the table says is what is done.
            let question = isType2 ? MessageQuestion.pages : .block
            if !answer.hasPrefix("6C") {
                #expect(Self.meaning(of: channel) == question.meaning(of: StatusWord(status)))
            }
            if !isType2 { #expect(Self.meaning(of: channel) == meaning, "\(card)") }
        }
    }

    /// What reading the message comes to.
    static func meaning(of channel: any CardChannel) -> MessageQuestion.Meaning {
        do throws(TagError) {
            return try TagReader.readNDEF(over: channel).ndef == .absent ? .absent : .present
        } catch {
            return error.outcome
        }
    }

    @Test(arguments: SimulatedFault.Kind.allCases, 0..<6)
    func faults(_ kind: SimulatedFault.Kind, exchange: Int) throws {
        let expected: ReaderError.Kind =
            switch kind {
            case .removed: .cardRemoved
            case .reset: .cardReset
            case .timeout: .timeout
            case .communication: .communication
            }
        let message = [UInt8](repeating: 0x61, count: 100)
        let type2 = try #require(SimulatedNTAG.formatted(.ntag213, message: message))
        for card in [type2, SimulatedType4Tag(message: message)] as [any SimulatedCard] {
            for afterCommand in [false, true] {
                let fault = SimulatedFault(kind, atExchange: exchange, afterCommand: afterCommand)
                let error = #expect(throws: TagError.self) {
                    try TagReader.readNDEF(over: SimulatedCardChannel(card, faults: [fault]))
                }
                #expect(error?.readerError?.kind == expected)
            }
        }
    }

    @Test(arguments: [
        TagError.link(ReaderError(.timeout, attempting: "send a command to the card")),
        .refused(attempt: "read page 4 of the tag", status: StatusWord(0x6D00)),
        .protected(attempt: "read page 4 of the tag", status: nil),
        .corrupt(.init(.lengthOverCapacity(length: 300, capacity: 142), offset: 16)),
        .corrupt(.init(.reservedFile(0x3F00), offset: 9, file: 0xE103)),
        .unsupportedVersion(.type4, .init(major: 4, minor: 0)),
        .notAsked(nil, attempt: "look for the message", status: nil),
        .notAsked(.type3, attempt: "look for the message", status: nil),
        .notAsked(.type4, attempt: "select the NDEF application", status: .wrongLength),
        .tooLong(length: 70_000, limit: 65_536),
    ])
    func errorsSayThreeThings(_ error: TagError) {
        #expect(error.description.hasPrefix("could not \(error.attempt): \(error.meaning)"))
        #expect(error.description.hasSuffix(error.hint))
        #expect(!error.hint.isEmpty)
    }
}
