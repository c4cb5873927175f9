import ClubKit
import Foundation
import TestSupport
import Testing

/// The documentation's day at the desk, run as it stands there.
@Suite(.timeLimit(.minutes(10)))
struct DeskDocumentationTests {
    /// The lines of the first block of that section.
    private func block(_ heading: String) throws -> [String] {
        let text = try Page.text("Documentation/desk.md")
        let section = try #require(text.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
        let block = try #require(section.components(separatedBy: "```").dropFirst().first)
        return block.split(separator: "\n").map(String.init)
    }

    @Test("Its commands do what it says of them")
    func desk() async throws {
        let scratch = try ScratchFolder()
        let lines = try block("A day at the desk")
        #expect(lines.count >= 8)
        let environment = ["XDG_DATA_HOME": scratch.file("data")]
        for line in lines {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let script = line.replacingOccurrences(of: "/var/backups", with: scratch.path)
            process.arguments = ["-c", "clubctl() { '\(Tool.clubctl.path)' \"$@\"; }; \(script)"]
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.start()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(line)")
        }
        let shown = try await Tool.clubctl.run("members", "show", "U77", "--json", environment: environment)
        let status = try #require(shown.objects.first?["$status"] as? [String: Any])
        let cards = try #require(status["cards"] as? [[String: Any]])
        // Only the lost card is blocked: neither the one in its place, nor what the member is known by.
        #expect(cards.filter { $0["blocked"] != nil }.compactMap { $0["id"] as? String } == ["04A1B2C3D4E580"])
        #expect(Set(cards.compactMap { $0["id"] as? String }) == ["U77", "04A1B2C3D4E580", "04D2C3B4A59680"])
        #expect(FileManager.default.fileExists(atPath: scratch.file("club.sqlite")))
    }

    @Test("It has every name of what the club keeps itself")
    func columns() throws {
        let text = try Page.text("Documentation/desk.md")
        for column in StandingColumn.allCases {
            for names in column.names.split(separator: "\n") { #expect(text.contains("| \(names) |"), "\(names)") }
        }
    }
}
