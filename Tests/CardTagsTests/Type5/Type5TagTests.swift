import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type5TagTests {
    private static func configuration(_ size: Int, _ blocks: Int) -> SimulatedVicinityTag.Configuration {
        var configuration = SimulatedVicinityTag.Configuration()
        (configuration.blockSize, configuration.blocks) = (size, blocks)
        return configuration
    }

    /// Block size, blocks, capacity: the container's size less the header of the longest message.
    private static let models: [(Int, Int, Int)] = [
        (4, 28, 102), (4, 80, 308), (8, 32, 246), (8, 64, 500), (4, 512, 2_036), (4, 2_048, 8_180), (16, 32, 500),
    ]

    @Test(arguments: models, TagWay.allCases) func lengths(_ model: (Int, Int, Int), _ way: TagWay) throws {
        let (size, blocks, capacity) = model
        let card = try #require(SimulatedVicinityTag.formatted(configuration: Self.configuration(size, blocks)))
        #expect(try content(of: card, way).area?.capacity == capacity)
        let step = capacity < 150 ? 1 : capacity / 15
        for length in Array(stride(from: 1, through: capacity, by: step)).oneIn(3) + [capacity] {
            try withTag(card, way) { tag in try tag.writeNDEF(sample(length, seed: length)) }
            #expect(try content(of: card, way).ndef == .message(sample(length, seed: length)))
        }
        let before = card.memory
        let error = #expect(throws: TagError.self) {
            try withTag(card, way) { tag in try tag.writeNDEF(sample(capacity + 1)) }
        }
        #expect(error == .tooLarge(length: capacity + 1, capacity: capacity))
        #expect(card.memory == before)
        try withTag(card, way) { tag in try tag.writeNDEF([]) }
        #expect(try content(of: card, way).ndef == .empty)
        #expect(card.memory[..<4] == before[..<4])
    }

    /// Containers: their bytes, and the version, capacity and access that they mean.
    @Test(
        arguments: [
            ("E1403F00", 504, TagArea.Access.free, TagArea.Access.free), ("E1404001", 512, .free, .free),
            ("E1433F01", 504, .free, .never), ("E14C3F01", 504, .never, .free),
            ("E1414001", 512, .free, .proprietary(1)), ("E2400001000003FF", 8_184, .free, .free),
            ("E240000100000400", 8_192, .free, .free), ("E1500D00", 104, .free, .free),
        ] as [(String, Int, TagArea.Access, TagArea.Access)],
        TagWay.allCases
    )
    func containers(_ row: (String, Int, TagArea.Access, TagArea.Access), _ way: TagWay) throws {
        let (text, size, readAccess, writeAccess) = row
        let card = SimulatedVicinityTag(configuration: Self.configuration(4, 2_100))
        card.overwrite(block: 0, with: bytes(text) + bytes("0300FE"))
        let content = try content(of: card, way)
        #expect(content.ndef == .empty)
        #expect(content.area?.capacity == (size <= 256 ? size - 2 : size - 4))
        #expect(content.area?.readAccess == readAccess && content.area?.writeAccess == writeAccess)
        #expect(content.area?.version.major == 1)
        if writeAccess != .free {
            let before = card.memory
            #expect(throws: TagError.readOnly(.type5)) { try withTag(card, way) { tag in try tag.writeNDEF([1]) } }
            #expect(throws: TagError.readOnly(.type5)) { try withTag(card, way) { tag in _ = try tag.repairNDEF() } }
            #expect(card.memory == before)
        }
    }

    @Test(arguments: TagWay.allCases) func withoutNDEF(_ way: TagWay) throws {
        for first in ["00000000", "FFFFFFFF", "E0403F00"] {
            let card = SimulatedVicinityTag()
            card.overwrite(block: 0, with: bytes(first))
            #expect(try content(of: card, way) == .init(type: .type5, ndef: .absent))
            #expect(throws: TagError.notFormatted(.type5)) { try withTag(card, way) { tag in try tag.writeNDEF([1]) } }
        }
        #expect(try content(of: SimulatedIdentityCard.vicinity(), way) == .init(type: .type5, ndef: .absent))
    }

    @Test(arguments: TagWay.allCases) func malformed(_ way: TagWay) throws {
        for (text, error) in [
            ("E1803F00", TagError.unsupportedVersion(.type5, .init(major: 2, minor: 0))),
            ("E1400100 0309", .corrupt(.init(.lengthOverCapacity(length: 9, capacity: 6), offset: 4))),
            ("E1400100 1209", .corrupt(.init(.blockOverrun(tag: 0x12, length: 9, left: 6), offset: 4))),
        ] as [(String, TagError)] {
            let card = SimulatedVicinityTag()
            card.overwrite(block: 0, with: bytes(text))
            let thrown = #expect(throws: TagError.self) { try content(of: card, way) }
            #expect(thrown == error)
        }
    }

    @Test(arguments: TagWay.allCases) func cardWithoutSystemInformation(_ way: TagWay) throws {
        for size in [4, 8] {
            var configuration = Self.configuration(size, 40)
            configuration.tellsSystemInformation = false
            let card = try #require(
                SimulatedVicinityTag.formatted(message: sample(90), configuration: configuration)
            )
            #expect(try content(of: card, way).ndef == .message(sample(90)))
            try withTag(card, way) { tag in try tag.writeNDEF(sample(120)) }
            #expect(try content(of: card, way).ndef == .message(sample(120)))
        }
    }

    @Test func habitsOfReaders() throws {
        let readers = [
            SimulatedReader(readsOtherCards: false), SimulatedReader(encapsulation: nil),
            SimulatedReader(insistsOnLength: true), SimulatedReader(insistsOnLength: true, encapsulation: nil),
        ]
        for reader in readers {
            for size in [4, 8] {
                let configuration = Self.configuration(size, 32)
                let card = try #require(
                    SimulatedVicinityTag.formatted(message: sample(50), configuration: configuration)
                )
                var tag = Type5Tag(EncapsulatingChannel(card, reader: reader))
                #expect(try tag.readNDEF().ndef == .message(sample(50)), "\(reader) \(size)")
                try tag.writeNDEF(sample(90))
                #expect(try tag.readNDEF().ndef == .message(sample(90)), "\(reader) \(size)")
            }
        }
        let card = try #require(SimulatedVicinityTag.formatted(message: sample(50)))
        let reader = SimulatedReader(encapsulation: nil, readsOtherCards: false)
        var tag = Type5Tag(EncapsulatingChannel(card, reader: reader))
        let attempt = "look for the message of the card"
        #expect(throws: TagError.notAsked(.type5, attempt: attempt, status: .functionNotSupported)) {
            try tag.readNDEF()
        }
    }

    /// Readers that take no length but that of a block, and one that gives several blocks at once.
    @Test(
        arguments: [(4, 4, true), (8, 8, true), (16, 16, true), (4, 8, false), (4, 16, false), (8, 16, false)],
        ["6300", "6700"]
    )
    func lengthsOfReaders(_ row: (block: Int, length: Int, isRead: Bool), _ refusal: String) throws {
        func meaning(_ content: [UInt8], blocks: Int = 256) -> MessageQuestion.Meaning {
            let memory = content + [UInt8](repeating: content.last ?? 0, count: 64)
            let facts = CardFacts(atr: bytes("3B8F8001804F0CA0000003060B00140000000077"))
            let channel = AnsweringChannel(facts: facts) { command throws(ReaderError) in
                guard command[1] == 0xB0, Int(command[4]) == row.length, command[3] < blocks else {
                    return bytes(refusal)
                }
                let start = Int(command[3]) * row.block
                return Array(memory[start..<start + row.length]) + [0x90, 0x00]
            }
            return TagReaderTests.meaning(of: channel)
        }
        #expect(meaning(bytes("E1400600 0309D1010555 01612E6265FE 00")) == (row.isRead ? .present : .notAsked))
        // Zeros before the message show nothing of the blocks.
        let filled = bytes("E1400600 00000000 00000000 00000000 0300FE 00")
        if row.isRead { #expect(meaning(filled) == .present) }
        // Without a container nothing depends on them, nor on block 1.
        for text in ["00", "FF", "A1A2A3A4A5A6A7A8A9"] {
            #expect(meaning(bytes(text)) == .absent && meaning(bytes(text), blocks: 1) == .absent, "\(text)")
        }
    }

    @Test(arguments: TagWay.allCases) func lockedBlock(_ way: TagWay) throws {
        let card = try #require(SimulatedVicinityTag.formatted(message: sample(20)))
        card.lock(block: 3)
        let error = #expect(throws: TagError.self) {
            try withTag(card, way) { tag in try tag.writeNDEF(sample(40, seed: 3)) }
        }
        if case .protected? = error {} else { Issue.record("\(String(describing: error))") }
        // The card is there and says no, so that the old message is put back.
        #expect(try content(of: card, way).ndef == .message(sample(20)))
    }

    @Test func addressedFrames() throws {
        let card = try #require(SimulatedVicinityTag.formatted(message: sample(2)))
        let channel = FrameChannel(card)
        var tag = Type5Tag(channel)
        _ = try tag.readNDEF()
        let uid = "3D917C2B500104E0"
        #expect(channel.frames[0].bytes.hex == "2220" + uid + "00")
        #expect(channel.frames[1].bytes.hex == "222B" + uid)
        #expect(channel.frames[2].bytes.hex == "2220" + uid + "01")
    }

    @Test(arguments: TagWay.allCases) func dump(_ way: TagWay) throws {
        let card = try #require(SimulatedVicinityTag.formatted(message: sample(50)))
        card.lock(block: 2)
        let dump = try withTag(card, way) { tag in try tag.dump() }
        #expect(dump.parts.compactMap(\.bytes).flatMap { $0 } == card.memory)
        if way == .frames { #expect(dump.parts.map(\.note).firstIndex(of: "locked") == 2) }
    }

    @Test(arguments: TagWay.allCases) func unsupported(_ way: TagWay) throws {
        let card = try #require(SimulatedVicinityTag.formatted())
        let error = #expect(throws: TagError.self) { try withTag(card, way) { tag in try tag.formatNDEF() } }
        #expect(error == .unsupported(.type5, attempt: "format the tag"))
        let uid = CardUID(card.uid, technology: .iso15693)
        let lock = #expect(throws: TagError.self) {
            try withTag(card, way) { tag in try tag.lock(PermanentLock(ofCardWith: uid)) }
        }
        #expect(lock == .unsupported(.type5, attempt: "lock the tag"))
    }
}
