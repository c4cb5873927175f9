import Foundation
import Testing

/// `Documentation/original-api.md` is made of the tables of ``OriginalAPI`` and ``OriginalDefects``, whose tests must
/// exist.
@Suite("What became of the original libraries")
struct OriginalAPITests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// All tests of the package, as "Suite.function".
    private static func declaredTests() throws -> Set<String> {
        var tests: Set<String> = []
        let folder = root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(atPath: folder.path)
        while let file = files?.nextObject() as? String {
            guard file.hasSuffix(".swift") else { continue }
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            tests.formUnion(declaredTests(in: text))
        }
        return tests
    }

    /// Follows the sources line by line: a suite is a type whose name ends in "Tests".
    private static func declaredTests(in text: String) -> Set<String> {
        var tests: Set<String> = []
        var suite = ""
        var isTest = false
        for line in text.split(separator: "\n") {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "@" }
            func name(after keyword: Substring) -> String? {
                guard let index = words.firstIndex(of: keyword), index + 1 < words.endIndex else { return nil }
                return String(words[index + 1])
            }
            if !isTest, let type = name(after: "struct") ?? name(after: "class") ?? name(after: "extension"),
                type.hasSuffix("Tests")
            {
                suite = type
            }
            if words.first == "@Test" { isTest = true }
            if isTest, let function = name(after: "func") {
                tests.insert("\(suite).\(function)")
                isTest = false
            }
        }
        return tests
    }

    @Test("Every test that is named exists")
    func testsExist() throws {
        let tests = try Self.declaredTests()
        #expect(tests.contains("OriginalAPITests.testsExist"))
        #expect(!tests.contains("OriginalAPITests.declaredTests"))
        for item in (OriginalAPI.parts + OriginalDefects.parts).flatMap(\.items) {
            #expect(item.tests.isEmpty == item.isDeclined, "\(item.name)")
            for test in item.tests {
                let isThere = tests.contains(test)
                #expect(isThere, "\(item.name): \(test)")
            }
        }
    }

    @Test("All defects are there, in their order, and no item twice")
    func complete() {
        #expect(OriginalDefects.parts.map(\.items.count) == [20, 9, 9, 13, 7])
        for part in OriginalDefects.parts {
            for (number, defect) in part.items.enumerated() {
                #expect(defect.name.hasPrefix("\(number + 1). "))
            }
        }
        let names = OriginalAPI.parts.flatMap(\.items).map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test("The page that tells of it is made of these tables")
    func page() throws {
        let file = Self.root.appendingPathComponent("Documentation/original-api.md")
        if ProcessInfo.processInfo.environment["READERKIT_UPDATE_README"] == "1" {
            let folder = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(Self.text.utf8).write(to: file)
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == Self.text, "READERKIT_UPDATE_README=1 with this test writes the page anew")
    }

    private static var text: String {
        var text = """
            # The original libraries' API

            What each public item of the libraries whose public behaviour ClubKit covers does here, and what became of their
            defects. The tests named are functions of the package's test suites; this page is made from a table in them,
            and a test fails when it differs or names a test that does not exist.

            Under these names stands the API of `Club`'s own: async methods, async sequences of events and of changes of
            lists, values that are `Sendable`. A program written for the original library of members needs two edits in its custom
            class: the word `@objcMembers` goes, and a property has one name throughout. Its getters need `try`.

            KioskKit has WinkKit's names without their prefix, and knows no toolkit for user interfaces;
            [a kiosk application](kiosk-app.md) shows how its parts fit. The product LPMSirenKit has LPMSirenKit's names for
            [SirenKit](siren.md).

            """
        for part in OriginalAPI.parts + OriginalDefects.parts {
            text += "\n## \(part.title)\n\n| original | here | tests |\n| --- | --- | --- |\n"
            text += rows(part.items)
        }
        return text
    }

    private static func rows(_ items: [OriginalItem]) -> String {
        items.map { item in
            let tests = item.isDeclined ? "none" : item.tests.map { "`\($0)`" }.joined(separator: ", ")
            return "| \(item.name) | \(item.ours) | \(tests) |\n"
        }.joined()
    }
}
