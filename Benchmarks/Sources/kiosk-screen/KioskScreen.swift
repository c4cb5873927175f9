import BenchmarkSupport
import ClubKit
import Dispatch
import Foundation
import KioskKit
import ReaderKit

/// Measures what a kiosk's screen waits for: the pages of a list over a large club, by key and by a jump; how soon a tap
/// that another process recorded is shown; and the memory of a screen that follows many taps. It exits with 1 over its
/// limits.
@main struct KioskScreen {
    static let page = 50

    static func main() async {
        do {
            let arguments = try Arguments(options: ["--members", "--taps", "--others", "--seed", "--tap-into"])
            if let path = arguments.text("--tap-into") { return try await tapAlong(path) }
            let seed = try arguments.number("--seed", default: UInt64(1))
            say("seed \(seed)")
            var isGood = try await lists(of: arguments.number("--members", default: 1_000_000), seed: seed)
            isGood = try await others(taps: arguments.number("--others", default: 200)) && isGood
            isGood = try await memory(taps: arguments.number("--taps", default: 100_000), seed: seed) && isGood
            guard isGood else { throw Wrong(description: "over a limit") }
        } catch {
            FileHandle.standardError.write(Data("kiosk-screen: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }

    /// Prints a line at once, also into a file.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    struct Wrong: Error, CustomStringConvertible { var description: String }

    @MainActor private static func inFolder<Result>(_ work: @MainActor (URL) async throws -> Result) async throws
        -> Result
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kiosk-screen-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await work(folder)
    }

    private static func open(_ path: String) async throws -> Club {
        var configuration = ClubConfiguration(database: .file(path: path), cooldown: .zero)
        configuration.logger.logLevel = .critical
        let club = Club(configuration: configuration).setDispatchQueue(DispatchQueue(label: "kiosk-screen"))
        try await club.open()
        return club
    }

    private static func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }

    /// Prints the median and the 95th percentile, and returns whether the latter is within the limit.
    private static func report(_ name: String, _ times: [Double], limit: Double) -> Bool {
        let sorted = times.sorted()
        let late = sorted[min(sorted.count - 1, sorted.count * 95 / 100)]
        say("  \(name): median \(Timing.text(sorted.median)) ms, p95 \(Timing.text(late)) ms, limit \(limit) ms")
        return late <= limit
    }

    // MARK: Lists

    @MainActor private static func lists(of members: Int, seed: UInt64) async throws -> Bool {
        try await inFolder { folder in
            let file = folder.appendingPathComponent("members.csv")
            var random = SplitMix64(seed: seed)
            var text = "userId,username,timeStampAdded,numVisits\n"
            for number in 0..<members {
                let key = String(random.next() >> 8, radix: 16, uppercase: true)
                text += "04\(key),Member \(random.below(1_000_000)),\(1_700_000_000 + number),\(1 + random.below(50))\n"
            }
            try Data(text.utf8).write(to: file)
            let path = folder.appendingPathComponent("club.sqlite").path
            var club = try await open(path)
            _ = try await club.importMembers(from: file.path)
            say("A list over \(members) members")
            var (first, next, jumps): ([Double], [Double], [Double]) = ([], [], [])
            for _ in 0..<20 {
                try await club.close()
                club = try await open(path)
                let list = PagedDataSource(
                    section: "members",
                    visibleCount: page,
                    load: club.memberPages(order: .username, size: page)
                )
                var start = ContinuousClock.now
                list.loadMore()
                await list.settled()
                first.append(milliseconds(.now - start))
                for number in 2...21 {
                    start = .now
                    list.rowWillAppear(at: list.list.items.count - 1)
                    await list.settled()
                    next.append(milliseconds(.now - start))
                    guard list.list.items.count == min(members, page * number) else {
                        throw Wrong(description: "a page is not as expected")
                    }
                }
                for _ in 0..<10 {
                    let offset = random.below(members)
                    start = .now
                    let query = MemberQuery(order: .username, offset: offset, limit: page)
                    let part = try await club.members(in: query, after: nil)
                    jumps.append(milliseconds(.now - start))
                    guard part.count == min(page, members - offset) else {
                        throw Wrong(description: "a jump is not as expected")
                    }
                }
            }
            try await club.close()
            let isQuick = report("first page, club just opened", first, limit: 50)
            return report("next page, by key", next, limit: 10) && report("jump", jumps, limit: 50) && isQuick
        }
    }

    // MARK: Taps of another process

    /// A view that notes when it showed which tap.
    @MainActor private final class Shown: VisitorView {
        private(set) var latest = Date.distantPast
        private(set) var greetings = 0
        private var former: VisitorScene?

        func show(_ scene: VisitorScene, taps: [TapRow], theme: Theme) {
            if scene != former, scene.kind == .visit || scene.kind == .firstVisit || scene.kind == .milestone {
                (latest, greetings) = (Date(), greetings + 1)
            }
            former = scene
        }
    }

    private static func tap(_ number: Int, of member: String, at date: Date) -> ScanEvent {
        ScanEvent(id: UUID(), at: date, reader: "benchmark", backend: .simulated, memberKey: member)
    }

    /// What the other process does: a tap for each line of standard input, and the moment after its commit as an answer.
    private static func tapAlong(_ path: String) async throws {
        let club = try await open(path)
        var number = 0
        while readLine() != nil {
            number += 1
            _ = try await club.receive(tap(number, of: "M\(number)", at: Date()))
            try FileHandle.standardOutput.write(contentsOf: Data("\(Date().timeIntervalSince1970)\n".utf8))
        }
        try await club.close()
    }

    private static func lines(of handle: FileHandle) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var text = ""
            while case let data = handle.availableData, !data.isEmpty {
                text += String(decoding: data, as: UTF8.self)
                while let end = text.firstIndex(of: "\n") {
                    continuation.yield(String(text[..<end]))
                    text.removeSubrange(...end)
                }
            }
            continuation.finish()
        }
        return stream
    }

    @MainActor private static func others(taps: Int) async throws -> Bool {
        try await inFolder { folder in
            let path = folder.appendingPathComponent("club.sqlite").path
            let club = try await open(path)
            let model = KioskModel()
            var theme = Theme()
            // Each is shown before the next one comes.
            theme.greetingSeconds = 1
            let (presenter, view) = (VisitorPresenter(model, theme: theme), Shown())
            let screen = Screen(presenter, view: view, shownAs: view)
            screen.appear()
            let following = Task { try await model.follow(club) }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            process.arguments = ["--tap-into", path]
            let (input, output) = (Pipe(), Pipe())
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            var answers = lines(of: output.fileHandleForReading).makeAsyncIterator()
            var times: [Double] = []
            for number in 1...taps {
                try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
                guard let answer = await answers.next().flatMap(Double.init) else {
                    throw Wrong(description: "the other process ended")
                }
                while view.greetings < number { try await Task.sleep(for: .milliseconds(1)) }
                times.append(max(0, (view.latest.timeIntervalSince1970 - answer) * 1000))
                // Until the screen is at rest again, as between two visitors.
                try await Task.sleep(for: .milliseconds(1050))
            }
            try input.fileHandleForWriting.close()
            process.waitUntilExit()
            following.cancel()
            screen.destroy()
            try await club.close()
            say("Taps of another process, from their commit to the view")
            return report("\(taps) taps", times, limit: 100)
        }
    }

    // MARK: Memory

    /// The memory of this process, in kB, what is shared by its share.
    private static func memory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }
        guard let number = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Wrong(description: "no Pss in smaps_rollup")
        }
        return number
    }

    @MainActor private static func memory(taps: Int, seed: UInt64) async throws -> Bool {
        try await inFolder { folder in
            let club = try await open(folder.appendingPathComponent("club.sqlite").path)
            // Of a later day: a hundred thousand visits of one day would be counted at each of them.
            let model = KioskModel(clock: { Date() + 86_400 })
            let (presenter, view) = (VisitorPresenter(model), Shown())
            let screen = Screen(presenter, view: view, shownAs: view)
            screen.appear()
            let following = Task { try await model.follow(club) }
            var random = SplitMix64(seed: seed)
            say("Memory of a screen that follows \(taps) taps")
            var figures: [Int] = []
            for number in 1...taps {
                let receipt = try await club.receive(tap(number, of: "M\(random.below(2000))", at: Date()))
                // No faster than the screen follows: what is older than some seconds is shown to nobody.
                guard number.isMultiple(of: 100) || number == taps else { continue }
                while model.status.lastTap?.eventID != receipt.eventID { try await Task.sleep(for: .milliseconds(2)) }
                guard number.isMultiple(of: max(100, taps / 10)) || number == taps else { continue }
                // What has been answered is off the screen.
                try await Task.sleep(for: .seconds(1))
                figures.append(try memory())
                say("  after \(number): \(figures[figures.count - 1]) kB")
            }
            following.cancel()
            screen.destroy()
            try await club.close()
            // The first figures are of SQLite's caches, which fill with the database.
            let growth = Double(figures[figures.count - 1]) / Double(figures[figures.count * 4 / 5])
            say("  over the last fifth: \(Timing.text(growth * 100)) %, limit 105 %")
            return growth <= 1.05
        }
    }
}
