import Foundation
import Testing

@testable import ClubKit

@Suite("Clocks")
struct HybridLogicalClockTests {
    @Test("The logical clock follows the physical one and never stands still")
    func next() {
        var clock = HybridLogicalClock()
        // Physical milliseconds, what is expected.
        let steps: [(Double, Int64, UInt16)] = [
            (1000, 1000, 0), (1000, 1000, 1), (1000.9, 1000, 2), (1001, 1001, 0), (500, 1001, 1), (-5, 1001, 2),
            (1002, 1002, 0), (.nan, 1002, 1), (1e300, 1002, 2), (1003, 1003, 0),
        ]
        for (now, milliseconds, counter) in steps {
            let time = clock.next(now: Date(timeIntervalSince1970: now / 1000))
            #expect(time == HybridTimestamp(milliseconds: milliseconds, counter: counter))
            #expect(time.milliseconds == milliseconds)
            #expect(time.counter == counter)
            #expect(time == clock.last)
        }
    }

    @Test("A full counter carries over")
    func carry() {
        var clock = HybridLogicalClock(last: HybridTimestamp(milliseconds: 5, counter: .max))
        #expect(clock.next(now: Date(timeIntervalSince1970: 0)) == HybridTimestamp(milliseconds: 6, counter: 0))
    }

    @Test("Another device's moment pulls the clock on, never back")
    func observe() {
        var clock = HybridLogicalClock(last: HybridTimestamp(milliseconds: 5, counter: 3))
        clock.observe(HybridTimestamp(milliseconds: 4, counter: 9))
        #expect(clock.last == HybridTimestamp(milliseconds: 5, counter: 3))
        clock.observe(HybridTimestamp(milliseconds: 7, counter: 1))
        #expect(clock.next(now: Date(timeIntervalSince1970: 0)) == HybridTimestamp(milliseconds: 7, counter: 2))
    }

    @Test("Raw values are never negative, sort like the moments and keep all of them")
    func rawValues() {
        #expect(HybridTimestamp(rawValue: -1).rawValue == 0)
        #expect(HybridTimestamp(milliseconds: -1, counter: 7) == HybridTimestamp(milliseconds: 0, counter: 7))
        let latest = HybridTimestamp(milliseconds: .max, counter: .max)
        #expect(latest.rawValue == .max)
        #expect(HybridTimestamp(rawValue: latest.rawValue) == latest)
        var clock = HybridLogicalClock(last: latest)
        // The very last one has the counter of files, which no device gives.
        #expect(clock.next(now: start).rawValue == .max - 1)
        #expect(HybridTimestamp(milliseconds: 1, counter: .max) < HybridTimestamp(milliseconds: 2, counter: 0))
    }

    @Test("Random walks of the physical clock, seed 7")
    func monotone() {
        var state: UInt64 = 7
        var clock = HybridLogicalClock()
        var last = clock.last
        var now = 1_000_000.0
        var backwards = 0
        for _ in 0..<100_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            now += Double(Int64(state >> 40)) / 1e6 - 8
            let next = clock.next(now: Date(timeIntervalSince1970: now))
            if next <= last { backwards += 1 }
            last = next
        }
        #expect(backwards == 0)
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
