import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct MIFAREClassicTagTests {
    private static let sizes: [(ClassicSize, Int)] = [(.mini, 190), (.oneK, 716), (.fourK, 3_356)]

    @Test(arguments: sizes, TagWay.allCases)
    func reading(_ size: (ClassicSize, Int), _ way: TagWay) throws {
        let (size, capacity) = size
        for length in [1, 45, 46, 47, 94, 190, 254, 255, 716, 3_356] where length <= capacity {
            let card = try #require(SimulatedMIFAREClassic.formatted(size, message: sample(length)))
            let content = try content(of: card, way)
            #expect(content.ndef == .message(sample(length)))
            #expect(content.type == .mifareClassic && !content.isInterrupted)
            #expect(content.area == TagArea(capacity: capacity, version: .init(major: 1, minor: 0)))
        }
        let empty = try #require(SimulatedMIFAREClassic.formatted(size))
        #expect(try content(of: empty, way).ndef == .empty)
        #expect(SimulatedMIFAREClassic.formatted(size, message: sample(capacity + 1)) == nil)
    }

    @Test(arguments: TagWay.allCases) func everyLength(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(.mini))
        for length in 1...190 {
            try withTag(card, way) { tag in try tag.writeNDEF(sample(length, seed: length)) }
            #expect(try content(of: card, way).ndef == .message(sample(length, seed: length)))
        }
    }

    @Test(arguments: [(ClassicSize.oneK, 716, 37), (.fourK, 3_356, 263)], TagWay.allCases)
    func lengths(_ size: (ClassicSize, Int, Int), _ way: TagWay) throws {
        let (size, capacity, step) = size
        let card = try #require(SimulatedMIFAREClassic.formatted(size))
        let before = card.memory
        for length in Array(stride(from: 1, through: capacity, by: step)) + [253, 254, 255, 256, capacity] {
            try withTag(card, way) { tag in try tag.writeNDEF(sample(length, seed: length)) }
            #expect(try content(of: card, way).ndef == .message(sample(length, seed: length)))
        }
        try withTag(card, way) { tag in try tag.writeNDEF([]) }
        #expect(try content(of: card, way).ndef == .empty)
        // The manufacturer's block, the directory and every trailer are as they were.
        let after = card.memory
        for block in 0..<size.blocks
        where block < 4 || ClassicSize.isTrailer(block) || ClassicSize.sector(ofBlock: block) == 16 {
            #expect(after[block * 16..<block * 16 + 16] == before[block * 16..<block * 16 + 16], "block \(block)")
        }
    }

    @Test(arguments: sizes, TagWay.allCases)
    func beyondCapacity(_ size: (ClassicSize, Int), _ way: TagWay) throws {
        let (size, capacity) = size
        let card = try #require(SimulatedMIFAREClassic.formatted(size, message: sample(20)))
        let before = card.memory
        for length in [capacity + 1, 4_000, 70_000] {
            let error = #expect(throws: TagError.self) {
                try withTag(card, way) { tag in try tag.writeNDEF(sample(length)) }
            }
            #expect(error == .tooLarge(length: length, capacity: capacity))
        }
        #expect(card.memory == before)
    }

    @Test(arguments: TagWay.allCases) func cardsWithoutAPlace(_ way: TagWay) throws {
        // From the factory; with keys that nobody knows; with a directory of somebody else's.
        let factory = SimulatedMIFAREClassic()
        let foreign = SimulatedMIFAREClassic()
        for sector in 0..<16 {
            foreign.overwrite(block: sector * 4 + 3, with: Self.trailer("112233445566", "7F0788", 0x69))
        }
        let other = try #require(SimulatedMIFAREClassic.formatted())
        var directory = MAD()
        directory[1] = MADApplication(rawValue: 0x4801)
        other.overwrite(block: 1, with: Array(directory.firstBytes[..<16]))
        other.overwrite(block: 2, with: Array(directory.firstBytes[16...]))
        for card in [factory, foreign, other] {
            let before = card.memory
            #expect(try content(of: card, way) == .init(type: .mifareClassic, ndef: .absent))
            let error = #expect(throws: TagError.self) {
                try withTag(card, way) { tag in try tag.writeNDEF([0xD0, 0, 0]) }
            }
            #expect(error == .notFormatted(.mifareClassic))
            #expect(card.memory == before)
        }
    }

    private static func trailer(_ key: String, _ access: String, _ purpose: UInt8) -> [UInt8] {
        bytes(key) + bytes(access) + [purpose] + ClassicKey.factory.bytes
    }

    @Test(arguments: TagWay.allCases) func messageBehindOtherApplications(_ way: TagWay) throws {
        // Sectors 5 to 7 hold the message, 9 a second run that does not count; the others belong to somebody else.
        let card = try #require(SimulatedMIFAREClassic.formatted())
        var directory = MAD()
        for sector in 1...15 { directory[sector] = MADApplication(rawValue: 0x4801) }
        for sector in [5, 6, 7, 9] { directory[sector] = .ndef }
        card.overwrite(block: 1, with: Array(directory.firstBytes[..<16]))
        card.overwrite(block: 2, with: Array(directory.firstBytes[16...]))
        card.overwrite(block: 20, with: bytes("0300FE") + Array(repeating: 0, count: 13))
        for sector in [1, 4, 8] {
            card.overwrite(block: sector * 4 + 3, with: Self.trailer("112233445566", "7F0788", 0x40))
        }
        let before = card.memory
        #expect(try content(of: card, way).area?.capacity == 142)
        try withTag(card, way) { tag in try tag.writeNDEF(sample(142)) }
        #expect(try content(of: card, way).ndef == .message(sample(142)))
        #expect(card.memory[..<(20 * 16)] == before[..<(20 * 16)])
        #expect(card.memory[(31 * 16)...] == before[(31 * 16)...])
    }

    @Test(arguments: TagWay.allCases) func readOnly(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(60)))
        for sector in 1...15 {
            card.overwrite(block: sector * 4 + 3, with: Self.trailer("D3F7D3F7D3F7", "078F0F", 0x43))
        }
        let before = card.memory
        #expect(try content(of: card, way).area?.isReadOnly == true)
        let error = #expect(throws: TagError.self) { try withTag(card, way) { tag in try tag.writeNDEF([1]) } }
        #expect(error == .readOnly(.mifareClassic))
        #expect(card.memory == before)
    }

    @Test(arguments: TagWay.allCases) func oneLockedSector(_ way: TagWay) throws {
        // As a lock that was torn leaves it: short messages still fit before it, longer ones are refused in time.
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(20)))
        card.overwrite(block: 15, with: Self.trailer("D3F7D3F7D3F7", "078F0F", 0x43))
        let before = card.memory
        let error = #expect(throws: TagError.self) { try withTag(card, way) { tag in try tag.writeNDEF(sample(200)) } }
        #expect(error == .readOnly(.mifareClassic))
        #expect(card.memory == before)
        try withTag(card, way) { tag in try tag.writeNDEF(sample(60)) }
        #expect(try content(of: card, way).ndef == .message(sample(60)))
    }

    @Test(arguments: TagWay.allCases) func damagedDirectory(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(20)))
        card.overwrite(block: 2, with: Array(repeating: 0, count: 16))
        let damage = TagError.corrupt(.init(.wrongChecksum, offset: 16))
        #expect(throws: damage) { try content(of: card, way) }
        #expect(throws: damage) { try withTag(card, way) { tag in try tag.writeNDEF([0xD0, 0, 0]) } }
        var tag = MIFAREClassicTag(way.channel(card))
        #expect(throws: damage) { try tag.readDirectory() }
        // Nothing was written yet.
        for blank in [0x00, 0xFF] as [UInt8] {
            card.overwrite(block: 1, with: Array(repeating: blank, count: 16))
            if blank != 0 { #expect(throws: damage) { try content(of: card, way) } }
            card.overwrite(block: 2, with: Array(repeating: blank, count: 16))
            #expect(try content(of: card, way) == .init(type: .mifareClassic, ndef: .absent))
        }
    }

    /// The general purpose byte of sector 0: whether there is a directory, and of which version.
    @Test(
        arguments: [
            (0xC1, nil), (0xC2, nil), (0x81, nil), (0x82, nil), (0xC3, 3), (0xC0, 0), (0x83, 3), (0x01, -1), (0x69, -1),
            // Bits that are reserved.
            (0xFF, -1), (0x9A, -1), (0x84, -1), (0xA1, -1),
        ] as [(UInt8, Int?)],
        TagWay.allCases
    )
    func directoryVersions(_ row: (purpose: UInt8, unknown: Int?), _ way: TagWay) throws {
        for size in [ClassicSize.oneK, .fourK] {
            let card = try #require(SimulatedMIFAREClassic.formatted(size, message: sample(20)))
            card.overwrite(block: 3, with: Self.trailer("A0A1A2A3A4A5", "787788", row.purpose))
            // The second half of the directory does not open.
            if size == .fourK { card.overwrite(block: 67, with: Self.trailer("112233445566", "787788", 0x00)) }
            switch row.unknown {
            case nil: #expect(try content(of: card, way).ndef == .message(sample(20)))
            case -1: #expect(try content(of: card, way).ndef == .absent)
            case let version?:
                let error = TagError.unsupportedVersion(.mifareClassic, .init(major: version, minor: 0))
                #expect(throws: error) { try content(of: card, way) }
            }
        }
    }

    @Test(arguments: TagWay.allCases) func newerMapping(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(20)))
        card.overwrite(block: 7, with: Self.trailer("D3F7D3F7D3F7", "7F0788", 0x80))
        let error = #expect(throws: TagError.self) { try content(of: card, way) }
        #expect(error == .unsupportedVersion(.mifareClassic, .init(major: 2, minor: 0)))
    }

    @Test(arguments: TagWay.allCases) func keysOfTheCaller(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(100)))
        for sector in 1...15 {
            card.overwrite(block: sector * 4 + 3, with: Self.trailer("112233445566", "7F0788", 0x40))
        }
        let error = #expect(throws: TagError.self) { try content(of: card, way) }
        #expect(error?.isPermanent == true)
        var keys = ClassicKeys()
        for sector in 1...15 { keys[sector, .a] = ClassicKey(bytes("112233445566")) }
        var tag = MIFAREClassicTag(way.channel(card), keys: keys)
        #expect(try tag.readNDEF().ndef == .message(sample(100)))
        try tag.writeNDEF(sample(300))
        #expect(try tag.readNDEF().ndef == .message(sample(300)))
    }

    @Test(arguments: TagWay.allCases) func sectorsThatOnlyKeyBWrites(_ way: TagWay) throws {
        let keyB = "AABBCCDDEEFF"
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(100)))
        for sector in 1...15 {
            card.overwrite(block: sector * 4 + 3, with: bytes("D3F7D3F7D3F7 787788 40" + keyB))
        }
        let before = card.memory
        let error = #expect(throws: TagError.self) { try withTag(card, way) { tag in try tag.writeNDEF(sample(200)) } }
        #expect(error == .wrongKey(attempt: "write to sector 1", attemptsLeft: nil))
        #expect(card.memory == before)
        var keys = ClassicKeys()
        for sector in 1...15 { keys[sector, .b] = ClassicKey(bytes(keyB)) }
        var tag = MIFAREClassicTag(way.channel(card), keys: keys)
        try tag.writeNDEF(sample(200))
        #expect(try content(of: card, way).ndef == .message(sample(200)))
    }

    @Test(arguments: TagWay.allCases) func dumpLeavesKeysOut(_ way: TagWay) throws {
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(100), keyB: .ndef))
        card.overwrite(block: 63, with: Self.trailer("112233445566", "7F0788", 0x40))
        let dump = try withTag(card, way) { tag in try tag.dump() }
        #expect(dump.parts.count == 64)
        #expect(dump.parts[0].bytes?.prefix(4) == SimulatedMIFAREClassic.sampleUID[...])
        #expect(dump.parts[7].bytes?.hex == "0000000000007F078840000000000000")
        #expect(dump.parts[63].bytes?.hex != nil)
        for part in dump.parts where part.note?.contains("trailer") == true {
            let known = part.bytes ?? []
            #expect(known.count == 16 && known[..<6].allSatisfy { $0 == 0 } && known[10...].allSatisfy { $0 == 0 })
        }
        #expect(dump.parts[4].bytes == Array(card.memory[64..<80]))
    }

    @Test func readerWithoutKeys() throws {
        // A reader that does not know FF 82, or FF 86, or reads no block: the card was not asked. A key that is not the
        // card's is an answer.
        let facts = CardFacts(atr: SimulatedCardKind.classic1K.atr)
        func expect(_ key: String, _ directory: String, _ block: String, _ meaning: MessageQuestion.Meaning) {
            let channel = AnsweringChannel(facts: facts) { command throws(ReaderError) in
                bytes(command[1] == 0x82 ? key : command[1] == 0x86 ? directory : block)
            }
            #expect(TagReaderTests.meaning(of: channel) == meaning, "\(key) \(directory) \(block)")
        }
        let refusals = [
            "6282", "6400", "6581", "6700", "6981", "6984", "6986", "6987", "6988", "6989", "6A81", "6A82", "6A88",
            "6C10", "6D00", "6E00", "6F00", "9001",
        ]
        let foreign = ["6300", "6982", "6983", "6F04", "6F0A"]
        for key in refusals + foreign { expect(key, "9000", "6D00", .notAsked) }
        for directory in refusals { expect("9000", directory, "6D00", .notAsked) }
        for directory in foreign { expect("9000", directory, "6D00", .absent) }
        for directory in ["6F01", "6F1B", "6FFF"] { expect("9000", directory, "6D00", .failed) }
        for block in refusals + ["6300", "6982", "6983", "9000", "0000009000"] {
            expect("9000", "9000", block, .notAsked)
        }
        for block in ["6F01", "6F04", "6F1B"] { expect("9000", "9000", block, .failed) }
    }

    @Test func readerThatSelectsAgain() throws {
        let card = SimulatedMIFAREClassic()
        let channel = SimulatedCardChannel(card, reader: SimulatedReader(selectsAgain: true))
        var tag = try #require(try TagReader.open(over: channel))
        try tag.formatNDEF()
        #expect(try tag.readNDEF().ndef == .empty)
    }

    @Test func takenAwayIsNotWithoutAMessage() throws {
        // The card goes as it is asked for its key: its silence must not count as "no place for a message".
        let card = try #require(SimulatedMIFAREClassic.formatted(message: sample(20)))
        for exchange in 0..<2 {
            let channel = SimulatedCardChannel(card, faults: [.tear(beforeExchange: exchange)])
            #expect(throws: TagError.self) { try TagReader.readNDEF(over: channel) }
        }
    }
}
