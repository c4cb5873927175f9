import BenchmarkSupport
import ClubKit
import Dispatch
import Foundation
import ReaderKit

/// Shows lists of a large club and of a small one, and prints how long each takes: the first window of 50 in every order
/// that has an index, a collection until its first 50 members are there, and a list and a window until they have
/// followed a tap. It exits with 1 if a first window or the beginning of a collection takes longer than 50 ms.
@main struct MemberList {
    static let limit = 50.0
    static let page = 50

    static func main() async {
        do {
            let arguments = try Arguments(options: ["--members", "--rounds"])
            let count = max(1, try arguments.number("--members", default: 1_000_000))
            let rounds = max(1, try arguments.number("--rounds", default: 20))
            var isQuick = true
            for members in [min(1000, count), count] {
                isQuick = try await run(members: members, rounds: rounds) && isQuick
            }
            guard isQuick else { throw TooSlow() }
        } catch {
            FileHandle.standardError.write(Data("member-list: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }

    private struct TooSlow: Error, CustomStringConvertible {
        var description: String { "longer than \(MemberList.limit) ms" }
    }

    private static func run(members: Int, rounds: Int) async throws -> Bool {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "member-list-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = ClubConfiguration(
            database: .file(path: directory.appendingPathComponent("club.sqlite").path),
            cooldown: .zero
        )
        configuration.logger.logLevel = .critical
        let file = directory.appendingPathComponent("members.csv")
        try csv(members: members).write(to: file)
        print("\(members) members")
        let filling = try await ContinuousClock().measure {
            let club = try await open(configuration)
            _ = try await club.importMembers(from: file.path)
            try await club.close()
        }
        print("  imported in \(Timing.text(milliseconds(filling) / 1000)) s")

        var isQuick = true
        for order in [MemberOrder.creation, .userId, .username, .lastVisit] {
            var fresh: [Double] = []
            var warm: [Double] = []
            for _ in 0..<rounds {
                let club = try await open(configuration)
                fresh.append(try await firstWindow(club, order))
                warm.append(try await firstWindow(club, order))
                try await club.close()
            }
            isQuick = report("first window by \(order.rawValue), club just opened", fresh) && isQuick
            isQuick = report("first window by \(order.rawValue)", warm) && isQuick
        }
        var beginnings: [Double] = []
        var wholes: [Double] = []
        for _ in 0..<rounds {
            let club = try await open(configuration)
            let (beginning, whole) = await collection(club)
            beginnings.append(beginning)
            wholes.append(whole)
            try await club.close()
        }
        isQuick = report("collection with its first \(page)", beginnings) && isQuick
        _ = report("collection with its last member", wholes)

        let club = try await open(configuration)
        _ = report("tap until a collection follows", try await taps(club, rounds: rounds * 10))
        _ = report("tap until a window follows", try await windowTaps(club, rounds: rounds * 10))
        try await club.close()
        return isQuick
    }

    private static func open(_ configuration: ClubConfiguration) async throws -> Club {
        let club = Club(configuration: configuration).setDispatchQueue(DispatchQueue(label: "member-list"))
        try await club.open()
        return club
    }

    private static func csv(members: Int) -> Data {
        var random = SplitMix64(seed: 1)
        var text = "userId,username,timeStampAdded,numVisits,timeStampOfLastVisit,emailAddress\n"
        for number in 0..<members {
            let key = String(random.next() >> 8, radix: 16, uppercase: true)
            let added = 1_700_000_000 + number
            let last = added + random.below(30_000_000)
            text += "04\(key),Member \(random.below(1_000_000)),\(added),\(1 + random.below(50)),\(last),"
            text += "member\(number)@example.org\n"
        }
        return Data(text.utf8)
    }

    // MARK: Measuring

    private static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
    }

    private static func report(_ name: String, _ times: [Double]) -> Bool {
        let sorted = times.sorted()
        let median = sorted[sorted.count / 2]
        let worst = sorted[sorted.count - 1]
        print("  \(name): \(Timing.text(median)) ms, worst \(Timing.text(worst)) ms")
        return median <= limit
    }

    private static func firstWindow(_ club: Club, _ order: MemberOrder) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var windows = club.members(in: MemberQuery(order: order, limit: page)).makeAsyncIterator()
        let window = try await windows.next()
        let time = milliseconds(clock.now - start)
        guard let window, window.members.count == min(page, window.total) else { throw Wrong(what: "window") }
        return time
    }

    private struct Wrong: Error, CustomStringConvertible {
        var what: String
        var description: String { "the \(what) is not as expected" }
    }

    /// Until the first members are there, and until the last one is.
    private static func collection(_ club: Club) async -> (Double, Double) {
        let clock = ContinuousClock()
        let collection = MembershipUserCollection<MembershipUser>(club: club)
        let start = clock.now
        let result = await withCheckedContinuation { continuation in
            collection.observeAllRecords { changes in
                guard case .initial(let users) = changes else { return }
                for index in 0..<min(page, users.count) where users.user(at: index) == nil { return }
                let beginning = milliseconds(clock.now - start)
                guard users.user(at: users.count - 1) != nil else { return }
                continuation.resume(returning: (beginning, milliseconds(clock.now - start)))
            }
        }
        collection.stopObserving()
        return result
    }

    private static func tap(_ key: String, _ number: Int) -> ScanEvent {
        ScanEvent(
            id: UUID(),
            at: Date(timeIntervalSince1970: 1_790_000_000 + Double(number)),
            reader: "benchmark",
            backend: .simulated,
            memberKey: key
        )
    }

    /// From the tap, its commit included, to the callback.
    private static func taps(_ club: Club, rounds: Int) async throws -> [Double] {
        let clock = ContinuousClock()
        let collection = MembershipUserCollection<MembershipUser>(club: club, order: .lastVisit)
        let (told, continuation) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        collection.observeAllRecords { _ in continuation.yield(clock.now) }
        var callbacks = told.makeAsyncIterator()
        _ = await callbacks.next()
        guard collection.count > 0, let last = collection.user(at: collection.count - 1) else {
            throw Wrong(what: "collection")
        }
        var times: [Double] = []
        for number in 0..<rounds {
            let key = collection.user(at: collection.count - 1)?.userId ?? last.userId ?? ""
            let start = clock.now
            _ = try await club.receive(tap(key, number))
            guard let end = await callbacks.next() else { break }
            times.append(milliseconds(end - start))
        }
        collection.stopObserving()
        return times
    }

    /// From the tap, its commit included, to the window.
    private static func windowTaps(_ club: Club, rounds: Int) async throws -> [Double] {
        let clock = ContinuousClock()
        var windows = club.members(in: MemberQuery(order: .lastVisit, limit: page)).makeAsyncIterator()
        guard var window = try await windows.next(), !window.members.isEmpty else { throw Wrong(what: "window") }
        var times: [Double] = []
        for number in 0..<rounds {
            let start = clock.now
            _ = try await club.receive(tap(window.members[window.members.count - 1].userId, 1_000_000 + number))
            guard let next = try await windows.next() else { break }
            times.append(milliseconds(clock.now - start))
            window = next
        }
        return times
    }
}
