import CardCore
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

@Suite struct Type2TagTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var container: String
        var data: String
        var expected: Result<TagNDEF, TagError>
        var testDescription: String { name }

        init(_ name: String, _ container: String, _ data: String, _ expected: TagNDEF) {
            (self.name, self.container, self.data, self.expected) = (name, container, data, .success(expected))
        }

        init(_ name: String, _ container: String, _ data: String, _ expected: TagError) {
            (self.name, self.container, self.data, self.expected) = (name, container, data, .failure(expected))
        }

        init(
            _ name: String,
            _ container: String,
            _ data: String,
            corrupt reason: TagError.Corruption.Reason,
            at offset: Int
        ) {
            self.init(name, container, data, .corrupt(.init(reason, offset: offset)))
        }
    }

    static let message = bytes("D1010155 00")
    static let filler = String(repeating: "AB", count: 200)
    static let zeros = String(repeating: "00", count: 200)

    static let cases: [Case] = [
        Case("message", "E1101200", "0305 D101015500 FE", .message(message)),
        Case("factory NTAG213", "E1101200", "0103A00C34 0300 FE", .empty),
        Case("empty", "E1101200", "0300FE", .empty),
        Case("without terminator", "E1101200", "0305 D101015500", .message(message)),
        Case("after nulls", "E1101200", "0000000305 D101015500 FE", .message(message)),
        Case("length in three bytes", "E1101200", "03FF0005 D101015500 FE", .message(message)),
        Case("after a proprietary block", "E1101200", "FD02AABB 0305 D101015500 FE", .message(message)),
        Case("after an unknown block", "E1101200", "7703AABBCC 0305 D101015500 FE", .message(message)),
        Case("the first of two", "E1101200", "0305 D101015500 0300 FE", .message(message)),
        Case("an empty first of two", "E1101200", "0300 0305 D101015500 FE", .empty),
        Case("minor version 3", "E1131200", "0305 D101015500 FE", .message(message)),
        Case("terminator first", "E1101200", "FE 0305 D101015500", .absent),
        Case("nothing but nulls", "E1101200", zeros, .absent),
        Case("no capability container", "00000000", "0305 D101015500 FE", .absent),
        Case("another container", "E2101200", "0305 D101015500 FE", .absent),
        Case("size 0", "E1100000", "0305 D101015500 FE", .absent),
        Case("major version 2", "E1201200", "0300FE", .unsupportedVersion(.type2, .init(major: 2, minor: 0))),
        Case("major version 0", "E1011200", "0300FE", .unsupportedVersion(.type2, .init(major: 0, minor: 1))),
        Case("up to the last byte", "E1100100", "0306 D10101550011", .message(message + [0x11])),
        Case(
            "one byte too long",
            "E1100100",
            "0307 D101015500111111",
            corrupt: .lengthOverCapacity(length: 7, capacity: 6),
            at: 16
        ),
        Case(
            "torn: length over the whole area",
            "E1101200",
            "0103A00C34 03FFFFFE",
            corrupt: .lengthOverCapacity(length: 0xFFFE, capacity: 135),
            at: 21
        ),
        Case(
            "block over the end",
            "E1100100",
            "FD07 000000000000",
            corrupt: .blockOverrun(tag: 0xFD, length: 7, left: 6),
            at: 16
        ),
        Case("no length byte", "E1100100", "00000000000000 03", corrupt: .cutHeader(tag: 3), at: 23),
        Case("one of two length bytes", "E1100100", "0000000000 03FF00", corrupt: .cutHeader(tag: 3), at: 21),
        Case(
            "lock control of 2 bytes",
            "E1101200",
            "0102A00C 0300FE",
            corrupt: .controlLength(tag: 1, length: 2),
            at: 16
        ),
        Case(
            "memory control of 4 bytes",
            "E1101200",
            "0204A00C3400 0300FE",
            corrupt: .controlLength(tag: 2, length: 4),
            at: 16
        ),
        // Memory control: page address 1 times 2^4 plus 8 is byte 24, 4 bytes, in the middle of the message.
        Case(
            "message around reserved bytes",
            "E1101200",
            "0203180404 0305 D1 FFFFFFFF 01015500 FE",
            .message(message)
        ),
        // Lock control: byte 3 times 2^3 is 24; 9 lock bits are 2 bytes.
        Case("message around lock bytes", "E1101200", "0103300933 0305 D1 FFFF 01015500 FE", .message(message)),
        Case("reserved bytes in a header", "E1101200", "0203150304 FFFFFF 03 05 D101015500 FE", .message(message)),
        Case("reserved bytes outside of the area", "E1100200", "0203F0000F 0305 D101015500 FE", .message(message)),
        // 256 bytes are reserved from byte 16 on: nothing is left behind the control block.
        Case("everything reserved", "E1101200", "0203100004 0305 D101015500 FE", .absent),
    ]

    @Test(arguments: cases) func walk(_ example: Case) {
        let image = type2Image(container: example.container, data: example.data)
        let read = readType2(image)
        #expect(read.result.map(\.ndef) == example.expected)
        #expect(read.exchanges <= 11)
        // A reader that gives single pages tells the same.
        for reader in [SimulatedReader(bytesPerRead: 4), SimulatedReader(bytesPerRead: 4, insistsOnLength: true)] {
            #expect(readType2(image, reader: reader).result.map(\.ndef) == example.expected)
        }
    }

    @Test(arguments: [
        ("00", TagArea.Access.free, TagArea.Access.free),
        ("08", .free, .proprietary(8)),
        ("0F", .free, .never),
        ("80", .proprietary(8), .free),
        ("88", .proprietary(8), .proprietary(8)),
        ("FF", .never, .never),
    ])
    func access(_ byte: String, read: TagArea.Access, write: TagArea.Access) throws {
        let image = type2Image(container: "E11012" + byte, data: "0305 D101015500 FE")
        let content = try readType2(image).result.get()
        // The tag gives the bytes, so they are read whatever the access nibble says.
        #expect(content.ndef == .message(Type2TagTests.message))
        #expect(content.area?.readAccess == read)
        #expect(content.area?.writeAccess == write)
        #expect(content.area?.isReadOnly == (write != .free))
        #expect(content.area?.version == .init(major: 1, minor: 0))
    }

    @Test(arguments: [
        // Bytes left for the block with its header; the longest message.
        (0, 0), (1, 0), (2, 0), (3, 1), (256, 254), (257, 254), (258, 254), (259, 255), (872, 868),
    ])
    func capacity(of left: Int, is capacity: Int) {
        #expect(TLVArea.capacity(of: left) == capacity)
    }

    @Test(arguments: [
        ("A00C34", true, 160..<162),  // NTAG213: page 28h, 12 bits
        ("A01044", true, 160..<162),  // NTAG203: 10 times 2^4, 16 bits
        ("F20003", true, 122..<154),  // 0 is 256 bits
        ("F20003", false, 122..<378),  // 0 is 256 bytes
        ("2A0505", false, 74..<79),
    ])
    func controlledBytes(_ value: String, locks: Bool, are range: Range<Int>) {
        #expect(TLVArea.controlledBytes(bytes(value), locks: locks) == range)
    }

    @Test(arguments: [SimulatedNTAG.Model.ntag213, .ntag215, .ntag216, .ultralight])
    func fullTag(_ model: SimulatedNTAG.Model) throws {
        let capacity = try #require(Self.content(SimulatedNTAG(model))?.area?.capacity)
        let message = (0..<capacity).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let tag = try #require(SimulatedNTAG.formatted(model, message: message))
        let content = Self.content(tag)
        #expect(content?.ndef == .message(message))
        #expect(capacity <= model.lastUserPage * 4)
    }

    static func content(_ card: any SimulatedCard) -> TagContent? {
        readType2(over: SimulatedCardChannel(card)).content
    }

    @Test func readsOnlyWhatIsNeeded() throws {
        let tag = try #require(SimulatedNTAG.formatted(.ntag216, message: Self.message))
        let channel = SimulatedCardChannel(tag)
        #expect(readType2(over: channel).content?.ndef == .message(Self.message))
        #expect(channel.commands.map(\.hex) == ["FFB0000010", "FFB0000410"])
    }

    @Test func limit() throws {
        let tag = try #require(SimulatedNTAG.formatted(.ntag213, message: Self.message))
        let exact = readType2(over: SimulatedCardChannel(tag), limits: NDEFLimits(message: 5))
        #expect(exact.content?.ndef == .message(Self.message))
        let tooLong = readType2(over: SimulatedCardChannel(tag), limits: NDEFLimits(message: 4))
        #expect(tooLong.error == .tooLong(length: 5, limit: 4))
    }

    // The exchange of a Type 2 tag in nfcpy's tests (F14): a Smart Poster http://nfcpy.org with a title, as raw frames.
    @Test(arguments: ["00", "08", "80", "88", "FF"]) func rawFrames(access: String) throws {
        let blocks: [UInt8: String] = [
            0x00: "040490180000000101480000E11006" + access,
            0x04: "031FD1021A537091010A55036E666370",
            0x08: "792E6F72675101085402656E6E666370",
            0x0C: "79FE0000000000000000000000000000",
        ]
        let facts = CardFacts(technology: .iso14443a, values: [.init("sak", [0x00])])
        let channel = AnsweringChannel(facts: facts) { frame throws(ReaderError) in
            guard frame.bytes.count == 2, frame.bytes[0] == 0x30, let block = blocks[frame.bytes[1]] else {
                return RawFrame([0x00], bitsInLastByte: 4)
            }
            return RawFrame(bytes(block))
        } _: { _ throws(ReaderError) in
            [0x6E, 0x00]
        }
        let content = try TagReader.readNDEF(over: channel)
        #expect(
            content.ndef.bytes?.hex
                == "D1021A537091010A55036E666370792E6F72675101085402656E6E66637079"
        )
        #expect(content.area?.capacity == 46)
        #expect(channel.commands.isEmpty)
        #expect(channel.frames.count == 4)
    }
}
