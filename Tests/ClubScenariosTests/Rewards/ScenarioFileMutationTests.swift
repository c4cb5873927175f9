import ClubRecords
import Foundation
import Testing
import TestSupport

@testable import ClubScenarios

@Suite("Files of scenarios: whatever becomes of a file", .timeLimit(.minutes(10)))
struct ScenarioFileMutationTests {
    /// Seed 20261122: one or two changes of a byte, a word or a line.
    @Test("A changed file gives scenarios that can be used, or findings with places in it")
    func mutations() throws {
        var random = SeededNumbers(seed: 20_261_122)
        let original = Array(RewardSupport.everything.utf8)
        let pieces = [
            "*a", "&a ", "{", "}", "[", "]", ":", "- ", "\"", "'", "#", "|", ">", "!", "%", "@", "\t", "\n", "\r", " ",
            "? ", "<<: ", "~", "0", "-", "9999999999999999999999", "\u{FEFF}", "\u{2028}", "é", "🎉", "\0", "\u{1B}",
            "null", "---\n", "...\n", "within: week\n", "when: []\n", "2026-02-30", "\\ud83c\\udf89", "week", "1 day",
        ].map { Array($0.utf8) }
        var used = 0
        for _ in rounds(400) {
            var bytes = original
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                guard !bytes.isEmpty else { break }
                let at = Int.random(in: 0..<bytes.count, using: &random)
                let length = min(Int.random(in: 1...20, using: &random), bytes.count - at)
                switch Int.random(in: 0..<7, using: &random) {
                case 0: bytes.remove(at: at)
                case 1: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: at)
                case 3: bytes.removeSubrange(at..<(at + length))
                case 4:
                    bytes.insert(
                        contentsOf: bytes[at..<(at + length)],
                        at: Int.random(in: 0..<bytes.count, using: &random)
                    )
                case 5: bytes.replaceSubrange(at..<(at + length), with: pieces.randomElement(using: &random) ?? [])
                default:
                    var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
                    lines.swapAt(
                        Int.random(in: 0..<lines.count, using: &random),
                        Int.random(in: 0..<lines.count, using: &random)
                    )
                    bytes = Array(lines.joined(separator: [0x0A]))
                }
            }
            do {
                let file = try ScenarioConfiguration(bytes: bytes, path: "s.yaml")
                for scenario in file.scenarios { try scenario.validate() }
                #expect(Set(file.scenarios.map(\.id)).count == file.scenarios.count)
                used += 1
            } catch let error as ScenarioConfigurationError {
                try Self.check(error, bytes)
            }
        }
        // Otherwise nothing was shown of the one or the other.
        #expect((rounds(10).count...rounds(390).count).contains(used), "\(used)")
    }

    private static func check(_ error: ScenarioConfigurationError, _ bytes: [UInt8]) throws {
        #expect(!error.findings.isEmpty)
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.unicodeScalars.count { PlainText.isControl($0) || $0 == "\u{2028}" } + 2
        for finding in error.findings {
            #expect(
                finding.line >= 0 && finding.line <= lines && finding.column >= (finding.line > 0 ? 1 : 0),
                "\(finding)"
            )
            #expect(!finding.message.isEmpty && !finding.hint.isEmpty)
        }
        // A line for people each, whatever stood in the file.
        #expect(
            error.description.split(separator: "\n", omittingEmptySubsequences: false).count == error.findings.count
        )
        #expect(!error.description.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }
}
