import Foundation
import Testing

/// What is wrong with the arguments of a tool.
@Suite(.timeLimit(.minutes(10)))
struct UsageErrorTests {
    private static let wrong: [(tool: String, arguments: [String], message: String)] = [
        ("clubctl", ["members", "list", "--frobnicate"], "--frobnicate"),
        ("clubctl", ["members", "show"], "Missing expected argument"),
        ("clubctl", ["members", "frobnicate"], "frobnicate"),
        ("clubctl", ["members", "expiry", "A", "2026-02-30"], "neither 'never' nor a date"),
        ("clubctl", ["members", "edit", "A", "--field", "x:=[1,"], "is not JSON"),
        ("clubctl", ["members", "visit", "A"], "--reason"),
        ("clubctl", ["members", "list", "--sort", "size"], "size"),
        ("clubctl", ["kiosk", "--cooldown", "-1"], "--cooldown"),
        ("clubctl", ["stats", "--from", "yesterday"], "yesterday"),
        ("clubctl", ["import"], "Missing expected argument"),
        ("readerctl", ["scan", "--frobnicate"], "--frobnicate"),
        ("readerctl", ["uid"], "Missing expected argument"),
        ("readerctl", ["scan", "--timeout", "0"], "--timeout"),
        ("readerctl", ["ndef", "frobnicate"], "There is no command 'frobnicate'."),
        ("readerctl", ["repaly", "x"], "There is no command 'repaly'. Did you mean 'replay'?"),
        ("readerctl", ["capture", "chek", "x"], "There is no command 'chek'. Did you mean 'check'?"),
    ]

    private func tool(_ name: String) -> Tool { name == "clubctl" ? .clubctl : .readerctl }

    @Test("With --json they are one line of JSON, and a person is told the same", arguments: wrong)
    func lines(name: String, arguments: [String], message: String) async throws {
        let outcome = try await tool(name).start(arguments + ["--json"]).finish()
        #expect(outcome.status == 64)
        #expect(outcome.output.split(separator: "\n").count == 1, "\(outcome.output)")
        let error = try #require(outcome.objects.first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "usage")
        let text = try #require(error["message"] as? String)
        #expect(text.contains(message), "\(text)")
        #expect(!text.contains("Usage:"), "\(text)")
        #expect(outcome.messages.contains(message))
    }

    @Test("Without it nothing is printed on standard output", arguments: wrong)
    func words(name: String, arguments: [String], message: String) async throws {
        let outcome = try await tool(name).start(arguments).finish()
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.messages.contains(message))
    }

    @Test("Behind '--' it is no option, and help is no error", arguments: ["clubctl", "readerctl"])
    func noErrors(name: String) async throws {
        let behind = try await tool(name).start(["frobnicate", "--", "--json"]).finish()
        #expect(behind.status == 64)
        #expect(behind.output.isEmpty)
        let help = try await tool(name).start(["--help", "--json"]).finish()
        #expect(help.status == 0)
        #expect(!help.output.contains("\"error\""))
        let version = try await tool(name).start(["--version", "--json"]).finish()
        #expect(version.status == 0)
    }
}
