import ClubRecords
import Foundation
import RecordsTestSupport
import Testing

@testable import ClubScenarios

@Suite("Files of scenarios: bytes, encodings, and what YAML can be misused for", .timeLimit(.minutes(10)))
struct YAMLTextTests {
    private static func findings(_ bytes: [UInt8]) -> [ScenarioConfiguration.Finding] {
        do {
            _ = try ScenarioConfiguration(bytes: bytes, path: "s.yaml")
            return []
        } catch {
            return error.findings
        }
    }

    @Test(
        "The syntax's faults have a place and a hint",
        arguments: [
            ("scenarios:\n\t- id: a", 2, 1, "a tab", "spaces"),
            ("scenarios:\n  - id: a\n \ttitle: b", 3, 2, "a tab", "spaces"),
            ("scenarios:\n  - id: a: b", 2, 10, "mapping values", "quotes"),
            ("scenarios:\n  - id: 'a\n", 3, 1, "unexpected end", "Close"),
            ("scenarios:\n  - id: @a", 2, 9, "cannot start", "quotes"),
            ("scenarios:\n  - id: *a", 2, 9, "undefined alias", "quotes"),
            ("scenarios: []\n---\nscenarios: []", 2, 1, "another document", "---"),
            ("scenarios: [}", 1, 13, "this is neither YAML nor JSON", "brackets"),
            ("scenarios:\n  - id: a\n   title: b", 3, 4, "this is neither YAML nor JSON", "indentation"),
            ("scenarios:\n  - id: \"a\\q\"", 2, 11, "escape", "backslash"),
            ("a: \"\\ud83c\\udf89\"", 1, 7, "escape", "character itself"),
        ]
    )
    func syntax(_ yaml: String, _ line: Int, _ column: Int, _ part: String, _ hint: String) {
        let found = RewardSupport.faults(yaml)
        #expect(found.map { [$0.line, $0.column] } == [[line, column]], "\(found)")
        #expect(found.first?.message.contains(part) == true, "\(found)")
        #expect(found.first?.hint.contains(hint) == true, "\(found)")
    }

    @Test("Columns are characters from 1, with any line ends, and with a byte order mark")
    func columns() {
        for end in ["\n", "\r\n", "\r", "\u{85}", "\u{2028}"] {
            for mark in ["", "\u{FEFF}"] {
                let lines = [
                    "scenarios:", "  - id: äöü", "    title: 'é'", "    titel: x", "    titol: y",
                    "  - { id: ü, x: 1 }",
                ]
                let found = RewardSupport.faults(mark + lines.joined(separator: end))
                #expect(found.map { [$0.line, $0.column] } == [[4, 5], [5, 5], [6, 14]], "\(found)")
            }
        }
    }

    @Test(
        "Bytes that are no UTF-8 text",
        arguments: [
            ([0xFF, 0xFE, 0x61, 0x00], 1, 1, "UTF-16"), ([0xFE, 0xFF, 0x00, 0x61], 1, 1, "UTF-16"),
            ([0x61, 0x3A, 0x0A, 0xC3, 0xA9, 0xE9, 0x0A], 2, 2, "UTF-8"), ([0x61, 0xC0, 0x80], 1, 2, "UTF-8"),
            ([0x61, 0x0A, 0x62, 0x00], 2, 2, "U+0000"), ([0x1B, 0x5B], 1, 1, "U+001B"), ([0x7F], 1, 1, "U+007F"),
            ([0xC2, 0x9B], 1, 1, "U+009B"),
        ] as [([UInt8], Int, Int, String)]
    )
    func bytes(_ bytes: [UInt8], _ line: Int, _ column: Int, _ part: String) {
        let found = Self.findings(bytes)
        #expect(found.map { [$0.line, $0.column] } == [[line, column]], "\(found)")
        #expect(found.first?.message.contains(part) == true, "\(found)")
    }

    @Test("Long, endless, missing and unreadable files")
    func files() throws {
        let longest = ScenarioConfiguration.longestFile
        let start = "scenarios: []\n#"
        let fits = Array((start + String(repeating: "x", count: longest - start.utf8.count)).utf8)
        #expect(Self.findings(fits).isEmpty)
        #expect(Self.findings(fits + [0x78]).first?.message.contains("longer than 1048576 bytes") == true)
        for (path, part) in [("/dev/zero", "longer"), ("/nowhere/s.yaml", "No such file"), ("/", "directory")] {
            let error = #expect(throws: ScenarioConfigurationError.self) { try ScenarioConfiguration(path: path) }
            #expect(error?.findings.first?.message.contains(part) == true)
            #expect(error?.description.hasPrefix("\(path): ") == true)
        }
    }

    @Test("Aliases are refused before they are followed, however many values they stand for")
    func aliases() {
        var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...40 {
            let last = "*a\(level - 1)"
            bomb += "a\(level): &a\(level) [\(last), \(last), \(last), \(last), \(last), \(last), \(last), \(last)]\n"
        }
        for yaml in [bomb, bomb + "? *a40\n: x\n", bomb + "scenarios: *a40\n"] {
            let found = RewardSupport.faults(yaml)
            #expect(found.map { [$0.line, $0.column] } == [[2, 10]])
            #expect(found.first?.message.contains("\"*a0\" repeats") == true)
        }
        // What only looks like one is a text.
        let texts = "scenarios:\n  - id: a\n    title: R&B *night*, fish & chips *now*\n    message: 'Q&A *A*'\n"
        #expect(RewardSupport.faults(texts).isEmpty)
    }

    @Test("Brackets, lists and keys to any depth are refused", arguments: [31, 40, 500, 990, 100_000])
    func depth(_ depth: Int) {
        let texts = [
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth),
            String(repeating: "{a: ", count: depth) + "x" + String(repeating: "}", count: depth),
            String(repeating: "- ", count: depth) + "x", String(repeating: "[", count: depth),
        ]
        for text in texts { #expect(!RewardSupport.faults("scenarios:\n  - id: a\n    when:\n     " + text).isEmpty) }
    }

    @Test("A key that is repeated is reported once, where it first stands")
    func repeated() {
        let many = "scenarios:\n  - id: a\n" + (0..<100).map { _ in "    title: c\n" }.joined()
        #expect(RewardSupport.faults(many).map { [$0.line, $0.column] } == [[3, 5]])
        // What is no YAML further down does not hide it.
        #expect(RewardSupport.faults("scenarios: [{ id: a, id: b }]\nx: 'y").map(\.line) == [1])
        let others = [
            "title: x\n    title: y", "\"title\": x\n    'title': y", "<<: { title: x }\n    <<: { title: y }",
        ]
        for lines in others {
            let found = RewardSupport.faults("scenarios:\n  - id: a\n    \(lines)")
            #expect(found.map { [$0.line, $0.column] } == [[3, 5]], "\(found)")
        }
        let json = #"{"scenarios":[{"title":"\ud83c\udf89","id":"a","id":"b"}]}"#
        #expect(RewardSupport.faults(json).map { [$0.line, $0.column] } == [[1, 39]])
    }

    @Test("Columns behind joined escapes are those of the file")
    func escapes() {
        let json = #"{"scenarios":[{"title":"\ud83c\udf89\ud83c\udf89","idd":"a","id":"b"}]}"#
        #expect(RewardSupport.faults(json).map { [$0.line, $0.column] } == [[1, 51]])
    }
}
