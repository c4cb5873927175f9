#if PCSC && NFC
import Foundation
import ReaderKit
import ReaderKitTesting
import Synchronization
import TestSupport
import Testing

/// The kiosk with a reader of each kind at the same time.
extension ThroughPCSCD {
    @Suite(.timeLimit(.minutes(20)))
    struct ThreeWaysTests {
        @Test("[real pcscd] [real libnfc] 200 taps on three kinds of readers: each one event, in order")
        func kiosk() async throws {
            let kiosk = try await ServedKiosk()
            let counts: [ServedKiosk.Way: Int] = [.pcsc: 16, .nfc: 74, .smartReader: 110]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (way, count) in counts where way != .smartReader {
                    group.addTask { for number in 0..<count { try await kiosk.tap(way, number) } }
                }
                // A line can carry many at once, so that an order shows.
                group.addTask { try await kiosk.burst(0..<(counts[.smartReader] ?? 0)) }
                try await group.waitForAll()
            }
            #expect(await kiosk.stop() == 130)
            for (way, count) in counts {
                #expect(kiosk.taps(way) == (0..<count).map { ServedKiosk.uid(way, $0) })
            }
            #expect(kiosk.tapCount == 200)
            let members = try await Tool.clubctl.run("members", "list", "--json", "--database", kiosk.database).objects
            #expect(members.count == 200)
            #expect(members.allSatisfy { $0["numVisits"] as? Int == 1 })
            TestReport.add(section: "others", line: "clubctl kiosk | three kinds of readers | 200 taps, 200 events")
        }

        /// For longer: `READERKIT_SOAK_SECONDS=540`. A test ends after ten minutes.
        @Test("[real pcscd] [real libnfc] taps, unplugging, noise, restarts: no tap is missed, nothing grows")
        func soak() async throws {
            let environment = ProcessInfo.processInfo.environment["READERKIT_SOAK_SECONDS"]
            let seconds = environment.flatMap(Double.init) ?? 8
            let kiosk = try await ServedKiosk()
            let begin = ContinuousClock.now
            // What is made once is there after some taps and one of each obstacle.
            var counts = try await run(kiosk, from: [:], rounds: 1) { false }
            let before = try Figures(of: kiosk.identifier)
            let half = begin + .seconds(seconds / 2)
            counts = try await run(kiosk, from: counts, rounds: .max) { ContinuousClock.now >= half }
            let middle = try Figures(of: kiosk.identifier)
            let end = begin + .seconds(seconds)
            counts = try await run(kiosk, from: counts, rounds: .max) { ContinuousClock.now >= end }
            let after = try Figures(of: kiosk.identifier)
            // Nobody taps; what that costs shows over some time only.
            let pause = seconds >= 60 ? 30.0 : 10
            let idle = try Figures(of: kiosk.identifier)
            try await Task.sleep(for: .seconds(pause))
            let rested = try Figures(of: kiosk.identifier)
            let load = (rested.processorTime - idle.processorTime) / pause
            #expect(await kiosk.stop() == 130)
            for way in ServedKiosk.Way.allCases {
                // None missed, none told twice, and in their order.
                #expect(kiosk.taps(way) == (0..<(counts[way] ?? 0)).map { ServedKiosk.uid(way, $0) }, "\(way)")
            }
            let all = counts.values.reduce(0, +)
            // What is made once is there by half of the time; a leak would go on. At rest nothing is just being opened. A
            // further reader of the database, which has two files, is made when it is first needed, and that may be late.
            let most = max(before.files.count, middle.files.count)
            #expect(rested.files.count <= most + 4, "\(rested.files.sorted())\nbefore: \(before.files.sorted())")
            let growth = (
                first: middle.residentBytes - before.residentBytes, after.residentBytes - middle.residentBytes
            )
            #expect(growth.1 < 2 << 20, "\(growth)")
            // What asks again and again takes a good part of a processor; how much rest takes depends on the machine.
            #expect(load < 0.05)
            TestReport.add(
                section: "soak",
                line:
                    "\(all) taps in \(Int((ContinuousClock.now - begin).seconds)) s on three kinds of readers, none missed"
                    + " | \(counts.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", "))"
                    + " | memory \(growth.first / 1024) KiB more in the first half, \(growth.1 / 1024) KiB in the second,"
                    + " descriptors \(rested.files.count - before.files.count) more"
                    + " | idle: \((load * 100).formatted(2)) % of a processor"
            )
        }

        /// Taps on all readers, with an obstacle on each after some taps, until it is over.
        ///
        /// - Parameter first: how many taps there were on each reader before.
        /// - Returns: how many there are by then.
        private func run(
            _ kiosk: ServedKiosk,
            from first: [ServedKiosk.Way: Int],
            rounds: Int,
            until isOver: @escaping @Sendable () -> Bool
        ) async throws -> [ServedKiosk.Way: Int] {
            try await withThrowingTaskGroup(of: (ServedKiosk.Way, Int).self) { group in
                for way in ServedKiosk.Way.allCases {
                    group.addTask {
                        var count = first[way] ?? 0
                        var round = 0
                        while round < rounds, !isOver() {
                            if way == .smartReader {
                                try await kiosk.burst(count..<(count + 4))
                            } else {
                                for number in count..<(count + 4) { try await kiosk.tap(way, number) }
                            }
                            count += 4
                            try await Self.disturb(kiosk, way, round)
                            round += 1
                        }
                        return (way, count)
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }

        private static func disturb(_ kiosk: ServedKiosk, _ way: ServedKiosk.Way, _ round: Int) async throws {
            switch way {
            case .pcsc:
                let served = kiosk.timesServed(way)
                try await onAThread { try kiosk.daemon.restart() }
                try await kiosk.untilServed(way, times: served + 1)
            case .nfc where round.isMultiple(of: 2):
                try await kiosk.replug(way) {
                    kiosk.board.unplug()
                } plugIn: {
                    try kiosk.board.plugIn()
                }
            case .nfc:
                kiosk.board.send(noise: [0x00, 0xFF, 0x55, 0x00, 0x00, 0xFF, 0x03, 0xFD])
            case .smartReader where round.isMultiple(of: 2):
                try await kiosk.replug(way) {
                    kiosk.line.unplug()
                } plugIn: {
                    try kiosk.line.plugIn()
                }
            case .smartReader:
                kiosk.line.send(noise: [0x00, 0xFF, 0x24, 0x53, 0x0A, 0x80, 0x0D, 0x0A])
            }
        }

        private static func onAThread(_ work: @escaping @Sendable () throws -> Void) async throws {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
            }
        }
    }
}

/// What a process uses.
private struct Figures {
    var residentBytes = 0
    /// What is open, a file twice where it is open twice.
    var files: [String] = []
    /// Seconds.
    var processorTime = 0.0

    init(of process: Int32) throws {
        let folder = "/proc/\(process)"
        files = try FileManager.default.contentsOfDirectory(atPath: folder + "/fd").map { descriptor in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\(descriptor)")) ?? "closed"
        }
        let pages = try String(contentsOfFile: folder + "/statm", encoding: .utf8).split(separator: " ")
        residentBytes = try #require(pages.count > 1 ? Int(pages[1]) : nil) * sysconf(Int32(_SC_PAGESIZE))
        let stat = try String(contentsOfFile: folder + "/stat", encoding: .utf8)
        let fields = stat[try #require(stat.lastIndex(of: ")"))...].split(separator: " ")
        try #require(fields.count > 13)
        let ticks = try #require(Double(fields[12])) + #require(Double(fields[13]))
        processorTime = ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
#endif
