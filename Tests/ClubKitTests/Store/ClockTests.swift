import Foundation
import Synchronization
import Testing

@testable import ClubKit

@Suite("Clocks")
struct ClockTests {
    /// A moment of a logical clock, in its parts.
    private struct HybridTimestamp: Comparable {
        var rawValue: Int64
        var milliseconds: Int64 { rawValue >> 16 }
        var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

        init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        init(milliseconds: Int64, counter: UInt16) {
            rawValue = Stamp.time(milliseconds: milliseconds, counter: counter)
        }

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A store whose wall clock is set by hand.
    private struct Device {
        let time: WallClock
        let store: MemberStore

        init() throws {
            let time = WallClock()
            self.time = time
            store = try MemberStore(.memory, clock: { time.now }, makeUUID: { UUIDSource.uuid(77) })
        }

        /// Sets the wall clock to these milliseconds, one after the other, and takes a stamp each time.
        func stamps(at milliseconds: [Double]) async throws -> [HybridTimestamp] {
            try await store.write("test") { transaction in
                try milliseconds.map {
                    time.now = Date(timeIntervalSince1970: $0 / 1000)
                    return HybridTimestamp(rawValue: try transaction.nextStamp().time)
                }
            }
        }

        func observe(_ moment: HybridTimestamp) async throws {
            try await store.write("test") { transaction in try transaction.observe(moment.rawValue) }
        }
    }

    private final class WallClock: Sendable {
        private let value = Mutex(Date(timeIntervalSince1970: 0))

        var now: Date {
            get { value.withLock(\.self) }
            set { value.withLock { $0 = newValue } }
        }
    }

    @Test("The logical clock follows the physical one and never stands still")
    func next() async throws {
        // Physical milliseconds, what is expected.
        let steps: [(Double, Int64, UInt16)] = [
            (1000, 1000, 0), (1000, 1000, 1), (1000.9, 1000, 2), (1001, 1001, 0), (500, 1001, 1), (-5, 1001, 2),
            (1002, 1002, 0), (.nan, 1002, 1), (1e300, 1002, 2), (1003, 1003, 0),
        ]
        let stamps = try await Device().stamps(at: steps.map(\.0))
        #expect(stamps.map(\.milliseconds) == steps.map(\.1))
        #expect(stamps.map(\.counter) == steps.map(\.2))
    }

    @Test("A full counter carries over, and the largest, which is that of files, is never given")
    func carry() async throws {
        let device = try Device()
        try await device.observe(HybridTimestamp(milliseconds: 5, counter: 0xFFFC))
        let stamps = try await device.stamps(at: [0, 0, 0])
        #expect(stamps.map(\.milliseconds) == [5, 5, 6])
        #expect(stamps.map(\.counter) == [0xFFFD, 0xFFFE, 0])
        #expect(!stamps.contains { Stamp.isLegacy(time: $0.rawValue) })
        // That of a file pulls the clock on as well.
        try await device.observe(HybridTimestamp(milliseconds: 9, counter: .max))
        #expect(try await device.stamps(at: [0]) == [HybridTimestamp(milliseconds: 10, counter: 0)])
    }

    @Test("Another device's moment pulls the clock on, never back")
    func observe() async throws {
        let device = try Device()
        try await device.observe(HybridTimestamp(milliseconds: 5, counter: 3))
        try await device.observe(HybridTimestamp(milliseconds: 4, counter: 9))
        #expect(try await device.stamps(at: [0]) == [HybridTimestamp(milliseconds: 5, counter: 4)])
        try await device.observe(HybridTimestamp(milliseconds: 7, counter: 1))
        #expect(try await device.stamps(at: [0]) == [HybridTimestamp(milliseconds: 7, counter: 2)])
    }

    @Test("Raw values are never negative, sort like the moments and keep all of them")
    func rawValues() {
        #expect(HybridTimestamp(milliseconds: -1, counter: 7) == HybridTimestamp(milliseconds: 0, counter: 7))
        let latest = HybridTimestamp(milliseconds: .max, counter: .max)
        #expect(latest.rawValue == .max)
        #expect(latest.milliseconds == 1 << 47 - 1 && latest.counter == .max)
        #expect(HybridTimestamp(milliseconds: 1, counter: .max) < HybridTimestamp(milliseconds: 2, counter: 0))
    }

    @Test("Random walks of the physical clock, seed 7")
    func monotone() async throws {
        var state: UInt64 = 7
        var now = 1_000_000.0
        let walk = (0..<20_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            now += (Double(Int64(state >> 40)) / 1e6 - 8) * 1000
            return now
        }
        let stamps = try await Device().stamps(at: walk)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test(
        "Durations in microseconds",
        arguments: [
            (.zero, 0), (.seconds(30), 30_000_000), (.microseconds(1), 1), (.nanoseconds(1999), 1), (.seconds(-1), 0),
            (.milliseconds(1500), 1_500_000), (.seconds(Int64.max), Timestamp.latest),
        ] as [(Duration, Int64)]
    )
    func durations(duration: Duration, microseconds: Int64) {
        #expect(Timestamp.microseconds(duration) == microseconds)
    }

    @Test(
        "Dates in microseconds, to the nearest",
        arguments: [
            (0, 0), (1.5, 1_500_000), (0.000_000_6, 1), (-0.000_001, nil), (.nan, nil), (.infinity, nil),
            (1_788_256_800.123_456, 1_788_256_800_123_456), (253_402_300_800, nil),
        ] as [(Double, Int64?)]
    )
    func dates(seconds: Double, microseconds: Int64?) {
        #expect(Timestamp.microseconds(Date(timeIntervalSince1970: seconds)) == microseconds)
        if let microseconds {
            #expect(Timestamp.microseconds(Timestamp.date(microseconds)) == microseconds)
        }
    }
}
