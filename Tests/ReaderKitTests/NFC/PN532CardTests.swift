import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// How a simulated PN532 finds cards and talks to them, by the commands of ``PN532Chip/check(_:sourceLocation:)``.
@Suite struct PN532CardTests {
    // MARK: Type A

    @Test func type2() throws {
        let card = SimulatedNTAG(.ntag213)
        var chip = PN532Chip.impatient(card)
        let first = "04 A1 B2 9F C3 D4 E5 80 72 48 00 00 E1 10 12 00"
        try chip.check(
            """
            4A 01 00 > 4B 01 01 00 44 00 07 04 A1 B2 C3 D4 E5 80
            00 06 > 01 00
            04 > 05 00 01 01 01 00 00 00 00
            40 01 30 00 > 41 00 \(first)
            42 30 00 > 43 00 \(first)
            # Acknowledgements the chip keeps to itself, and passes on untouched.
            40 01 A2 08 01 02 03 04 > 41 00
            42 A2 09 05 06 07 08 > 43 00 0A
            06 63 3C > 07 04
            # A refusal: an error, and as it came.
            40 01 A2 00 01 02 03 04 > 41 02
            42 A2 00 01 02 03 04 > 43 00 00
            42 60 > 43 00 00 04 04 02 01 00 0F 03
            06 63 3C > 07 00
            42 3A 08 09 > 43 00 01 02 03 04 05 06 07 08
            # These are the chip's own for MIFARE Classic.
            40 01 60 > 41 10
            40 01 60 00 FF FF FF FF FF FF A1 B2 C3 D4 > 41 14
            # Other modulations reach no card of type A.
            08 63 02 83 > 09
            42 30 00 > 43 01
            08 63 02 80 > 09
            42 30 00 > 43 00 \(first)
            # Nor do frames of seven bits, as this one for certain copies.
            08 63 3D 07 > 09
            42 40 > 43 01
            08 63 3D 00 > 09
            # Put to sleep, it answers when it is selected.
            42 50 00 > 43 01
            42 30 00 > 43 01
            40 01 30 00 > 41 01
            54 01 > 55 00
            40 01 30 00 > 41 00 \(first)
            """
        )
        #expect(Array(card.memory[32..<40]) == [1, 2, 3, 4, 5, 6, 7, 8])
        chip.remove()
        try chip.check(
            """
            40 01 30 00 > 41 01
            00 06 > 01 01
            54 01 > 55 00
            4A 01 00 > 4B 00
            """
        )
    }

    /// With the checksum in the program's hands, and on chips that take an acknowledgement for a damaged frame.
    @Test func checksums() throws {
        var habits = PN532Chip.Habits()
        habits.refusesShortAnswers = true
        var chip = PN532Chip.impatient(SimulatedNTAG(.ntag213), habits)
        try chip.check(
            """
            4A 01 00 > 4B 01 01 00 44 00 07 04 A1 B2 C3 D4 E5 80
            42 A2 08 01 02 03 04 > 43 02
            08 63 03 00 > 09
            42 A2 08 01 02 03 04 > 43 00 0A
            42 3A 08 08 > 43 00 01 02 03 04 4F 93
            08 63 02 00 > 09
            42 60 > 43 01
            42 60 F8 32 > 43 00 00 04 04 02 01 00 0F 03 80 91
            42 60 F8 33 > 43 01
            # Found again, the chip does it itself.
            4A 01 00 > 4B 01 01 00 44 00 07 04 A1 B2 C3 D4 E5 80
            42 60 > 43 00 00 04 04 02 01 00 0F 03
            """
        )
    }

    @Test(arguments: [
        ("", true), ("04A1B2C3D4E580", true), ("8804A1B2C3D4E580", true), ("04A1B2C3D4E581", false),
        ("04A1B2C3", false),
    ])
    func oneIdentifier(data: String, isFound: Bool) throws {
        var chip = PN532Chip.impatient(SimulatedNTAG(.ntag213))
        let answer = chip.ask([0x4A, 0x01, 0x00] + (try Hex.decode(data)))
        #expect(answer.hasPrefix(isFound ? "4B 01" : "4B 00"))
    }

    @Test func classic() throws {
        let card = SimulatedMIFAREClassic()
        var chip = PN532Chip.impatient(card)
        let (uid, key) = ("3A 5B 7C 9D", "FF FF FF FF FF FF")
        let found = "4B 01 01 00 04 08 04 \(uid)"
        let empty = Array(repeating: "00", count: 16).joined(separator: " ")
        let full = Array(repeating: "AB", count: 16).joined(separator: " ")
        try chip.check(
            """
            4A 01 00 > \(found)
            # Without a key the block is refused, and the card sleeps.
            40 01 30 04 > 41 02
            40 01 60 04 \(key) \(uid) > 41 14
            4A 01 00 > \(found)
            40 01 60 04 \(key) \(uid) > 41 00
            40 01 30 04 > 41 00 \(empty)
            40 01 A0 04 \(full) > 41 00
            40 01 30 04 > 41 00 \(full)
            40 01 60 08 \(key) \(uid) > 41 00
            40 01 30 08 > 41 00 \(empty)
            # Key B opens the sector; but where it can be read, as in new cards, it opens no block.
            40 01 61 08 \(key) \(uid) > 41 00
            40 01 30 08 > 41 02
            4A 01 00 > \(found)
            40 01 60 08 \(key) \(uid) > 41 00
            # After a wrong key nothing is answered until the card is selected again.
            40 01 60 04 00 00 00 00 00 00 \(uid) > 41 14
            40 01 60 04 \(key) \(uid) > 41 14
            40 01 30 04 > 41 01
            4A 01 00 \(uid) > \(found)
            40 01 60 04 \(key) \(uid) > 41 00
            40 01 60 04 \(key) > 41 10
            # The cipher cannot be carried in a frame as it is.
            42 60 04 > 43 01
            """
        )
        #expect(Array(card.memory[64..<80]) == Array(repeating: 0xAB, count: 16))
    }

    // MARK: FeliCa, Topaz, others

    @Test func feliCa() throws {
        let card = try #require(SimulatedFeliCa.formatted(message: [0xD1, 0x01, 0x01, 0x55, 0x00]))
        let idm = "01 2E 4C E7 91 83 5A 06"
        let rest = "\(idm) 00 F1 00 00 00 01 43 00"
        var chip = PN532Chip.impatient(card)
        let read = "10 06 \(idm) 01 0B 00 01 80 00"
        let attributes = "1D 07 \(idm) 00 00 01 10 04 01 00 0D 00 00 00 00 00 01 00 00 05 00 28"
        try chip.check(
            """
            4A 01 00 > 4B 00
            4A 01 01 00 FF FF 00 00 > 4B 01 01 12 01 \(rest)
            4A 01 02 00 12 FC 01 00 > 4B 01 01 14 01 \(rest) 12 FC
            4A 01 01 00 00 03 00 00 > 4B 00
            4A 01 01 00 > 4B 00
            4A 01 01 > 4B 01 01 12 01 \(rest)
            40 01 \(read) > 41 00 \(attributes)
            42 \(read) > 43 00 \(attributes)
            60 01 01 11 > 61 01 11 13 01 12 01 \(rest)
            """
        )
        // A card that shows an identifier and nothing else.
        chip = PN532Chip.impatient(SimulatedIdentityCard.feliCa())
        try chip.check(
            """
            4A 01 01 00 FF FF 01 00 > 4B 01 01 12 01 \(rest)
            4A 01 01 00 12 FC 01 00 > 4B 00
            """
        )
    }

    @Test func topaz() throws {
        var chip = PN532Chip.impatient(SimulatedTopaz())
        let uid = "00 1A 2B 3C"
        try chip.check(
            """
            4A 01 00 > 4B 00
            06 63 39 > 07 00
            4A 01 04 > 4B 01 01 0C 00 \(uid)
            40 01 78 > 41 00 11 48 \(uid)
            40 01 78 00 00 00 00 00 00 > 41 00 11 48 \(uid)
            # The chip completes commands and keeps the address to itself; as it is, a frame is whole.
            40 01 01 01 > 41 00 1A
            40 01 01 01 00 \(uid) > 41 00 1A
            42 01 01 00 \(uid) > 43 00 01 1A
            """
        )
        chip.remove()
        try chip.check(
            """
            4A 01 00 > 4B 00
            06 63 39 > 07 26
            """
        )
        chip = PN532Chip.impatient(SimulatedTopaz(isLarge: true))
        try chip.check(
            """
            4A 01 04 > 4B 01 01 0C 00 \(uid)
            40 01 02 00 > 41 00 \(uid) 4D 5E 6F 00
            """
        )
    }

    /// A phone shows one identifier as long as it has power.
    @Test func changingIdentifier() throws {
        let card = SimulatedIdentityCard.phone(seed: 3)
        var chip = PN532Chip.impatient(card)
        let first = chip.ask([0x4A, 0x01, 0x00])
        #expect(first.hasPrefix("4B 01 01 00 04 20 04 08 "))
        try chip.check(
            """
            44 00 > 45 00
            4A 01 00 > \(first)
            40 01 00 A4 04 00 > 41 00 6A 82
            4A 01 00 > \(first)
            """
        )
        try chip.check(
            """
            32 01 00 > 33
            32 01 01 > 33
            """
        )
        #expect(chip.ask([0x4A, 0x01, 0x00]) != first)
    }

    /// ISO 15693 is beyond the chip.
    @Test func vicinity() throws {
        var chip = PN532Chip.impatient(SimulatedIdentityCard.vicinity())
        for brTy in 0...4 { try chip.check("4A 01 0\(brTy) > 4B 00") }
        try chip.check("42 26 01 00 > 43 01")
    }
}
