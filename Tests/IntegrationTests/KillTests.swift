import ClubKit
import Foundation
import GRDB
import TestSupport
import Testing

/// What is left when the tool is killed at any moment: `kill -9`, which no program can prepare for. The moments come from
/// seeds.
@Suite("Killed at any moment", .timeLimit(.minutes(60)))
struct KillTests {
    /// How often each kind is killed.
    private static let times = rounds(3)

    private let scratch: ScratchFolder
    private let day = Fixtures.path + "/day"

    init() throws {
        scratch = try ScratchFolder()
    }

    // MARK: Support

    /// Whether there is another round: also while what is a matter of chance has not happened yet.
    private func goesOn(_ round: Int, _ hasHappened: Bool) -> Bool {
        Self.times.contains(round) || !hasHappened && round < Self.times.count + 30
    }

    /// Runs the tool and kills it after a part of the time that it needs; a factor over 1 lets it end now and then.
    ///
    /// - Returns: what it printed, and whether it was killed.
    private func kill(
        _ arguments: [String],
        after duration: inout Duration,
        _ random: inout SeededNumbers
    ) async throws -> (outcome: Tool.Outcome, isKilled: Bool) {
        let part = Double.random(in: 0...1.15, using: &random)
        let tool = try Tool.clubctl.start(arguments)
        // The moment itself is what is tried out: any, with nothing to be seen from outside.
        try await Task.sleep(for: duration * part)
        tool.kill()
        let outcome = await tool.finish()
        let isKilled = outcome.status == -SIGKILL
        // The machine was busier when the duration was measured.
        if !isKilled { duration = min(duration, duration * part) }
        return (outcome, isKilled)
    }

    /// Runs the tool to its end.
    ///
    /// - Returns: how long it took.
    @discardableResult
    private func run(_ arguments: [String]) async throws -> Duration {
        let start = ContinuousClock.now
        let outcome = try await Tool.clubctl.start(arguments).finish()
        try #require(outcome.status == 0, "\(arguments.first ?? ""): \(outcome.messages)")
        return ContinuousClock.now - start
    }

    private func members(_ database: String) async throws -> String {
        let outcome = try await Tool.clubctl.run("members", "list", "--json", "--database", database)
        try #require(outcome.status == 0, "\(outcome.messages)")
        return outcome.output
    }

    /// Opens the database as it was left, and looks at it.
    ///
    /// - Returns: how often each tap is in the ledger.
    private func inspect(_ database: String, _ round: String) async throws -> [UUID: Int] {
        let club = Club(configuration: ClubConfiguration(database: .file(path: database)))
        try await club.open()
        let findings = try await club.check()
        #expect(findings.isEmpty, "\(round): \(findings)")
        try await club.close()
        let queue = try DatabaseQueue(path: database)
        defer { try? queue.close() }
        return try await queue.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT event_id, count(*) FROM visit GROUP BY event_id")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as UUID, $0[1] as Int) })
        }
    }

    /// The taps that were acknowledged as counted.
    private func acknowledged(_ outcome: Tool.Outcome) -> Set<UUID> {
        Set(
            outcome.objects.filter { ["created", "visit"].contains($0["event"] as? String) }
                .compactMap { ($0["id"] as? String).flatMap { UUID(uuidString: $0) } }
        )
    }

    private func remove(_ database: String) {
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + end) }
    }

    private func replay(_ database: String, seed: Int) -> [String] {
        [
            "kiosk", "--replay", day, "--once", "--json", "--database", database, "--start", "2026-09-01T10:00:00Z",
            "--seed", "\(seed)",
        ]
    }

    // MARK: The five kinds

    @Test("Taps: whatever was acknowledged is in the ledger once, and the same day again completes it")
    func taps() async throws {
        let control = scratch.file("control.sqlite")
        var duration = try await run(replay(control, seed: 1))
        let expected = try await members(control)
        var random = SeededNumbers(seed: 1)
        var (round, killed, told) = (0, 0, 0)
        while goesOn(round, killed > 0 && told > 0) {
            defer { round += 1 }
            let database = scratch.file("taps.sqlite")
            remove(database)
            // Twice, so that an interrupted database is interrupted again.
            for _ in 0..<2 {
                let (outcome, isKilled) = try await kill(replay(database, seed: 1), after: &duration, &random)
                killed += isKilled ? 1 : 0
                let acknowledged = acknowledged(outcome)
                told += isKilled ? acknowledged.count : 0
                let ledger = try await inspect(database, "taps \(round)")
                #expect(acknowledged.allSatisfy { ledger[$0] == 1 }, "round \(round)")
                #expect(ledger.values.allSatisfy { $0 == 1 }, "round \(round)")
            }
            // The machine may be busier, or less busy, by now.
            duration = try await run(replay(database, seed: 1))
            #expect(try await members(database) == expected, "round \(round)")
        }
        #expect(killed > 0)
        #expect(told > 0)
    }

    @Test("Import: whole rows or none, and the same file again completes it")
    func importing() async throws {
        var lines = ["userId,username,timeStampAdded,numVisits,timeStampOfLastVisit,email"]
        for index in 0..<4000 {
            lines.append(
                "M-\(index),Name \(index),\(1_700_000_000 + index),\(index % 90),\(1_760_000_000 + index),m\(index)@club.example"
            )
        }
        let file = try scratch.write(lines.joined(separator: "\r\n") + "\r\n", to: "members.csv")
        let before = scratch.file("before.sqlite")
        try await run(replay(before, seed: 2))
        let taps = try await inspect(before, "before")
        try await interrupted(
            "import",
            seed: 2,
            before: before,
            arguments: { ["import", file, "--database", $0] },
            stays: taps
        )
    }

    @Test("Merge: no visit of either is lost or doubled, and merging again completes it")
    func merging() async throws {
        let (before, other) = (scratch.file("before.sqlite"), scratch.file("other.sqlite"))
        try await run(replay(before, seed: 3))
        // The other club has taps of its own, and those of the first day.
        for seed in 3..<12 { try await run(replay(other, seed: seed)) }
        let file = scratch.file("other.clubkit")
        try await run(["export", "--database", other, file])
        try await interrupted(
            "merge",
            seed: 3,
            before: before,
            arguments: { ["import", file, "--merge", "--database", $0] },
            stays: try await inspect(before, "before")
        )
    }

    /// Interrupts a command on copies of a database, and lets it do the rest.
    private func interrupted(
        _ name: String,
        seed: UInt64,
        before: String,
        arguments: (String) -> [String],
        stays: [UUID: Int]
    ) async throws {
        let control = scratch.file("control.sqlite")
        try FileManager.default.copyItem(atPath: before, toPath: control)
        var duration = try await run(arguments(control))
        let expected = try await members(control)
        let all = try await inspect(control, name)
        var random = SeededNumbers(seed: seed)
        var (round, killed) = (0, 0)
        while goesOn(round, killed > 0) {
            defer { round += 1 }
            let database = scratch.file("\(name).sqlite")
            remove(database)
            try FileManager.default.copyItem(atPath: before, toPath: database)
            for _ in 0..<2 {
                let (_, isKilled) = try await kill(arguments(database), after: &duration, &random)
                killed += isKilled ? 1 : 0
                let ledger = try await inspect(database, "\(name) \(round)")
                #expect(stays.allSatisfy { ledger[$0.key] == 1 }, "\(name) \(round)")
                #expect(ledger.allSatisfy { $0.value == 1 && all[$0.key] == 1 }, "\(name) \(round)")
            }
            try await run(arguments(database))
            #expect(try await members(database) == expected, "\(name) \(round)")
            #expect(try await inspect(database, "\(name) \(round)") == all)
        }
        #expect(killed > 0)
    }

    @Test("Backup, while taps go on: it is there whole or not at all, and the database is as it was")
    func backup() async throws {
        let database = scratch.file("club.sqlite")
        var lines = ["userId,username"]
        for index in 0..<20_000 { lines.append("M-\(index),\(String(repeating: "name ", count: 20))\(index)") }
        try await run([
            "import", try scratch.write(lines.joined(separator: "\n"), to: "members.csv"), "--database", database,
        ])
        let copy = scratch.file("copy.sqlite")
        let arguments = ["backup", copy, "--database", database]
        var duration = try await run(arguments)
        var random = SeededNumbers(seed: 4)
        var (round, killed, made) = (0, 0, 0)
        while goesOn(round, killed > 0) {
            defer { round += 1 }
            remove(copy)
            let kiosk = try Tool.clubctl.start(replay(database, seed: 100 + round))
            let (_, isKilled) = try await kill(arguments, after: &duration, &random)
            killed += isKilled ? 1 : 0
            if round % 2 == 0 { kiosk.kill() }
            let acknowledged = acknowledged(await kiosk.finish())
            let ledger = try await inspect(database, "backup \(round)")
            #expect(acknowledged.allSatisfy { ledger[$0] == 1 })
            if FileManager.default.fileExists(atPath: copy) {
                made += 1
                let copied = try await inspect(copy, "copy \(round)")
                #expect(copied.allSatisfy { ledger[$0.key] == 1 })
            }
        }
        #expect(killed > 0)
        #expect(made < round || killed < round)
        // The next one removes what those that were killed left.
        remove(copy)
        try await run(arguments)
        let folder = (copy as NSString).deletingLastPathComponent
        let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix(".clubkit-work-") }
        #expect(left == [])
    }

    @Test("Migration: the first schema or the second, never between")
    func migration() async throws {
        let fixture = Fixtures.path + "/databases/version-1.sqlite"
        let expected = try String(
            contentsOfFile: Fixtures.path + "/databases/version-1.expected.jsonl",
            encoding: .utf8
        )
        .split(separator: "\n").map { try JSONDecoder().decode(Member.self, from: Data($0.utf8)) }
        func copy() throws -> String {
            let database = scratch.file("migrated.sqlite")
            remove(database)
            try FileManager.default.copyItem(atPath: fixture, toPath: database)
            chmod(database, 0o600)
            return database
        }
        var duration = try await run(["check", "--database", copy()])
        var random = SeededNumbers(seed: 5)
        var (round, killed) = (0, 0)
        while goesOn(round, killed > 0) {
            defer { round += 1 }
            let database = try copy()
            for _ in 0..<2 {
                let (_, isKilled) = try await kill(["check", "--database", database], after: &duration, &random)
                killed += isKilled ? 1 : 0
            }
            let ledger = try await inspect(database, "migration \(round)")
            #expect(ledger.count == 84)
            let club = Club(configuration: ClubConfiguration(database: .file(path: database)))
            try await club.open()
            #expect(try await club.members(sortedBy: .creation) == expected, "round \(round)")
            try await club.close()
        }
        #expect(killed > 0)
    }
}
