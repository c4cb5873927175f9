import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type3TagTests {
    /// The attribute block of the reference, and its message.
    private static let attributes = "10010100050000000000010000100028"
    private static let message = "D1020B5370D10107550361622E636F6D"

    @Test(arguments: TagWay.allCases) func vector(_ way: TagWay) throws {
        let card = SimulatedFeliCa()
        card.overwrite(block: 0, with: bytes(Self.attributes))
        card.overwrite(block: 1, with: bytes(Self.message))
        let content = try content(of: card, way)
        #expect(content.ndef == .message(bytes(Self.message)))
        #expect(content.area == TagArea(capacity: 80, version: .init(major: 1, minor: 0)))
        #expect(content.type == .type3)
    }

    @Test func framesOfTheVector() throws {
        var configuration = SimulatedFeliCa.Configuration()
        configuration.systems = [0x12FC]
        let card = SimulatedFeliCa(configuration: configuration, uid: bytes("0102030405060708"))
        card.overwrite(block: 0, with: bytes("1004010005000000000001000020") + [0x00, 0x3B])
        card.overwrite(block: 1, with: sample(32))
        let channel = FrameChannel(card)
        var tag = Type3Tag(channel)
        #expect(try tag.readNDEF().ndef == .message(sample(32)))
        #expect(
            channel.frames.map(\.bytes.hex) == [
                "060012FC0000", "10060102030405060708010B00018000", "12060102030405060708010B000280018002",
            ]
        )
    }

    @Test(
        arguments: [
            // RWFlag 00; WriteF 0F; no message.
            ("1001010005000000000000000010", TagNDEF.message(Array(repeating: 0, count: 16)), true, false),
            ("1001010005000000000F01000010", .empty, false, true),
            ("1001010005000000000001000000", .empty, false, false),
            ("1001010005000000000000000000", .empty, true, false),
            ("1101010005000000000001000000", .empty, false, false),
            ("0000000000000000000000000000", .absent, false, false),
        ],
        TagWay.allCases
    )
    func states(_ row: (String, TagNDEF, Bool, Bool), _ way: TagWay) throws {
        let (text, ndef, isReadOnly, isInterrupted) = row
        let card = SimulatedFeliCa()
        card.overwrite(block: 0, with: Self.summed(text))
        let content = try content(of: card, way)
        #expect(content.ndef == ndef && content.isInterrupted == isInterrupted)
        #expect(content.area?.isReadOnly ?? false == isReadOnly)
    }

    private static func summed(_ text: String) -> [UInt8] {
        let block = bytes(text)
        let sum = block.reduce(0) { $0 + Int($1) }
        return block + [UInt8(sum >> 8 & 0xFF), UInt8(sum & 0xFF)]
    }

    @Test(
        arguments: [
            ("1001010005000000000001000051", TagError.corrupt(over(81, 80))),
            ("2001010005000000000001000000", .unsupportedVersion(.type3, .init(major: 2, minor: 0))),
            ("0001010005000000000001000000", .unsupportedVersion(.type3, .init(major: 0, minor: 0))),
            ("1000010005000000000001000010", .corrupt(.init(.smallCommands(length: 0), offset: 1))),
            ("100101FFFF000000000001FFFFFF", .corrupt(over(0xFF_FFFF, 1_048_560))),
            ("100101FFFF000000000001020000", .tooLong(length: 131_072, limit: 65_536)),
        ],
        TagWay.allCases
    )
    func malformed(_ row: (String, TagError), _ way: TagWay) throws {
        let card = SimulatedFeliCa()
        card.overwrite(block: 0, with: Self.summed(row.0))
        let error = #expect(throws: TagError.self) { try content(of: card, way) }
        #expect(error == row.1)
    }

    private static func over(_ length: Int, _ capacity: Int) -> TagError.Corruption {
        .init(.lengthOverCapacity(length: length, capacity: capacity), offset: 11)
    }

    @Test(arguments: TagWay.allCases) func wrongChecksum(_ way: TagWay) throws {
        let card = try #require(SimulatedFeliCa.formatted(message: sample(20)))
        var block = Array(card.memory[..<16])
        block[15] ^= 1
        card.overwrite(block: 0, with: block)
        let damage = TagError.corrupt(.init(.wrongChecksum, offset: 14))
        #expect(throws: damage) { try content(of: card, way) }
        #expect(throws: damage) { try withTag(card, way) { tag in try tag.writeNDEF([0xD0, 0, 0]) } }
    }

    /// Block 0 with a wrong checksum. A reader gives that of any system: only the answer to a poll, or all else in it, tells
    /// that it is the attributes of the system for NDEF.
    @Test(
        arguments: [
            ("10040100 0D000000 00 00 01 000016 0000", true, true),
            ("11040100 0D000000 00 0F 00 000016 0000", true, true),
            ("20040100 0D000000 00 00 01 000016 0000", true, true),
            ("10000100 0D000000 00 00 01 000016 0000", false, true),
            ("10100100 0D000000 00 00 01 000016 0000", false, true),
            ("10040100 0D000001 00 00 01 000016 0000", false, true),
            ("10040100 0D000000 00 01 01 000016 0000", false, true),
            ("10040100 0D000000 00 00 02 000016 0000", false, true),
            ("00040100 0D000000 00 00 01 000016 0000", false, false),
            ("FFFFFFFF FFFFFFFF FF FF FF FFFFFF FFFF", false, false),
            ("20261128 00000000 00 00 00 000000 0000", false, true),
            ("19980101 00000000 00 00 00 000000 0000", false, true),
        ],
        TagWay.allCases
    )
    func damagedAttributes(_ row: (block: String, byReader: Bool, inFrames: Bool), _ way: TagWay) throws {
        let card = SimulatedFeliCa()
        card.overwrite(block: 0, with: bytes(row.block))
        if way == .reader ? row.byReader : row.inFrames {
            let damage = TagError.corrupt(.init(.wrongChecksum, offset: 14))
            #expect(throws: damage) { try content(of: card, way) }
        } else {
            #expect(try content(of: card, way) == .init(type: .type3, ndef: .absent))
        }
    }

    @Test(arguments: TagWay.allCases) func everyLength(_ way: TagWay) throws {
        let card = try #require(SimulatedFeliCa.formatted())
        for length in 1...208 {
            try withTag(card, way) { tag in try tag.writeNDEF(sample(length, seed: length)) }
            #expect(try content(of: card, way).ndef == .message(sample(length, seed: length)))
        }
        try withTag(card, way) { tag in try tag.writeNDEF([]) }
        #expect(try content(of: card, way).ndef == .empty)
    }

    @Test(arguments: [(1, 1), (4, 1), (15, 12), (20, 20)], TagWay.allCases)
    func manyBlocks(_ limits: (Int, Int), _ way: TagWay) throws {
        // More than 255 blocks take three bytes each in the list.
        var configuration = SimulatedFeliCa.Configuration()
        (configuration.blocksPerRead, configuration.blocksPerWrite) = limits
        configuration.blocks = 300
        let card = try #require(SimulatedFeliCa.formatted(configuration: configuration))
        for length in [17, 255, 256, 4_000, 4_784] {
            try withTag(card, way) { tag in try tag.writeNDEF(sample(length, seed: length)) }
            #expect(try content(of: card, way).ndef == .message(sample(length, seed: length)))
        }
    }

    @Test(arguments: TagWay.allCases) func beyondCapacity(_ way: TagWay) throws {
        let card = try #require(SimulatedFeliCa.formatted(message: sample(20)))
        let before = card.memory
        for length in [209, 70_000] {
            let error = #expect(throws: TagError.self) {
                try withTag(card, way) { tag in try tag.writeNDEF(sample(length)) }
            }
            #expect(error == .tooLarge(length: length, capacity: 208))
        }
        #expect(card.memory == before)
    }

    @Test(arguments: TagWay.allCases) func readOnly(_ way: TagWay) throws {
        let card = SimulatedFeliCa()
        card.overwrite(block: 0, with: Self.summed("1001010005000000000F00000010"))
        let before = card.memory
        for body: (inout any NDEFTag) throws -> Void in [
            { tag in try tag.writeNDEF([1]) }, { tag in _ = try tag.repairNDEF() },
        ] {
            #expect(throws: TagError.readOnly(.type3)) { try withTag(card, way, body) }
        }
        #expect(card.memory == before)
    }

    @Test(arguments: TagWay.allCases) func repair(_ way: TagWay) throws {
        let card = SimulatedFeliCa()
        card.overwrite(block: 0, with: Self.summed("1001010005000000000F01000010"))
        #expect(try withTag(card, way) { tag in try tag.repairNDEF() } == .repaired)
        let area = TagArea(capacity: 80, version: .init(major: 1, minor: 0))
        #expect(try content(of: card, way) == .init(type: .type3, ndef: .empty, area: area))
        #expect(try withTag(card, way) { tag in try tag.repairNDEF() } == .notNeeded)
    }

    @Test(arguments: TagWay.allCases) func unsupported(_ way: TagWay) throws {
        let card = try #require(SimulatedFeliCa.formatted())
        for body: (inout any NDEFTag) throws -> Void in [
            { tag in try tag.formatNDEF() },
            { tag in try tag.lock(PermanentLock(ofCardWith: CardUID(card.uid, technology: .felica))) },
        ] {
            let error = #expect(throws: TagError.self) { try withTag(card, way, body) }
            if case .unsupported(.type3, _)? = error { continue }
            Issue.record("\(String(describing: error))")
        }
    }

    @Test(arguments: TagWay.allCases) func withoutNDEF(_ way: TagWay) throws {
        var configuration = SimulatedFeliCa.Configuration()
        configuration.systems = [0x0003]
        let card = SimulatedFeliCa(configuration: configuration)
        card.overwrite(block: 0, with: sample(16))
        #expect(try content(of: card, way) == .init(type: .type3, ndef: .absent))
        #expect(try content(of: SimulatedIdentityCard.feliCa(), way) == .init(type: .type3, ndef: .absent))
    }

    @Test func habitsOfReaders() throws {
        let readers = [
            SimulatedReader(wantsService: true), SimulatedReader(readsOtherCards: false), SimulatedReader(),
            SimulatedReader(insistsOnLength: true),
        ]
        for reader in readers {
            let card = try #require(SimulatedFeliCa.formatted(message: sample(50)))
            var tag = Type3Tag(EncapsulatingChannel(card, reader: reader))
            #expect(try tag.readNDEF().ndef == .message(sample(50)), "\(reader)")
            try tag.writeNDEF(sample(90))
            #expect(try tag.readNDEF().ndef == .message(sample(90)), "\(reader)")
        }
        // Neither blocks nor frames: the card is only an identifier to this reader, and has not been asked.
        let card = try #require(SimulatedFeliCa.formatted(message: sample(50)))
        let reader = SimulatedReader(encapsulation: nil, readsOtherCards: false)
        var tag = Type3Tag(EncapsulatingChannel(card, reader: reader))
        let attempt = "look for the message of the card"
        #expect(throws: TagError.notAsked(.type3, attempt: attempt, status: .functionNotSupported)) {
            try tag.readNDEF()
        }
    }

    @Test(arguments: TagWay.allCases) func dump(_ way: TagWay) throws {
        let card = try #require(SimulatedFeliCa.formatted(message: sample(50)))
        let dump = try withTag(card, way) { tag in try tag.dump() }
        #expect(dump.parts.compactMap(\.bytes).flatMap { $0 } == card.memory)
        #expect(dump.parts.first?.note == "attributes")
    }
}
