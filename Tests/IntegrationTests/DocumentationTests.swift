import Foundation
import Testing

/// What the documents promise can be followed.
@Suite struct DocumentationTests {
    /// Every page that people read, and the articles.
    private static let documents: [String] = {
        let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        return pages + ["Fixtures/README.md", "Benchmarks/README.md", "Fuzz/README.md"]
            + files("Documentation", ending: ".md") + articles
    }()
    private static let articles = files("Sources", ending: ".md")

    private static func files(_ folder: String, ending suffix: String) -> [String] {
        let found = FileManager.default.enumerator(atPath: Page.root.appendingPathComponent(folder).path)
        return (found?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(suffix) }.map { "\(folder)/\($0)" }
            .sorted()
    }

    /// Every Swift block of the README, the documentation and the articles stands, line for line and in its order, in a
    /// file of `Examples/`, which is built by `Scripts/test`, or of the tests of what these have no trait for.
    @Test func codeInTheReadmeIsBuilt() throws {
        let programs = try
            (Self.files("Examples/Sources", ending: ".swift") + Self.files("Examples/Tests", ending: ".swift")
            + ["Tests/KioskWebTests/KioskWebTasks.swift", "Tests/SirenHTTPTests/SirenTasks.swift"])
            .map { Self.lines(try Page.text($0)) }
        #expect(Page.blocks("swift", of: try Page.text("README.md")).count >= 4)
        #expect(Self.documents.count >= 19)
        for document in Self.documents {
            for block in Page.blocks("swift", of: try Page.text(document)) {
                let found = programs.contains { Self.holds($0, inOrder: Self.lines(block)) }
                #expect(found, "\(document):\n\(block)")
            }
        }
    }

    @Test func readmeIsShort() throws {
        #expect(try Page.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 151)
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

    /// Every link that is no address leads to a file or folder that exists, and an anchor to a heading of that page.
    @Test(arguments: documents)
    func linksLeadSomewhere(document: String) throws {
        let folder = Page.root.appendingPathComponent(document).deletingLastPathComponent()
        for link in Self.prose(try Page.text(document)).matches(of: /\]\(([^)#\s]*)(?:#([^)\s]*))?\)/) {
            let target = String(link.1)
            guard !target.hasPrefix("http") else { continue }
            let file =
                target.isEmpty ? Page.root.appendingPathComponent(document) : folder.appendingPathComponent(target)
            #expect(FileManager.default.fileExists(atPath: file.path), "\(document): \(target)")
            guard let anchor = link.2, file.pathExtension == "md" else { continue }
            let headings = Self.anchors(try String(contentsOf: file, encoding: .utf8))
            #expect(headings.contains(String(anchor)), "\(document): \(link.0)")
        }
    }

    /// A link to a page, and to a heading, that is not there would be found.
    @Test func anchorsAreThoseOfTheHeadings() {
        #expect(
            Self.anchors("# A `b` c, d\n```\n# no\n```\n## A B c d\n## Twice\n## Twice\n") == [
                "a-b-c-d", "a-b-c-d-1", "twice", "twice-1",
            ]
        )
    }

    /// The text without its code blocks.
    private static func prose(_ text: String) -> String {
        text.components(separatedBy: "\n```").enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            .joined(separator: "\n")
    }

    /// The anchors of the headings as GitHub makes them: lower case, spaces as hyphens, no other punctuation, and a number
    /// where a heading comes again.
    private static func anchors(_ text: String) -> [String] {
        var seen: [String: Int] = [:]
        return prose(text).split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
            let title = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
            let anchor = String(title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) })
                .replacingOccurrences(of: " ", with: "-")
            defer { seen[anchor, default: 0] += 1 }
            return seen[anchor].map { "\(anchor)-\($0)" } ?? anchor
        }
    }

    /// The tools have every command that the documentation lists.
    @Test func commandsInTheReadmeExist() async throws {
        let pages = try ["Documentation/tools.md", "Documentation/passes.md"].map(Page.text)
        let rows = pages.joined().matches(of: /\| `(readerctl|clubctl) ([a-z]+)( [a-z]+)?/)
        #expect(rows.count >= 40)
        for row in rows {
            let tool = row.1 == "readerctl" ? Tool.readerctl : Tool.clubctl
            let words = ([row.2] + [row.3].compactMap(\.self)).map { $0.trimmingCharacters(in: .whitespaces) }
            let outcome = try await tool.start(words + ["--help"]).finish()
            #expect(outcome.status == 0, "\(row.0)")
        }
    }

    /// The tap that the page on JSON shows is the one that the command above it prints.
    @Test func shownTapIsPrinted() async throws {
        let block = try #require(Page.blocks("", of: Page.text("Documentation/json.md")).first)
        let command = try #require(block.split(separator: "\n").first).split(separator: " ").map(String.init)
        try #require(command.count == 9 && command[1] == "readerctl")
        let file = Page.root.appendingPathComponent(command[8]).path
        let outcome = try await Tool.readerctl.start(command[2..<8] + [file]).finish()
        let shown = try #require(Tool.object(block.split(separator: "\n").dropFirst().joined(separator: "\n")))
        let printed = try #require(outcome.objects.first)
        #expect(NSDictionary(dictionary: printed) == NSDictionary(dictionary: shown))
    }

    @Test(arguments: ["70-clubkit-readers.rules", "93-clubkit-readers-power.rules", "blacklist-clubkit-nfc.conf"])
    func filesToInstallAreThere(name: String) {
        #expect(FileManager.default.fileExists(atPath: Page.root.appendingPathComponent("udev/" + name).path))
    }
}
