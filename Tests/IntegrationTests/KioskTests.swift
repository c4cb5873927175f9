import ClubKit
import Foundation
import GRDB
import ReaderKit
import Testing

/// The kiosk on recordings, as a program.
@Suite(.timeLimit(.minutes(10)))
struct KioskTests {
    private let scratch: ScratchFolder
    private let day = Fixtures.path + "/day"

    init() throws {
        scratch = try ScratchFolder()
    }

    private func visits(_ database: String) async throws -> [String: Int] {
        let outcome = try await Tool.clubctl.run("members", "list", "--json", "--database", database)
        #expect(outcome.status == 0)
        return Dictionary(
            uniqueKeysWithValues: outcome.objects.compactMap { object in
                guard let id = object["userId"] as? String, let count = object["numVisits"] as? Int else { return nil }
                return (id, count)
            }
        )
    }

    @Test func theDayGrowsVisitsAndDoublesNobody() async throws {
        let database = scratch.file("club.sqlite")
        let first = try await Tool.clubctl.run("kiosk", "--replay", day, "--once", "--json", "--database", database)
        #expect(first.status == 0)
        let events = first.objects.compactMap { $0["event"] as? String }
        #expect(events.filter { $0 == "scan" }.count >= 40)
        #expect(events.contains("repeat"))
        #expect(events.contains("rejected"))
        let before = try await visits(database)
        #expect(before.count >= 15)
        #expect(events.filter { $0 == "created" }.count == before.count)
        #expect(before.values.reduce(0, +) == events.filter { $0 == "created" || $0 == "visit" }.count)
        let second = try await Tool.clubctl.run("kiosk", "--replay", day, "--once", "--json", "--database", database)
        #expect(second.objects.allSatisfy { $0["event"] as? String != "created" })
        let after = try await visits(database)
        #expect(Set(after.keys) == Set(before.keys))
        #expect(after.values.reduce(0, +) > before.values.reduce(0, +))
        #expect(try await Tool.clubctl.run("check", "--database", database).status == 0)
    }

    @Test func inMaintenanceEveryTapIsIgnored() async throws {
        let database = scratch.file("club.sqlite")
        let kiosk = try await Tool.clubctl.run(
            "kiosk",
            "--replay",
            day,
            "--once",
            "--json",
            "--maintenance",
            "--database",
            database
        )
        #expect(kiosk.status == 0)
        #expect(kiosk.messages.contains("in maintenance"))
        let events = kiosk.objects.compactMap { $0["event"] as? String }
        #expect(Set(events) == ["scan", "ignored", "rejected"])
        let ignored = kiosk.objects.filter { $0["event"] as? String == "ignored" }
        #expect(ignored.allSatisfy { $0["reasonCode"] as? String == "maintenance" && $0["reason"] is String })
        #expect(try await visits(database).isEmpty)
        // People see the card, as whoever works there needs it.
        let shown = try await Tool.clubctl.run(
            "kiosk",
            "--replay",
            Fixtures.path + "/cards/classic-1k-uid.capture",
            "--once",
            "--maintenance",
            "--database",
            database
        )
        #expect(shown.output.contains("MIFARE Classic 1K, identifier 3A5B7C9D, key 3A5B7C9D"), "\(shown.output)")
    }

    @Test func aSeededReplayIsTheSameBytes() async throws {
        let options = ["--once", "--json", "--start", "2026-01-05T07:00:00Z", "--seed", "7"]
        var outputs: [String] = []
        for name in ["one", "two"] {
            let arguments = ["kiosk", "--replay", day, "--database", scratch.file(name)] + options
            outputs.append(try await Tool.clubctl.start(arguments).finish().output)
        }
        #expect(outputs[0] == outputs[1])
        #expect(!outputs[0].isEmpty)
        let before = try await visits(scratch.file("one"))
        _ = try await Tool.clubctl.start(["kiosk", "--replay", day, "--database", scratch.file("one")] + options)
            .finish()
        #expect(try await visits(scratch.file("one")) == before)
        // People are told that these taps were known, and that nobody came.
        let again = try await Tool.clubctl.start(
            ["kiosk", "--replay", day, "--database", scratch.file("one")] + options.filter { $0 != "--json" }
        ).finish()
        #expect(again.output.contains("Visits       0"))
        #expect(again.output.contains("Known        50"))
    }

    @Test func missingAndMalformedRecordings() async throws {
        let database = scratch.file("club.sqlite")
        let missing = try await Tool.clubctl.run(
            "kiosk",
            "--replay",
            scratch.file("none"),
            "--once",
            "--database",
            database
        )
        #expect(missing.status == 66)
        let file = try scratch.write("capture 1\n\ncard at 0.000 atr 3B8\n", to: "bad.capture")
        let malformed = try await Tool.clubctl.run("kiosk", "--replay", file, "--once", "--database", database)
        #expect(malformed.status == 65)
        #expect(malformed.messages.contains("bad.capture:3:"))
        #expect(!FileManager.default.fileExists(atPath: database))
        #expect(try await Tool.clubctl.run("members", "list", "--database", database).status == 66)
        #expect(try await Tool.clubctl.run("kiosk", "--start", "2026-01-05T07:00:00Z").status == 64)
    }

    /// Killed at 50 random moments: what was printed is in the database, and nothing is in it twice.
    @Test func killedAtAnyMoment() async throws {
        let seed: UInt64 = 20_261_121
        var random = seed
        let database = scratch.file("club.sqlite")
        var reported: [String] = []
        for round in 0..<50 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let tool = try Tool.clubctl.start(
                ["kiosk", "--replay", day, "--once", "--json", "--database", database, "--cooldown", "0"]
            )
            // After a random number of taps: what the kiosk is doing then, it does not know of being watched.
            for _ in 0..<(random >> 33) % 40 {
                guard await tool.next("scan") != nil else { break }
            }
            tool.kill()
            let outcome = await tool.finish()
            #expect(outcome.status == -SIGKILL || outcome.status == 0, "round \(round)")
            reported += outcome.objects.compactMap(countedEvent)
            reported += tool.seen.compactMap { Tool.object($0) }.compactMap(countedEvent)
            let check = try await Tool.clubctl.run("check", "--database", database)
            #expect(check.status == 0, "round \(round): \(check.output)")
        }
        let stored = try await eventIDs(in: database)
        #expect(Set(stored).count == stored.count)
        #expect(Set(reported).count == reported.count)
        #expect(Set(reported).isSubset(of: Set(stored)), "seed \(seed)")
        #expect(reported.count > 50)
        #expect(try await visits(database).values.reduce(0, +) == stored.count)
    }

    private func countedEvent(_ object: [String: Any]) -> String? {
        guard let event = object["event"] as? String, event == "created" || event == "visit" else { return nil }
        return (object["id"] as? String)?.replacing("-", with: "")
    }

    /// The event ids of the ledger, read past the club.
    private func eventIDs(in database: String) async throws -> [String] {
        try await DatabaseQueue(path: database).read { db in
            try String.fetchAll(db, sql: "SELECT hex(event_id) FROM visit")
        }
    }
}
