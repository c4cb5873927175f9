import CardCore
import Testing
import TestSupport

@testable import CardTags

@Suite struct AccessConditionsTests {
    /// Read, write, increment, decrement by the data sheet: A, B, AB or - for nobody.
    private static let data: [UInt8: [String]] = [
        0b000: ["AB", "AB", "AB", "AB"], 0b010: ["AB", "-", "-", "-"], 0b100: ["AB", "B", "-", "-"],
        0b110: ["AB", "B", "B", "AB"], 0b001: ["AB", "-", "-", "AB"], 0b011: ["B", "B", "-", "-"],
        0b101: ["B", "-", "-", "-"], 0b111: ["-", "-", "-", "-"],
    ]

    /// Write key A, read and write the access bits, read and write key B.
    private static let trailer: [UInt8: [String]] = [
        0b000: ["A", "A", "-", "A", "A"], 0b010: ["-", "A", "-", "A", "-"], 0b100: ["B", "AB", "-", "-", "B"],
        0b110: ["-", "AB", "-", "-", "-"], 0b001: ["A", "A", "A", "A", "A"], 0b011: ["B", "AB", "B", "-", "B"],
        0b101: ["-", "AB", "B", "-", "-"], 0b111: ["-", "AB", "-", "-", "-"],
    ]

    private static func text(_ keys: AccessConditions.Keys) -> String {
        let text = (keys.contains(.a) ? "A" : "") + (keys.contains(.b) ? "B" : "")
        return text.isEmpty ? "-" : text
    }

    /// The three bytes, put together bit by bit as the data sheet draws them.
    private static func bytes(_ groups: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0, 0, 0]
        for (group, bits) in groups.enumerated() {
            let (c1, c2, c3) = (bits >> 2 & 1, bits >> 1 & 1, bits & 1)
            result[0] |= (1 - c1) << group | (1 - c2) << (group + 4)
            result[1] |= (1 - c3) << group | c1 << (group + 4)
            result[2] |= c2 << group | c3 << (group + 4)
        }
        return result
    }

    @Test(arguments: 0..<8, 0..<8) func everyCombination(_ data: Int, _ trailer: Int) throws {
        let (data, trailer) = (UInt8(data), UInt8(trailer))
        for other in UInt8(0)..<8 {
            let groups = [data, other, data ^ other, trailer]
            let encoded = Self.bytes(groups)
            let read = try AccessConditions(bytes: encoded)
            #expect(read.data.map(\.bits) == [data, other, data ^ other])
            #expect(read.trailer.bits == trailer)
            #expect(read.bytes == encoded)
            let made = AccessConditions(
                .init(bits: data),
                .init(bits: other),
                .init(bits: data ^ other),
                trailer: .init(bits: trailer)
            )
            #expect(made == read)
        }
        let block = AccessConditions.DataAccess(bits: data)
        #expect(
            [block.read, block.write, block.increment, block.decrement].map(Self.text) == Self.data[data]
        )
        let rights = AccessConditions.TrailerAccess(bits: trailer)
        #expect(
            [rights.keyAWrite, rights.accessRead, rights.accessWrite, rights.keyBRead, rights.keyBWrite]
                .map(Self.text) == Self.trailer[trailer]
        )
    }

    @Test(arguments: [
        ("FF0780", AccessConditions.transport), ("7F0788", .ndef), ("787788", .directory), ("078F0F", .locked),
    ])
    func knownBytes(_ text: String, _ conditions: AccessConditions) throws {
        #expect(conditions.bytes.hex == text)
        #expect(try AccessConditions(bytes: TestSupport.bytes(text)) == conditions)
        #expect(conditions.description == text)
    }

    @Test func meaning() {
        #expect(!AccessConditions.transport.keyBAuthenticates)
        #expect(AccessConditions.ndef.keyBAuthenticates && AccessConditions.ndef.trailer.write == .b)
        #expect(AccessConditions.directory.data.allSatisfy { $0.read == .either && $0.write == .b })
        #expect(AccessConditions.locked.data.allSatisfy { $0.read == .either && $0.write.isEmpty })
        #expect(AccessConditions.locked.trailer.write.isEmpty && AccessConditions.locked.trailer.accessWrite.isEmpty)
    }

    @Test func everySingleBitIsCheckedAgainstItsCopy() {
        for conditions in [AccessConditions.transport, .ndef, .directory, .locked] {
            for bit in 0..<24 {
                var bad = conditions.bytes
                bad[bit / 8] ^= 1 << (bit % 8)
                let error = #expect(throws: ClassicFormatError.self) { try AccessConditions(bytes: bad) }
                #expect(error == .contradictoryAccessBits)
            }
        }
    }

    @Test(arguments: [0, 1, 2, 4]) func length(_ count: Int) {
        let error = #expect(throws: ClassicFormatError.self) {
            try AccessConditions(bytes: Array(repeating: 0, count: count))
        }
        #expect(error == .length(count, expected: 3))
    }

    @Test(arguments: [(0, 4, 0), (2, 4, 2), (3, 4, 3), (0, 16, 0), (4, 16, 0), (5, 16, 1), (14, 16, 2), (15, 16, 3)])
    func groups(_ index: Int, _ count: Int, _ group: Int) {
        #expect(AccessConditions.group(ofBlock: index, of: count) == group)
    }
}
