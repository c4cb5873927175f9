import CardCore
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// What cards tell when they are asked.
@Suite struct CardIdentifierTests {
    static let ultralight = CardFacts.storage(3, 0x0003)
    static let getUID = "FFCA000000"
    static let nxpUID = "04A1B2C3D4E5809000"
    static let passes = "00A404000A4F53452E5641532E303100"
    static let payment = "00A404000E325041592E5359532E444446303100"
    static let travel = "00A4040007A000000247100100"
    static let version = "9060000000"
    static let more = "90AF000000"

    // MARK: - Type 2

    @Test(
        arguments: [
            ("0004030101000B03", "MIFARE Ultralight EV1 (MF0UL11)", 48),
            ("0004030201000B03", "MIFARE Ultralight EV1 (MF0UL11)", 48),
            ("0004030101000E03", "MIFARE Ultralight EV1 (MF0UL21)", 128),
            ("0004030102000B03", "MIFARE Ultralight Nano", 40), ("0004030104000F03", "MIFARE Ultralight AES", 144),
            ("0004040101000B03", "NTAG210", 48), ("0004040102000B03", "NTAG210 micro", 48),
            ("0004040101000E03", "NTAG212", 128), ("0004040201000F03", "NTAG213", 144),
            ("0004040401000F03", "NTAG213F", 144), ("0004040203000F03", "NTAG213 TT", 144),
            ("0004040201001103", "NTAG215", 504), ("0004040201001303", "NTAG216", 888),
            ("0004040401001303", "NTAG216F", 888), ("0004040502011303", "NTAG I2C 1K", 888),
            ("0004040502021503", "NTAG I2C 2K", 1904), ("0004040204000F03", "NTAG 223 DNA", 144),
            ("0004040204001003", "NTAG 224 DNA", 208),
        ]
    )
    func type2Versions(_ version: String, _ name: String, _ memory: Int) throws {
        let channel = ScriptedCard(Self.ultralight, [Self.getUID: Self.nxpUID, ">60": version])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == name)
        #expect(card.product.memory == memory)
        #expect(card.certainty == .certain)
        #expect(card.tagType == .type2)
        // The version says all, so nothing else is asked.
        #expect(channel.asked == [Self.getUID, ">60"])
    }

    /// An identifier that NXP does not give, beside NXP's version.
    @Test(arguments: ["53A1B2C3D4E5809000", "04A1B2C39000", "1DA1B2C3D4E5809000"])
    func copiesLie(_ uid: String) throws {
        let channel = ScriptedCard(Self.ultralight, [Self.getUID: uid, ">60": "0004040201000F03"])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == "NTAG213")
        #expect(card.certainty == .likely)
        #expect(card.evidence.contains { $0.finding.contains("copy") })
    }

    @Test(arguments: ["00040402010FFF03", "0004090201000F03", "0105040201000F03", "FFFFFFFFFFFFFFFF"])
    func unknownVersion(_ version: String) throws {
        let channel = ScriptedCard(Self.ultralight, [Self.getUID: Self.nxpUID, ">60": version])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == "MIFARE Ultralight or NTAG")
        #expect(card.certainty == .possible)
        #expect(card.evidence.contains { $0.source == .version })
    }

    /// Pages that can be read, of a tag without GET VERSION.
    @Test(
        arguments: [
            ([], "MIFARE Ultralight", 48), ([0x10], "MIFARE Ultralight or NTAG", nil),
            ([0x10, 0x29], "NTAG203", 144), ([0x10, 0x29, 0x2B], "MIFARE Ultralight C", 144),
        ] as [([UInt8], String, Int?)],
        ["", "00"]
    )
    func olderType2(_ tag: (pages: [UInt8], name: String, memory: Int?), _ refusal: String) throws {
        var answers = [
            Self.getUID: Self.nxpUID, "FFB0000310": "E1101200" + "00000000" + "00000000" + "00000000" + "9000",
        ]
        answers["FFB0000010"] = "04A1B29F C3D4E580 72480000 E1101200 9000"
        for page in tag.pages { answers["FFB000\([page].hex)10"] = "11223344 55667788 99AABBCC DDEEFF00 9000" }
        if !refusal.isEmpty { answers[">60"] = refusal }
        let channel = ScriptedCard(Self.ultralight, answers)
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == tag.name)
        #expect(card.product.memory == tag.memory)
        #expect(card.certainty == (tag.memory == nil ? .possible : .likely))
        // A tag that refused a command waits to be selected again.
        #expect(channel.asked.contains("reset"))
    }

    /// A tag that begins again with page 0 behind its last one.
    @Test func pagesThatRepeat() throws {
        let first = "04A1B29F C3D4E580 72480000 E1100600 9000"
        let channel = ScriptedCard(
            Self.ultralight,
            [Self.getUID: Self.nxpUID, "FFB0000310": "E1100600 9000", "FFB0000010": first, "FFB0001010": first]
        )
        #expect(try CardIdentifier.identify(over: channel).product.name == "MIFARE Ultralight")
    }

    /// Readers that carry no frames leave the capability container, which tells a size.
    @Test(
        arguments: [
            ("E1100600", "Type 2 tag of 48 bytes (Ultralight, NTAG210 or alike)", 48, .possible),
            ("E1101200", "Type 2 tag of 144 bytes (NTAG213, NTAG203 or Ultralight C)", 144, .possible),
            ("E1103E00", "NTAG215", 504, .likely), ("E1106D00", "NTAG216", 888, .likely),
            ("E1102000", "Type 2 tag of 256 bytes", 256, .possible),
            ("00000000", "MIFARE Ultralight or NTAG", nil, .possible),
        ] as [(String, String, Int?, Card.Certainty)]
    )
    func capabilityContainers(
        _ container: String,
        _ name: String,
        _ memory: Int?,
        _ certainty: Card.Certainty
    ) throws {
        let channel = ScriptedCard(
            Self.ultralight,
            [Self.getUID: Self.nxpUID, "FFB0000310": container + "9000"],
            takesFrames: false
        )
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == name)
        #expect(card.product.memory == memory)
        #expect(card.certainty == certainty)
    }

    /// A reader that shows anticollision takes the card's own frames for everything.
    @Test func type2ByFramesAlone() throws {
        let channel = ScriptedCard(
            .typeA("0044", "00", "04A1B2C3D4E580"),
            [">3003": "E1101200000000000000000000000000", ">3010": "00"]
        )
        #expect(try CardIdentifier.identify(over: channel).product.name == "MIFARE Ultralight")
        #expect(channel.asked == [">60", "reset", ">3003", ">3010", "reset"])
    }

    // MARK: - Smart cards

    @Test(
        arguments: [
            ("04010100021605", "MIFARE DESFire 2K", .desfire, 2048),
            ("04010101001605", "MIFARE DESFire EV1 2K", .desfire, 2048),
            ("04010101001805", "MIFARE DESFire EV1 4K", .desfire, 4096),
            ("04010112001A05", "MIFARE DESFire EV2 8K", .desfire, 8192),
            ("04010133001A05", "MIFARE DESFire EV3 8K", .desfire, 8192),
            ("04010133001605", "MIFARE DESFire EV3 2K", .desfire, 2048),
            ("04810142001605", "MIFARE DESFire EV3 2K", .desfire, 2048),
            ("04080130001305", "MIFARE DESFire Light", .desfire, 640),
            ("04020111001605", "MIFARE Plus EV1 2K", .plus, 2048),
            ("04020111001805", "MIFARE Plus EV1 4K", .plus, 4096),
            ("04020222001605", "MIFARE Plus EV2 2K", .plus, 2048), ("04040210000F05", "NTAG 413 DNA", .ntag4, 160),
            ("04040230001105", "NTAG 424 DNA", .ntag4, 416), ("04040830001105", "NTAG 424 DNA TagTamper", .ntag4, 416),
        ] as [(String, String, CardFamily, Int)]
    )
    func nxpVersions(_ hardware: String, _ name: String, _ family: CardFamily, _ memory: Int) throws {
        let channel = ScriptedCard(
            .pcsc([0x80]),
            [
                Self.getUID: Self.nxpUID, Self.version: hardware + "91AF", Self.more: "04010101001605 9100",
            ]
        )
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == name)
        #expect(card.product.family == family)
        #expect(card.product.memory == memory)
        #expect(card.certainty == .certain)
        #expect(card.use == .general)
        // No application is asked for.
        #expect(channel.asked == [Self.getUID, Self.version, Self.more])
    }

    /// A card without historical bytes of its own is asked for payment before anything that only NXP's cards know.
    @Test func versionOfAnyOtherCard() throws {
        let channel = ScriptedCard(
            .pcsc([0x11, 0x22]),
            [
                Self.getUID: Self.nxpUID, Self.version: "04020111001605 91AF", Self.more: "00000000000000 91AF",
            ]
        )
        #expect(try CardIdentifier.identify(over: channel).product.name == "MIFARE Plus EV1 2K")
        #expect(channel.asked == [Self.getUID, Self.payment, Self.travel, Self.version, Self.more, Self.more])
    }

    @Test(arguments: ["91AF", "0401910000", "04010101001605 9000", "FF010101001605 91AF", "6D00"])
    func versionsThatSayNothing(_ answer: String) throws {
        let channel = ScriptedCard(.pcsc([0x80]), [Self.getUID: Self.nxpUID, Self.version: answer])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == "MIFARE DESFire or NTAG 4xx")
        #expect(card.certainty == .likely)
    }

    /// A payment card is recognised, and nothing more is sent to it.
    @Test(arguments: [[], [0x80, 0x31, 0xC0]] as [[UInt8]], ["3A5B7C9D9000", "081122339000"])
    func paymentCards(_ historicalBytes: [UInt8], _ uid: String) throws {
        let channel = ScriptedCard(
            .pcsc(historicalBytes),
            [
                Self.getUID: uid,
                Self.payment:
                    "6F2A840E325041592E5359532E4444463031A518BF0C1561134F07A00000000310108701019F0A0400010101 9000",
            ]
        )
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.family == .payment)
        #expect(card.use == .payment)
        #expect(card.use.isLeftAlone)
        #expect(card.certainty == .certain)
        #expect(channel.asked.last == Self.payment)
        #expect(!channel.asked.contains(Self.version))
    }

    @Test func passports() throws {
        let channel = ScriptedCard(.pcsc([0x80, 0x31, 0xC0]), [Self.getUID: "081122339000", Self.travel: "9000"])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.use == .identityDocument)
        #expect(card.use.isLeftAlone)
        #expect(channel.asked.last == Self.travel)
    }

    @Test func passportsOfTypeB() throws {
        let facts = CardFacts.pcsc(bytes("0000000033818100"))
        let channel = ScriptedCard(facts, [Self.getUID: "112233449000", Self.travel: "9000"])
        #expect(try CardIdentifier.identify(over: channel).use == .identityDocument)
    }

    @Test(
        arguments: [
            ("6F1D50084170706C655061799F210201009F2404010203049F23040000001E9000", "iPhone or Apple Watch", .certain),
            ("6F0C500A416E64726F69645061799000", "Android phone or watch", .certain),
            ("6F035001419000", "phone or watch", .likely), ("9000", "phone or watch", .likely),
            ("6FFF9000", "phone or watch", .likely), ("6A82", "phone or watch", .likely),
        ] as [(String, String, Card.Certainty)]
    )
    func phones(_ answer: String, _ name: String, _ certainty: Card.Certainty) throws {
        let channel = ScriptedCard(.pcsc([]), [Self.getUID: "081122339000", Self.passes: answer])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == name)
        #expect(card.product.family == .phone)
        #expect(card.use == .phone)
        #expect(!card.use.isLeftAlone)
        #expect(card.certainty == certainty)
        // A phone whose wallet answers is not asked for payment.
        #expect(channel.asked.contains(Self.payment) == (certainty != .certain))
    }

    /// A DESFire with random identifiers and no historical bytes is no phone once it told its version.
    @Test func aCardThatLooksLikeAPhone() throws {
        let channel = ScriptedCard(
            .pcsc([]),
            [
                Self.getUID: "081122339000", Self.version: "04010133001A0591AF", Self.more: "9100",
            ]
        )
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == "MIFARE DESFire EV3 8K")
        #expect(card.use == .general)
    }

    @Test func jcop() throws {
        let channel = ScriptedCard(.pcsc(bytes("4A434F5076323431")), [Self.getUID: Self.nxpUID])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == "JCOPv241")
        #expect(card.certainty == .certain)
    }

    /// Readers that leave the historical bytes out of the ATR tell them when they are asked.
    @Test func historicalBytesFromTheReader() throws {
        let channel = ScriptedCard(
            .pcsc([]),
            [
                Self.getUID: Self.nxpUID, "FFCA010000": "80 9000", Self.version: "0401013300160591AF",
                Self.more: "9100",
            ]
        )
        #expect(try CardIdentifier.identify(over: channel).product.name == "MIFARE DESFire EV3 2K")
        #expect(!channel.asked.contains(Self.payment))
    }

    // MARK: - Others

    @Test(
        arguments: [
            ("1148 01020304", "Topaz 96", 96), ("124C 01020304", "Topaz 512", 454), ("1300 01020304", "Topaz", nil),
        ] as [(String, String, Int?)]
    )
    func topaz(_ answer: String, _ name: String, _ memory: Int?) throws {
        let channel = ScriptedCard(.storage(3, 0x0030), [">78000000000000": answer])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product == CardProduct(.topaz, name, memory: memory))
        #expect(card.certainty == .certain)
    }

    @Test(arguments: ["0148 01020304", "11", ""]) func unknownTopaz(_ answer: String) throws {
        let channel = ScriptedCard(.storage(3, 0x0030), answer.isEmpty ? [:] : [">78000000000000": answer])
        #expect(try CardIdentifier.identify(over: channel).certainty == .likely)
    }

    @Test func feliCa() throws {
        let channel = ScriptedCard(
            .storage(0x11, 0x003B),
            [">0600FFFF0000": "1201 0123456789ABCDEF 00F1000000014300"]
        )
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product == CardProduct(.felica, "FeliCa Lite-S", memory: 224))
        #expect(card.certainty == .certain)
        #expect(card.tagType == .type3)
    }

    /// GET SYSTEM INFORMATION tells the memory, whatever the table has.
    @Test(
        arguments: [
            ("000F 3D917C2B500104E0 0000 1B03 01", "ICODE SLIX", 112),
            ("0004 3D917C2B500104E0 4F03", "ICODE SLIX", 320), ("0003 3D917C2B500104E0 0000", "ICODE SLIX", 112),
            ("000F 785634120024 02E0 0000 7F03 24", "ST25DV04K", 512), ("010F", "ICODE SLI", 112),
        ]
    )
    func vicinityCards(_ answer: String, _ name: String, _ memory: Int) throws {
        let channel = ScriptedCard(.storage(0x0B, 0x0014), [">022B": answer])
        let card = try CardIdentifier.identify(over: channel)
        #expect(card.product.name == name)
        #expect(card.product.memory == memory)
    }

    @Test func contactCardsAreNotAsked() throws {
        let channel = ScriptedCard(CardFacts(atr: bytes("3B6500002063CB6800")))
        #expect(try CardIdentifier.identify(over: channel).product.family == .contact)
        #expect(channel.asked.isEmpty)
    }

    @Test func json() throws {
        let channel = ScriptedCard(Self.ultralight, [Self.getUID: Self.nxpUID, ">60": "0004040201000F03"])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let text = String(decoding: try encoder.encode(CardIdentifier.identify(over: channel)), as: UTF8.self)
        #expect(text.contains(#""product":{"family":"ntag2","memory":144,"name":"NTAG213"}"#))
        #expect(text.contains(#""certainty":"certain""#))
        #expect(text.contains(#""use":"general""#))
        #expect(!text.contains("04A1B2C3"))
    }

    // MARK: - The link

    /// A lost link is an error at every question; a question that reader or card refuses is not.
    @Test(arguments: [
        ReaderError.Kind.cardRemoved, .cardReset, .readerUnavailable, .serviceStopped, .stuck, .cancelled,
    ])
    func lostLink(_ kind: ReaderError.Kind) {
        let cards: [(CardFacts, [String: String])] = [
            (Self.ultralight, [Self.getUID: "!\(kind.rawValue)"]), (Self.ultralight, [">60": "!\(kind.rawValue)"]),
            (Self.ultralight, ["FFB0000310": "!\(kind.rawValue)"]),
            (.pcsc([0x80]), [Self.version: "!\(kind.rawValue)"]),
            (.pcsc([]), [Self.payment: "!\(kind.rawValue)"]), (.pcsc([]), [Self.travel: "!\(kind.rawValue)"]),
            (.storage(3, 0x0030), [">78000000000000": "!\(kind.rawValue)"]),
            (.storage(0x0B, 0x0014), [">022B": "!\(kind.rawValue)"]),
        ]
        for (facts, answers) in cards {
            let error = #expect(throws: ReaderError.self) {
                try CardIdentifier.identify(over: ScriptedCard(facts, answers))
            }
            #expect(error?.kind == kind)
        }
    }

    /// A hostile card: whatever it answers to whatever is asked, there is a card or an error, after few questions.
    @Test func anyAnswers() {
        var random = SeededNumbers(seed: 0x1DE2)
        let kinds: [CardFacts] = [
            Self.ultralight, .pcsc([]), .pcsc([0x80]), .storage(3, 0x0030), .storage(0x11, 0x3B), .storage(0x0B, 0x14),
            .typeA("0044", "00", "04A1B2C3D4E580"), .typeA("0004", "20", "08DFBFF2", ats: "0578807002"),
        ]
        for round in rounds(800) {
            let channel = AnsweringChannel(facts: kinds[round % kinds.count]) { _ throws(ReaderError) in
                RawFrame(random.bytes(Int.random(in: 0...24, using: &random)))
            } _: { _ throws(ReaderError) in
                let ends: [[UInt8]] = [[0x90, 0x00], [0x91, 0xAF], [0x6A, 0x82], [0x6C, 0x04]]
                let end = ends[Int.random(in: 0..<ends.count, using: &random)]
                return random.bytes(Int.random(in: 0...40, using: &random)) + end
            }
            _ = try? CardIdentifier.identify(over: channel)
            if channel.commands.count + channel.frames.count > 40 {
                Issue.record("\(channel.commands.count) questions")
            }
        }
    }

    // MARK: - Simulated cards

    static let chips: [(SimulatedNTAG.Model, String, Card.Certainty)] = SimulatedNTAG.Model.all.map { model in
        (model, model.name, model.version == nil ? .likely : .certain)
    }

    @Test(arguments: chips, SimulatedEncapsulation.allCases)
    func simulatedType2(
        _ chip: (model: SimulatedNTAG.Model, name: String, certainty: Card.Certainty),
        _ encapsulation: SimulatedEncapsulation
    ) throws {
        let reader = SimulatedReader(encapsulation: encapsulation)
        let card = try CardIdentifier.identify(over: SimulatedCardChannel(SimulatedNTAG(chip.model), reader: reader))
        #expect(card.product.name == chip.name)
        #expect(card.certainty == chip.certainty)
    }

    @Test(
        arguments: [
            (.ev1, "MIFARE DESFire EV1", .desfire), (.ev2, "MIFARE DESFire EV2", .desfire),
            (.ev3, "MIFARE DESFire EV3", .desfire), (.light, "MIFARE DESFire Light", .desfire),
            (.ntag424, "NTAG 424 DNA", .ntag4),
        ] as [(SimulatedDESFire.Model, String, CardFamily)],
        [false, true]
    )
    func simulatedDESFire(
        _ given: (model: SimulatedDESFire.Model, name: String, family: CardFamily),
        _ showsRandomUID: Bool
    ) throws {
        var configuration = SimulatedDESFire.Configuration()
        configuration.model = given.model
        configuration.showsRandomUID = showsRandomUID
        let card = try CardIdentifier.identify(over: SimulatedCardChannel(SimulatedDESFire(configuration)))
        #expect(card.product.name.hasPrefix(given.name))
        #expect(card.product.family == given.family)
        #expect(card.certainty == .certain)
    }

    @Test(
        arguments: [
            (SimulatedIdentityCard.classic1K(), "MIFARE Classic 1K", .likely),
            (SimulatedMIFAREClassic(), "MIFARE Classic 1K", .likely),
            (SimulatedIdentityCard.phone(), "phone or watch", .likely),
            (SimulatedTopaz(), "Topaz 96", .certain), (SimulatedTopaz(isLarge: true), "Topaz 512", .certain),
            (SimulatedVicinityTag(), "ICODE SLIX", .likely),
        ] as [(any SimulatedCard, String, Card.Certainty)]
    )
    func simulatedOthers(_ simulated: any SimulatedCard, _ name: String, _ certainty: Card.Certainty) throws {
        let card = try CardIdentifier.identify(over: SimulatedCardChannel(simulated))
        #expect(card.product.name == name)
        #expect(card.certainty == certainty)
    }
}
