import ClubRecords
import Foundation
import RecordsTestSupport
import Testing

@testable import ClubScenarios

@Suite("Files of scenarios: lengths of time, days, names")
struct ScenarioFileScalarTests {
    @Test(
        "Lengths of time",
        arguments: [
            ("90 s", 90), ("90s", 90), ("90", 90), ("0", 0), ("007", 7), ("10 min", 600), ("2 h", 7200),
            ("1.5 h", 5400),
            ("1 day", 86_400), ("7 days", 604_800), ("7 Days", 604_800), ("2 weeks", 1_209_600),
            ("1 day 12 h", 129_600), ("1d 12h", 129_600), ("0.5 s", 0.5), ("36525 days", 3_155_760_000),
        ] as [(String, TimeInterval)]
    )
    func durations(_ text: String, _ seconds: TimeInterval) {
        #expect(DurationText.seconds(text) == .success(seconds))
    }

    @Test(
        "What is no length of time",
        arguments: [
            ("", .malformed), ("h", .malformed), ("1 x", .malformed), ("1 h 2", .malformed), ("2 1 h", .malformed),
            ("1..5 h", .malformed), (".5 h", .malformed), ("1. h", .malformed), ("1e3", .malformed),
            ("0x10", .malformed),
            ("inf", .malformed), ("nan", .malformed), ("1 h!", .malformed), ("12:30", .malformed), ("٣ s", .malformed),
            ("-1", .negative), ("-1 day", .negative), ("1 day -1 h", .negative), ("5 m", .ambiguousUnit),
            ("1 month", .monthOrYear), ("2 years", .monthOrYear), ("1,5 h", .comma), ("36526 days", .tooLong),
            (String(repeating: "9", count: 60), .tooLong), (String(repeating: "9", count: 500), .malformed),
        ] as [(String, DurationText.Fault)]
    )
    func noDurations(_ text: String, _ fault: DurationText.Fault) {
        #expect(DurationText.seconds(text) == .failure(fault))
    }

    @Test(
        "Days and times in a time zone, also when clocks change",
        arguments: [
            ("Europe/Berlin", "2026-12-01", "2026-11-30T23:00:00Z", "2026-12-01T23:00:00Z"),
            // 23 and 25 hours.
            ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
            ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
            // Left out, and twice.
            ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29T01:00:00Z", nil),
            ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25T00:30:00Z", nil),
            // Midnight is left out on that day, and elsewhere the whole of it.
            ("Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"),
            ("Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"),
            ("UTC", "2026-12-01T16:00", "2026-12-01T16:00:00Z", nil),
            ("UTC", "2026-12-01 9:05", "2026-12-01T09:05:00Z", nil),
            ("UTC", "2026-12-01t16:00:30", "2026-12-01T16:00:30Z", nil),
            ("Europe/Berlin", "2026-12-01T16:00Z", "2026-12-01T16:00:00Z", nil),
            ("Europe/Berlin", "2026-12-01 16:00 +0530", "2026-12-01T10:30:00Z", nil),
            ("Europe/Berlin", "2026-12-01T16:00:00-08:00", "2026-12-02T00:00:00Z", nil),
            ("UTC", "1970-01-01", "1970-01-01T00:00:00Z", "1970-01-02T00:00:00Z"),
            ("UTC", "2999-12-31", "2999-12-31T00:00:00Z", "3000-01-01T00:00:00Z"),
        ] as [(String, String, String, String?)]
    )
    func moments(_ zone: String, _ text: String, _ start: String, _ end: String?) throws {
        let calendar = ZoneCalendar(try #require(TimeZone(identifier: zone)))
        let moment = try #require(MomentText(text, calendar))
        #expect(moment.start == (try RewardSupport.utc(start)))
        #expect(moment.end == (try RewardSupport.utc(end ?? start)))
    }

    @Test(
        "What is no day",
        arguments: [
            "", "2026", "2026-13-01", "2026-00-01", "2026-02-30", "2027-02-29", "1969-12-31", "3000-01-01", "26-1-1",
            "2026-1-1", "2026-12-01T", "2026-12-01 24:00", "2026-12-01 10:60", "2026-12-01 10:00 CET", "01.12.2026",
            "2026-12-01 10:00 +19:00", "1970-01-01T00:00+01:00", "٢٠٢٦-12-01", "today", "2026-12-01-01",
        ]
    )
    func noMoments(_ text: String) {
        #expect(MomentText(text, ZoneCalendar(.gmt)) == nil)
    }

    @Test(
        "The nearest name takes the fewest changes",
        arguments: [
            ("titel", "title"), ("evry", "every"), ("EVERY", "every"), ("evrey", "every"), ("eveyr", "every"),
            ("after-first", "afterFirst"), ("x", nil), ("", nil), ("messsage", "message"), ("tagg", "tag"),
            ("og", "on"),
            (String(repeating: "x", count: 1000), nil),
        ]
    )
    func nearest(_ name: String, _ meant: String?) {
        #expect(NearestName.of(name, among: ScenarioFileReader.scenarioKeys) == meant)
    }

    @Test(
        "Changes from one word to another",
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "abc", 3), ("ab", "ba", 1), ("kitten", "sitting", 3), ("abc", "abc", 0),
        ]
    )
    func changes(_ first: String, _ second: String, _ count: Int) {
        #expect(NearestName.changes(from: Array(first.unicodeScalars), to: Array(second.unicodeScalars)) == count)
    }
}
