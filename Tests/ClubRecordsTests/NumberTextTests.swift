import Foundation
import TestSupport
import Testing

@testable import ClubRecords

@Suite struct NumberTextTests {
    static let gmt = TimeZone.gmt

    static func moment(_ text: String, comma: Bool = false, in zone: TimeZone = gmt) -> Result<Moment, NumberText.Fault>
    {
        Array(text.utf8).withUnsafeBufferPointer { NumberText.moment($0, NumberText.Forms(comma: comma, zone: zone)) }
    }

    static func time(_ text: String, comma: Bool = false) -> Result<Int64, NumberText.Fault> {
        moment(text, comma: comma).map(\.at)
    }

    static func visits(_ text: String, comma: Bool = false) -> Result<Int, NumberText.Fault> {
        Array(text.utf8).withUnsafeBufferPointer { NumberText.visits($0, NumberText.Forms(comma: comma, zone: gmt)) }
    }

    private static func shown<Value>(_ result: Result<Value, NumberText.Fault>) -> String {
        switch result {
        case .success(let value): "\(value)"
        case .failure(let fault): "\(fault)"
        }
    }

    /// By the time in microseconds, or by the fault, the texts of which it is read.
    private static let times: [String: [String]] = [
        "0": ["0", "0.0", "-0", "00"],
        "1788256800000000": [
            "1788256800", "1788256800.0", "+1788256800", "1788256800000", "1788256800000000", "1,788,256,800",
            "1.788.256.800", "1 788 256 800", "1'788'256'800", "1.7882568E+09", "1.7882568e9", "١٧٨٨٢٥٦٨٠٠",
            "２０２６-09-01T10:00:00Z",
            "1.9.2026 10:00", "1 Sep 2026 10:00:00 +0000", "20260901100000",
        ],
        "1788256800123456": [
            "1788256800.123456", "1788256800.1234560", "1.788256800123456e9", "1,788,256,800.123456",
            "1788256800,123456", "١٧٨٨٢٥٦٨٠٠٫١٢٣٤٥٦", "1788256800123456",
        ],
        "1788256800123457": ["1788256800.1234569", "1788256800.12345690000000000001"],
        "1788256801000000": ["1788256800.9999999"], "253402300799000000": ["253402300799"],
        // Days of a spreadsheet, of eight digits, and years.
        "1729036800000000": [
            "45581", "45581.0", "45,581", "20241016", "2024-10-16", "16.10.2024", "10/16/2024", "16 Oct 24",
        ],
        "1729101600000000": ["45581.75", "45581,75", "2024-10-16T18:00:00Z", "202410161800"],
        "1602720000000000": ["44119"], "1704067200000000": ["2024", "2024.0"],
        "negative": ["-1", "-0.5", "1 788", "1960", "1969-12-31", "31.12.1969", "-1788256800"],
        "tooLarge": ["253402300800", "1e400", "178825680000000"],
        // Small numbers are no seconds, and no days that anybody means.
        "noTime": ["1", "1.5", "+5", "00005", ".5", "12", "1000000", "1,5", "788.256"],
        "rounded": ["4.56E+04", "2E3"],
        "spreadsheetError": ["#N/A", "#VALUE!", "#####", "#NV"],
        "noNumber": [
            "abc", "nan", "inf", "0x10", "1.5.5", ".", "1e", "--1", "99999999999999999999", "true", "FALSE",
            "$5",
            "5%", "€ 1788256800", "x2024", "1..5",
        ],
        "noSuchDay(\"2026-02-29\")": ["2026-02-29"], "noSuchDay(\"31.04.2026\")": ["31.04.2026"],
        "noSuchDay(\"20261332\")": ["20261332"], "ambiguousDate(\"03/04/2026\")": ["03/04/2026"],
    ]

    @Test func readsTimes() {
        for (expected, texts) in Self.times {
            for text in texts { #expect(Self.shown(Self.time(text)) == expected, "\(text)") }
        }
    }

    @Test func readsDatesInTheOrderThatIsGiven() {
        func day(_ text: String, _ order: DateOrder) -> String {
            Array(text.utf8).withUnsafeBufferPointer {
                Self.shown(NumberText.moment($0, NumberText.Forms(order: order, zone: Self.gmt)).map(\.at))
            }
        }
        #expect(day("03/04/2026", .dayMonthYear) == "1775174400000000")
        #expect(day("03/04/2026", .monthDayYear) == "1772582400000000")
        #expect(day("13/04/2026", .monthDayYear) == #"otherOrder("13/04/2026")"#)
    }

    /// How much earlier and later a time may be, in seconds.
    private static let margins: [(text: String, before: Double, after: Double)] = [
        ("0", 0, 0), ("1788256800.123456", 0, 0), ("1788256800.25", 0.009999, 0.009999),
        ("1788256800", 0.999999, 0.999999), ("2026-09-01T10:00:00.25Z", 0.009999, 0.009999),
        ("2026-09-01T10:00:00Z", 0.999999, 0.999999), ("2026-09-01T10:00Z", 59.999999, 59.999999),
        ("2026-09-01 10:00", 59.999999, 59.999999), ("2026-09-01", 0, 86399.999999), ("46266", 0, 86399.999999),
        ("46266.41667", 0.863999, 0.863999), ("1.9.2026 10:00", 59.999999, 59.999999),
        ("1.78826E+09", 9999.999999, 9999.999999), ("2026-09", 0, 30 * 86400 - 0.000001),
        ("2026", 0, 365 * 86400 - 0.000001), ("2026-09-01 00:00:00", 0, 86399.999999),
    ]

    @Test func knowsHowExactATimeIs() throws {
        for one in Self.margins {
            let moment = try Self.moment(one.text).get()
            #expect(Timestamp.seconds(moment.before) == one.before, "\(one.text)")
            #expect(Timestamp.seconds(moment.after) == one.after, "\(one.text)")
        }
    }

    @Test("A time without an offset is one of the zone, or of UTC, whichever the file had in mind")
    func zones() throws {
        let cases: [(text: String, zone: String, earliest: String, at: String, latest: String)] = [
            ("2026-09-01", "Europe/Berlin", "2026-08-31T22:00", "2026-09-01T00:00", "2026-09-01T23:59"),
            ("2026-09-01", "America/New_York", "2026-09-01T00:00", "2026-09-01T00:00", "2026-09-02T03:59"),
            ("2026-09-01 10:00", "Europe/Berlin", "2026-09-01T07:59", "2026-09-01T08:00", "2026-09-01T10:00"),
            ("1.9.2026 10:00", "America/New_York", "2026-09-01T09:59", "2026-09-01T14:00", "2026-09-01T14:00"),
            ("2026-09-01T10:00Z", "Europe/Berlin", "2026-09-01T09:59", "2026-09-01T10:00", "2026-09-01T10:00"),
        ]
        for one in cases {
            let moment = try Self.moment(one.text, in: #require(TimeZone(identifier: one.zone))).get()
            let found = [moment.earliest, moment.at, moment.latest].map { ISO8601.text(Timestamp.date($0)).prefix(16) }
            #expect(found.map(String.init) == [one.earliest, one.at, one.latest], "\(one)")
        }
    }

    /// By the total, or by the fault, the texts of which it is read.
    private static let totals: [String: [String]] = [
        "0": ["0", "0.0", "0.000", "-0"],
        "12": ["12", "012", "12.0", "12.00", "12,0", "+12", "1.2E+01", "١٢", "۱۲", "१२", "１２", " 12\u{A0}"],
        "1234": [
            "1234", "1.234", "1,234", "1 234", "1'234", "1’234", "1\u{A0}234", "1\u{202F}234", "1.234,0", "1,234.00",
            "1.234E+03", "١٬٢٣٤", "१,२३४", "１，２３４",
        ],
        "1000000": ["1000000", "1.000.000", "1,000,000", "1 000 000", "1'000'000", "10,00,000"], "2000": ["2,000"],
        "1000000000": ["1000000000"],
        "ambiguousNumber(\"1.000\")": ["1.000"], "ambiguousNumber(\"12.000\")": ["12.000"],
        "rounded": ["1e3", "1.2E+03", "1e300"], "negative": ["-1", "-1.234"],
        "tooLarge": ["1000000001", "9999999999", "99999999999999999999"],
        "spreadsheetError": ["#N/A", "#VALUE!", "###"],
        "noNumber": [
            "", "x", "12.5", "1,5", "1 23", "1,2,3", "1.23.456", "12 visits", "€12", "12 €", "12%", "true", "TRUE",
            "0,1", "..",
            "0.123.456", "1.234.56", "5-", "(5)", "1e", "e5",
        ],
    ]

    @Test func readsTotals() {
        for (expected, texts) in Self.totals {
            for text in texts { #expect(Self.shown(Self.visits(text)) == expected, "\(text)") }
        }
        // Where a comma may be the point, a group of three zeros behind it may be a fraction.
        #expect(Self.shown(Self.visits("2,000", comma: true)) == #"ambiguousNumber("2,000")"#)
        #expect(Self.shown(Self.visits("1,234", comma: true)) == "1234")
    }

    @Test func readsDigitsAsADoubleWouldBeRounded() throws {
        var random = SeededNumbers(seed: 11)
        for _ in rounds(10_000) {
            let seconds = Int64.random(in: 100_000_000..<(1 << 32), using: &random)
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
        let edges: [Int64] = [0, 1_788_256_800_000_000, 1_788_256_800_000_010]
        let times = 100_000_000_000_000..<2_147_483_648_000_000 as Range<Int64>
        for time in edges + (0..<20_000).map({ _ in Int64.random(in: times, using: &random) }) {
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
        ("2026-09-01T10:00:00", 1_788_256_800_000_000), ("01.09.2026", 1_788_220_800_000_000),
        ("2026-9-1", 1_788_220_800_000_000), ("2100-02-29", nil), ("2026-13-01", nil), ("2026-00-10", nil),
        ("1970-01-01T00:00:00+01:00", nil), ("2026-09-01T24:00Z", nil), ("2026-09-01T10:60Z", nil),
        ("2026-09-01T10:00:00.Z", nil), ("2026-09-01T10:00:00Zx", nil), ("09/01/2026", nil), ("2026-09-01T", nil),
        ("2026-09-01T10:00+1:5", nil),
    ]

    @Test(arguments: dates) func readsDates(_ text: String, _ value: Int64?) {
        #expect((try? Self.time(text).get()) == value)
    }

    @Test func everyDateComesBack() throws {
        var random = SeededNumbers(seed: 13)
        let edges: [Int64] = [0, 1, 1_000_000, 1_788_256_800_000_000, 1_788_256_800_100_000, Timestamp.latest]
        for time in edges + (0..<5000).map({ _ in Int64.random(in: 0..<2_147_483_648_000_000, using: &random) }) {
            var text: [UInt8] = []
            NumberText.append(date: time, to: &text)
            let moment = try Self.moment(String(decoding: text, as: UTF8.self)).get()
            #expect(moment == Moment(time))
        }
        var text: [UInt8] = []
        NumberText.append(date: 1_793_731_512_918_000, to: &text)
        #expect(String(decoding: text, as: UTF8.self) == "2026-11-03T18:45:12.918Z")
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
