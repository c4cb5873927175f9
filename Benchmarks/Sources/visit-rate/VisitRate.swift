import BenchmarkSupport
import CVisits
import ClubKit
import Foundation
import ReaderKit

/// Compares the durable visits per second of a club with a plain C client of SQLite that makes the same statements with
/// the same settings, one commit a visit: two copies of one database, in one process, in alternating blocks.
///
/// The club is given the taps in three ways: as a stream that `Club.run` serves; by a task that calls `Club.receive` and
/// waits for each receipt, as `clubctl kiosk` does; and by eight such tasks at once.
@main
struct VisitRate {
    static func main() async throws {
        // What is deferred is done before the process ends.
        exit(try await run())
    }

    private static func run() async throws -> Int32 {
        let arguments = try Arguments(options: ["--rounds", "--block", "--members"])
        let rounds = max(1, try arguments.number("--rounds", default: 41))
        let block = max(1, try arguments.number("--block", default: 250))
        let members = max(1, try arguments.number("--members", default: 1000))
        let folder = FileManager.default.currentDirectoryPath + "/.build/visit-rate-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (ours, theirs) = (folder + "/club.sqlite", folder + "/c.sqlite")

        var taps = Taps(members: members)
        var club = Club(configuration: configuration(ours))
        try await club.open()
        for event in taps.next(members) { _ = try await club.receive(event) }
        try await club.close()
        try FileManager.default.copyItem(atPath: ours, toPath: theirs)
        club = Club(configuration: configuration(ours))
        try await club.open()
        guard let plain = cvisits_open(theirs) else { throw Failure(description: "the C client cannot open its file") }
        defer { cvisits_close(plain) }

        var ratios: [Way: [Double]] = [:]
        print("round   C visits/s" + Way.allCases.map { "   \($0.rawValue)" }.joined())
        for round in 0...rounds {
            // The club's blocks come between two of C's, so that a drift of the machine shows in both.
            var c = try seconds(plain, taps.next(block))
            var own: [Way: Double] = [:]
            for way in Way.allCases { own[way] = try await seconds(way, club, taps.next(block)) }
            c = (c + (try seconds(plain, taps.next(block)))) / 2
            // The first round warms up.
            guard round > 0 else { continue }
            var line = String(format: "%5d %12.0f", round, Double(block) / c)
            for way in Way.allCases {
                let ratio = c / (own[way] ?? .infinity)
                ratios[way, default: []].append(ratio)
                line += "   " + String(repeating: " ", count: way.rawValue.count - 5) + String(format: "%5.3f", ratio)
            }
            print(line)
        }
        let medians = Way.allCases.map { String(format: "\($0.rawValue) %.3f", ratios[$0]?.median ?? 0) }
        print("medians of the rounds: " + medians.joined(separator: ", "))
        guard try await club.check().isEmpty else { throw Failure(description: "the check of the club finds faults") }
        let visits = try await club.members().map(\.numVisits).reduce(0, +)
        guard visits == members + (rounds + 1) * block * Way.allCases.count else {
            throw Failure(description: "\(visits) visits were counted, which is not what was tapped")
        }
        try await club.close()
        return (ratios[.stream]?.median ?? 0) >= 0.8 && (ratios[.eight]?.median ?? 0) >= 0.8 ? 0 : 1
    }

    /// How the club is given the taps.
    private enum Way: String, CaseIterable {
        case stream = "as a stream"
        case receive = "one by one"
        case eight = "8 at a time"
    }

    private static func seconds(_ way: Way, _ club: Club, _ events: [ScanEvent]) async throws -> Double {
        let start = ContinuousClock.now
        switch way {
        case .stream:
            try await club.run(Source(events: events))
        case .receive:
            for event in events { _ = try await club.receive(event) }
        case .eight: try await atOnce(club, events)
        }
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private static func configuration(_ path: String) -> ClubConfiguration {
        var configuration = ClubConfiguration(database: .file(path: path))
        configuration.logger.logLevel = .error
        return configuration
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static func seconds(_ plain: OpaquePointer, _ events: [ScanEvent]) throws -> Double {
        let taps = events.map { event in
            var tap = cvisits_tap()
            tap.event = event.id.uuid
            tap.device = device.uuid
            withUnsafeMutableBytes(of: &tap.key) { $0.copyBytes(from: Array((event.memberKey ?? "").utf8)) }
            tap.at = Int64((event.at.timeIntervalSince1970 * 1e6).rounded())
            return tap
        }
        var code: Int32 = 0
        let seconds = Timing.seconds { code = cvisits_block(plain, taps, Int32(taps.count)) }
        guard code == 0 else { throw Failure(description: "the C client fails with code \(code)") }
        return seconds
    }

    private static let device = UUID()

    /// Eight readers, each of which gives its next tap when the one before was acknowledged.
    private static func atOnce(_ club: Club, _ events: [ScanEvent]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<8 {
                group.addTask {
                    for index in stride(from: reader, to: events.count, by: 8) {
                        _ = try await club.receive(events[index])
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A reader that has the next tap at once. `AsyncStream` would take a good part of the time for itself.
struct Source: AsyncSequence, AsyncIteratorProtocol {
    var events: [ScanEvent]
    private var index = 0

    init(events: [ScanEvent]) { self.events = events }

    func makeAsyncIterator() -> Source { self }

    mutating func next() async -> ScanEvent? {
        guard index < events.count else { return nil }
        defer { index += 1 }
        return events[index]
    }
}

/// Taps of members in turn, far enough apart to count.
struct Taps {
    let members: Int
    private var count = 0

    init(members: Int) { self.members = members }

    mutating func next(_ number: Int) -> [ScanEvent] {
        (0..<number).map { _ in
            defer { count += 1 }
            return ScanEvent(
                id: UUID(),
                at: Date(timeIntervalSince1970: 1_788_256_800 + Double(count / members) * 60),
                reader: "Benchmark",
                backend: .simulated,
                memberKey: "04A1B2C3\(String(100_000 + count % members))",
                memberName: nil,
                problems: []
            )
        }
    }
}
