import Foundation
import TestSupport
import Testing

@testable import ClubRecords

@Suite struct NumberTextTests {
    static func time(_ text: String, comma: Bool = false) -> Result<Int64, NumberText.Fault> {
        Array(text.utf8).withUnsafeBufferPointer { NumberText.microseconds($0, comma: comma) }
    }

    static func visits(_ text: String, comma: Bool = false) -> Result<Int, NumberText.Fault> {
        Array(text.utf8).withUnsafeBufferPointer { NumberText.visits($0, comma: comma) }
    }

    static let times: [(String, Int64?)] = [
        ("0", 0), ("0.0", 0), ("-0", 0), ("1", 1_000_000), ("1.5", 1_500_000), ("1788256800", 1_788_256_800_000_000),
        ("1788256800.123456", 1_788_256_800_123_456), ("1788256800.1234560", 1_788_256_800_123_456),
        ("1788256800.1234569", 1_788_256_800_123_457), ("1788256800.9999999", 1_788_256_801_000_000),
        ("1.788256800123456e9", 1_788_256_800_123_456), ("1.7882568E+09", 1_788_256_800_000_000),
        ("+5", 5_000_000), ("00005", 5_000_000), (".5", 500_000),
        ("253402300799", 253_402_300_799_000_000),
        // Milliseconds, and what is no number.
        ("1788256800000", nil), ("253402300800", nil), ("-1", nil), ("-0.5", nil), ("abc", nil), ("1,5", nil),
        ("nan", nil), ("inf", nil), ("0x10", nil), ("1e400", nil), ("1 788", nil), ("1.5.5", nil), (".", nil),
        ("1e", nil), ("--1", nil), ("99999999999999999999999", nil),
    ]

    @Test(arguments: times) func readsTimes(_ text: String, _ value: Int64?) {
        #expect((try? Self.time(text).get()) == value)
    }

    @Test func readsCommasWhereTheyAreAllowed() {
        #expect((try? Self.time("1788256800,25", comma: true).get()) == 1_788_256_800_250_000)
        #expect((try? Self.time("1,7882568E+09", comma: true).get()) == 1_788_256_800_000_000)
        #expect((try? Self.visits("12,0", comma: true).get()) == 12)
    }

    static let totals: [(String, Int?)] = [
        ("0", 0), ("12", 12), ("007", 7), ("12.0", 12), ("1e3", 1000), ("1000000000", 1_000_000_000),
        ("1000000001", nil), ("9999999999", nil), ("12.5", nil), ("-1", nil), ("", nil), ("x", nil), ("1,0", nil),
        ("99999999999999999999", nil), ("1e300", nil),
    ]

    @Test(arguments: totals) func readsTotals(_ text: String, _ value: Int?) {
        #expect((try? Self.visits(text).get()) == value)
    }

    @Test func readsDigitsAsADoubleWouldBeRounded() throws {
        var random = SeededNumbers(seed: 11)
        for _ in 0..<50_000 {
            let seconds = Int64.random(in: 0..<(1 << 32), using: &random)
            let places = Int.random(in: 0...9, using: &random)
            let digits = (0..<places).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
            let text = places == 0 ? "\(seconds)" : "\(seconds).\(digits)"
            let double = try #require(Double(text))
            let expected = Timestamp.microseconds(Date(timeIntervalSince1970: double))
            #expect((try? Self.time(text).get()) == expected, "\(text)")
        }
    }

    @Test func everyTimeComesBack() throws {
        var random = SeededNumbers(seed: 12)
        let edges: [Int64] = [0, 1, 10, 999_999, 1_000_000, 1_788_256_800_000_000, 1_788_256_800_000_010]
        for time in edges + (0..<20_000).map({ _ in Int64.random(in: 0..<2_147_483_648_000_000, using: &random) }) {
            var text: [UInt8] = []
            NumberText.append(seconds: time, to: &text)
            #expect((try? Self.time(String(decoding: text, as: UTF8.self)).get()) == time)
        }
    }

    static let dates: [(String, Int64?)] = [
        ("1970-01-01", 0), ("2026-09-01", 1_788_220_800_000_000), ("2026-09-01T10:00:00Z", 1_788_256_800_000_000),
        ("2026-09-01 10:00Z", 1_788_256_800_000_000), ("2026-09-01T12:00:00.25+02:00", 1_788_256_800_250_000),
        ("2026-09-01T04:30:00-0530", 1_788_256_800_000_000), ("2026-09-01T12:00:00+02", 1_788_256_800_000_000),
        ("2024-02-29", 1_709_164_800_000_000), ("2000-02-29", 951_782_400_000_000),
        ("9999-12-31T23:59:59.9999999Z", 253_402_300_799_999_999), ("2016-12-31T23:59:60Z", 1_483_228_799_000_000),
        ("2026-02-29", nil), ("2100-02-29", nil), ("1969-12-31", nil), ("2026-13-01", nil), ("2026-00-10", nil),
        ("2026-04-31", nil), ("1970-01-01T00:00:00+01:00", nil), ("2026-09-01T10:00:00", nil),
        ("2026-09-01T24:00Z", nil),
        ("2026-09-01T10:60Z", nil), ("2026-09-01T10:00:00.Z", nil), ("2026-09-01T10:00:00Zx", nil), ("01.09.2026", nil),
        ("09/01/2026", nil), ("2026-09-01T", nil), ("2026-9-1", nil), ("2026-09-01T10:00+1", nil),
    ]

    @Test(arguments: dates) func readsDates(_ text: String, _ value: Int64?) {
        #expect((try? Self.time(text).get()) == value)
    }

    static let written: [(Int64, String)] = [
        (0, "0"), (1, "0.000001"), (500_000, "0.5"), (1_788_256_800_000_000, "1788256800"),
        (1_788_256_800_250_000, "1788256800.25"), (1_000_010, "1.00001"),
    ]

    @Test(arguments: written) func writesSeconds(_ time: Int64, _ expected: String) {
        var text: [UInt8] = []
        NumberText.append(seconds: time, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == expected)
    }
}
