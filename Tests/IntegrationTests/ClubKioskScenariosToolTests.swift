import Foundation
import TestSupport
import Testing

/// Scenarios at the kiosk, on recordings.
@Suite(.timeLimit(.minutes(10)))
struct ClubKioskScenariosToolTests {
    private static let file = Fixtures.path + "/scenarios/day.yaml"
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    private func replay(_ database: String, _ options: String...) -> [String] {
        [
            "kiosk", "--replay", Fixtures.path + "/day", "--once", "--database", database, "--scenarios", Self.file,
            "--start", "2026-01-05T07:00:00Z", "--seed", "7",
        ] + options
    }

    private func executions(_ database: String) async throws -> [[String: Any]] {
        let outcome = try await Tool.clubctl.run("scenarios", "history", "--json", "--database", database)
        #expect(outcome.status == 0, "\(outcome.messages)")
        return outcome.objects
    }

    private func scenarioLines(_ outcome: Tool.Outcome) -> [[String: Any]] {
        outcome.objects.filter { $0["event"] as? String == "scenario" }
    }

    @Test("What a visit brings follows its line, is the same bytes each time, and is not told again")
    func theDay() async throws {
        var outputs: [String] = []
        for name in ["one", "two"] {
            let outcome = try await Tool.clubctl.start(replay(scratch.file(name), "--json")).finish()
            #expect(outcome.status == 0, "\(outcome.messages)")
            outputs.append(outcome.output)
        }
        #expect(outputs[0] == outputs[1])
        let objects = outputs[0].split(separator: "\n").compactMap { Tool.object(String($0)) }
        var tap: [String: Any] = [:]
        var told: [String] = []
        for object in objects {
            switch object["event"] as? String {
            case "created", "visit": tap = object
            case "scenario":
                #expect(object["visit"] as? String == tap["id"] as? String)
                #expect(object["at"] as? String == tap["at"] as? String)
                #expect(object["state"] as? String == "charged")
                #expect((object["message"] as? String)?.isEmpty == false)
                told.append(object["scenario"] as? String ?? "")
            default: tap = [:]
            }
        }
        func count(_ event: String) -> Int { objects.count { $0["event"] as? String == event } }
        #expect(told.count { $0 == "welcome" } == count("created"))
        #expect(told.count { $0 == "tenth-guest" } == (count("created") + count("visit")) / 10)
        #expect(told.contains("free-coffee"))
        #expect(told.contains("loyalty/bronze"))
        #expect(!told.contains("never"))
        // All are settled by the end.
        let kept = try await executions(scratch.file("one"))
        #expect(kept.count == told.count)
        #expect(kept.allSatisfy { $0["state"] as? String == "delivered" })
        let again = try await Tool.clubctl.start(replay(scratch.file("one"), "--json")).finish()
        #expect(scenarioLines(again).isEmpty)
        #expect(try await executions(scratch.file("one")).count == told.count)
    }

    @Test("People see the message, or else the title")
    func people() async throws {
        let outcome = try await Tool.clubctl.start(replay(scratch.file("club.sqlite"))).finish()
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Welcome to the club."))
        #expect(outcome.output.contains("scenario  The kiosk has seen ten more guests."))
    }

    @Test("Without the file nothing happens")
    func without() async throws {
        let database = scratch.file("club.sqlite")
        let plain = try await Tool.clubctl.run(
            "kiosk",
            "--replay",
            Fixtures.path + "/day",
            "--once",
            "--json",
            "--database",
            database
        )
        #expect(scenarioLines(plain).isEmpty)
        #expect(try await executions(database).isEmpty)
    }

    @Test("What could not be written is delivered by the next run")
    func closedOutput() async throws {
        let database = scratch.file("club.sqlite")
        let words = [Tool.clubctl.path] + replay(database, "--json")
        let command = words.map { "'" + $0 + "'" }.joined(separator: " ")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command + " >/dev/full"]
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 74)
        let left = try await executions(database)
        #expect(left.map { $0["state"] as? String } == ["charged"])
        // Other commands leave it alone.
        #expect(try await Tool.clubctl.run("members", "list", "--database", database).status == 0)
        let next = try await Tool.clubctl.start(replay(database, "--json")).finish()
        #expect(next.status == 0, "\(next.messages)")
        let ids = scenarioLines(next).compactMap { $0["id"] as? String }
        #expect(ids.first == left.first?["id"] as? String)
        #expect(next.objects.first?["event"] as? String == "scenario")
        #expect(Set(ids).count == ids.count)
        let kept = try await executions(database)
        #expect(Set(kept.compactMap { $0["id"] as? String }) == Set(ids))
        #expect(kept.allSatisfy { $0["state"] as? String == "delivered" })
    }

    @Test("A malformed file is told as a whole, before the database is touched")
    func malformed() async throws {
        let database = scratch.file("club.sqlite")
        let file = Fixtures.path + "/scenarios/malformed.yaml"
        func run(_ path: String) async throws -> Tool.Outcome {
            try await Tool.clubctl.run(
                "kiosk",
                "--replay",
                Fixtures.path + "/day",
                "--once",
                "--json",
                "--database",
                database,
                "--scenarios",
                path
            )
        }
        let outcome = try await run(file)
        #expect(outcome.status == 65)
        for line in [4, 6, 8] { #expect(outcome.messages.contains("malformed.yaml:\(line):"), "\(outcome.messages)") }
        let error = outcome.objects.first?["error"] as? [String: Any]
        #expect(error?["code"] as? String == "malformedConfiguration")
        #expect(try await run(scratch.file("none.yaml")).status == 66)
        #expect(!FileManager.default.fileExists(atPath: database))
    }

    @Test("A replay takes no messages from outside")
    func usage() async throws {
        for options in [["--listen", "s"], ["--messages", "d"], ["--card-messages", "block"], ["--on", "type"]] {
            let arguments = replay(scratch.file("club.sqlite")) + options
            #expect(try await Tool.clubctl.start(arguments).finish().status == 64, "\(options)")
        }
        let missing = replay(scratch.file("club.sqlite"), "--on", "hello=/nowhere/program")
        #expect(try await Tool.clubctl.start(missing).finish().status == 66)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("club.sqlite")))
    }

    @Test("Messages of cards go to a program that was asked for, and nowhere else")
    func cardMessages() async throws {
        let log = scratch.file("log")
        let program = try scratch.program(
            "#!/bin/sh\nread -r line; echo \"$CLUBKIT_MESSAGE_TYPE $CLUBKIT_MESSAGE_SOURCE $line\" >>'\(log)'\n",
            to: "hello"
        )
        func run(_ name: String, _ options: [String]) async throws -> Tool.Outcome {
            let fixed = [
                "kiosk", "--replay", Fixtures.path + "/scenarios/card-message.capture", "--once", "--json",
                "--start", "2026-01-05T07:00:00Z", "--seed", "7", "--database", scratch.file(name),
            ]
            return try await Tool.clubctl.start(fixed + options).finish()
        }
        let off = try await run("off", ["--on", "hello=\(program)"])
        #expect(off.status == 0, "\(off.messages)")
        #expect(!off.objects.contains { $0["event"] as? String == "routed" })
        #expect(!FileManager.default.fileExists(atPath: log))
        let on = ["--on", "hello=\(program)", "--card-messages", "hello"]
        let first = try await run("one", on)
        let routed = first.objects.filter { $0["event"] as? String == "routed" }
        #expect(routed.map { $0["outcome"] as? String } == ["newData", "newData"])
        #expect(routed.allSatisfy { $0["source"] as? String == "card" && $0["processor"] as? String == "hello" })
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasPrefix("hello card {") && $0.contains("\"text\":\"Hi\"") })
        #expect(try await run("two", on).output == first.output)
        // The same taps again bring nothing.
        let again = try await run("one", on)
        #expect(!again.objects.contains { $0["event"] as? String == "routed" })
        #expect(try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count == 4)
    }
}
