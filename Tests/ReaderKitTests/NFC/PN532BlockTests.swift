import CardCore
import CardPasses
import Testing
import TestSupport

@testable import ReaderKit
@testable import ReaderKitTesting

/// ISO/IEC 14443-4 with a simulated PN532: the chip's own side of it, the card's, and both under random bytes.
@Suite struct PN532BlockTests {
    private static let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x07, 0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01, 0x00]

    // MARK: The chip speaks

    @Test func apdus() throws {
        var chip = PN532Chip.impatient(SimulatedType4Tag())
        try chip.check(
            """
            4A 01 00 > 4B 01 01 00 44 20 07 04 46 3A 7B 2C 5D 80 05 78 80 71 02
            # Whether the card is there: what it last said, which is nothing yet.
            42 B2 > 43 00 A3
            40 01 00 A4 04 00 07 D2 76 00 00 85 01 01 00 > 41 00 90 00
            42 B2 > 43 00 02 90 00
            40 01 00 A4 00 0C 02 E1 03 > 41 00 90 00
            42 B2 > 43 00 A3
            40 01 00 B0 00 00 02 > 41 00 00 0F 90 00
            00 06 > 01 00
            # Deselected, it is found again, and has forgotten.
            44 01 > 45 00
            42 B2 > 43 01
            40 01 00 B0 00 00 02 > 41 01
            54 01 > 55 00
            40 01 00 B0 00 00 02 > 41 00 69 86
            52 01 > 53 00
            40 01 00 B0 00 00 02 > 41 27
            """
        )
        chip.remove()
        try chip.check("4A 01 00 > 4B 00")
    }

    @Test func cardThatIsTaken() throws {
        let card = SimulatedType4Tag()
        var chip = PN532Chip.impatient(card)
        _ = chip.ask([0x4A, 0x01, 0x00])
        chip.remove()
        try chip.check("42 B2 > 43 01\n40 01 00 B0 00 00 02 > 41 01\n00 06 > 01 01")
        // Another one in its place has to be selected.
        _ = chip.insert(card)
        try chip.check("42 B2 > 43 01\n40 01 00 B0 00 00 02 > 41 01")
        _ = chip.ask([0x4A, 0x01, 0x00])
        chip.tear(atExchange: 0, afterwards: true)
        try chip.check("40 01 00 A4 04 00 > 41 01\n42 B2 > 43 01\n4A 01 00 > 4B 00")
    }

    /// Without activating the card by itself, the chip gives no ATS, and the program does the rest.
    @Test func programActivates() throws {
        var chip = PN532Chip.impatient(SimulatedDESFire())
        try chip.check(
            """
            12 00 > 13
            4A 01 00 > 4B 01 01 03 44 20 07 04 6F 16 9A FC 2E 80
            42 02 60 > 43 01
            42 E0 80 > 43 00 06 75 77 81 02 80
            42 02 90 5A 00 00 03 00 00 00 00 > 43 00 02 91 00
            42 C2 > 43 00 C2
            42 B2 > 43 01
            12 14 > 13
            4A 01 00 > 4B 01 01 03 44 20 07 04 6F 16 9A FC 2E 80 06 75 77 81 02 80
            """
        )
    }

    @Test func typeB() throws {
        let card = SimulatedTypeB(SimulatedType4Tag(), applicationData: [1, 2, 3, 4])
        var chip = PN532Chip.impatient(card)
        let select = Hex.encode(Self.select, separator: " ")
        try chip.check(
            """
            4A 01 00 > 4B 00
            4A 01 03 00 > 4B 01 01 50 04 46 3A 7B 01 02 03 04 00 81 71 01 01
            # The chip gave it the number 1, which the program uses too.
            42 BA 01 > 43 00 AB 01
            40 01 \(select) > 41 00 90 00
            42 CA 01 > 43 00 CA 01
            42 BA 01 > 43 01
            42 05 00 08 > 43 00 50 04 46 3A 7B 01 02 03 04 00 81 71
            42 1D 04 46 3A 7C 00 08 01 00 > 43 01
            42 1D 04 46 3A 7B 00 08 01 00 > 43 00 00
            42 02 \(select) > 43 00 02 90 00
            60 01 01 03 > 61 01 03 0F 01 50 04 46 3A 7B 01 02 03 04 00 81 71 01 01
            """
        )
    }

    /// Answers to the most that goes into a frame, and one byte more, which is fetched with an empty command.
    @Test(arguments: [0, 1, 59, 60, 61, 62, 120, 260, 261, 262, 263, 600, 5000]) func lengths(count: Int) throws {
        let card = EchoCard()
        var chip = PN532Chip.impatient(card)
        _ = chip.ask([0x4A, 0x01, 0x00])
        var random = SeededNumbers(seed: UInt64(count))
        let command = random.bytes(count)
        // In parts of what goes into a frame, all but the last marked.
        var sent = 0
        while command.count - sent > 200 {
            #expect(chip.receive(.command([0x40, 0x41] + command[sent..<sent + 200])).last == .answer([0x41, 0x00]))
            sent += 200
        }
        var answer: [UInt8] = []
        var request: [UInt8] = [0x40, 0x01] + command[sent...]
        for _ in 0..<100 {
            guard case .answer(let bytes) = chip.receive(.command(request)).last, bytes.count >= 2 else { break }
            #expect(bytes.count <= 264)
            answer += bytes[2...]
            request = [0x40, 0x01]
            if bytes[1] == 0x00 { break }
            #expect(bytes[1] == 0x40)
        }
        #expect(answer == command + [0x90, 0x00])
        #expect(card.commands.first == command)
    }

    // MARK: The card's side

    /// Blocks and answers of a card that says everything twice, in order.
    @Test(arguments: [
        // Chaining of the reader; each part is acknowledged.
        ("12 01 02 > A2\n13 03 > A3\n02 04 > 02 01 02 03 04 90 00", 8, 0),
        // Repeated, at a wish and at a doubt.
        ("02 01 > 02 01 90 00\nB2 > 02 01 90 00\nB3 > A2\nA2 > 02 01 90 00\n03 07 > 03 07 90 00", 8, 0),
        // Chaining of the card, in blocks of 16.
        (
            "02 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D > 12 00 01 02 03 04 05 06 07 08 09 0A 0B 0C\n"
                + "B2 > 12 00 01 02 03 04 05 06 07 08 09 0A 0B 0C\nA3 > 03 0D 90 00\nA2 > -",
            0, 0
        ),
        // With a number; other numbers are other cards.
        ("0A 05 01 > 0A 05 01 90 00\nBA 05 > 0A 05 01 90 00\nBA 04 > -\nB2 > -\nCA 04 > -\nCA 05 > CA 05", 8, 5),
        // Neither node addresses, nor waiting, nor anything unknown; a number 0 may be told or not.
        (
            "06 00 01 > -\nF2 01 > -\n00 > -\nE2 > -\nFF > -\n0A > -\n0A 00 01 > 0A 00 01 90 00\n03 02 > 03 02 90 00",
            8, 0
        ),
        // After deselection nothing more.
        ("C2 > C2\n02 01 > -\nC2 > -", 8, 0),
    ])
    func blocks(steps: String, sizeCode: Int, identifier: UInt8) throws {
        var card = ISODEPCard()
        #expect(card.receive([0xB2]) { $0 } == nil)
        card.activate(sizeCode: sizeCode, identifier: identifier)
        for step in steps.split(separator: "\n") {
            let sides = step.split(separator: ">").map { $0.trimmingPrefix(" ") }
            let answer = card.receive(try Hex.decode(sides[0])) { $0 + [0x90, 0x00] }
            #expect(answer.map { Hex.encode($0, separator: " ") } ?? "-" == sides[1], "\(step)")
        }
    }

    // MARK: Random bytes

    private static let cards: [@Sendable () -> any SimulatedCard] = [
        { SimulatedNTAG(.ntag213) }, { SimulatedMIFAREClassic() }, { SimulatedFeliCa() },
        { SimulatedTopaz(isLarge: true) },
        { SimulatedType4Tag() }, { SimulatedDESFire() }, { SimulatedTypeB(SimulatedType4Tag()) },
        { TornCard(SimulatedIdentityCard.phone(), .init(3, afterwards: true)) }, { SimulatedIdentityCard.vicinity() },
    ]

    /// Seed 534 and up, one for each card. Whatever a program says, in whatever order, the chip ends, answers, and goes on.
    @Test(arguments: cards.indices) func randomCommands(index: Int) {
        var random = SeededNumbers(seed: 534 + UInt64(index))
        let card = Self.cards[index]()
        var chip = PN532Chip()
        _ = chip.insert(card)
        let codes: [UInt8] = [
            0x00, 0x06, 0x08, 0x12, 0x16, 0x32, 0x40, 0x40, 0x42, 0x42, 0x44, 0x4A, 0x4A, 0x52, 0x54, 0x60,
        ]
        var failures: [[UInt8]] = []
        for round in 0..<4000 {
            let code =
                round.isMultiple(of: 10)
                ? UInt8.random(in: 0...255, using: &random) : codes.randomElement(using: &random) ?? 0
            var data = random.bytes(Int.random(in: 0...20, using: &random))
            // Mostly what gets further than the first look.
            switch code {
            case 0x40 where !data.isEmpty: data[0] = 0x01 | (Bool.random(using: &random) ? 0x40 : 0x00)
            case 0x4A where data.count >= 2:
                data = [0x01, data[1] % 6] + (Bool.random(using: &random) ? [] : data[2...])
            case 0x08: data = [0x63, [0x02, 0x03, 0x3D].randomElement(using: &random) ?? 0, data.first ?? 0 & 0x83]
            case 0x32 where data.count >= 2: data = [0x01, data[1]]
            default: break
            }
            let frames = chip.receive(.command([code] + data))
            if frames.first != .acknowledgement || frames.count > 2 { failures.append([code] + data) }
            if chip.isWaiting, Bool.random(using: &random) { _ = chip.giveUp() }
            if round.isMultiple(of: 50) { chip.remove() }
            if round % 50 == 10 { _ = chip.insert(card) }
            if chip.receive(.command([0x02])).last != .answer([0x03, 0x32, 0x01, 0x06, 0x07]) {
                failures.append([code])
            }
        }
        #expect(failures.isEmpty)
    }

    /// Answers what it is told.
    private final class EchoCard: SimulatedCard {
        let uid: [UInt8] = [1, 2, 3, 4]
        let kind = SimulatedCardKind.isoDEP(historicalBytes: [0x80])
        private let told = Shared<[[UInt8]]>([])
        var commands: [[UInt8]] { told.withLock { $0 } }

        func receive(apdu: [UInt8]) -> [UInt8]? {
            told.withLock { $0.append(apdu) }
            return apdu + [0x90, 0x00]
        }
    }
}
