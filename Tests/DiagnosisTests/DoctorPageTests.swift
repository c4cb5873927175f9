import Foundation
import TestSupport
import Testing

@testable import Diagnosis

/// The page of the documentation is made from the checks and from the tests' table of troubles.
@Suite struct DoctorPageTests {
    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Documentation/doctor.md").standardizedFileURL

    private static var table: String {
        Situation.all.reduce("| check | a machine with | is |\n| --- | --- | --- |\n") {
            $0 + "| `\($1.check)` | \($1.trouble) | \($1.verdict.words) |\n"
        }
    }

    @Test("The page has every check as it stands in the code, and every trouble that it is tried with")
    func page() throws {
        TestReport.add(section: "doctor", lines: [CheckTests.diagnosis.documentation, Self.table])
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        #expect(text.contains(CheckTests.diagnosis.documentation))
        #expect(text.contains(Self.table))
    }

    @Test("The checks that the page names exist")
    func names() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let ids = Set(CheckTests.diagnosis.checks.map(\.id))
        let rooms = Set(ids.compactMap { $0.split(separator: ".").first.map(String.init) })
        for match in text.matches(of: /`([a-z]+\.[a-z]+)`/)
        where rooms.contains(match.1.split(separator: ".")[0].description) {
            #expect(ids.contains(String(match.1)), "\(match.1)")
        }
    }
}
