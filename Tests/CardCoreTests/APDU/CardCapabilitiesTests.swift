import Testing
import TestSupport

@testable import CardCore

@Suite struct CardCapabilitiesTests {
    /// Historical bytes: whether there is chaining, and whether there are extended lengths.
    @Test(
        arguments: [
            ("", nil, nil), ("80", nil, nil), ("8073C021C057", true, true), ("80730000C0", true, true),
            ("8073000080", true, false), ("8073000040", false, true), ("8073000000", false, false),
            // Before and after other objects; one or two bytes of capabilities do not say it.
            ("8031C073000080", true, false), ("80730000804101", true, false), ("8071C0", nil, nil),
            ("807200C0", nil, nil), ("8074000080FF", true, false),
            // Category 00 ends in three bytes of status, which are no object.
            ("0073000080009000", true, false), ("00730000C0", nil, nil), ("00730000", nil, nil),
            // Other categories, and objects that are cut off.
            ("1073000080", nil, nil), ("4A434F5076323431", nil, nil), ("80730000", nil, nil), ("807F0000", nil, nil),
        ] as [(String, Bool?, Bool?)]
    )
    func historicalBytes(_ given: String, _ chaining: Bool?, _ extended: Bool?) {
        let capabilities = CardCapabilities(historicalBytes: bytes(given))
        #expect(capabilities.commandChaining == chaining)
        #expect(capabilities.extendedLengths == extended)
    }

    /// Facts of a card: its ATR, or its ATS.
    @Test(
        arguments: [
            (CardFacts(), .unknown),
            (CardFacts(atr: bytes("3B8680018073C021C0")), .unknown),
            // Without TCK.
            (
                CardFacts(atr: bytes("3B8580018073C021C0")),
                CardCapabilities(commandChaining: true, extendedLengths: true)
            ),
            (
                CardFacts(atr: bytes("3B868001 8073C021C057 00")),
                CardCapabilities(commandChaining: true, extendedLengths: true)
            ),
            // A storage card's ATR is the reader's, and type B has other bytes in that place.
            (CardFacts(atr: bytes("3B8F8001804F0CA0000003060300030000000068")), .unknown),
            (CardFacts(atr: bytes("3B88800100000000338181003A")), .unknown),
            (
                CardFacts(values: [.init("ats", bytes("0A 78 778070 8073000080"))]),
                CardCapabilities(commandChaining: true, extendedLengths: false)
            ),
            (CardFacts(values: [.init("ats", bytes("05 78 807002"))]), .unknown),
            (CardFacts(values: [.init("ats", bytes("FF"))]), .unknown),
            (CardFacts(values: [.init("ats", [])]), .unknown),
        ] as [(CardFacts, CardCapabilities)]
    )
    func facts(_ facts: CardFacts, _ expected: CardCapabilities) {
        #expect(CardCapabilities(facts: facts) == expected)
    }

    /// Any bytes are read without harm.
    @Test func anyBytes() {
        var random = SeededNumbers(seed: 0xCA9)
        for round in rounds(4000) {
            var bytes = random.bytes(round % 16)
            if !bytes.isEmpty, round % 2 == 0 { bytes[0] = 0x80 }
            _ = CardCapabilities(historicalBytes: bytes)
            _ = CardCapabilities(facts: CardFacts(values: [.init("ats", bytes)]))
        }
    }
}
