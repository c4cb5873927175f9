import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct TornCardTests {
    private static let write = RawFrame([0xA2, 0x08, 1, 2, 3, 4])
    private static let read = RawFrame([0x30, 0x08])

    @Test(arguments: [false, true]) func frames(afterwards: Bool) {
        let chip = SimulatedNTAG(.ntag213)
        let card = TornCard(chip, .init(1, afterwards: afterwards))
        card.powerOn()
        #expect(card.receive(frame: Self.read)?.bytes.count == 16)
        #expect(!card.isGone)
        #expect(card.receive(frame: Self.write) == nil)
        #expect(card.isGone && card.commands == 2)
        #expect(card.receive(frame: Self.read) == nil)
        #expect(Array(chip.memory[32..<36]) == (afterwards ? [1, 2, 3, 4] : [0, 0, 0, 0]))
        // Powered again it answers, and is not torn a second time.
        card.powerOn()
        #expect(card.commands == 0)
        #expect(card.receive(frame: Self.read)?.bytes.prefix(4) == chip.memory[32..<36])
        #expect(card.receive(frame: Self.write) != nil)
    }

    @Test(arguments: [false, true]) func apdus(afterwards: Bool) {
        let chip = SimulatedType4Tag()
        let card = TornCard(chip, .init(3, afterwards: afterwards))
        let channel = SimulatedCardChannel(card)
        var errors = 0
        for command: [UInt8] in [
            [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00],
            [0x00, 0xA4, 0x00, 0x0C, 0x02, 0xE1, 0x04], [0xFF, 0xCA, 0x00, 0x00, 0x00], [0x00, 0xB0, 0x00, 0x00, 0x02],
            [0x00, 0xD6, 0x00, 0x02, 0x01, 0x77], [0x00, 0xB0, 0x00, 0x00, 0x02],
        ] {
            if (try? channel.transmit(command)) == nil { errors += 1 }
        }
        // The reader answered FF CA itself; the card counts what reached it.
        #expect(errors == 2)
        #expect(chip.file[2] == (afterwards ? 0x77 : 0x00))
    }

    @Test func planning() {
        let card = TornCard(SimulatedNTAG(.ntag213))
        card.powerOn()
        for _ in 0..<5 { #expect(card.receive(frame: Self.read) != nil) }
        card.plan(.init(0, afterwards: false))
        #expect(card.receive(frame: Self.read) == nil)
        card.powerOn()
        #expect(card.receive(frame: Self.read) != nil)
    }

    @Test func looksLikeItsCard() {
        let chip = SimulatedNTAG(.ntag213)
        #expect(TornCard(chip).uid == chip.uid)
        #expect(TornCard(chip).atr == chip.atr)
    }
}
