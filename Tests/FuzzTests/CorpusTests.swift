import Foundation
import FuzzTargets
import Testing

/// Runs the fuzzer's targets on the inputs that are kept, without the fuzzer.
@Suite struct CorpusTests {
    /// The files of a folder of `Fuzz`, in order of their names.
    private static func inputs(_ folder: String, of target: FuzzTarget) throws -> [URL] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let directory = root.appending(components: "Fuzz", folder, target.rawValue)
        guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    /// A trap ends the process, so the name of the input is printed before, where a person looks for it.
    private static func run(_ target: FuzzTarget, on inputs: [URL]) throws {
        for input in inputs {
            do {
                try target.run(Array(Data(contentsOf: input)))
            } catch {
                Issue.record("\(target.rawValue)/\(input.lastPathComponent): \(error)")
            }
        }
    }

    @Test("what once was a finding is none any more", arguments: FuzzTarget.allCases)
    func regressions(_ target: FuzzTarget) throws {
        try Self.run(target, on: Self.inputs("regressions", of: target))
    }

    @Test("the corpus has no findings", arguments: FuzzTarget.allCases)
    func corpus(_ target: FuzzTarget) throws {
        let inputs = try Self.inputs("corpus", of: target)
        #expect(!inputs.isEmpty)
        try Self.run(target, on: inputs)
    }

    @Test("short inputs are harmless", arguments: FuzzTarget.allCases)
    func shortInputs(_ target: FuzzTarget) throws {
        for count in 0..<40 {
            for byte: UInt8 in [0x00, 0x01, 0x3B, 0x7F, 0x80, 0xD1, 0xFF] {
                try target.run([UInt8](repeating: byte, count: count))
            }
        }
    }
}
