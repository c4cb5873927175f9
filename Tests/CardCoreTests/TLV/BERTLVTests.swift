import Testing
import TestSupport

@testable import CardCore

@Suite struct BERTLVTests {
    /// Bytes in their shortest form, and the objects that they are.
    static let vectors: [(bytes: String, objects: [BERTLV])] = [
        ("", []),
        ("5000", [BERTLV(0x50, [])]),
        ("5001AA", [BERTLV(0x50, [0xAA])]),
        ("9F2602AABB", [BERTLV(0x9F26, [0xAA, 0xBB])]),
        ("BF0C035001AA", [BERTLV(0xBF0C, objects: [BERTLV(0x50, [0xAA])])]),
        ("9F8101017F", [BERTLV(0x9F8101, [0x7F])]),
        ("9F81810100", [BERTLV(0x9F81_8101, [])]),
        ("7000", [BERTLV(0x70, objects: [])]),
        ("500180510184", [BERTLV(0x50, [0x80]), BERTLV(0x51, [0x84])]),
        // The answer of a payment environment to SELECT, and of a phone with mobile passes.
        (
            "6F2A840E325041592E5359532E4444463031A518BF0C1561134F07A00000000310108701019F0A0400010101",
            [
                BERTLV(
                    0x6F,
                    objects: [
                        BERTLV(0x84, Array("2PAY.SYS.DDF01".utf8)),
                        BERTLV(
                            0xA5,
                            objects: [
                                BERTLV(
                                    0xBF0C,
                                    objects: [
                                        BERTLV(
                                            0x61,
                                            objects: [
                                                BERTLV(0x4F, bytes("A0000000031010")), BERTLV(0x87, [1]),
                                                BERTLV(0x9F0A, bytes("00010101")),
                                            ]
                                        )
                                    ]
                                )
                            ]
                        ),
                    ]
                )
            ]
        ),
        (
            "6F1D50084170706C655061799F210201009F2404010203049F23040000001E",
            [
                BERTLV(
                    0x6F,
                    objects: [
                        BERTLV(0x50, Array("ApplePay".utf8)), BERTLV(0x9F21, [1, 0]), BERTLV(0x9F24, [1, 2, 3, 4]),
                        BERTLV(0x9F23, [0, 0, 0, 0x1E]),
                    ]
                )
            ]
        ),
    ]

    @Test(arguments: vectors) func readsAndWrites(_ bytes: String, _ objects: [BERTLV]) throws {
        let raw = TestSupport.bytes(bytes)
        #expect(try BERTLV.decode(raw) == objects)
        #expect(try objects.encoded() == raw)
    }

    /// Forms that are read and written otherwise: padding, and lengths that are longer than they need be.
    @Test(
        arguments: [
            ("0000500100", "500100"),
            ("5001AA0000", "5001AA"),
            ("5001AA00005101BB", "5001AA5101BB"),
            ("7003000000", "7000"),
            ("508101AA", "5001AA"),
            ("50820001AA", "5001AA"),
            ("5083000001AA", "5001AA"),
            ("508400000001AA", "5001AA"),
            ("7081035001AA", "70035001AA"),
        ]
    )
    func readsOtherForms(_ given: String, _ shortest: String) throws {
        #expect(try BERTLV.decode(bytes(given)).encoded().hex == shortest)
    }

    @Test(arguments: [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x1_0000])
    func everySizeOfLength(_ count: Int) throws {
        let object = BERTLV(0x9F27, [UInt8](repeating: 0x55, count: count))
        let encoded = try object.encoded()
        let lengthBytes = count < 0x80 ? 1 : count < 0x100 ? 2 : count < 0x1_0000 ? 3 : 4
        #expect(encoded.count == 2 + lengthBytes + count)
        #expect(try BERTLV.decode(encoded) == [object])
    }

    @Test(
        arguments: [
            ("50", .lengthTruncated, 1), ("9F", .tagTruncated, 1), ("9F81", .tagTruncated, 2),
            ("9F8181", .tagTruncated, 3), ("9F81818101", .invalidTag, 0), ("9F800100", .invalidTag, 0),
            ("5001", .valueTruncated, 1), ("5002AA", .valueTruncated, 1), ("5080AA0000", .indefiniteLength, 1),
            ("5081", .lengthTruncated, 2), ("508201", .lengthTruncated, 3), ("5085000000000100", .lengthTooLong, 1),
            ("50FF", .lengthTooLong, 1), ("5084FFFFFFFF", .valueTruncated, 1), ("7003500280", .valueTruncated, 3),
            ("70025002AABB", .valueTruncated, 3), ("700150", .lengthTruncated, 3), ("70019F01", .tagTruncated, 3),
            ("5001AAFFFFFFFF", .tagTruncated, 7), ("5001AAFFFFFFFFFF", .invalidTag, 3),
        ] as [(String, BERTLVError.Code, Int)]
    )
    func malformed(_ given: String, _ code: BERTLVError.Code, _ offset: Int) {
        let error = #expect(throws: BERTLVError.self) { try BERTLV.decode(bytes(given)) }
        #expect(error == BERTLVError(code, at: offset))
        #expect(error?.description.contains(code.rawValue) == true)
    }

    @Test func whatStandsBeforeAFaultIsKept() {
        let (objects, error) = BERTLV.decodePrefix(bytes("4301AA 4703112233 FFFFFFFFFF"))
        #expect(objects.map(\.tag) == [0x43, 0x47])
        #expect(error == BERTLVError(.invalidTag, at: 8))
    }

    @Test func depth() throws {
        func nested(_ levels: Int) -> [UInt8] {
            var bytes: [UInt8] = [0x50, 0x01, 0xAA]
            for _ in 1..<levels { bytes = [0x70, UInt8(bytes.count)] + bytes }
            return bytes
        }
        let deepest = try BERTLV.decode(nested(ReaderLimits.tlvDepth))
        #expect(try deepest.encoded() == nested(ReaderLimits.tlvDepth))
        let error = #expect(throws: BERTLVError.self) { try BERTLV.decode(nested(ReaderLimits.tlvDepth + 1)) }
        #expect(error == BERTLVError(.tooDeep, at: 2 * ReaderLimits.tlvDepth))
        let written = #expect(throws: BERTLVError.self) { try BERTLV(0x70, objects: deepest).encoded() }
        #expect(written?.code == .tooDeep)
    }

    /// The deepest that bytes can be nested: no recursion goes further than the limit.
    @Test func endlessNesting() {
        var bytes: [UInt8] = []
        for level in (0..<30_000).reversed() {
            let length = UInt32(level * 5)
            bytes += [0x70, 0x83] + [16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        }
        let error = #expect(throws: BERTLVError.self) { try BERTLV.decode(bytes) }
        #expect(error?.code == .tooDeep)
    }

    @Test(
        arguments: [
            (BERTLV(0x50, objects: []), .primitiveWithChildren), (BERTLV(0x70, [1]), .constructedWithValue),
            (BERTLV(0x00, []), .invalidTag), (BERTLV(0x1F, []), .invalidTag), (BERTLV(0x5001, []), .invalidTag),
            (BERTLV(0x9F80, []), .invalidTag), (BERTLV(0x9F8001, []), .invalidTag),
        ] as [(BERTLV, BERTLVError.Code)]
    )
    func cannotBeWritten(_ object: BERTLV, _ code: BERTLVError.Code) {
        let error = #expect(throws: BERTLVError.self) { try object.encoded() }
        #expect(error?.code == code)
    }

    @Test func longerThanAnyCardCarries() {
        var code: BERTLVError.Code?
        do throws(BERTLVError) {
            _ = try BERTLV(0x50, [UInt8](repeating: 0, count: 0x100_0000)).encoded()
        } catch {
            code = error.code
        }
        #expect(code == .valueTooLong)
    }

    @Test(
        arguments: [
            (0x50, "50", false, true), (0x9F26, "9F26", false, true), (0xBF0C, "BF0C", true, true),
            (0x6F, "6F", true, true), (0x7F66, "7F66", true, true), (0x5F52, "5F52", false, true),
            (0, "00", false, false), (0x9F81_0100, "9F810100", false, false),
        ] as [(UInt32, String, Bool, Bool)]
    )
    func tags(_ number: UInt32, _ text: String, _ isConstructed: Bool, _ isValid: Bool) {
        let tag = BERTag(rawValue: number)
        #expect(tag.description == text)
        #expect(tag.isConstructed == isConstructed)
        #expect(tag.isValid == isValid)
    }

    @Test func finding() throws {
        let objects = try BERTLV.decode(bytes("6F03840101 6F0AA503500102 A503500103"))
        #expect(objects.find(0x6F)?.objects.count == 1)
        // The first object of a tag need not be the one that leads on.
        #expect(objects.find(0x6F, 0xA5, 0x50)?.value == [2])
        #expect(objects.find(0x84) == nil)
        #expect(objects.find() == nil)
        #expect(objects.first?.find(0x84)?.value == [1])
        #expect(objects.first?.find() == objects.first)
        #expect(objects.find(0x6F, 0x84)?.objects == [])
        #expect(objects.find(0x6F)?.value == nil)
    }

    // MARK: - Properties

    @Test func whateverIsWrittenIsReadAgain() throws {
        var random = SeededNumbers(seed: 0x71F)
        for _ in rounds(400) {
            let objects = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.object(depth: 1, &random) }
            #expect(try BERTLV.decode(objects.encoded()) == objects)
        }
    }

    /// Any bytes give objects or an error within the bytes, and what was read is written and read again as the same.
    @Test func anyBytes() {
        var random = SeededNumbers(seed: 0xBE5)
        var failures = 0
        for round in rounds(10_000) {
            var bytes = random.bytes(round % 40)
            // Small numbers make more objects than chance does.
            if round % 2 == 0 { bytes = bytes.map { [0x50, 0x70, 0x9F, 0x01, 0x02, 0x03, 0x81, $0][Int($0 & 7)] } }
            let (objects, error) = BERTLV.decodePrefix(bytes)
            if let error, !(0...bytes.count).contains(error.offset) { failures += 1 }
            if let written = try? objects.encoded(), (try? BERTLV.decode(written)) == objects { continue }
            failures += 1
        }
        #expect(failures == 0)
    }

    private static func object(depth: Int, _ random: inout SeededNumbers) -> BERTLV {
        if depth < ReaderLimits.tlvDepth, Int.random(in: 0..<3, using: &random) == 0 {
            let tags: [BERTag] = [0x6F, 0x70, 0xA5, 0xBF0C, 0x7F66, 0xBF8101]
            let count = Int.random(in: 0...3, using: &random)
            return BERTLV(
                tags[Int.random(in: 0..<tags.count, using: &random)],
                objects: (0..<count).map { _ in object(depth: depth + 1, &random) }
            )
        }
        let tags: [BERTag] = [0x50, 0x84, 0x9F26, 0xDF01, 0x5F52, 0x9F8101, 0xC1]
        return BERTLV(
            tags[Int.random(in: 0..<tags.count, using: &random)],
            random.bytes(Int.random(in: 0...300, using: &random))
        )
    }
}
