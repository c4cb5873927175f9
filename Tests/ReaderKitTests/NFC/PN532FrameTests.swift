import CardCore
import Testing
import TestSupport

@testable import ReaderKit
@testable import ReaderKitTesting

/// The frames of a PN532's serial line (NXP UM0701, section 6.2.1).
@Suite struct PN532FrameTests {
    private typealias Item = PN532FrameDecoder.Item

    /// Bytes and meaning. The first column is also what is sent, unless the third says that it is only understood.
    private static let frames: [(bytes: String, frame: PN532Frame)] = [
        ("00 00 FF 00 FF 00", .acknowledgement),
        ("00 00 FF FF 00 00", .refusal),
        ("00 00 FF 01 FF 7F 81 00", .error),
        ("00 00 FF 02 FE D4 02 2A 00", .command([0x02])),
        ("00 00 FF 01 FF D4 2C 00", .command([])),
        ("00 00 FF 03 FD D4 14 01 17 00", .command([0x14, 0x01])),
        ("00 00 FF 06 FA D5 03 32 01 06 07 E8 00", .answer([0x03, 0x32, 0x01, 0x06, 0x07])),
        ("00 00 FF 09 F7 D4 00 00 6C 69 62 6E 66 63 BE 00", .command([0x00, 0x00] + Array("libnfc".utf8))),
    ]

    @Test(arguments: frames) func bothWays(bytes: String, frame: PN532Frame) throws {
        #expect(frame.bytes.hex == bytes.replacing(" ", with: ""))
        #expect(items(try Hex.decode(bytes)) == [.frame(frame)])
    }

    /// Length, form, and what its checksums are, at the borders of the two forms.
    @Test(arguments: [
        (1, "02FE"), (253, "FE02"), (254, "FF01"), (255, "FFFF0100FF"), (256, "FFFF0101FE"), (264, "FFFF0109F6"),
    ])
    func lengths(count: Int, header: String) {
        let frame = PN532Frame.answer((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let bytes = frame.bytes
        #expect(bytes.prefix(3).hex == "0000FF")
        #expect(bytes[3..<3 + header.count / 2].hex == header)
        #expect(items(bytes) == [.frame(frame)])
        // One byte at a time makes no difference.
        var decoder = PN532FrameDecoder()
        var found: [Item] = []
        for byte in bytes {
            decoder.append([byte])
            while let item = decoder.next() { found.append(item) }
        }
        #expect(found == [.frame(frame)])
    }

    @Test func tooLongIsCut() {
        let frame = PN532Frame.answer(Array(repeating: 7, count: 300))
        #expect(items(frame.bytes) == [.frame(.answer(Array(repeating: 7, count: 264)))])
    }

    /// What is found in bytes that are no frame, or more than one.
    @Test(
        arguments: [
            ("", []),
            // A preamble that wakes the chip, and shorter and longer ones.
            ("55 55 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 FF 02 FE D4 02 2A 00", [.frame(.command([0x02]))]),
            ("00 FF 02 FE D4 02 2A", [.frame(.command([0x02]))]),
            ("00 00 00 00 00 FF 00 FF 00", [.frame(.acknowledgement)]),
            // Two at once, with and without a postamble between them.
            (
                "00 00 FF 00 FF 00 00 00 FF 02 FE D4 02 2A 00 00 00 FF FF 00 00",
                [.frame(.acknowledgement), .frame(.command([0x02])), .frame(.refusal)]
            ),
            ("00 FF 00 FF 00 FF 02 FE D4 02 2A", [.frame(.acknowledgement), .frame(.command([0x02]))]),
            // Noise before, and a frame that is not there whole.
            ("12 FF FF 34 00 FE 00 00 FF 00 FF 00", [.frame(.acknowledgement)]),
            ("00 00 FF 02 FE D4 02", []),
            ("00 00 FF FF FF 01 00 FF D4", []),
            // Not well formed; what follows is found.
            ("00 00 FF 02 FD D4 02 2A 00 00 FF 00 FF 00", [.malformed(.lengthChecksum), .frame(.acknowledgement)]),
            ("00 00 FF 02 FE D4 02 2B 00 00 FF 00 FF 00", [.malformed(.dataChecksum), .frame(.acknowledgement)]),
            ("00 00 FF 02 FE D6 02 28 00 00 FF 00 FF 00", [.malformed(.identifier), .frame(.acknowledgement)]),
            ("00 00 FF 02 FE 7F 02 7F 00 00 FF 00 FF 00", [.malformed(.identifier), .frame(.acknowledgement)]),
            ("00 00 FF FF FF 01 00 FE 00 00 FF 00 FF 00", [.malformed(.lengthChecksum), .frame(.acknowledgement)]),
            ("00 00 FF FF FF 00 00 00 00 00 FF 00 FF 00", [.malformed(.length), .frame(.acknowledgement)]),
            ("00 00 FF FF FF 01 0A F5 00 00 FF 00 FF 00", [.malformed(.length), .frame(.acknowledgement)]),
            // A frame within one that was cut short.
            (
                "00 00 FF 05 FB D4 4A 00 00 FF 02 FE D4 02 2A 00",
                [.malformed(.dataChecksum), .frame(.command([0x02]))]
            ),
        ] as [(String, [PN532FrameDecoder.Item])]
    )
    func malformed(bytes: String, expected: [PN532FrameDecoder.Item]) throws {
        #expect(items(try Hex.decode(bytes)) == expected)
    }

    @Test func reset() {
        var decoder = PN532FrameDecoder()
        decoder.append([0x00, 0x00, 0xFF, 0x20, 0xE0, 0xD4])
        #expect(decoder.next() == nil)
        #expect(decoder.isWithinFrame)
        decoder.reset()
        #expect(!decoder.isWithinFrame)
        decoder.append(PN532Frame.refusal.bytes)
        #expect(decoder.next() == .frame(.refusal))
    }

    /// Seed 532. Frames of any length come through between noise that makes no start code.
    @Test func roundTrips() {
        var random = SeededNumbers(seed: 532)
        var failures: [[UInt8]] = []
        for _ in 0..<2000 {
            let body = random.bytes(Int.random(in: 0...264, using: &random))
            let frame: PN532Frame = Bool.random(using: &random) ? .command(body) : .answer(body)
            let noise = random.bytes(Int.random(in: 0...20, using: &random)).map {
                $0 == 0x00 || $0 == 0xFF ? 0x55 : $0
            }
            if items(noise + frame.bytes + noise) != [.frame(frame)] { failures.append(body) }
        }
        #expect(failures.isEmpty)
    }

    /// Seed 533. Whatever comes, the decoder ends, keeps no more than a frame, and finds what comes behind it.
    @Test func randomBytes() {
        var random = SeededNumbers(seed: 533)
        var failures = 0
        for _ in 0..<2000 {
            var decoder = PN532FrameDecoder()
            // Made of the bytes that mean something.
            let meaning: [UInt8] = [0x00, 0xFF, 0xFF, 0x00, 0x02, 0xFE, 0xD4, 0xD5, 0x7F, 0x01, 0x2A]
            var bytes = random.bytes(100)
            for index in bytes.indices where Bool.random(using: &random) {
                bytes[index] = meaning.randomElement(using: &random) ?? 0
            }
            decoder.append(bytes)
            while decoder.next() != nil {}
            decoder.reset()
            decoder.append(PN532Frame.command([0x02]).bytes)
            if decoder.next() != .frame(.command([0x02])) { failures += 1 }
        }
        #expect(failures == 0)
    }

    private func items(_ bytes: [UInt8]) -> [PN532FrameDecoder.Item] {
        var decoder = PN532FrameDecoder()
        decoder.append(bytes)
        var items: [PN532FrameDecoder.Item] = []
        while let item = decoder.next() { items.append(item) }
        return items
    }

    /// The examples of ISO/IEC 14443-3, annex B, and a FeliCa polling request.
    @Test(arguments: [
        (RadioChecksum.typeA, "0000", "A01E"), (.typeA, "1234", "26CF"), (.typeB, "000000", "CCC6"),
        (.typeB, "0FAAFF", "FCD1"), (.typeB, "0A123456", "2CF6"), (.feliCa, "0600FFFF0000", "0921"),
    ])
    func checksums(checksum: RadioChecksum, frame: String, expected: String) throws {
        let bytes = try Hex.decode(frame)
        #expect(checksum.bytes(of: bytes).hex == expected)
        #expect(checksum.strip(try Hex.decode(frame + expected)) == bytes)
        #expect(checksum.strip(try Hex.decode(frame + "0000")) == nil)
        #expect(checksum.strip([0x00, 0x00]) == nil)
    }
}
