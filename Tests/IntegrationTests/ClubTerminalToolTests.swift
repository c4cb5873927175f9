import Foundation
import Testing

/// The tool on a terminal: questions and bars.
@Suite(.timeLimit(.minutes(10)))
struct ClubTerminalToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    private func tool(_ arguments: [String], environment: [String: String] = [:]) throws -> TerminalTool {
        try TerminalTool(.clubctl, arguments + ["--database", club.database], environment: environment)
    }

    @Test(arguments: [("y", true), ("yes", true), ("n", false), ("", false), ("yep", false)])
    func asksBeforeItDeletes(_ answer: String, _ isDeleted: Bool) async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        let tool = try tool(["members", "delete", "A"])
        await tool.expect("Delete Anna (A) with 0 visits? [y/N]")
        tool.type(answer + "\n")
        #expect(await tool.finish() == (isDeleted ? 0 : 1))
        #expect(tool.screen.contains(isDeleted ? "Deleted Anna (A)." : "Nothing was changed."))
        #expect(try await club.json("members", "list").isEmpty == isDeleted)
    }

    @Test func anInterruptedQuestionChangesNothing() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        let tool = try tool(["members", "erase", "A"])
        await tool.expect("[y/N]")
        tool.type("\u{3}")
        #expect(await tool.finish() == 130)
        #expect(try await club.json("members", "list").count == 1)
    }

    /// A bar while it works, and none with `NO_COLOR`.
    @Test func progressBars() async throws {
        var csv = "userId,username\n"
        for number in 0..<10_000 { csv += "M-\(number),Member \(number)\n" }
        let file = try club.scratch.write(csv, to: "many.csv")
        let shown = try tool(["import", file, "--dry-run"], environment: ["NO_COLOR": ""])
        #expect(await shown.finish() == 0)
        #expect(shown.screen.contains("Checking  "))
        #expect(shown.screen.contains("░"))
        let plain = try tool(["import", file, "--dry-run"], environment: ["NO_COLOR": "1"])
        #expect(await plain.finish() == 0)
        #expect(!plain.screen.contains("Checking  "))
        #expect(plain.screen.contains("new members  10 000"))
    }
}
