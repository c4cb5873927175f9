import ReaderKit
import ReaderKitTesting
import Testing

/// MIFARE Classic: what each access condition allows with each key, and value blocks.
@Suite struct SimulatedClassicTests {
    private static let keyA = "A1A2A3A4A5A6"
    private static let keyB = "B1B2B3B4B5B6"
    private static let uid = SimulatedMIFAREClassic.sampleUID.hex
    private static let openA = FrameStep("6004" + keyA + uid, "A/4")
    private static let openB = FrameStep("6104" + keyB + uid, "A/4")
    private static let data = "00112233445566778899AABBCCDDEEFF"

    /// A card whose sector 1 has those conditions for its data and its trailer. Block 4 holds the value 100, block 5
    /// data.
    private func card(data bits: UInt8 = 0, trailer: UInt8 = 0b011) throws -> SimulatedMIFAREClassic {
        let card = SimulatedMIFAREClassic()
        let access = AccessConditions.DataAccess(bits: bits)
        let conditions = AccessConditions(access, access, access, trailer: .init(bits: trailer))
        let keyA = try Hex.decode(Self.keyA)
        card.overwrite(block: 7, with: keyA + conditions.bytes + [0x69] + (try Hex.decode(Self.keyB)))
        card.setValue(100, block: 4, address: 4)
        card.overwrite(block: 5, with: try Hex.decode(Self.data))
        return card
    }

    /// Whether a card does something with a key: the frames, whose last answer tells.
    private func does(_ card: SimulatedMIFAREClassic, _ open: FrameStep, _ frames: [String]) -> Bool {
        card.powerOff()
        card.powerOn()
        var last = answer(card, open.frame)
        for frame in frames { last = answer(card, frame) }
        return last != "4/4" && last != "0/4" && last != "-"
    }

    /// The table of the data sheet: C1 C2 C3, and who may read, write, increment, and decrement, transfer or restore.
    private static let dataTable: [(bits: UInt8, read: String, write: String, increment: String, decrement: String)] = [
        (0b000, "AB", "AB", "AB", "AB"), (0b010, "AB", "", "", ""), (0b100, "AB", "B", "", ""),
        (0b110, "AB", "B", "B", "AB"), (0b001, "AB", "", "", "AB"), (0b011, "B", "B", "", ""), (0b101, "B", "", "", ""),
        (0b111, "", "", "", ""),
    ]

    @Test(arguments: dataTable)
    func dataBlocks(_ row: (bits: UInt8, read: String, write: String, increment: String, decrement: String)) throws {
        let ways: [(String, [String])] = [
            (row.read, ["3004"]), (row.write, ["A005", Self.data]), (row.write, ["A005" + Self.data]),
            (row.increment, ["C104"]), (row.decrement, ["C004"]), (row.decrement, ["C204"]),
            (row.increment, ["C10401000000"]), (row.decrement, ["C00401000000"]),
            // To transfer needs something that may be restored first.
            (row.decrement, ["C20400000000", "B005"]),
        ]
        for (allowed, frames) in ways {
            for (name, open) in [("A", Self.openA), ("B", Self.openB)] {
                let done = does(try card(data: row.bits), open, frames)
                #expect(done == allowed.contains(name), "\(frames) with key \(name)")
            }
        }
    }

    /// The same of the trailer: who may write key A, read and write the access bits, read and write key B.
    private static let trailerTable: [(bits: UInt8, rights: [String])] = [
        (0b000, ["A", "A", "", "A", "A"]), (0b010, ["", "A", "", "A", ""]), (0b100, ["B", "AB", "", "", "B"]),
        (0b110, ["", "AB", "", "", ""]), (0b001, ["A", "A", "A", "A", "A"]), (0b011, ["B", "AB", "B", "", "B"]),
        (0b101, ["", "AB", "B", "", ""]), (0b111, ["", "AB", "", "", ""]),
    ]

    @Test(arguments: trailerTable) func trailers(_ row: (bits: UInt8, rights: [String])) throws {
        // Where key B can be read it opens nothing: whatever is done with it is refused.
        let bOpens = row.rights[3].isEmpty
        for (name, open) in [("A", Self.openA), ("B", Self.openB)] {
            let card = try card(trailer: row.bits)
            let before = Array(card.memory[7 * 16..<8 * 16])
            let counts = name == "A" || bOpens
            #expect(differences(card, [open]) == [])
            let shown = try Hex.decode(answer(card, "3007").count == 32 ? answer(reopened(card, open), "3007") : "")
            #expect(shown.isEmpty == !counts)
            if counts {
                // Key A is never shown.
                #expect(shown[..<6].allSatisfy { $0 == 0 })
                #expect((shown[6..<10].elementsEqual(before[6..<10])) == row.rights[1].contains(name))
                #expect((shown[10...].elementsEqual(before[10...])) == row.rights[3].contains(name))
            }
            let new = "C1C2C3C4C5C6" + AccessConditions.transport.bytes.hex + "42" + "D1D2D3D4D5D6"
            let may = [row.rights[0], row.rights[2], row.rights[4]].map { counts && $0.contains(name) }
            #expect(answer(reopened(card, open), "A007" + new) == (may.contains(true) ? "A/4" : "4/4"))
            let after = card.memory[7 * 16..<8 * 16]
            let changed = [after.prefix(6), after.dropFirst(6).prefix(4), after.suffix(6)]
            let old = [before[..<6], before[6..<10], before[10...]]
            for index in 0..<3 { #expect((changed[index].elementsEqual(old[index])) == !may[index], "part \(index)") }
        }
    }

    private func reopened(_ card: SimulatedMIFAREClassic, _ open: FrameStep) -> SimulatedMIFAREClassic {
        card.powerOff()
        card.powerOn()
        _ = answer(card, open.frame)
        return card
    }

    @Test func values() throws {
        let card = try card()
        let steps = [
            Self.openA,
            // In two frames the card is silent where the second goes well.
            FrameStep("C104", "A/4"), FrameStep("05000000", "-"), FrameStep("B004", "A/4"),
            FrameStep("3004", "6900000096FFFFFF6900000004FB04FB"),
            FrameStep("C0046A000000", "A/4"), FrameStep("B006", "A/4"),
            FrameStep("3006", "FFFFFFFF00000000FFFFFFFF04FB04FB"),
            // The first value is still there, and restoring it copies it with its address.
            FrameStep("C204", "A/4"), FrameStep("00000000", "-"), FrameStep("B006", "A/4"),
            FrameStep("3006", "6900000096FFFFFF6900000004FB04FB"),
        ]
        #expect(differences(card, steps) == [])
        #expect(card.value(block: 4) == 105)
        #expect(card.value(block: 6) == 105)
        #expect(card.value(block: 5) == nil)
        #expect(card.value(block: 64) == nil)
    }

    /// Each of these ends the conversation, and nothing is changed.
    @Test(arguments: [
        // No value, the trailer, another sector, nothing to transfer, something to transfer that is refused.
        (["C105", "01000000"], "4/4"), (["C10501000000"], "4/4"), (["C107"], "4/4"), (["C108"], "4/4"),
        (["B004"], "4/4"),
        (["C104", "01000000", "B007"], "0/4"), (["C104", "01000000", "B008"], "0/4"), (["C104", "0100"], "-"),
        (["A004", "0100"], "-"), (["C3"], "-"), (["3008"], "4/4"), (["A008"], "4/4"),
    ])
    func refusals(_ frames: [String], _ last: String) throws {
        let card = try card()
        let before = card.memory
        card.powerOn()
        #expect(answer(card, Self.openA.frame) == "A/4")
        #expect(frames.map { answer(card, $0) }.last == last)
        // It is silent until it is selected again.
        #expect(answer(card, "3004") == "-")
        #expect(card.memory == before)
    }

    @Test func edges() throws {
        let card = try card()
        // A wrong key, another identifier, a block that is not there.
        for frame in ["6004" + Self.keyB + Self.uid, "6004" + Self.keyA + "00000000", "6040" + Self.keyA + Self.uid] {
            card.powerOn()
            #expect(answer(card, frame) == "-")
            #expect(answer(card, Self.openA.frame) == "-")
        }
        // The numbers run over, as on the chip.
        card.setValue(.max, block: 4)
        #expect(differences(card, [Self.openA, FrameStep("C10401000000", "A/4"), FrameStep("B004", "A/4")]) == [])
        #expect(card.value(block: 4) == .min)
        // The maker's block is never written.
        let factory = SimulatedMIFAREClassic()
        let open = FrameStep("6000FFFFFFFFFFFF" + Self.uid, "A/4")
        #expect(differences(factory, [open, FrameStep("A000" + Self.data, "4/4")]) == [])
    }

    @Test(arguments: [ClassicSize.mini, .oneK, .fourK]) func lastBlocks(_ size: ClassicSize) {
        let card = SimulatedMIFAREClassic(size)
        let last = UInt8(size.blocks - 2)
        let (address, uid) = ([last].hex, card.uid.suffix(4).hex)
        let steps = [
            FrameStep("61\(address)FFFFFFFFFFFF\(uid)", "A/4"),
            // Key B of a card from the factory can be read, so it opens nothing.
            FrameStep("30\(address)", "4/4"), .power, FrameStep("60\(address)FFFFFFFFFFFF\(uid)", "A/4"),
            FrameStep("A0\(address)\(Self.data)", "A/4"), FrameStep("30\(address)", Self.data),
        ]
        #expect(differences(card, steps) == [])
    }
}
