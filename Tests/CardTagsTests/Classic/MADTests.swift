import CardCore
import Testing
import TestSupport

@testable import CardTags

@Suite struct MADTests {
    private static func sectors(_ count: Int, _ application: String = "03E1") -> String {
        String(repeating: application, count: count)
    }

    /// Blocks 1 and 2, the publisher's sector, and the sectors of NDEF.
    private static let first: [(String, UInt8, [Int])] = [
        ("1401" + sectors(15), 1, Array(1...15)),
        ("DB0003E1" + sectors(14, "0000"), 0, [1]),
        ("C00103E1" + sectors(14, "0000"), 1, [1]),
        ("3000563D563C563C563C563C563C0000" + sectors(16, "00"), 0, []),
    ]

    @Test(arguments: first) func firstHalf(_ text: String, _ publisher: UInt8, _ ndef: [Int]) throws {
        let directory = try MAD(first: bytes(text))
        #expect(directory.publisherSector == publisher)
        #expect(MAD.sectors.filter { directory[$0] == .ndef } == ndef)
        #expect(directory.firstRun(of: .ndef) == ndef)
        #expect(directory.version == 1 && !directory.hasSecondHalf && directory.secondBytes == nil)
        #expect(directory.firstBytes.hex == text)
        var made = MAD(publisherSector: publisher)
        for sector in 1...15 { made[sector] = directory[sector] }
        #expect(made == directory)
    }

    @Test(arguments: [("E801" + sectors(23), [Int](17...39)), ("9E00" + sectors(23), Array(17...39))])
    func secondHalf(_ text: String, _ ndef: [Int]) throws {
        let directory = try MAD(first: bytes("1401" + Self.sectors(15)), second: bytes(text))
        #expect(directory.version == 2 && directory.hasSecondHalf)
        #expect(MAD.sectors.filter { directory[$0] == .ndef } == Array(1...15) + ndef)
        // Sector 16 belongs to the directory and does not end a run.
        #expect(directory.firstRun(of: .ndef) == Array(1...15) + ndef)
        #expect(directory.secondBytes?.hex == text)
    }

    @Test func recordedApplications() throws {
        let directory = try MAD(first: bytes("3000563D563C563C563C563C563C0000" + Self.sectors(16, "00")))
        #expect(directory[1]?.rawValue == 0x563D)
        #expect(directory[2]?.rawValue == 0x563C && directory[6]?.rawValue == 0x563C)
        #expect(directory[7] == .free && directory[15] == .free)
        #expect(directory[0] == nil && directory[16] == nil && directory[17] == nil && directory[40] == nil)
    }

    @Test(arguments: [
        ([1, 2, 3], [1, 2, 3]), ([5, 6, 9], [5, 6]), ([15, 17, 18], [15, 17, 18]), ([14, 17], [14]), ([39], [39]),
        ([], []), ([3, 5, 6, 7], [3]),
    ])
    func firstRun(_ sectors: [Int], _ run: [Int]) {
        var directory = MAD(hasSecondHalf: true)
        for sector in sectors { directory[sector] = .ndef }
        #expect(directory.firstRun(of: .ndef) == run)
        #expect(MAD.sectors.filter { directory[$0] == .ndef } == sectors)
    }

    @Test func everySingleBitMatters() throws {
        let good = bytes("1401" + Self.sectors(15))
        for bit in 0..<good.count * 8 {
            var bad = good
            bad[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: ClassicFormatError.self) { try MAD(first: bad) }
        }
    }

    @Test(arguments: [0, 1, 31, 33, 48]) func length(_ count: Int) {
        let error = #expect(throws: ClassicFormatError.self) { try MAD(first: Array(repeating: 0, count: count)) }
        #expect(error == .length(count, expected: 32))
    }

    @Test(arguments: [0, 1, 32, 47, 49]) func secondLength(_ count: Int) {
        let error = #expect(throws: ClassicFormatError.self) {
            try MAD(first: MAD().firstBytes, second: Array(repeating: 0, count: count))
        }
        #expect(error == .length(count, expected: 48))
    }

    @Test func anythingReadIsWrittenAsItWas() throws {
        // Seed 0x4D41_4431.
        var random = SeededNumbers(seed: 0x4D41_4431)
        for _ in rounds(400) {
            var made = MAD(
                hasSecondHalf: Bool.random(using: &random),
                publisherSector: .random(in: 0...63, using: &random)
            )
            for sector in MAD.sectors {
                made[sector] = MADApplication(rawValue: .random(in: 0...0xFFFF, using: &random))
            }
            let read = try MAD(first: made.firstBytes, second: made.secondBytes)
            #expect(read == made)
        }
    }
}
