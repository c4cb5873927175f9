import Foundation
import TestSupport
import Testing

/// `clubctl inbox`
@Suite(.timeLimit(.minutes(10)))
struct ClubInboxToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    @Test("Dead letters are listed, replayed by a kiosk that runs, and pruned")
    func deadLetters() async throws {
        let paper = club.scratch.file("paper")
        let program = try club.scratch.program(
            "#!/bin/sh\ntest -e '\(paper)' || { echo 'out of paper' >&2; exit 1; }\n",
            to: "print"
        )
        let kiosk = try await MessageKiosk(club, ["--on", "print=\(program)"])
        let payload = #"{"messageId":"voucher-1","name":"Anna"}"#
        #expect(try await kiosk.route("--type", "print", "--payload", payload).status == 1)
        #expect(try await kiosk.route("--type", "unknown", "--payload", #"{"messageId":"lost"}"#).status == 1)
        let dead = try await club.json("inbox", "list", "--state", "dead")
        #expect(dead.compactMap { $0["id"] as? String } == ["voucher-1", "lost"])
        #expect(dead.first?["reason"] as? String == "out of paper")
        #expect(dead.first?["outcome"] as? String == "failed")
        #expect((dead.first?["payload"] as? [String: Any])?["name"] as? String == "Anna")
        // What it says is not shown without being asked for.
        #expect(try await !club.run("inbox", "list").output.contains("Anna"))
        #expect(try await club.run("inbox", "list", "--payload").output.contains("Anna"))

        try "".write(toFile: paper, atomically: true, encoding: .utf8)
        for _ in 0..<2 { _ = try #require(await kiosk.tool.next("routed")) }
        let opened = try await club.json("inbox", "replay", "voucher-1")
        #expect(opened.first?["state"] as? String == "pending")
        let routed = try #require(await kiosk.tool.next("routed"))
        #expect(routed["id"] as? String == "voucher-1")
        #expect(routed["outcome"] as? String == "newData")
        try await until("it is done") {
            try await club.json("inbox", "list", "--state", "done").first?["id"] as? String == "voucher-1"
        }
        #expect(try await club.run("inbox", "replay", "voucher-1").status == 1)
        #expect(try await club.json("inbox", "replay", "--all").compactMap { $0["id"] as? String } == ["lost"])
        #expect(try #require(await kiosk.tool.next("routed"))["outcome"] as? String == "unhandled")
        #expect(await kiosk.stop() == 130)

        #expect(try await club.run("inbox", "prune", "--before", "2100-01-01").status == 64)
        let pruned = try await club.json("inbox", "prune", "--before", "2100-01-01", "--yes")
        #expect(pruned.first?["removed"] as? Int == 2)
        #expect(try await club.json("inbox", "list").isEmpty)
    }

    @Test("Closing lets the message end that is being processed, and leaves the others pending")
    func closing() async throws {
        let (begun, go) = (club.scratch.file("begun"), club.scratch.file("go"))
        let program = try club.scratch.program(
            "#!/bin/sh\ntouch '\(begun)'; while ! test -e '\(go)'; do sleep 0.05; done\n",
            to: "wait"
        )
        let text = (1...3).map { "{\"messageType\":\"wait\",\"messageId\":\"\($0)\"}\n" }.joined()
        let put = try await Tool.clubctl.run(
            ["route", "-", "--json", "--database", club.database],
            input: Array(text.utf8)
        )
        #expect(put.status == 0)
        let kiosk = try await MessageKiosk(club, ["--on", "wait=\(program)", "--message-timeout", "600"])
        try await until("the first has begun") { FileManager.default.fileExists(atPath: begun) }
        kiosk.tool.kill(SIGINT)
        // The socket goes first.
        try await until("it closes") { !FileManager.default.fileExists(atPath: kiosk.socket) }
        try "".write(toFile: go, atomically: true, encoding: .utf8)
        #expect(await kiosk.tool.finish().status == 130)
        let states = try await club.json("inbox", "list").map { $0["state"] as? String }
        #expect(states == ["done", "pending", "pending"])
        // The next kiosk does the rest.
        let next = try await MessageKiosk(club, ["--on", "wait=\(program)"])
        for id in ["2", "3"] {
            let routed = try #require(await next.tool.next("routed"))
            #expect(routed["id"] as? String == id)
            #expect(routed["outcome"] as? String == "newData")
        }
        #expect(await next.stop() == 130)
    }

    @Test("A message that was being processed when the kiosk was killed comes again")
    func killed() async throws {
        let begun = club.scratch.file("begun")
        let program = try club.scratch.program(
            "#!/bin/sh\ntest -e '\(begun)' && exit 0\ntouch '\(begun)'; exec sleep 30\n",
            to: "wait"
        )
        _ = try await club.json("route", "--type", "wait", "--payload", #"{"messageId":"1"}"#)
        let kiosk = try await MessageKiosk(club, ["--on", "wait=\(program)", "--message-timeout", "600"])
        try await until("it has begun") { FileManager.default.fileExists(atPath: begun) }
        kiosk.tool.kill()
        _ = await kiosk.tool.finish()
        #expect(try await club.json("inbox", "list", "--state", "pending").count == 1)
        let next = try await MessageKiosk(club, ["--on", "wait=\(program)"])
        let routed = try #require(await next.tool.next("routed"))
        #expect(routed["outcome"] as? String == "newData")
        #expect(await next.stop() == 130)
        let entry = try #require(try await club.json("inbox", "list").first)
        #expect(entry["attempts"] as? Int == 2)
    }
}
