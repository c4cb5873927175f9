import Foundation
import TestSupport
import Testing

/// A kiosk without readers that takes messages.
final class MessageKiosk {
    let club: ClubTool
    let socket: String
    let tool: RunningTool

    /// Starts it and waits until it is open.
    init(_ club: ClubTool, _ options: [String] = []) async throws {
        self.club = club
        socket = club.scratch.file("socket")
        tool = try Tool.clubctl.start(
            [
                "kiosk", "--json", "--database", club.database, "--listen", socket,
                "--reader", "smart-reader:" + club.scratch.file("no-line"),
            ] + options
        )
        _ = try #require(await tool.message(containing: "The kiosk is open"))
    }

    deinit { tool.kill() }

    /// Sends messages to its socket.
    func route(_ arguments: String...) async throws -> Tool.Outcome {
        try await Tool.clubctl.start(["route", "--json", "--to", socket] + arguments).finish()
    }

    /// Ends it as a person does, and gives its exit status.
    func stop() async -> Int32 {
        tool.kill(SIGINT)
        return await tool.finish().status
    }
}

/// `clubctl route` and the messages of the kiosk.
@Suite(.timeLimit(.minutes(10)))
struct ClubRouteToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    private func program(_ name: String, _ script: String) throws -> String {
        try club.scratch.program("#!/bin/sh\n" + script + "\n", to: name)
    }

    private func outcome(_ outcome: Tool.Outcome) -> String? { outcome.objects.first?["outcome"] as? String }

    @Test("A program says by its exit status what became of a message")
    func programs() async throws {
        let log = club.scratch.file("log")
        let echo = try program(
            "echo",
            "cat >'\(log)'; echo \"$CLUBKIT_MESSAGE_ID $CLUBKIT_MESSAGE_TYPE $CLUBKIT_MESSAGE_SOURCE\" >>'\(log)'"
        )
        let status = try program("status", "echo first >&2; echo 'out of paper' >&2; exit $(sed 's/[^0-9]//g')")
        let kiosk = try await MessageKiosk(
            club,
            ["--on", "echo=\(echo)", "--on", "status=\(status)", "--on", "slow=\(try program("slow", "sleep 600"))"]
                + ["--message-timeout", "8"]
        )
        let echoed = try await kiosk.route("--type", "echo", "--payload", #"{"messageId":"one","text":"Grüße"}"#)
        #expect(echoed.status == 0, "\(echoed.messages)")
        #expect(outcome(echoed) == "newData")
        #expect(echoed.objects.first?["processor"] as? String == "echo")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(Tool.object(lines[0])?["text"] as? String == "Grüße")
        #expect(lines[1] == "one echo socket")
        // The same identifier again is not taken.
        #expect(outcome(try await kiosk.route("--type", "echo", "--payload", #"{"messageId":"one"}"#)) == "duplicate")
        for (code, name, exit) in [(3, "noData", 0), (4, "unhandled", 1), (7, "failed", 1)] as [(Int, String, Int32)] {
            let result = try await kiosk.route("--type", "status", "--payload", #"{"code":\#(code)}"#)
            #expect(outcome(result) == name, "\(result.output)")
            #expect(result.status == exit)
            if name == "failed" { #expect(result.objects.first?["reason"] as? String == "out of paper") }
        }
        let slow = try await kiosk.route("--type", "slow")
        #expect(outcome(slow) == "timedOut")
        #expect(slow.status == 1)
        #expect(outcome(try await kiosk.route("--type", "unknown")) == "unhandled")
        // Each was told by the kiosk too.
        var told: [String] = []
        for _ in 0..<7 { told.append(try #require(await kiosk.tool.next("routed"))["outcome"] as? String ?? "") }
        #expect(
            told == ["newData", "duplicate", "noData", "unhandled", "failed", "timedOut", "unhandled"]
        )
        #expect(await kiosk.stop() == 130)
        #expect(!FileManager.default.fileExists(atPath: kiosk.socket))
    }

    @Test("A message sets what the kiosk is doing, and programs see it")
    func state() async throws {
        let log = club.scratch.file("log")
        let kiosk = try await MessageKiosk(
            club,
            ["--on", "look=\(try program("look", "echo \"$CLUBKIT_KIOSK_STATE\" >>'\(log)'"))"]
        )
        func set(_ state: String) async throws -> String? {
            outcome(try await kiosk.route("--type", "state", "--payload", "{\"state\":\"\(state)\"}"))
        }
        #expect(outcome(try await kiosk.route("--type", "look")) == "newData")
        #expect(try await set("maintenance") == "newData")
        #expect(await kiosk.tool.message(containing: "in maintenance") != nil)
        #expect(try await set("maintenance") == "noData")
        #expect(outcome(try await kiosk.route("--type", "look")) == "newData")
        #expect(try await set("closed") == "failed")
        #expect(try await set("serving") == "newData")
        #expect(outcome(try await kiosk.route("--type", "look")) == "newData")
        #expect(try String(contentsOfFile: log, encoding: .utf8) == "serving\nmaintenance\nserving\n")
        #expect(await kiosk.stop() == 130)
    }

    @Test("What the kiosk does itself")
    func ownTypes() async throws {
        _ = try await club.json("members", "add", "M-1", "--name", "Anna")
        let file = try club.scratch.write(
            "scenarios:\n  - { id: a, events: purchase, when: [{ events: { atLeast: 1, within: 7 days } }] }\n",
            to: "scenarios.yaml"
        )
        let kiosk = try await MessageKiosk(club, ["--scenarios", file])
        #expect(
            outcome(try await kiosk.route("--type", "announcement", "--payload", #"{"message":"We close"}"#))
                == "newData"
        )
        #expect(await kiosk.tool.message(containing: "We close") != nil)
        #expect(outcome(try await kiosk.route("--type", "announcement")) == "failed")

        let blocking = #"{"userId":"M-1","reason":"unpaid"}"#
        #expect(outcome(try await kiosk.route("--type", "block", "--payload", blocking)) == "newData")
        #expect(outcome(try await kiosk.route("--type", "block", "--payload", blocking)) == "noData")
        let shown = try await club.json("members", "show", "M-1")
        #expect((shown.first?["$status"] as? [String: Any])?["blocked"] as? String == "unpaid")
        #expect(outcome(try await kiosk.route("--type", "unblock", "--payload", #"{"userId":"M-1"}"#)) == "newData")
        #expect(outcome(try await kiosk.route("--type", "block", "--payload", #"{"userId":"nobody"}"#)) == "failed")

        let event = #"{"event":"purchase","userId":"M-1","eventId":"\#(UUID().uuidString)"}"#
        #expect(outcome(try await kiosk.route("--type", "trigger", "--payload", event)) == "newData")
        #expect(outcome(try await kiosk.route("--type", "trigger", "--payload", event)) == "noData")
        let explained = try await club.json("scenarios", "explain", "M-1", "--scenarios", file)
        #expect(explained.first?["isDue"] as? Bool == true)
        #expect((explained.first?["counters"] as? [String: Any])?["eventsCount"] as? Int == 1)

        #expect(outcome(try await kiosk.route("--type", "scenarios")) == "newData")
        try "scenarios: [{ id: 5, every: x }]\n".write(toFile: file, atomically: true, encoding: .utf8)
        let reloaded = try await kiosk.route("--type", "scenarios")
        #expect(outcome(reloaded) == "failed")
        #expect((reloaded.objects.first?["reason"] as? String)?.contains("line 1") == true)
        #expect(await kiosk.stop() == 130)
    }

    @Test("Files of a directory, and what is none")
    func folder() async throws {
        let folder = club.scratch.file("messages")
        let kiosk = try await MessageKiosk(club, ["--messages", folder])
        func put(_ text: String, _ name: String) throws {
            try text.write(toFile: folder + "/." + name, atomically: false, encoding: .utf8)
            try FileManager.default.moveItem(atPath: folder + "/." + name, toPath: folder + "/" + name)
        }
        try put(#"{"messageType":"announcement","message":"Hello"}"#, "one.json")
        let routed = try #require(await kiosk.tool.next("routed"))
        #expect(routed["source"] as? String == "directory")
        #expect(routed["outcome"] as? String == "newData")
        try await until("the file is gone") { !FileManager.default.fileExists(atPath: folder + "/one.json") }
        try put("no message", "two.json")
        try await until("it was moved away") {
            FileManager.default.fileExists(atPath: folder + "/rejected/two.json.reason")
        }
        #expect(await kiosk.stop() == 130)
    }

    @Test("Malformed messages, and nobody who listens")
    func faults() async throws {
        let file = try club.scratch.write("{\"messageType\":\"a\"}\n\n{\"b\":}\n[1]\n", to: "messages.jsonl")
        for target in [["--to", club.scratch.file("nowhere")], ["--database", club.database]] {
            let malformed = try await Tool.clubctl.start(["route", file, "--json"] + target).finish()
            #expect(malformed.status == 65)
            #expect(malformed.messages.contains("messages.jsonl:3:6:"), "\(malformed.messages)")
            #expect(malformed.messages.contains("messages.jsonl:4:1:"), "\(malformed.messages)")
        }
        // Nothing was sent.
        #expect(!FileManager.default.fileExists(atPath: club.database))
        let nobody = try await Tool.clubctl.run("route", "--type", "a", "--to", club.scratch.file("nowhere"))
        #expect(nobody.status == 69)
        #expect(try await Tool.clubctl.run("route", club.scratch.file("none")).status == 66)
        #expect(try await Tool.clubctl.run("route").status == 64)
        #expect(try await Tool.clubctl.run("route", "--type", "a", "--payload", "{").status == 65)
    }

    @Test("A message for a kiosk that is not there yet waits in the inbox, and a running one takes what comes there")
    func inbox() async throws {
        let early = try await club.json("route", "--type", "announcement", "--payload", #"{"message":"Early"}"#)
        #expect(early.first?["outcome"] as? String == "pending")
        let kiosk = try await MessageKiosk(club)
        let first = try #require(await kiosk.tool.next("routed"))
        #expect(first["id"] as? String == early.first?["id"] as? String)
        #expect(first["source"] as? String == "command")
        #expect(first["outcome"] as? String == "newData")
        let arguments = ["route", "-", "--wait", "--json", "--database", club.database]
        let text = "{\"messageType\":\"announcement\",\"message\":\"Late\"}\n{\"messageType\":\"unknown\"}\n"
        let late = try await Tool.clubctl.run(arguments, input: Array(text.utf8))
        #expect(late.status == 1)
        #expect(late.objects.compactMap { $0["outcome"] as? String } == ["newData", "unhandled"])
        #expect(await kiosk.stop() == 130)
    }
}
