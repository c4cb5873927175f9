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
                for (way, count) in counts {
                    group.addTask { for number in 0..<count { try await kiosk.tap(way, number) } }
                }
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

        /// For ten minutes: `READERKIT_SOAK_SECONDS=600`.
        @Test("[real pcscd] [real libnfc] taps, unplugging, noise, restarts: no tap is missed, nothing grows")
        func soak() async throws {
            let environment = ProcessInfo.processInfo.environment["READERKIT_SOAK_SECONDS"]
            let seconds = environment.flatMap(Double.init) ?? 8
            let kiosk = try await ServedKiosk()
            let begin = ContinuousClock.now
            // What is made once is there after some taps and one of each obstacle.
            let warm = try await run(kiosk, from: 0, rounds: 1) { false }
            let before = Figures(of: kiosk.identifier)
            let end = begin + .seconds(seconds)
            let taps = try await run(kiosk, from: warm.values.max() ?? 0, rounds: .max) { ContinuousClock.now >= end }
            let after = Figures(of: kiosk.identifier)
            // Nobody taps; what that costs shows over some time only.
            let idle = Figures(of: kiosk.identifier)
            let pause = seconds >= 60 ? 30.0 : 5
            try await Task.sleep(for: .seconds(pause))
            let load = (Figures(of: kiosk.identifier).processorTime - idle.processorTime) / pause
            #expect(await kiosk.stop() == 130)
            var all = 0
            for way in ServedKiosk.Way.allCases {
                let told = kiosk.taps(way)
                #expect(Set(told).count == told.count, "a tap was told twice on \(way)")
                #expect(told.count == (warm[way] ?? 0) + (taps[way] ?? 0), "\(way)")
                all += told.count
            }
            #expect(after.descriptors <= before.descriptors + 4)
            // Threads and buffers of the three ways come and go; a leak would be some kilobytes for each of them.
            #expect(after.residentBytes - before.residentBytes < 24 << 20)
            #expect(load < 0.05)
            TestReport.add(
                section: "soak",
                line:
                    "\(all) taps in \(Int((ContinuousClock.now - begin).seconds)) s on three kinds of readers, none missed"
                    + " | \(taps.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", "))"
                    + " | memory \((after.residentBytes - before.residentBytes) / 1024) KiB more,"
                    + " descriptors \(after.descriptors - before.descriptors) more"
                    + " | idle: \((load * 100).formatted(2)) % of a processor"
            )
        }

        /// Taps on all readers, with an obstacle on each after some taps, until it is over.
        ///
        /// - Returns: how many taps there were on each reader.
        private func run(
            _ kiosk: ServedKiosk,
            from first: Int,
            rounds: Int,
            until isOver: @escaping @Sendable () -> Bool
        ) async throws -> [ServedKiosk.Way: Int] {
            try await withThrowingTaskGroup(of: (ServedKiosk.Way, Int).self) { group in
                for way in ServedKiosk.Way.allCases {
                    group.addTask {
                        var count = 0
                        var round = 0
                        while round < rounds, !isOver() {
                            for _ in 0..<4 {
                                try await kiosk.tap(way, first + count)
                                count += 1
                            }
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
    var descriptors = 0
    /// Seconds.
    var processorTime = 0.0

    init(of process: Int32) {
        let folder = "/proc/\(process)"
        descriptors = ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd")) ?? []).count
        let pages = (try? String(contentsOfFile: folder + "/statm", encoding: .utf8))?.split(separator: " ")
        residentBytes = (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
        let stat = (try? String(contentsOfFile: folder + "/stat", encoding: .utf8)) ?? ""
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return }
        processorTime = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
#endif
