import Foundation
import TestSupport
import Testing

/// What scenarios were charged with when the kiosk is killed at any moment: nothing of it is lost.
@Suite("Killed at any moment, with scenarios", .timeLimit(.minutes(10)))
struct KillTestsOfScenarios {
    private static let rounds = 16
    private let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
    }

    private func executions(_ database: String) async throws -> [[String: Any]] {
        let outcome = try await Tool.clubctl.run(
            "scenarios",
            "history",
            "--json",
            "--limit",
            "1000000",
            "--database",
            database
        )
        #expect(outcome.status == 0, "\(outcome.messages)")
        return outcome.objects
    }

    @Test("Charged is delivered or refunded, and each was shown at least once")
    func charges() async throws {
        // Without a seed, so that each run adds its visits.
        let arguments = [
            "kiosk", "--replay", Fixtures.path + "/day", "--once", "--json", "--cooldown", "0", "--scenarios",
            Fixtures.path + "/scenarios/day.yaml", "--database",
        ]
        let database = scratch.file("club.sqlite")
        let start = ContinuousClock.now
        let control = try await Tool.clubctl.start(arguments + [scratch.file("control.sqlite")]).finish()
        try #require(control.status == 0, "\(control.messages)")
        let duration = ContinuousClock.now - start
        var random = SeededNumbers(seed: 7)
        var shown: Set<String> = []
        var killed = 0
        func note(_ outcome: Tool.Outcome) {
            for object in outcome.objects where object["event"] as? String == "scenario" {
                if let id = object["id"] as? String { shown.insert(id) }
            }
        }
        for round in 0..<Self.rounds {
            let tool = try Tool.clubctl.start(arguments + [database])
            // The moment itself is what is tried out: any, with nothing to be seen from outside.
            try await Task.sleep(for: duration * Double.random(in: 0.1...1.05, using: &random))
            tool.kill()
            let outcome = await tool.finish()
            killed += outcome.status == -SIGKILL ? 1 : 0
            note(outcome)
            guard FileManager.default.fileExists(atPath: database) else { continue }
            // Whatever counts as delivered was shown, whenever the kiosk was killed.
            for execution in try await executions(database) where execution["state"] as? String == "delivered" {
                let id = try #require(execution["id"] as? String)
                #expect(shown.contains(id), "round \(round)")
            }
        }
        #expect(killed > 0)
        let last = try await Tool.clubctl.start(arguments + [database]).finish()
        #expect(last.status == 0, "\(last.messages)")
        note(last)
        let all = try await executions(database)
        #expect(all.count > Self.rounds)
        let settled = all.filter { ["delivered", "refunded"].contains($0["state"] as? String) }
        #expect(settled.count == all.count)
        #expect(Set(all.compactMap { $0["id"] as? String }) == shown)
        #expect(try await Tool.clubctl.run("check", "--database", database).status == 0)
    }
}
