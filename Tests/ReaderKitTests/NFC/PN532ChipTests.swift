import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// What a simulated PN532 answers, command by command. The commands of a table are given to one chip, in order.
///
/// A line is a command without `D4`, and the answer without `D5`; `-` is no answer, `error` the error frame.
@Suite struct PN532ChipTests {
    // MARK: The chip itself

    @Test func commandsWithoutCard() throws {
        var chip = PN532Chip.impatient(nil)
        try chip.check(
            """
            00 00 6C 69 62 6E 66 63 > 01 00 6C 69 62 6E 66 63
            00 01 > 01 00
            00 02 > 01 00
            00 06 > 01 01
            00 05 > error
            00 > error
            02 > 03 32 01 06 07
            04 > 05 00 00 00 00
            06 63 02 63 03 > 07 00 00
            06 63 > error
            06 > error
            08 63 02 80 63 03 7F > 09
            06 63 03 63 02 > 07 7F 80
            08 63 02 > error
            10 08 > 11
            10 09 > error
            12 14 > 13
            12 > error
            14 01 > 15
            14 01 00 00 > 15
            14 05 > error
            14 > error
            32 01 01 > 33
            04 > 05 00 01 00 00
            32 01 00 > 33
            32 02 00 0B 0A > 33
            32 > error
            32 05 FF > error
            4A 01 00 > 4B 00
            4A 01 01 00 FF FF 01 00 > 4B 00
            4A 01 03 00 > 4B 00
            4A 01 04 > 4B 00
            4A 01 05 > error
            4A 00 00 > error
            4A > error
            40 01 30 00 > 41 27
            42 30 00 > 43 01
            42 > 43 01
            40 > error
            44 00 > 45 00
            44 01 > 45 00
            44 02 > 45 27
            52 00 > 53 00
            54 01 > 55 27
            60 00 01 00 > error
            60 01 01 > error
            16 F0 > 17 00
            16 F0 01 > 17 00
            16 > error
            8C > 8D 01
            FF > 00 01
            """
        )
        #expect(chip.ask([]) == "error")
    }

    @Test func acknowledgementsAndRefusals() throws {
        var chip = PN532Chip.impatient(nil)
        #expect(chip.receive(.acknowledgement).isEmpty)
        #expect(chip.receive(.answer([0x03])).isEmpty)
        #expect(chip.receive(.error).isEmpty)
        try chip.check(
            """
            02 > 03 32 01 06 07
            """
        )
        // Asked to, it says the last thing again.
        #expect(chip.receive(.refusal) == [.answer([0x03, 0x32, 0x01, 0x06, 0x07])])
        #expect(chip.commands == 2)
        chip.isHanging = true
        #expect(chip.receive(.command([0x02])).isEmpty)
        #expect(chip.receive(.refusal).isEmpty)
        #expect(chip.receive(.acknowledgement).isEmpty)
        try chip.check(
            """
            02 > 03 32 01 06 07
            """
        )
    }

    // MARK: Waiting for a card

    @Test func listWaits() throws {
        var chip = PN532Chip()
        try chip.check(
            """
            4A 01 00 > -
            """
        )
        #expect(chip.isWaiting && chip.patience == nil && chip.isFieldOn)
        // A card of another kind is none.
        #expect(chip.insert(SimulatedTopaz()).isEmpty)
        #expect(chip.isWaiting)
        #expect(PN532Chip.text(chip.insert(SimulatedMIFAREClassic())) == "4B 01 01 00 04 08 04 3A 5B 7C 9D")
        #expect(!chip.isWaiting)
        chip.remove()
        // Given up by an acknowledgement, or by the next command.
        try chip.check(
            """
            4A 01 00 > -
            """
        )
        #expect(chip.receive(.acknowledgement).isEmpty)
        #expect(!chip.isWaiting)
        try chip.check(
            """
            4A 01 00 > -
            02 > 03 32 01 06 07
            """
        )
        #expect(!chip.isWaiting)
        #expect(chip.giveUp().isEmpty)
        #expect(chip.insert(SimulatedMIFAREClassic()).isEmpty)
    }

    @Test func autoPoll() throws {
        var chip = PN532Chip.impatient(nil)
        try chip.check(
            """
            60 FF 02 20 10 11 04 > -
            """
        )
        #expect(chip.isWaiting && chip.patience == nil)
        let found = chip.insert(SimulatedNTAG(.ntag213))
        #expect(PN532Chip.text(found) == "61 01 10 0C 01 00 44 00 07 04 A1 B2 C3 D4 E5 80")
        try chip.check(
            """
            40 01 30 03 > 41 00 E1 10 12 00 01 03 A0 0C 34 03 00 FE 00 00 00 00
            """
        )
        chip.remove()
        // Three times two types in periods of 300 ms.
        try chip.check(
            """
            60 03 02 00 04 > -
            """
        )
        #expect(chip.patience == .milliseconds(1800))
        #expect(PN532Chip.text(chip.giveUp()) == "61 00")
        #expect(!chip.isWaiting)
        try chip.check(
            """
            60 FF 01 00 > -
            """
        )
        #expect(chip.receive(.acknowledgement).isEmpty)
        #expect(!chip.isWaiting)
    }

    /// The type that InAutoPoll tells, by the types that it was asked for.
    @Test(arguments: [
        ("00", "20"), ("20", "20"), ("10 20", "20"), ("23 04 20", "20"), ("10", "-"), ("11 12 03 04", "-"),
    ])
    func autoPollTypes(types: String, found: String) throws {
        var chip = PN532Chip.impatient(SimulatedType4Tag())
        let text = chip.ask([0x60, 0xFF, 0x01] + (try Hex.decode(types)))
        #expect(found == "-" ? text == "-" : text.hasPrefix("61 01 \(found) "))
    }

    // MARK: Tears

    @Test(arguments: [false, true]) func tear(afterwards: Bool) throws {
        let card = SimulatedNTAG(.ntag213)
        var chip = PN532Chip.impatient(card)
        chip.tear(atExchange: 1, afterwards: afterwards)
        try chip.check(
            """
            4A 01 00 > 4B 01 01 00 44 00 07 04 A1 B2 C3 D4 E5 80
            40 01 A2 08 01 01 01 01 > 41 00
            40 01 A2 09 01 01 01 01 > 41 01
            40 01 A2 0A 01 01 01 01 > 41 01
            4A 01 00 > 4B 00
            """
        )
        #expect(!chip.hasCard)
        #expect(chip.exchanges == (afterwards ? 2 : 1))
        let torn: UInt8 = afterwards ? 1 : 0
        #expect(Array(card.memory[32..<44]) == [1, 1, 1, 1, torn, torn, torn, torn, 0, 0, 0, 0])
        // There again, it is whole, and the tear is over.
        _ = chip.insert(card)
        try chip.check(
            """
            4A 01 00 > 4B 01 01 00 44 00 07 04 A1 B2 C3 D4 E5 80
            40 01 A2 0A 01 01 01 01 > 41 00
            40 01 A2 0B 01 01 01 01 > 41 00
            """
        )
    }
}
