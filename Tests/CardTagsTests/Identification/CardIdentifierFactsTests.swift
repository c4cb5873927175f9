import CardCore
import Testing
import TestSupport

@testable import CardTags

/// What facts alone tell.
@Suite struct CardIdentifierFactsTests {
    struct Case: Sendable, CustomStringConvertible {
        var facts: CardFacts
        var uid: String?
        var name: String
        var family: CardFamily
        var certainty: Card.Certainty
        var description: String { name }

        init(_ facts: CardFacts, uid: String? = nil, _ name: String, _ family: CardFamily, _ certainty: Card.Certainty)
        {
            self.facts = facts
            self.uid = uid
            self.name = name
            self.family = family
            self.certainty = certainty
        }
    }

    static let storageCards: [Case] = [
        Case(.storage(3, 0x0001), "MIFARE Classic 1K", .classic, .likely),
        Case(.storage(3, 0x0002), "MIFARE Classic 4K", .classic, .likely),
        Case(.storage(3, 0x0026), "MIFARE Mini", .classic, .likely),
        Case(.storage(3, 0x0003), "MIFARE Ultralight or NTAG", .type2, .possible),
        Case(.storage(3, 0x003A), "MIFARE Ultralight C", .ultralight, .likely),
        Case(.storage(3, 0x003D), "MIFARE Ultralight EV1", .ultralight, .likely),
        Case(.storage(3, 0x0036), "MIFARE Plus 2K (security level 1)", .plus, .likely),
        Case(.storage(3, 0x0039), "MIFARE Plus 4K (security level 2)", .plus, .likely),
        Case(.storage(3, 0x0030), "Topaz or Jewel", .topaz, .likely),
        Case(.storage(3, 0xF004), "Topaz or Jewel", .topaz, .likely),
        Case(.storage(3, 0xFFA0), "unknown ISO 14443 A card", .iso14443a, .likely),
        Case(.storage(3, 0xFF28), "SmartMX with MIFARE Classic 1K", .jcop, .likely),
        Case(.storage(3, 0xFF88), "MIFARE Classic 1K", .classic, .likely),
        Case(.storage(3, 0x0000), "unknown ISO 14443 A card", .iso14443a, .possible),
        Case(.storage(7, 0x0007), "SRIX4K", .iso14443b, .likely),
        Case(.storage(0x11, 0x003B), "FeliCa", .felica, .likely),
        Case(.storage(0x0B, 0x0014), "ICODE SLI", .icode, .possible),
        Case(.storage(0x0B, 0x0012), "Tag-it", .iso15693, .likely),
        Case(.storage(0x0B, 0xFFD2), "ST ISO 15693 card", .st25, .likely),
    ]

    static let smartCards: [Case] = [
        Case(.pcsc([]), "ISO 14443-4 A card", .iso14443a4, .possible),
        Case(.pcsc([]), uid: "08123456", "phone or watch", .phone, .possible),
        Case(.pcsc([0x80]), "MIFARE DESFire or NTAG 4xx", .desfire, .likely),
        // A DESFire can show random identifiers, too.
        Case(.pcsc([0x80]), uid: "08123456", "MIFARE DESFire or NTAG 4xx", .desfire, .likely),
        Case(.pcsc(bytes("067577810280")), "MIFARE DESFire or NTAG 4xx", .desfire, .likely),
        Case(.pcsc(bytes("C1052F2F0035C7")), "MIFARE Plus S", .plus, .likely),
        Case(.pcsc(bytes("C1052F2F01BCD6")), "MIFARE Plus X", .plus, .likely),
        Case(.pcsc(bytes("C105213000F6D1")), "MIFARE Plus SE", .plus, .likely),
        Case(.pcsc(bytes("C10521300077C1")), "MIFARE Plus SE", .plus, .likely),
        Case(.pcsc(bytes("4A434F5076323431")), "JCOPv241", .jcop, .certain),
        Case(.pcsc(bytes("4A434F503431563232 31")), "JCOP41V221", .jcop, .certain),
        Case(.pcsc(bytes("0000000033818100")), "ISO 14443-4 B card", .iso14443b, .possible),
        Case(CardFacts(atr: bytes("3B6500002063CB6800")), "contact card", .contact, .certain),
    ]

    static let anticollisions: [Case] = [
        Case(.typeA("0044", "00", "04A1B2C3D4E580"), "MIFARE Ultralight or NTAG", .type2, .possible),
        Case(.typeA("0004", "08", "3A5B7C9D"), "MIFARE Classic 1K", .classic, .likely),
        Case(.typeA("0002", "18", "3A5B7C9D"), "MIFARE Classic 4K", .classic, .likely),
        Case(.typeA("0004", "09", "3A5B7C9D"), "MIFARE Mini", .classic, .likely),
        Case(.typeA("0004", "10", "3A5B7C9D"), "MIFARE Plus 2K (security level 2)", .plus, .likely),
        Case(.typeA("0002", "11", "3A5B7C9D"), "MIFARE Plus 4K (security level 2)", .plus, .likely),
        // The bytes of ATQA in either order.
        Case(.typeA("0344", "20", "04A1B2C3D4E580"), "MIFARE DESFire or NTAG 4xx", .desfire, .likely),
        Case(.typeA("4403", "20", "04A1B2C3D4E580"), "MIFARE DESFire or NTAG 4xx", .desfire, .likely),
        Case(.typeA("0304", "28", "3A5B7C9D"), "JCOP31 with MIFARE Classic 1K", .jcop, .likely),
        Case(.typeA("0048", "20", "04A1B2C3D4E580"), "SmartMX or JCOP", .jcop, .possible),
        Case(.typeA("0048", "20", "04A1B2C3D4E580", ats: "0D7877B1024A434F5076323431"), "JCOPv241", .jcop, .certain),
        Case(.typeA("0004", "38", "3A5B7C9D"), "SmartMX with MIFARE Classic 4K", .jcop, .likely),
        Case(.typeA("0C00", "00", "3A5B7C9D"), "Topaz or Jewel", .topaz, .likely),
        Case(.typeA("0004", "20", "08DFBFF2", ats: "0578807002"), "phone or watch", .phone, .possible),
        Case(.typeA("0004", "20", "3A5B7C9D", ats: "0578807002"), "ISO 14443-4 A card", .iso14443a4, .possible),
        Case(.typeA("0004", "60", "08DFBFF2"), "phone or watch", .phone, .possible),
        Case(.typeA("0004", "04", "3A5B7C9D"), "unknown card", .unknown, .possible),
    ]

    static let others: [Case] =
        [
            Case(CardFacts(), "unknown card", .unknown, .possible),
            Case(CardFacts(technology: .iso14443b), "ISO 14443 B card", .iso14443b, .possible),
            Case(CardFacts(technology: .felica), "FeliCa", .felica, .possible),
            Case(.feliCa("01FF000000000000"), "FeliCa", .felica, .likely),
            Case(CardFacts(atr: []), "unknown card", .unknown, .possible),
            Case(CardFacts(atr: [0x3B]), "unknown card", .unknown, .possible),
        ]
        + [
            ("00F0000000024300", "FeliCa Lite"), ("00F1000000014300", "FeliCa Lite-S"),
            ("03014B024F4993FF", "FeliCa Standard"),
            ("0120220427674EFF", "FeliCa Standard"), ("0132428247 45 9AFF", "FeliCa Standard"),
            ("100B4B428485D0FF", "FeliCa Standard"), ("01168B868FBECBFF", "Mobile FeliCa"),
            ("00F20000 00014300", "FeliCa Link (as Lite-S)"),
        ].map { Case(.feliCa($0.0), $0.1, .felica, .certain) }

    static let vicinityCards: [Case] = [
        ("E004010000000001", "ICODE SLI", .icode, .likely), ("E00401502B7C913D", "ICODE SLIX", .icode, .likely),
        ("E004010812345678", "ICODE SLIX2", .icode, .likely), ("E004011812345678", "ICODE DNA", .icode, .likely),
        ("E004020012345678", "ICODE SLI-S or SLIX-S", .icode, .likely),
        ("E004030012345678", "ICODE SLI-L or SLIX-L", .icode, .likely), ("E004FF0012345678", "ICODE", .icode, .likely),
        ("E002240012345678", "ST25DV04K", .st25, .likely),
        ("E002260012345678", "ST25DV16K or ST25DV64K", .st25, .likely),
        ("E002230012345678", "ST25TV02K or ST25TV512", .st25, .likely),
        ("E002FF0012345678", "STMicroelectronics ISO 15693 tag", .st25, .possible),
        ("E00780983E796083", "ISO 15693 tag by Texas Instruments", .iso15693, .possible),
        ("E0FF80983E796083", "ISO 15693 tag by unknown", .iso15693, .possible),
        // Least significant byte first.
        ("3D917C2B500104E0", "ICODE SLIX", .icode, .likely),
        ("1122334455667788", "ISO 15693 tag", .iso15693, .possible),
    ].map { (uid: String, name: String, family: CardFamily, certainty: Card.Certainty) in
        Case(CardFacts(technology: .iso15693, values: [.init("uid", bytes(uid))]), name, family, certainty)
    }

    @Test(arguments: storageCards + smartCards + anticollisions + others + vicinityCards)
    func factsTell(_ given: Case) {
        let uid = given.uid.map { CardUID(bytes($0), technology: .iso14443a) }
        let card = CardIdentifier.identify(facts: given.facts, uid: uid)
        #expect(card.product.name == given.name)
        #expect(card.product.family == given.family)
        #expect(card.certainty == given.certainty)
        #expect(card.use == (given.family == .phone ? .phone : .general))
        // Nothing that is shown has an identifier in it.
        for evidence in card.evidence {
            #expect(!evidence.finding.isEmpty)
            if let uid = given.uid { #expect(!evidence.finding.contains(uid)) }
        }
    }

    @Test func evidenceAndKindOfTag() {
        let card = CardIdentifier.identify(facts: .typeA("0044", "00", "04A1B2C3D4E580"))
        #expect(card.tagType == .type2)
        #expect(card.technology == .iso14443a)
        #expect(card.evidence.map(\.source) == [.anticollision, .uid])
        #expect(card.evidence.last?.finding == "7 bytes, maker NXP")
        #expect(card.description == "MIFARE Ultralight or NTAG, possible")
    }

    @Test func certainties() {
        #expect(Card.Certainty.possible < .likely)
        #expect(Card.Certainty.likely < .certain)
        #expect(!(Card.Certainty.certain < .certain))
        #expect([Card.Certainty.certain, .possible, .likely].sorted() == [.possible, .likely, .certain])
    }

    @Test func anyFacts() {
        var random = SeededNumbers(seed: 0x1DE)
        for round in rounds(1000) {
            var facts = CardFacts(technology: [nil, .iso14443a, .iso14443b, .felica, .iso15693][round % 5])
            for name in ["atqa", "sak", "uid", "ats", "pmm", "idm"] where Bool.random(using: &random) {
                facts.values.append(.init(name, random.bytes(Int.random(in: 0...12, using: &random))))
            }
            if round % 7 == 0 { facts.atr = [0x3B] + random.bytes(Int.random(in: 0...20, using: &random)) }
            if round % 7 == 1 { facts.atr = CardFacts.pcsc(random.bytes(round % 16)).atr }
            if CardIdentifier.identify(facts: facts).product.name.isEmpty { Issue.record("\(facts)") }
        }
    }
}

extension CardFacts {
    static func feliCa(_ pmm: String) -> CardFacts {
        CardFacts(technology: .felica, values: [.init("idm", bytes("0123456789ABCDEF")), .init("pmm", bytes(pmm))])
    }
}
