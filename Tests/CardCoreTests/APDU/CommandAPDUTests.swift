import Testing
import TestSupport

@testable import CardCore

/// The lengths at which an encoding changes, and their neighbours.
private let lengths = [0, 1, 2, 254, 255, 256, 257, 65_534, 65_535]
private let expectedLengths: [Int?] = [nil, 1, 2, 254, 255, 256, 257, 65_534, 65_535, 65_536]

@Suite struct CommandAPDUTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        var hex: String
        var apduCase: APDUCase
        var data: [UInt8] = []
        var expectedLength: Int?
        var shortest: String?
        var testDescription: String { hex }
    }

    static let vectors: [Vector] = [
        Vector(hex: "00A4040C", apduCase: .case1),
        Vector(hex: "00A4040C01", apduCase: .case2Short, expectedLength: 1),
        Vector(hex: "00A4040CFF", apduCase: .case2Short, expectedLength: 255),
        Vector(hex: "00A4040C00", apduCase: .case2Short, expectedLength: 256),
        Vector(hex: "00A4040C01AA", apduCase: .case3Short, data: [0xAA]),
        Vector(hex: "00A4040C020000", apduCase: .case3Short, data: [0, 0]),
        Vector(hex: "00A4040C01AA00", apduCase: .case4Short, data: [0xAA], expectedLength: 256),
        Vector(hex: "00A4040C02AABB10", apduCase: .case4Short, data: [0xAA, 0xBB], expectedLength: 16),
        Vector(hex: "00A4040C000101", apduCase: .case2Extended, expectedLength: 257),
        Vector(hex: "00A4040C000000", apduCase: .case2Extended, expectedLength: 65_536),
        Vector(hex: "00A4040C00FFFF", apduCase: .case2Extended, expectedLength: 65_535),
        Vector(hex: "00A4040C000010", apduCase: .case2Extended, expectedLength: 16, shortest: "00A4040C10"),
        Vector(hex: "00A4040C000100", apduCase: .case2Extended, expectedLength: 256, shortest: "00A4040C00"),
        Vector(hex: "00A4040C000001AA", apduCase: .case3Extended, data: [0xAA], shortest: "00A4040C01AA"),
        Vector(
            hex: "00A4040C000001AA0000",
            apduCase: .case4Extended,
            data: [0xAA],
            expectedLength: 65_536
        ),
        Vector(
            hex: "00A4040C000002AABB0010",
            apduCase: .case4Extended,
            data: [0xAA, 0xBB],
            expectedLength: 16,
            shortest: "00A4040C02AABB10"
        ),
    ]

    @Test(arguments: vectors) func decodesAndEncodes(_ vector: Vector) throws {
        let bytes = try Hex.decode(vector.hex)
        let command = try CommandAPDU(bytes: bytes)
        #expect([command.cla, command.ins, command.p1, command.p2] == [0x00, 0xA4, 0x04, 0x0C])
        #expect(command.data == vector.data)
        #expect(command.expectedLength == vector.expectedLength)
        let apduCase = try APDUCase(bytes: bytes)
        #expect(apduCase == vector.apduCase)
        #expect(try command.encoded(as: apduCase.form) == bytes)
        #expect(command.encoded().hex == vector.shortest ?? vector.hex)
        #expect(
            try command
                == CommandAPDU(
                    cla: 0x00,
                    ins: 0xA4,
                    p1: 0x04,
                    p2: 0x0C,
                    data: vector.data,
                    expectedLength: vector.expectedLength
                )
        )
    }

    @Test(arguments: lengths, expectedLengths) func bordersAreExact(_ length: Int, _ expected: Int?) throws {
        let data = [UInt8](repeating: 0x5A, count: length)
        let command = try CommandAPDU(cla: 0x80, ins: 0x12, p1: 0x34, p2: 0x56, data: data, expectedLength: expected)
        let fitsShort = length <= 255 && (expected ?? 0) <= 256
        #expect(command.form == (fitsShort ? .short : .extended))
        let encoded = command.encoded()
        // The size follows from the drawing of the standard, written down here independently of the encoder.
        let lc = length == 0 ? 0 : fitsShort ? 1 : 3
        let le = expected == nil ? 0 : fitsShort ? 1 : length == 0 ? 3 : 2
        #expect(encoded.count == 4 + lc + length + le)
        #expect(try CommandAPDU(bytes: encoded) == command)
        let extended = try command.encoded(as: .extended)
        #expect(try CommandAPDU(bytes: extended) == command)
        #expect(extended == encoded || fitsShort)
        if fitsShort {
            #expect(try command.encoded(as: .short) == encoded)
        } else {
            let error = #expect(throws: APDUError.self) { try command.encoded(as: .short) }
            #expect(error?.code == .needsExtendedForm)
            #expect(error?.offset == (length > 255 || length == 0 ? 4 : 5 + length))
        }
    }

    @Test func greatestLengthsAreWrittenAsZeros() throws {
        let short = try CommandAPDU(cla: 0, ins: 0xB0, p1: 0, p2: 0, expectedLength: 256)
        #expect(short.encoded() == [0, 0xB0, 0, 0, 0])
        let extended = try CommandAPDU(cla: 0, ins: 0xB0, p1: 0, p2: 0, expectedLength: 65_536)
        #expect(extended.encoded() == [0, 0xB0, 0, 0, 0, 0, 0])
        let data = [UInt8](repeating: 1, count: 256)
        let both = try CommandAPDU(cla: 0, ins: 0xB0, p1: 0, p2: 0, data: data, expectedLength: 256)
        #expect(both.encoded() == [0, 0xB0, 0, 0, 0, 1, 0] + data + [1, 0])
        let longest = [UInt8](repeating: 1, count: 65_535)
        let all = try CommandAPDU(cla: 0, ins: 0xB0, p1: 0, p2: 0, data: longest, expectedLength: 65_536)
        #expect(all.encoded().count == 65_544)
        #expect(all.encoded().starts(with: [0, 0xB0, 0, 0, 0, 0xFF, 0xFF]))
    }

    @Test(arguments: [
        (count: 65_536, expected: Int?.none, code: APDUError.Code.dataTooLong, offset: 4),
        (count: 0, expected: 0, code: .expectedLengthOutOfRange, offset: 4),
        (count: 0, expected: -1, code: .expectedLengthOutOfRange, offset: 4),
        (count: 0, expected: 65_537, code: .expectedLengthOutOfRange, offset: 4),
        (count: 3, expected: 65_537, code: .expectedLengthOutOfRange, offset: 8),
        (count: 256, expected: Int.max, code: .expectedLengthOutOfRange, offset: 263),
        (count: 0, expected: Int.min, code: .expectedLengthOutOfRange, offset: 4),
    ]) func refusesWhatNoCommandCarries(count: Int, expected: Int?, code: APDUError.Code, offset: Int) {
        let error = #expect(throws: APDUError.self) {
            try CommandAPDU(
                cla: 0,
                ins: 0,
                p1: 0,
                p2: 0,
                data: [UInt8](repeating: 0, count: count),
                expectedLength: expected
            )
        }
        #expect(error?.code == code)
        #expect(error?.offset == offset)
    }

    @Test(arguments: [
        ("", APDUError.Code.tooShort, 0),
        ("00", .tooShort, 1),
        ("00A404", .tooShort, 3),
        // Short Lc with too little data.
        ("00A4040002AA", .dataTruncated, 6),
        ("00A40400FFAA", .dataTruncated, 6),
        // Bytes after a short Le.
        ("00A4040001AA0000", .trailingBytes, 7),
        ("00A4040001AA000000", .trailingBytes, 7),
        // 00 begins an extended length of which a byte is missing.
        ("00A404000000", .lengthTruncated, 6),
        ("00A404000001", .lengthTruncated, 6),
        // An extended Lc of zero with something behind it.
        ("00A4040000000000", .zeroLength, 5),
        ("00A40400000000AA00", .zeroLength, 5),
        // Extended Lc with too little data.
        ("00A40400000002AA", .dataTruncated, 8),
        ("00A404000001FFAA", .dataTruncated, 8),
        ("00A4040000FFFFAA", .dataTruncated, 8),
        // One byte of Le after extended data.
        ("00A40400000001AA00", .lengthTruncated, 9),
        ("00A40400000001AA10", .lengthTruncated, 9),
        // Three bytes of Le after extended data.
        ("00A40400000001AA000000", .trailingBytes, 10),
    ]) func refusesMalformed(_ hex: String, _ code: APDUError.Code, _ offset: Int) throws {
        let bytes = try Hex.decode(hex)
        let error = #expect(throws: APDUError.self) { try CommandAPDU(bytes: bytes) }
        #expect(error?.code == code)
        #expect(error?.offset == offset)
        #expect(error?.message.isEmpty == false)
        #expect(throws: APDUError.self) { try APDUCase(bytes: bytes) }
    }

    @Test func refusesMoreThanTheLongest() throws {
        var bytes: [UInt8] = [0, 0, 0, 0, 0, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 65_535) + [0, 0]
        #expect(try APDUCase(bytes: bytes) == .case4Extended)
        bytes.append(0)
        let error = #expect(throws: APDUError.self) { try CommandAPDU(bytes: bytes) }
        #expect(error?.code == .tooLong)
        #expect(error?.offset == 65_544)
    }

    @Test func cutAtEveryByteIsNeverTheSameCommand() throws {
        let whole = try Hex.decode("00A40400000005AABBCCDDEE0010")
        let command = try CommandAPDU(bytes: whole)
        for count in whole.indices {
            #expect((try? CommandAPDU(bytes: Array(whole[..<count]))) != command)
        }
    }

    /// Seed 0x5550. The shapes are made likely: a random fifth byte alone would nearly never fit the length.
    @Test func randomBytesDecodeToTheSameBytesOrNot() throws {
        var random = SeededNumbers(seed: 0x5550)
        var seen: [APDUCase: Int] = [:]
        var malformed = 0
        var wrong: [[UInt8]] = []
        for _ in rounds(20_000) {
            let count = Int.random(in: 0...24, using: &random)
            var bytes = random.bytes(count)
            if count > 4, Bool.random(using: &random) { bytes[4] = UInt8.random(in: 0...16, using: &random) }
            if count > 6, Bool.random(using: &random) {
                bytes.replaceSubrange(4...6, with: [0, 0, UInt8.random(in: 0...16, using: &random)])
            }
            do throws(APDUError) {
                let command = try CommandAPDU(bytes: bytes)
                let apduCase = try APDUCase(bytes: bytes)
                let same = try command.encoded(as: apduCase.form)
                let again = try CommandAPDU(bytes: command.encoded())
                let isRight = same == bytes && again == command && !command.description.isEmpty
                if !isRight { wrong.append(bytes) }
                seen[apduCase, default: 0] += 1
            } catch {
                if !(0...bytes.count).contains(error.offset) { wrong.append(bytes) }
                malformed += 1
            }
        }
        #expect(wrong.isEmpty)
        #expect(seen.count == APDUCase.allCases.count)
        #expect(seen.values.allSatisfy { $0 > 100 })
        #expect(malformed > 1000)
    }

    @Test func expectingReplacesLe() throws {
        let command = CommandAPDU.readPages(4)
        #expect(try command.expecting(4).encoded() == [0xFF, 0xB0, 0, 4, 4])
        #expect(try command.expecting(nil).encoded() == [0xFF, 0xB0, 0, 4])
        #expect(throws: APDUError.self) { try command.expecting(0) }
    }

    @Test func errorsSayWhatAndWhatToDo() {
        for code in APDUError.Code.allCases {
            let error = APDUError(code, offset: 7, message: "could not do it")
            #expect(!error.hint.isEmpty)
            #expect(error.description == "could not do it (\(code.rawValue) at byte 7). \(error.hint)")
        }
    }
}
