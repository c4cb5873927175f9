import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct SimulatedEncapsulationTests {
    private static func answer(
        _ command: String,
        _ card: any SimulatedCard,
        _ form: SimulatedEncapsulation?
    ) -> String? {
        SimulatedReader(encapsulation: form).transmit((try? Hex.decode(command)) ?? [], to: card)?.hex
    }

    private static let version = "0004040201000F03"

    @Test(
        arguments: [
            (SimulatedEncapsulation.springCard, "FFFE01000160", version + "9000"),
            (.springCard, "FFFE0100016000", version + "9000"), (.springCard, "FFFE0100025000", "6F01"),
            (.springCard, "FFFE0100023AFF", "009000"), (.springCard, "FFFE04000160", "6A81"),
            (.springCard, "FFEF00000160", "6D00"), (.acr122, "FF00000003D44260", "D54300" + version + "9000"),
            (.acr122, "FF00000004D4425000", "D543019000"), (.acr122, "FF00000004D4400160", "D54100" + version + "9000"),
            (.acr122, "FF00000002D442", "6700"), (.acr122, "FFFE01000160", "6D00"),
            (.identiv, "FFEF00000160", version + "9000"), (.identiv, "FFEF0000025000", "9000"),
            (.transparentSession, "FFC2000103950160", "6A81"),
            (.transparentSession, "FFC200000281 00", "C0030090009000"),
        ] as [(SimulatedEncapsulation, String, String)]
    )
    func forms(_ form: SimulatedEncapsulation, _ command: String, _ expected: String) {
        let tag = SimulatedNTAG(.ntag213)
        tag.powerOn()
        #expect(Self.answer(command, tag, form) == expected)
    }

    @Test func transparentSession() {
        let tag = SimulatedNTAG(.ntag213)
        tag.powerOn()
        let reader = SimulatedReader(encapsulation: .transparentSession)
        func send(_ command: String) -> String? { reader.transmit((try? Hex.decode(command)) ?? [], to: tag)?.hex }
        #expect(send("FFC20000028100") == "C0030090009000")
        #expect(send("FFC2000103950160") == "C003009000920100960200009708" + Self.version + "9000")
        #expect(send("FFC200010495025000") == "C0030164019000")
        #expect(send("FFC200010895 06A2FF00000000") == "C003009000920104960200009701009000")
        #expect(send("FFC20000028200") == "C0030090009000")
        #expect(send("FFC2000103950160") == "6A81")
    }

    @Test func noForm() {
        for command in ["FFFE01000160", "FF00000003D44260", "FFEF00000160", "FFC20000028100"] {
            #expect(Self.answer(command, SimulatedNTAG(.ntag213), nil) == "6D00")
        }
    }

    @Test func keysAndBlocks() {
        let card = SimulatedMIFAREClassic()
        card.powerOn()
        let reader = SimulatedReader()
        func send(_ command: String) -> String? { reader.transmit((try? Hex.decode(command)) ?? [], to: card)?.hex }
        #expect(send("FFB0000410") == "6982")
        card.powerOn()
        #expect(send("FF860000050100046000") == "6986")
        #expect(send("FF82000006FFFFFFFFFFFF") == "9000")
        #expect(send("FF860000050100046000") == "9000")
        #expect(send("FFB0000410") == "000000000000000000000000000000009000")
        #expect(send("FFD6000410000102030405060708090A0B0C0D0E0F") == "9000")
        #expect(send("FFB0000404") == "000102039000")
        #expect(send("FFB0000710") == "000000000000FF078069FFFFFFFFFFFF9000")
        // Another sector is closed, and the refusal sends the card to sleep.
        #expect(send("FFB0000810") == "6982")
        #expect(send("FF860000050100046000") == "6300")
        card.powerOn()
        #expect(send("FF82000106000000000000") == "9000")
        #expect(send("FF860000050100046001") == "6300")
        #expect(send("FF860000050100046000") == "6300")
        card.powerOn()
        #expect(send("FF860000050100046100") == "9000")
        // Key B can be read in the factory's trailer, so it opens nothing.
        #expect(send("FFB0000410") == "6982")
    }

    @Test func badAccessBitsCloseASectorForEver() {
        let card = SimulatedMIFAREClassic()
        let reader = SimulatedReader()
        func send(_ command: String) -> String? { reader.transmit((try? Hex.decode(command)) ?? [], to: card)?.hex }
        card.powerOn()
        _ = send("FF82000006FFFFFFFFFFFF")
        #expect(send("FF860000050100046000") == "9000")
        #expect(send("FFD6000710FFFFFFFFFFFF00000069FFFFFFFFFFFF") == "9000")
        for _ in 0..<3 {
            card.powerOn()
            #expect(send("FF860000050100046000") == "6300")
        }
        card.powerOn()
        #expect(send("FF860000050100086000") == "9000")
    }

    @Test func otherCards() throws {
        let feliCa = try #require(SimulatedFeliCa.formatted(message: [1, 2, 3]))
        #expect(Self.answer("FFB0000110", feliCa, nil) == "010203000000000000000000000000009000")
        #expect(Self.answer("FFB0000E10", feliCa, nil) == "6300")
        let vicinity = try #require(SimulatedVicinityTag.formatted(message: [1, 2, 3]))
        #expect(Self.answer("FFB0000004", vicinity, nil) == "E1400D019000")
        #expect(Self.answer("FFB0000008", vicinity, nil) == "E1400D01030301029000")
        #expect(Self.answer("FFB0001C04", vicinity, nil) == "6A82")
        #expect(Self.answer("FFFE040003022001", vicinity, .springCard) == "00030301029000")
        #expect(Self.answer("FFFE040003022B", vicinity, .springCard) == "6700")
        #expect(
            Self.answer("FFFE070006060012FC0000", feliCa, .springCard)?.hasPrefix("1201") == true
        )
    }
}
