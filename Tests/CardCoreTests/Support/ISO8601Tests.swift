import Foundation
import Testing
import TestSupport

@testable import CardCore

@Suite struct ISO8601Tests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (1_735_689_599.999, "2024-12-31T23:59:59.999Z"),
            (1_795_249_800.123, "2026-11-21T08:30:00.123Z"),
            (253_402_300_799.999, "9999-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
            (-0.001, "1969-12-31T23:59:59.999Z"),
            (-2_208_988_800, "1900-01-01T00:00:00.000Z"),
            (-62_135_596_800, "0001-01-01T00:00:00.000Z"),
        ] as [(Double, String)]
    )
    func bothWays(_ seconds: Double, _ text: String) throws {
        #expect(ISO8601.text(Date(timeIntervalSince1970: seconds)) == text)
        let date = try #require(ISO8601.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_1)
        #expect(ISO8601.text(date) == text)
    }

    /// The millisecond in which it was; the last microsecond of a day is of that day.
    @Test(
        arguments: [
            (0.000_4, "1970-01-01T00:00:00.000Z"),
            (0.000_6, "1970-01-01T00:00:00.000Z"),
            (0.999_6, "1970-01-01T00:00:00.999Z"),
            (59.999_6, "1970-01-01T00:00:59.999Z"),
            (86_399.999_999, "1970-01-01T23:59:59.999Z"),
            (1_735_689_599.999_6, "2024-12-31T23:59:59.999Z"),
            (1_780_790_399.999_999, "2026-06-06T23:59:59.999Z"),
            (-0.000_4, "1969-12-31T23:59:59.999Z"),
            (-0.000_6, "1969-12-31T23:59:59.999Z"),
            (-0.001_4, "1969-12-31T23:59:59.998Z"),
        ] as [(Double, String)]
    )
    func rounding(_ seconds: Double, _ text: String) {
        #expect(ISO8601.text(Date(timeIntervalSince1970: seconds)) == text)
    }

    /// Nothing that a clock may give is a trap.
    @Test(
        arguments: [
            (Double.infinity, "9999-12-31T23:59:59.999Z"), (-.infinity, "0001-01-01T00:00:00.000Z"),
            (1e300, "9999-12-31T23:59:59.999Z"), (-1e300, "0001-01-01T00:00:00.000Z"),
            (.nan, "1970-01-01T00:00:00.000Z"), (253_402_300_799.999_9, "9999-12-31T23:59:59.999Z"),
        ] as [(Double, String)]
    )
    func outOfRange(_ seconds: Double, _ text: String) {
        #expect(ISO8601.text(Date(timeIntervalSince1970: seconds)) == text)
    }

    /// Every millisecond of a second, and milliseconds all over the years, are kept. Seed 8601.
    @Test func millisecondsAreKept() throws {
        var random = SeededNumbers(seed: 8601)
        let all =
            (0..<1000).map { Int64(1_795_249_800_000) + $0 }
            + (0..<5000).map { _ in Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random) }
        for milliseconds in all {
            let text = ISO8601.text(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
            let date = try #require(ISO8601.date(text))
            #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) == milliseconds, "\(text)")
            #expect(ISO8601.text(date) == text)
        }
    }

    @Test(
        arguments: [
            ("2026-11-21T09:30:00+01:00", 1_795_249_800), ("2026-11-21T07:00:00.5-01:30", 1_795_249_800.5),
            ("2026-11-21T08:30:00Z", 1_795_249_800), ("2026-11-21T08:30:00.123456789Z", 1_795_249_800.123_456),
        ] as [(String, Double)]
    )
    func otherForms(_ text: String, _ seconds: Double) throws {
        let date = try #require(ISO8601.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_001)
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21T08:30:00", "2026-11-21T08:30Z", "2026-11-21 08:30:00Z",
        "2026-02-30T00:00:00Z", "2025-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T08:60:00Z",
        "2026-11-21T08:30:60Z", "2026-11-21T08:30:00.Z", "2026-11-21T08:30:00.1234567890Z",
        "2026-11-21T08:30:00Zx", "2026-11-21T08:30:00+0100", "2026-11-21T08:30:00+25:00", "+026-11-21T08:30:00Z",
        "２026-11-21T08:30:00Z", "2026-11-21T08:30:00,5Z",
    ])
    func refused(_ text: String) {
        #expect(ISO8601.date(text) == nil)
    }
}
