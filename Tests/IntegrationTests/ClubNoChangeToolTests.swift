import Foundation
import TestSupport
import Testing

/// What is so already, what is left of somebody who was deleted, and what waits for somebody else.
@Suite(.timeLimit(.minutes(10)))
struct ClubNoChangeToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    @Test("What is so already is said, and not written down")
    func nothingChanges() async throws {
        for id in ["A", "B"] { _ = try await club.json("members", "add", id) }
        _ = try await club.json("members", "expiry", "A", "2030-12-31")
        _ = try await club.json("members", "cards", "block", "B", "--reason", "lost")
        _ = try await club.json("members", "distinct", "A", "B")
        _ = try await club.json("members", "cards", "add", "A", "04AA")
        _ = try await club.json("members", "cards", "replace", "04AA", "04BB", "--reason", "lost")
        let log = try await club.json("audit").count
        let commands: [([String], String)] = [
            (["unblock", "A"], "A was not blocked."), (["cards", "unblock", "A"], "The card A of A was not blocked."),
            (["cards", "block", "B"], "was blocked already."), (["expiry", "A", "2030-12-31"], ", as before."),
            (["edit", "A", "--remove-field", "x"], "nothing was changed."),
            (["tags", "A", "--remove", "gold"], "nothing was changed."), (["notes", "A", ""], "nothing was changed."),
            (["cards", "add", "A", "04BB"], "A has the card 04BB already; nothing was changed."),
            (["cards", "add", "A", "A"], "A has the card A already; nothing was changed."),
            (["cards", "replace", "04AA", "04BB"], "A has the card 04BB in place of 04AA already; nothing was"),
            (["distinct", "B", "A"], ", as was said before."),
        ]
        for (command, text) in commands {
            let outcome = try await club.run(["members"] + command)
            #expect(outcome.status == 0, "\(command)")
            #expect(outcome.output.contains(text), "\(command): \(outcome.output)")
        }
        #expect(try await club.json("audit").count == log)
    }

    @Test("Blanks round a key are no part of it")
    func blanks() async throws {
        _ = try await club.json("members", "add", " A ")
        _ = try await club.json("members", "add", "B")
        #expect(try await club.json("members", "show", "A ").first?["userId"] as? String == "A")
        #expect(try await club.run("members", "add", "A").status == 1)
        _ = try await club.json("members", "cards", "add", "\tA", " 04 a1 b2 c3 ")
        #expect(try await club.json("members", "show", "04A1B2C3").first?["userId"] as? String == "A")
        // A card that counts as a member already.
        let held = try await club.run("members", "cards", "add", "A", " B ")
        #expect(held.status == 1)
        #expect(held.messages.contains("clubctl members merge A B"), "\(held.messages)")
        #expect(
            try await club.json("members", "visit", " 04A1B2C3", "--reason", "forgot").first?["userId"] as? String
                == "A"
        )
        #expect(try await club.json("members", "delete", " B ", "--yes").count == 1)
        #expect(try await club.json("members", "list").count == 1)
    }

    @Test("Who was deleted has a history, gets what is held, and is erased")
    func afterDeleting() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        _ = try await club.json("members", "visit", "A", "--reason", "forgot the card")
        _ = try await club.json("members", "delete", "A", "--yes")
        let history = try await club.json("members", "history", "A")
        #expect(history.contains { $0["event"] as? String == "visit" })
        #expect(history.contains { $0["action"] as? String == "deleted" })
        #expect(try await club.json("members", "disclose", "A", club.scratch.file("folder")).count == 2)
        let erased = try await club.json("members", "erase", "A", "--yes")
        #expect(erased.first?["erased"] as? String == "A")
        for command in [["history", "A"], ["erase", "A", "--yes"], ["disclose", "A", club.scratch.file("other")]] {
            #expect(try await club.run(["members"] + command).status == 1, "\(command)")
        }
    }

    @Test("Waiting for the other end of a pipe is interrupted", arguments: [SIGINT, SIGTERM])
    func pipes(signal: Int32) async throws {
        _ = try await club.json("members", "add", "A")
        let pipe = club.scratch.file("pipe.csv")
        #expect(mkfifo(pipe, 0o600) == 0)
        for command in [["import", pipe], ["export", pipe, "--force"]] {
            let tool = try Tool.clubctl.start(command + ["--database", club.database])
            // As soon as it takes the signal: from then on it is not lost.
            try await until("it takes the signal") { try takes(signal, tool.identifier) }
            tool.kill(signal)
            #expect(await tool.finish().status == 130, "\(command)")
        }
    }

    @Test("A pipe that somebody writes is imported, and one that somebody reads is exported to")
    func shell() async throws {
        let tool = Tool.clubctl.path
        let script = """
            '\(tool)' import --type csv <(printf 'userId\\nA\\nB\\n') --database '\(club.database)' || exit 1
            '\(tool)' export --type csv --force >(cat >'\(club.scratch.file("copy"))') --database '\(club.database)'
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        process.standardOutput = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try await club.json("members", "list").count == 2)
    }

    @Test("A damaged beginning can be repaired, and the advice says so")
    func damagedHead() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: club.database))
        try file.write(contentsOf: [UInt8](repeating: 0x5A, count: 100))
        try file.close()
        let found = try await club.run("check")
        #expect(found.status == 1)
        let text = found.output + found.messages
        #expect(text.contains("check --repair"))
        #expect(!text.contains("begin a new"))
        #expect(try await club.run("members", "list").messages.contains("repair it"))
        _ = try await club.run("check", "--repair")
        #expect(try await club.json("members", "list").first?["username"] as? String == "Anna")
    }
}
