import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Every write of MIFARE Classic, Type 3 and Type 5 tags, cut at every command.
@Suite struct StorageTearTests {
    /// Lengths of the old and the new message. Together they cover a message in one block and in several, and both forms
    /// of the length.
    private static let changes: [(Int, Int)] = [(0, 5), (5, 0), (5, 9), (60, 5), (5, 60), (60, 61)]

    private static func matrix(
        _ name: String,
        _ way: TagWay,
        _ change: (Int, Int),
        stride: Int = 9,
        card: @escaping ([UInt8]) throws -> any SimulatedCard
    ) throws {
        let old = sample(change.0)
        let matrix = TearMatrix(
            name: "\(name), \(way.testDescription), \(change.0) to \(change.1) bytes",
            old: old,
            new: sample(change.1, seed: 9),
            card: { try card(old) },
            channel: { way.channel($0) },
            stride: stride
        )
        let counts = try matrix.run()
        #expect(counts.others == 0 && counts.old > 0 && counts.new > 0, "\(counts)")
    }

    @Test(arguments: changes, TagWay.allCases) func classic(_ change: (Int, Int), _ way: TagWay) throws {
        try Self.matrix("MIFARE Classic", way, change) { message in
            try #require(SimulatedMIFAREClassic.formatted(.mini, message: message))
        }
    }

    @Test(arguments: TagWay.allCases) func longClassic(_ way: TagWay) throws {
        try Self.matrix("MIFARE Classic", way, (254, 300), stride: 151) { message in
            try #require(SimulatedMIFAREClassic.formatted(message: message))
        }
    }

    @Test(arguments: changes + [(16, 32), (33, 100)], TagWay.allCases)
    func type3(_ change: (Int, Int), _ way: TagWay) throws {
        try Self.matrix("Type 3, FeliCa Lite", way, change) { message in
            try #require(SimulatedFeliCa.formatted(message: message))
        }
    }

    @Test(arguments: [(0, 5), (5, 0), (5, 9), (24, 5), (5, 24), (24, 25)], TagWay.allCases)
    func type5(_ change: (Int, Int), _ way: TagWay) throws {
        for size in [4, 8] {
            var configuration = SimulatedVicinityTag.Configuration()
            configuration.blockSize = size
            try Self.matrix("Type 5, blocks of \(size)", way, change, stride: 34) { message in
                try #require(SimulatedVicinityTag.formatted(message: message, configuration: configuration))
            }
        }
    }

    @Test(arguments: TagWay.allCases) func longType5(_ way: TagWay) throws {
        var configuration = SimulatedVicinityTag.Configuration()
        (configuration.blockSize, configuration.blocks) = (32, 10)
        try Self.matrix("Type 5, blocks of 32", way, (250, 260), stride: 34) { message in
            try #require(SimulatedVicinityTag.formatted(message: message, configuration: configuration))
        }
    }
}
