import Foundation
import Testing

/// `clubctl scenarios`
@Suite(.timeLimit(.minutes(10)))
struct ClubScenariosToolTests {
    private static let file = Fixtures.path + "/scenarios/day.yaml"
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    /// A day with the scenarios of the file.
    private func day() async throws {
        let outcome = try await club.run(
            "kiosk",
            "--replay",
            Fixtures.path + "/day",
            "--once",
            "--json",
            "--scenarios",
            Self.file,
            "--start",
            "2026-01-05T07:00:00Z",
            "--seed",
            "7"
        )
        #expect(outcome.status == 0, "\(outcome.messages)")
    }

    @Test("A file is checked, and all faults are told with line and column")
    func check() async throws {
        let good = try await Tool.clubctl.run("scenarios", "check", Self.file, "--json")
        #expect(good.status == 0, "\(good.messages)")
        #expect(good.objects.allSatisfy { $0["severity"] as? String == "warning" })
        let path = Fixtures.path + "/scenarios/malformed.yaml"
        let bad = try await Tool.clubctl.run("scenarios", "check", path, "--json")
        #expect(bad.status == 65)
        let errors = bad.objects.filter { $0["severity"] as? String == "error" }
        #expect(errors.compactMap { $0["line"] as? Int } == [4, 6, 8])
        for error in errors {
            #expect((error["column"] as? Int ?? 0) > 0)
            for key in ["path", "message", "hint"] { #expect((error[key] as? String)?.isEmpty == false, "\(key)") }
        }
        let text = try await Tool.clubctl.run("scenarios", "check", path)
        #expect(text.output.split(separator: "\n").count { $0.contains("malformed.yaml:") } >= 3)
        #expect(try await Tool.clubctl.run("scenarios", "check", "/nowhere.yaml").status == 66)
        let syntax = try club.scratch.write("scenarios: [", to: "syntax.yaml")
        #expect(try await Tool.clubctl.run("scenarios", "check", syntax).status == 65)
    }

    @Test("The list has the rules in words, and how often each happened")
    func list() async throws {
        try await day()
        let lines = try await club.json("scenarios", "list", "--scenarios", Self.file)
        #expect(
            lines.compactMap { $0["id"] as? String }
                == ["welcome", "free-coffee", "tenth-guest", "loyalty/bronze", "loyalty/silver", "never"]
        )
        let history = try await club.json("scenarios", "history")
        for line in lines {
            let id = line["id"] as? String
            let own = history.filter { $0["scenario"] as? String == id }
            #expect(line["charged"] as? Int == own.count)
            #expect(line["delivered"] as? Int == own.count)
            #expect(line["undelivered"] as? Int == 0)
            #expect((line["rules"] as? [String])?.isEmpty == false)
        }
        #expect(lines[2]["audience"] as? String == "kiosk")
        let text = try await club.run("scenarios", "list", "--scenarios", Self.file)
        #expect(text.output.contains("once for each 10 visits since 2020-01-01 00:00:00"))
        #expect(text.output.contains("from 2090-01-01 00:00:00 on"))
    }

    @Test("Explaining and testing change nothing")
    func explain() async throws {
        try await day()
        let before = try await club.json("scenarios", "history").count
        let member = try #require(try await club.json("members", "list").first?["userId"] as? String)
        let arguments = [member, "--scenarios", Self.file, "--at", "2026-01-06T07:00:00Z", "--json"]
        let explained = try await club.run(["scenarios", "explain"] + arguments)
        #expect(explained.status == 0, "\(explained.messages)")
        let decisions = explained.objects.filter { $0["scenario"] != nil }
        #expect(decisions.count == 6)
        let welcome = try #require(decisions.first { $0["scenario"] as? String == "welcome" })
        #expect(welcome["isDue"] as? Bool == false)
        #expect((welcome["failures"] as? [[String: Any]])?.isEmpty == false)
        #expect((welcome["counters"] as? [String: Any])?["executionsCount"] as? Int == 1)
        let never = try #require(decisions.first { $0["scenario"] as? String == "never" })
        #expect(never["nextPossible"] as? String == "2090-01-01T00:00:00.000Z")
        let tiers = try #require(explained.objects.first { $0["tiers"] != nil })
        #expect(tiers["tiers"] as? String == "loyalty")
        let people = try await club.run("scenarios", "explain", member, "--scenarios", Self.file)
        #expect(people.output.contains("present tier"))

        let tested = try await club.run(["scenarios", "test"] + arguments)
        #expect(tested.status == 0, "\(tested.messages)")
        #expect(tested.objects.allSatisfy { $0["isDue"] as? Bool == true && $0["userId"] as? String == member })
        #expect(!tested.objects.contains { $0["scenario"] as? String == "welcome" })
        let all = try await club.run("scenarios", "test", "--all", "--scenarios", Self.file, "--json")
        #expect(all.status == 0, "\(all.messages)")
        #expect(Set(all.objects.compactMap { $0["userId"] as? String }).count > 1)
        #expect(try await club.json("scenarios", "history").count == before)
        #expect(try await club.run("scenarios", "explain", "nobody", "--scenarios", Self.file).status == 1)
        #expect(try await club.run("scenarios", "test", "--scenarios", Self.file).status == 64)
    }

    @Test("What a visit would bring is what it brings")
    func testing() async throws {
        let member = "U1"
        _ = try await club.json("members", "add", member)
        _ = try await club.json("members", "visit", member, "--reason", "test", "--at", "2026-01-04T07:00:00Z")
        let lines = try await club.json("scenarios", "test", member, "--scenarios", Self.file)
        #expect(Set(lines.compactMap { $0["scenario"] as? String }) == ["free-coffee", "loyalty/bronze"])
        #expect(try await club.json("scenarios", "history").isEmpty)
        let visit = try await club.json("members", "visit", member, "--reason", "test", "--scenarios", Self.file)
        #expect(visit.first?["numVisits"] as? Int == 2)
        let brought = visit.filter { $0["event"] as? String == "scenario" }
        #expect(Set(brought.compactMap { $0["scenario"] as? String }) == ["free-coffee", "loyalty/bronze"])
        let states = try await club.json("scenarios", "history").map { $0["state"] as? String }
        #expect(states == ["delivered", "delivered"])
        let broken = try await club.run("members", "visit", member, "--reason", "test", "--scenarios", "/dev/null")
        #expect(broken.status == 65)
        #expect(try await club.json("members", "show", member).first?["numVisits"] as? Int == 2)
    }

    @Test("Redeemed once, refunded with a reason")
    func settling() async throws {
        try await day()
        let history = try await club.json("scenarios", "history", "--scenario", "free-coffee")
        let ids = history.compactMap { $0["id"] as? String }
        try #require(ids.count >= 2)
        let redeemed = try await club.json("scenarios", "redeem", ids[0], "--by", "Dora")
        #expect(redeemed.first?["state"] as? String == "redeemed")
        #expect(redeemed.first?["actor"] as? String == "Dora")
        let again = try await club.run("scenarios", "redeem", ids[0], "--by", "Emil")
        #expect(again.status == 1)
        #expect(again.messages.contains("by Dora"))
        #expect(again.messages.contains(try #require(redeemed.first?["settledAt"] as? String)))
        #expect(try await club.run("scenarios", "refund", ids[1]).status == 64)
        let refunded = try await club.json("scenarios", "refund", ids[1], "--reason", "the machine was empty")
        #expect(refunded.first?["state"] as? String == "refunded")
        #expect(refunded.first?["reason"] as? String == "the machine was empty")
        #expect(try await club.run("scenarios", "redeem", ids[1]).status == 1)
        #expect(try await club.run("scenarios", "redeem", UUID().uuidString).status == 1)
        #expect(try await club.run("scenarios", "redeem", "free-coffee").status == 64)
        let member = try #require((history.first?["subject"] as? [String: Any])?["member"] as? String)
        let own = try await club.json("scenarios", "history", member, "--limit", "1000")
        #expect(own.allSatisfy { ($0["subject"] as? [String: Any])?["member"] as? String == member })
        #expect(own.contains { $0["state"] as? String == "redeemed" })
        #expect(try await club.json("scenarios", "history", "--limit", "1").count == 1)
        #expect(try await club.run("scenarios", "history", "nobody").status == 1)
    }
}
