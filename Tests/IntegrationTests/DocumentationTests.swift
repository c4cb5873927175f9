import Foundation
import Testing

/// What the documents promise can be followed.
@Suite struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let documents = [
        "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Fixtures/README.md",
        "Benchmarks/README.md",
    ]

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Every Swift block of the README stands, line for line and in its order, in a program of `Examples/`, which is
    /// built and run by `Scripts/test`.
    @Test func codeInTheReadmeIsBuilt() throws {
        let readme = try Self.text("README.md")
        let files = ["ReadACard/main", "MembershipKiosk/main", "FreeCoffee/FreeCoffee", "TestYourKiosk/main"]
        let programs = try files.map { Self.lines(try Self.text("Examples/Sources/\($0).swift")) }
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().map { block in
            Self.lines(block.components(separatedBy: "```").first ?? "")
        }
        #expect(blocks.count >= 3)
        for block in blocks {
            #expect(programs.contains { Self.holds($0, inOrder: block) }, "\(block.joined(separator: "\n"))")
        }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func holds(_ program: [String], inOrder block: [String]) -> Bool {
        var rest = program[...]
        for line in block {
            guard let index = rest.firstIndex(of: line) else { return false }
            rest = rest[(index + 1)...]
        }
        return true
    }

    @Test(arguments: documents)
    func linksLeadSomewhere(document: String) throws {
        let folder = Self.root.appendingPathComponent(document).deletingLastPathComponent()
        for link in try Self.text(document).matches(of: /\]\(([^)#]+)[^)]*\)/) {
            let target = String(link.1)
            guard !target.hasPrefix("http") else { continue }
            let path = folder.appendingPathComponent(target).path
            #expect(FileManager.default.fileExists(atPath: path), "\(document): \(target)")
        }
    }

    /// The tools know every command that the README lists.
    @Test func commandsInTheReadmeExist() async throws {
        let rows = try Self.text("README.md").matches(of: /\| `(readerctl|clubctl) ([a-z]+)( [a-z]+)?/)
        #expect(rows.count >= 10)
        for row in rows {
            let tool = row.1 == "readerctl" ? Tool.readerctl : Tool.clubctl
            let words = ([row.2] + [row.3].compactMap(\.self)).map { $0.trimmingCharacters(in: .whitespaces) }
            let outcome = try await tool.start(words + ["--help"]).finish()
            #expect(outcome.status == 0, "\(row.0)")
        }
    }

    @Test(arguments: ["70-clubkit-readers.rules", "93-clubkit-readers-power.rules", "blacklist-clubkit-nfc.conf"])
    func filesToInstallAreThere(name: String) {
        #expect(FileManager.default.fileExists(atPath: Self.root.appendingPathComponent("udev/" + name).path))
    }
}
