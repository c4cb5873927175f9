import BenchmarkSupport
import CVisits
import ClubKit
import Foundation
import ReaderKit

/// Compares what a tap costs in a club of 1 thousand members and in one of 1 million, in alternating blocks. Members are
/// chosen at random; each has been here before. With `--scenarios N` it compares, in the large club, taps without
/// scenarios and with so many. With `--events N` it compares, in two small clubs with scenarios for a group and for the
/// whole kiosk, taps after 1 thousand events and after N, and executions in proportion.
@main
struct TapCost {
    static func main() async throws {
        // What is deferred is done before the process ends.
        exit(try await run())
    }

    private static func run() async throws -> Int32 {
        let arguments = try Arguments(options: [
            "--rounds", "--block", "--members", "--visits", "--seed", "--scenarios", "--events", "--gap",
        ])
        let rounds = max(1, try arguments.number("--rounds", default: 15))
        let block = max(1, try arguments.number("--block", default: 300))
        let members = max(1000, try arguments.number("--members", default: 1_000_000))
        let gap = Duration.milliseconds(max(0, try arguments.number("--gap", default: 20)))
        let visits = max(1, try arguments.number("--visits", default: 3))
        let scenarios = max(0, try arguments.number("--scenarios", default: 0))
        var random = SplitMix64(seed: try arguments.number("--seed", default: 1))
        let folder = FileManager.default.currentDirectoryPath + "/.build/tap-cost-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }

        if scenarios > 0 {
            let club = try await club(folder + "/large.sqlite", members, visits)
            try await compare(club, scenarios, rounds, Taps(members: members), block, &random)
            try await club.close()
            return 0
        }
        let events = max(0, try arguments.number("--events", default: 0))
        var few = Taps(members: 1000)
        var many = Taps(members: events > 0 ? 1000 : members)
        let small = try await club(folder + "/small.sqlite", 1000, visits)
        let large = try await club(folder + "/large.sqlite", many.members, visits)
        if events > 0 {
            try await happen(1000, in: small, folder + "/small.sqlite")
            try await happen(events, in: large, folder + "/large.sqlite")
        }
        let what = events > 0 ? ("1000", "\(events) events") : ("1000", "\(members) members")
        var ratios: [Double] = []
        print("round   \(what.0) us   \(what.1) us   ratio")
        for round in 0...rounds {
            // The large club's block comes between two of the small one's, so that a drift of the machine shows in both.
            let first = try await microseconds(small, few.next(block, &random), every: gap)
            let own = try await microseconds(large, many.next(block, &random), every: gap)
            let second = try await microseconds(small, few.next(block, &random), every: gap)
            let reference = (first + second) / 2
            // The first round warms up.
            guard round > 0 else { continue }
            ratios.append(own / reference)
            print(String(format: "%5d %17.1f %20.1f %7.3f", round, reference, own, own / reference))
        }
        print(String(format: "median of the rounds: %.3f", ratios.median))
        try await small.close()
        try await large.close()
        return ratios.median <= (events > 0 ? 1.1 : 1.15) ? 0 : 1
    }

    /// Lets so many visits of a group and of the kiosk have happened, and every tenth of them have brought something.
    private static func happen(_ number: Int, in club: Club, _ path: String) async throws {
        let code = cvisits_execute(
            path,
            """
            BEGIN;
            UPDATE member SET tags = '["youth"]';
            CREATE TEMP TABLE subject AS SELECT 'group' AS kind, 'youth' AS subject, 'G' AS mark
                UNION ALL SELECT 'kiosk', value, 'K' FROM meta WHERE key = 'deviceID';
            INSERT INTO scenario_event (event_id, device_id, hlc, kind, subject, name, at, born)
            WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(number))
            SELECT randomblob(16), x'00000000000000000000000000000001', i, kind, subject, '$visits',
                \(Int64(Taps.start * 1e6)) - i * 60000000, 0 FROM n CROSS JOIN subject;
            INSERT INTO scenario_execution (execution_id, device_id, hlc, kind, subject, scenario, at, born, number)
            WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(number / 10))
            SELECT randomblob(16), x'00000000000000000000000000000001', i, kind, subject, mark || s.column1,
                \(Int64(Taps.start * 1e6)) - i * 600000000, 0, i
            FROM n CROSS JOIN subject CROSS JOIN (VALUES ('every'), ('since'), ('days'), ('month')) AS s;
            DROP TABLE subject;
            COMMIT
            """
        )
        guard code == 0 else { throw Failure(description: "SQLite answers \(code) to making the events") }
        let since = Date(timeIntervalSince1970: Taps.start - 365 * 86_400)
        let rules: [(String, [ScenarioRule])] = [
            ("every", [.every(10, since: nil)]),
            ("since", [.every(10, since: since)]),
            ("days", [.events(atLeast: 100_000_000, atMost: nil, within: .days(30))]),
            ("month", [.reaches(100_000_000, within: .month), .executions(atMost: 3, within: .year)]),
        ]
        club.setScenarios(
            [(ScenarioAudience.group("youth"), "G"), (.kiosk, "K")].flatMap { audience, mark in
                rules.map { name, rules in
                    Scenario(mark + name) { ($0.audience, $0.rules) = (audience, rules) }
                }
            }
        )
    }

    /// What scenarios add to a tap.
    private static func compare(
        _ club: Club,
        _ scenarios: Int,
        _ rounds: Int,
        _ taps: Taps,
        _ block: Int,
        _ random: inout SplitMix64
    ) async throws {
        var taps = taps
        var (ratios, added): ([Double], [Double]) = ([], [])
        print("round   without us   \(scenarios) scenarios us   ratio")
        for round in 0...rounds {
            club.setScenarios([])
            let first = try await microseconds(club, taps.next(block, &random), every: .zero)
            club.setScenarios(CommonScenarios.make(scenarios))
            let own = try await microseconds(club, taps.next(block, &random), every: .zero)
            club.setScenarios([])
            let second = try await microseconds(club, taps.next(block, &random), every: .zero)
            let reference = (first + second) / 2
            guard round > 0 else { continue }
            ratios.append(own / reference)
            added.append(own - reference)
            print(String(format: "%5d %12.1f %18.1f %7.3f", round, reference, own, own / reference))
        }
        let charged = try await club.executions(limit: 1_000_000).count
        print(
            String(format: "median of the rounds: %.3f, %.1f us more; %d charged", ratios.median, added.median, charged)
        )
    }

    private static func configuration(_ path: String) -> ClubConfiguration {
        var configuration = ClubConfiguration(database: .file(path: path))
        configuration.logger.logLevel = .error
        return configuration
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// A club with so many members, made as if each had come `visits` times.
    private static func club(_ path: String, _ members: Int, _ visits: Int) async throws -> Club {
        var club = Club(configuration: configuration(path))
        try await club.open()
        try await club.close()
        let first = Int64(Taps.start * 1e6) - Int64(visits) * 86_400_000_000
        let hlc = "(\(first / 1000) << 16)"
        let code = cvisits_execute(
            path,
            """
            PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY; BEGIN;
            INSERT INTO member (id, user_id, username, added_at, num_visits, own_visits, last_visit_at, origin_hlc,
                origin_device)
            WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < \(members - 1))
            SELECT i + 1, '\(Taps.prefix)' || (1000000 + i), 'Member ' || i, \(first), \(visits), \(visits),
                \(first) + \(visits - 1) * 86400000000, \(hlc) + i + 1, x'00000000000000000000000000000001' FROM n;
            INSERT INTO visit (event_id, device_id, hlc, member_id, at, reader, backend, born)
            WITH RECURSIVE v (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM v WHERE i < \(visits - 1))
            SELECT randomblob(16), origin_device, origin_hlc + i * (86400000 << 16), id, added_at + i * 86400000000,
                'Benchmark', 'simulated', origin_hlc FROM v CROSS JOIN member;
            INSERT INTO receipt (event_id, at, reader, backend, outcome, member_id, num_visits, last_visit_at)
            SELECT event_id, at, reader, backend, 'visit', member_id, 1, at FROM visit ORDER BY event_id;
            COMMIT
            """
        )
        guard code == 0 else { throw Failure(description: "SQLite answers \(code) to making the members") }
        club = Club(configuration: configuration(path))
        try await club.open()
        return club
    }

    /// What a tap takes until it is acknowledged, on average, when one comes every `gap`.
    private static func microseconds(_ club: Club, _ events: [ScanEvent], every gap: Duration) async throws -> Double {
        var spent = Duration.zero
        var next = ContinuousClock.now
        for event in events {
            try await ContinuousClock().sleep(until: next, tolerance: .zero)
            let start = ContinuousClock.now
            let outcome = try await club.receive(event).outcome
            spent += ContinuousClock.now - start
            guard outcome == .visit else { throw Failure(description: "a tap was not counted: \(outcome.name)") }
            next = max(next + gap, .now)
        }
        return spent / .microseconds(1) / Double(events.count)
    }
}

/// Taps of members at random, a minute apart.
struct Taps {
    static let start = 1_788_256_800.0
    static let prefix = "04A1B2C3"
    let members: Int
    private var count = 0

    init(members: Int) { self.members = members }

    mutating func next(_ number: Int, _ random: inout SplitMix64) -> [ScanEvent] {
        (0..<number).map { _ in
            defer { count += 1 }
            return ScanEvent(
                id: UUID(),
                at: Date(timeIntervalSince1970: Self.start + Double(count) * 60),
                reader: "Benchmark",
                backend: .simulated,
                memberKey: Self.prefix + String(1_000_000 + random.below(members)),
                memberName: nil,
                problems: []
            )
        }
    }
}
