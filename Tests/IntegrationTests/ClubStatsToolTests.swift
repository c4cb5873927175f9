import ClubKit
import Foundation
import ReaderKit
import Testing

/// Statistics and the list of taps, by the tool.
@Suite(.timeLimit(.minutes(10)))
struct ClubStatsToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    /// A day of the past, the same each time.
    private func replay() async throws -> [String] {
        let outcome = try await club.run(
            "kiosk",
            "--replay",
            Fixtures.path + "/day",
            "--once",
            "--json",
            "--start",
            "2026-01-05T07:00:00Z",
            "--seed",
            "7"
        )
        return outcome.objects.compactMap { $0["event"] as? String }
    }

    @Test func numbersOfADay() async throws {
        let events = try await replay()
        let counted = events.filter { $0 == "created" || $0 == "visit" }.count
        let outcome = try await club.run(
            ["stats", "--from", "2026-01-05", "--to", "2026-01-05", "--json"],
            environment: ["TZ": "Europe/Berlin"]
        )
        #expect(outcome.status == 0)
        #expect(outcome.objects.count == 1)
        let line = try #require(outcome.objects.first)
        #expect(line["from"] as? String == "2026-01-04T23:00:00.000Z")
        #expect(line["to"] as? String == "2026-01-05T23:00:00.000Z")
        #expect(line["timeZone"] as? String == "Europe/Berlin")
        #expect(line["visits"] as? Int == counted)
        #expect((line["hours"] as? [Int])?.count == 24)
        #expect((line["hours"] as? [Int])?.reduce(0, +) == counted)
        #expect((line["days"] as? [[String: Any]])?.first?["date"] as? String == "2026-01-05")
        let members = try await club.json("members", "list").count
        #expect(line["uniqueVisitors"] as? Int == members)
        #expect(line["newMembers"] as? Int == members)
        #expect(line["members"] as? Int == members)
        #expect(line["repeats"] as? Int == events.filter { $0 == "repeat" }.count)
        #expect(line["rejected"] as? Int == events.filter { $0 == "rejected" }.count)
        #expect((line["today"] as? [String: Any])?["visits"] as? Int == 0)
        let peak = try #require(line["peakHour"] as? [String: Any])
        // The taps begin at 8 there, 7 in UTC.
        let utc = try await club.run(
            ["stats", "--from", "2026-01-05", "--to", "2026-01-05", "--json"],
            environment: ["TZ": "UTC"]
        )
        let earlier = try #require(utc.objects.first?["peakHour"] as? [String: Any])
        #expect((peak["hour"] as? Int ?? 0) == (earlier["hour"] as? Int ?? 0) + 1)
    }

    @Test func chartsForPeople() async throws {
        _ = try await replay()
        _ = try await club.json("members", "add", "A", "--name", "Anna")
        _ = try await club.json("members", "visit", "A", "--reason", "test")
        let outcome = try await club.run(
            ["stats", "--from", "2026-01-01", "--to", "2026-01-07"],
            environment: ["TZ": "UTC", "COLUMNS": "60"]
        )
        #expect(outcome.status == 0)
        for part in ["Today", "unique visitors", "Visits by hour", "Visits by day", "2026-01-05 Mon", "█", "peak hour"]
        {
            #expect(outcome.output.contains(part), "\(part)")
        }
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 60 })
        #expect(lines.filter { $0.hasPrefix("  2026-01-0") }.count == 3)
        // By default the last days, with what was done today.
        let now = try await club.run("stats", "--json")
        let today = try #require(now.objects.first?["today"] as? [String: Any])
        #expect(today["visits"] as? Int == 1)
        #expect(today["manualVisits"] as? Int == 1)
        #expect((now.objects.first?["days"] as? [[String: Any]])?.count == 30)
    }

    @Test func anEmptyClub() async throws {
        _ = try await club.json("members", "add", "A")
        let text = try await club.run("stats")
        #expect(text.status == 0)
        #expect(!text.output.contains("█"))
        let line = try await club.json("stats").first
        #expect(line?["visits"] as? Int == 0)
        #expect(line?["peakHour"] == nil)
    }

    @Test func everyTapInAFile() async throws {
        let events = try await replay()
        let file = club.scratch.file("taps.csv")
        let report = try await club.json("visits", "export", "--from", "2026-01-05", "--to", "2026-01-05", file).first
        let taps = events.filter { $0 == "scan" }.count
        #expect(report?["rows"] as? Int == taps)
        #expect(report?["counted"] as? Int == events.filter { $0 == "created" || $0 == "visit" }.count)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let lines = text.split(separator: "\n")
        #expect(lines.count == taps + 1)
        #expect(lines.first == "time,userId,username,reader,source,counted,reason,id")
        #expect(lines.filter { $0.contains(",repeat,") }.count == events.filter { $0 == "repeat" }.count)
        #expect(lines.filter { $0.contains(",rejected,") }.count == events.filter { $0 == "rejected" }.count)
        let times = lines.dropFirst().map { $0.prefix(24) }
        #expect(times == times.sorted())
        let output = try await club.run("visits", "export", "-")
        #expect(output.status == 0)
        #expect(output.output == text)
        #expect(try await club.run("visits", "export", file).status == 74)
        let later = try await club.json("visits", "export", "--from", "2026-01-06", "--force", file).first
        #expect(later?["rows"] as? Int == 0)
    }

    @Test func pruning() async throws {
        _ = try await replay()
        let before = try await club.run("members", "list", "--json")
        let tomorrow = ISO8601.text(Date().addingTimeInterval(86_400))
        #expect(try await club.run("visits", "prune", "--before", tomorrow, "--yes").status == 64)
        let question = try await club.run("visits", "prune", "--before", "2026-01-06")
        let total = before.objects.compactMap { $0["numVisits"] as? Int }.reduce(0, +)
        #expect(question.status == 64 && question.messages.contains("Remove \(total) visits before "))
        let removed = try await club.json("visits", "prune", "--before", "2026-01-06", "--yes").first
        let visits = before.objects.compactMap { $0["numVisits"] as? Int }.reduce(0, +)
        #expect(removed?["removed"] as? Int == visits)
        // Totals stay; when they were is not known any more.
        #expect(try await club.run("members", "list", "--json").output == before.output)
        #expect(
            try await club.json("stats", "--from", "2026-01-05", "--to", "2026-01-05").first?["visits"] as? Int == 0
        )
        #expect(try await club.run("check").status == 0)
        // Whose visits they were is told how many, and of no file.
        for member in before.objects {
            let id = try #require(member["userId"] as? String)
            let count = try #require(member["numVisits"] as? Int)
            let history = try await club.run("members", "history", id)
            let words = count == 1 ? "1 earlier visit was" : "\(count) earlier visits were"
            #expect(history.messages.contains("\(words) removed (retention period)."), "\(history.messages)")
            #expect(!history.messages.contains("Nothing is known") && !history.messages.contains("came from a file"))
        }
    }

    /// What is refused, and what a member should know, is told at the tap.
    @Test func toldAtTheTap() async throws {
        _ = try await replay()
        let busiest = try await club.json("members", "list", "--sort", "visits", "--limit", "3")
        let ids = busiest.compactMap { $0["userId"] as? String }
        try #require(ids.count == 3)
        _ = try await club.json("members", "block", ids[0], "--reason", "fees are due")
        _ = try await club.json("members", "expiry", ids[1], "2026-01-01")
        _ = try await club.json("members", "pack", ids[2], "1")
        // Each may count once, so that the pack runs out.
        let outcome = try await club.run(
            "kiosk",
            "--replay",
            Fixtures.path + "/day",
            "--once",
            "--json",
            "--cooldown",
            "0"
        )
        func reasons(_ id: String) -> [String] {
            outcome.objects.filter { ($0["member"] as? [String: Any])?["userId"] as? String == id }
                .compactMap { $0["reasonCode"] as? String }
        }
        #expect(!reasons(ids[0]).isEmpty && Set(reasons(ids[0])) == ["blocked"])
        #expect(!reasons(ids[1]).isEmpty && Set(reasons(ids[1])) == ["expired"])
        #expect(!reasons(ids[2]).isEmpty && Set(reasons(ids[2])) == ["noVisitsLeft"])
        let notices = outcome.objects.compactMap { $0["notices"] as? [String] }.flatMap(\.self)
        #expect(notices.contains("0 visits are left."))
        let text = try await club.run("kiosk", "--replay", Fixtures.path + "/day", "--once", "--cooldown", "0")
        #expect(text.output.contains("fees are due"))
        #expect(text.output.contains("No visits are left"))
    }

    /// That the end is near is told as early as the kiosk was asked to.
    @Test func toldInTime() async throws {
        _ = try await replay()
        let id = try #require(try await club.json("members", "list", "--sort", "visits").first?["userId"] as? String)
        let end = ISO8601.text(Date().addingTimeInterval(10 * 86_400))
        _ = try await club.json("members", "expiry", id, end)
        for (days, isTold) in [("14", true), ("3", false), ("0", false)] {
            let outcome = try await club.run(
                "kiosk",
                "--replay",
                Fixtures.path + "/day",
                "--once",
                "--json",
                "--expiry-warning",
                days
            )
            let notices = outcome.objects.compactMap { $0["notices"] as? [String] }.flatMap(\.self)
            #expect(notices.contains { $0.hasPrefix("The membership ends on ") } == isTold, "\(days)")
        }
        #expect(try await club.run("kiosk", "--expiry-warning", "-1").status == 64)
    }
}
