import BenchmarkSupport
import CVisits
import ClubKit
import Foundation
import ReaderKit
import Synchronization

/// Measures how long taps take while old visits are looked for among many, and with `--old N` while the first N visits of
/// each member are removed, beside taps with nothing else going on.
@main
struct RetentionCost {
    private static let start = 1_788_256_800.0
    private static let prefix = "04A1B2C3"
    private static let day: Int64 = 86_400_000_000

    static func main() async throws {
        // What is deferred is done before the process ends.
        exit(try await run())
    }

    private static func run() async throws -> Int32 {
        let arguments = try Arguments(options: ["--rounds", "--members", "--visits", "--old", "--seed"])
        let rounds = max(1, try arguments.number("--rounds", default: 5))
        let members = max(1, try arguments.number("--members", default: 100_000))
        let visits = max(1, try arguments.number("--visits", default: 10))
        let old = min(max(0, try arguments.number("--old", default: 0)), visits)
        var random = SplitMix64(seed: try arguments.number("--seed", default: 1))
        let folder = FileManager.default.currentDirectoryPath + "/.build/retention-cost-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let club = try await club(folder + "/club.sqlite", members, visits)
        // Half a day before the first visit that stays.
        let limit = Date(timeIntervalSince1970: start + Double(old - visits) * 86_400 - 43_200)

        var count = 0
        func tap() async throws -> Double {
            let event = ScanEvent(
                id: UUID(),
                at: Date(timeIntervalSince1970: start + Double(count) * 60),
                reader: "Benchmark",
                backend: .simulated,
                memberKey: prefix + String(1_000_000 + random.below(members)),
                memberName: nil,
                problems: []
            )
            count += 1
            let began = ContinuousClock.now
            let outcome = try await club.receive(event).outcome
            guard outcome == .visit else { throw Failure(description: "a tap was not counted: \(outcome.name)") }
            return (ContinuousClock.now - began) / .milliseconds(1)
        }
        for _ in 0..<200 { _ = try await tap() }
        var alone: [Double] = []
        for _ in 0..<2000 { alone.append(try await tap()) }
        report("alone", alone)

        var beside: [Double] = []
        for round in 1...(old > 0 ? 1 : rounds) {
            let began = ContinuousClock.now
            let over = Flag()
            let removal = Task {
                defer { over.set() }
                return try await club.pruneVisits(before: limit)
            }
            var taps: [Double] = []
            while !over.isSet { taps.append(try await tap()) }
            beside += taps
            let removed = try await removal.value
            let seconds = (ContinuousClock.now - began) / .seconds(1)
            let text = "round \(round): \(removed) of \(members * visits) visits removed in"
            print(text, String(format: "%.2f s, %d taps meanwhile", seconds, taps.count))
        }
        report("beside", beside)
        try await club.close()
        return 0
    }

    private static func report(_ name: String, _ taps: [Double]) {
        let sorted = taps.sorted()
        guard let most = sorted.last else { return }
        func share(_ part: Double) -> Double { sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))] }
        print(
            name,
            String(
                format: "%d taps: median %.2f ms, p99 %.2f ms, longest %.2f ms",
                sorted.count,
                share(0.5),
                share(0.99),
                most
            )
        )
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock(\.self) }
        func set() { value.withLock { $0 = true } }
    }

    /// A club in which each of so many members came so many times, once a day.
    private static func club(_ path: String, _ members: Int, _ visits: Int) async throws -> Club {
        var configuration = ClubConfiguration(database: .file(path: path))
        configuration.logger.logLevel = .error
        var club = Club(configuration: configuration)
        try await club.open()
        try await club.close()
        let first = Int64(start * 1e6) - Int64(visits) * day
        let code = cvisits_execute(
            path,
            """
            PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY; BEGIN;
            INSERT INTO member (id, user_id, username, added_at, num_visits, own_visits, last_visit_at, origin_hlc,
                origin_device)
            WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < \(members - 1))
            SELECT i + 1, '\(prefix)' || (1000000 + i), 'Member ' || i, \(first), \(visits), \(visits),
                \(first) + \(visits - 1) * \(day), (\(first / 1000) << 16) + i + 1,
                x'00000000000000000000000000000001' FROM n;
            INSERT INTO visit (event_id, device_id, hlc, member_id, at, reader, backend, born)
            WITH RECURSIVE v (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM v WHERE i < \(visits - 1))
            SELECT randomblob(16), origin_device, origin_hlc + i * (86400000 << 16), id, added_at + i * \(day),
                'Benchmark', 'simulated', origin_hlc FROM v CROSS JOIN member;
            INSERT INTO receipt (event_id, at, reader, backend, outcome, member_id, num_visits, last_visit_at)
            SELECT event_id, at, reader, backend, 'visit', member_id, 1, at FROM visit ORDER BY event_id;
            COMMIT
            """
        )
        guard code == 0 else { throw Failure(description: "SQLite answers \(code) to making the members") }
        club = Club(configuration: configuration)
        try await club.open()
        return club
    }
}
