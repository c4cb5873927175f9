import Foundation
import ReaderKit
import Testing

@testable import ClubKit

/// How visits are counted by hours and days.
@Suite struct StatisticsTests {
    private static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt

    private static func time(_ text: String) throws -> Date { try #require(ISO8601.date(text)) }

    /// A club with those taps, each a key and a time.
    private func club(_ taps: [(String, String)]) async throws -> Club {
        let club = try await openClub(.test(cooldown: .zero))
        for (key, at) in taps {
            var event = tap(key)
            event.at = try Self.time(at)
            _ = try await club.receive(event)
        }
        return club
    }

    @Test func anEmptyClub() async throws {
        let club = try await club([])
        let to = try Self.time("2026-11-21T12:00:00Z")
        let all = try await club.statistics(to: to, in: .gmt)
        #expect(all.visits == 0 && all.uniqueVisitors == 0 && all.newMembers == 0)
        #expect(all.hours == [Int](repeating: 0, count: 24))
        #expect(all.days == [ClubStatistics.Day(date: "2026-11-21")])
        #expect(all.peakHour == nil && all.busiestDay == nil)
        let nothing = try await club.statistics(from: to, to: to, in: .gmt)
        #expect(nothing.days.isEmpty)
        try await club.close()
    }

    /// One row a member's visits over three days in Berlin (UTC+1), and what comes of all of them.
    @Test func visitsOfThreeDays() async throws {
        let club = try await club([
            ("anna", "2026-11-19T08:59:59.999Z"),  // 09:59 there
            ("anna", "2026-11-20T22:59:59Z"),  // the last second of the 20th
            ("anna", "2026-11-20T23:00:00Z"),  // the first of the 21st
            ("ben", "2026-11-20T17:10:00Z"), ("ben", "2026-11-20T17:40:00Z"),
            ("cleo", "2026-11-21T17:59:00Z"),
        ])
        let statistics = try await club.statistics(
            from: try Self.time("2026-11-18T23:00:00Z"),
            to: try Self.time("2026-11-21T23:00:00Z"),
            in: Self.berlin
        )
        #expect(statistics.timeZone == "Europe/Berlin")
        #expect(statistics.visits == 6)
        #expect(statistics.uniqueVisitors == 3)
        // Anna came on three days, Ben twice on his first, Cleo once.
        #expect(statistics.returningMembers == 1)
        #expect(statistics.newMembers == 3)
        #expect(statistics.hours.enumerated().filter { $0.element > 0 }.map(\.offset) == [0, 9, 18, 23])
        #expect(statistics.peakHour == ClubStatistics.PeakHour(hour: 18, visits: 3))
        let expected: [ClubStatistics.Day] = [
            .init(date: "2026-11-19", visits: 1, uniqueVisitors: 1, newMembers: 1),
            .init(date: "2026-11-20", visits: 3, uniqueVisitors: 2, newMembers: 1),
            .init(date: "2026-11-21", visits: 2, uniqueVisitors: 2, newMembers: 1),
        ]
        #expect(statistics.days == expected)
        #expect(statistics.busiestDay?.date == "2026-11-20")

        let day = try await club.statistics(ofDayAt: try Self.time("2026-11-21T10:00:00Z"), in: Self.berlin)
        #expect(day.visits == 2 && day.uniqueVisitors == 2 && day.returningMembers == 1 && day.newMembers == 1)
        #expect(day.days.map(\.date) == ["2026-11-21"])

        // Without a beginning it is that of the first day.
        let whole = try await club.statistics(to: try Self.time("2026-11-21T23:00:00Z"), in: Self.berlin)
        #expect(whole == statistics)
        // Its end is not included.
        let half = try await club.statistics(
            from: try Self.time("2026-11-20T17:10:00Z"),
            to: try Self.time("2026-11-20T17:40:00Z"),
            in: Self.berlin
        )
        #expect(half.visits == 1 && half.newMembers == 1)
        try await club.close()
    }

    /// Zones, the day on which clocks change (or not), the times of visits, and the hours and days that they fall on.
    private static let changes: [([String], [Int], [String], [Int])] = [
        // Clocks go from 2:00 to 3:00 and from 3:00 to 2:00.
        (["Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"], [1, 3], ["2026-03-29"], [2]),
        (["Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"], [2], ["2026-10-25"], [2]),
        (
            ["Europe/Berlin", "2026-10-24T21:59:00Z", "2026-10-25T22:59:00Z"], [23], ["2026-10-24", "2026-10-25"],
            [1, 1]
        ),
        // There is no midnight: the day begins at 1:00.
        (
            ["America/Sao_Paulo", "2018-11-04T02:59:00Z", "2018-11-04T03:00:00Z"],
            [1, 23], ["2018-11-03", "2018-11-04"], [1, 1]
        ),
        // A change of the zone's own time, without daylight saving.
        (["Europe/Moscow", "2014-10-25T20:30:00Z", "2014-10-26T20:30:00Z"], [0, 23], ["2014-10-26"], [2]),
        // Half hours, and a zone far ahead and behind.
        (
            ["Asia/Kolkata", "2026-01-01T18:29:00Z", "2026-01-01T18:30:00Z"],
            [0, 23], ["2026-01-01", "2026-01-02"], [1, 1]
        ),
        (["Pacific/Kiritimati", "2026-01-01T10:00:00Z"], [0], ["2026-01-02"], [1]),
        (["Pacific/Pago_Pago", "1970-01-01T00:00:00Z"], [13], ["1969-12-31"], [1]),
    ]

    @Test(arguments: changes)
    func clocksThatChange(
        _ zoneAndTimes: [String],
        _ hours: [Int],
        _ days: [String],
        _ counts: [Int]
    ) async throws {
        let zone = try #require(TimeZone(identifier: zoneAndTimes[0]))
        let times = zoneAndTimes.dropFirst()
        let club = try await club(times.enumerated().map { ("member \($0.offset)", $0.element) })
        let last = try Self.time(try #require(times.last))
        let statistics = try await club.statistics(to: last.addingTimeInterval(1), in: zone)
        #expect(statistics.hours.enumerated().filter { $0.element > 0 }.map(\.offset) == hours)
        #expect(statistics.days.map(\.date) == days)
        #expect(statistics.days.map(\.visits) == counts)
        #expect(statistics.days.map(\.newMembers) == counts)
        try await club.close()
    }

    /// The same visits, counted by SQL and one by one with Foundation's calendar.
    @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Asia/Kathmandu"])
    func agreesWithTheCalendar(_ zone: String) async throws {
        let zone = try #require(TimeZone(identifier: zone))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        var random: UInt64 = 20_261_121
        let club = try await openClub(.test(cooldown: .zero))
        var hours = [Int](repeating: 0, count: 24)
        var days: [String: Int] = [:]
        for index in 0..<300 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let event = tap("m\(index % 7)", at: Double(random >> 33).truncatingRemainder(dividingBy: 400 * 86_400))
            _ = try await club.receive(event)
            let parts = calendar.dateComponents([.year, .month, .day, .hour], from: event.at)
            hours[parts.hour ?? 0] += 1
            let date = [(parts.year ?? 0, 4), (parts.month ?? 0, 2), (parts.day ?? 0, 2)].map { number, width in
                String(repeating: "0", count: width - String(number).count) + String(number)
            }
            days[date.joined(separator: "-"), default: 0] += 1
        }
        let statistics = try await club.statistics(to: start.addingTimeInterval(500 * 86_400), in: zone)
        #expect(statistics.hours == hours)
        #expect(statistics.visits == 300)
        #expect(statistics.days.filter { $0.visits > 0 }.reduce(into: [:]) { $0[$1.date] = $1.visits } == days)
        // Every day once, one after the other.
        #expect(Set(statistics.days.map(\.date)).count == statistics.days.count)
        #expect(statistics.days.map(\.date) == statistics.days.map(\.date).sorted())
        try await club.close()
    }

    @Test func whatDoesNotCount() async throws {
        let club = try await openClub()
        let first = try await club.receive(tap("anna"))
        _ = try await club.receive(tap("anna", at: 10))
        _ = try await club.receive(tap(nil, at: 20, problems: []))
        let second = try await club.receive(tap("ben", at: 60))
        #expect(first.outcome == .created && second.outcome == .created)
        try await club.block("ben", by: ActionContext(reason: "fees"))
        _ = try await club.receive(tap("ben", at: 120))
        try await club.recordVisit(of: "anna", at: start.addingTimeInterval(7200), by: ActionContext(reason: "forgot"))
        try await club.undoVisit(first.eventID, by: ActionContext(reason: "double"))
        _ = try await club.receive(tap("gone", at: 180))
        try await club.delete("gone")

        let statistics = try await club.statistics(ofDayAt: start, in: .gmt)
        #expect(statistics.visits == 2)
        #expect(statistics.manualVisits == 1)
        #expect(statistics.uniqueVisitors == 2)
        #expect(statistics.newMembers == 2)
        #expect(statistics.repeats == 1)
        #expect(statistics.rejected == 2)
        #expect(statistics.reasons == ["noIdentifier": 1, "blocked": 1])
        #expect(statistics.returningMembers == 0)
        try await club.close()
    }

    /// Two cards of one person are one visitor, whatever joined them.
    @Test func joinedMembersAreOneVisitor() async throws {
        let club = try await club([
            ("anna", "2026-11-20T10:00:00Z"), ("anna2", "2026-11-21T10:00:00Z"), ("anna3", "2026-11-21T11:00:00Z"),
            ("ben", "2026-11-21T12:00:00Z"),
        ])
        try await club.mergeMember("anna2", into: "anna")
        try await club.mergeMember("anna3", into: "anna2")
        let day = try await club.statistics(ofDayAt: try Self.time("2026-11-21T10:00:00Z"), in: .gmt)
        #expect(day.visits == 3)
        #expect(day.uniqueVisitors == 2)
        #expect(day.days.map(\.uniqueVisitors) == [2])
        // She was here the day before, with another card.
        #expect(day.returningMembers == 1)
        try await club.close()
    }

    @Test func spansThatCannotBe() async throws {
        let club = try await club([])
        let spans: [(Double?, Double)] = [(10, 0), (0, 36_526 * 86_400), (-1, 0), (nil, -1), (0, .infinity)]
        for (from, to) in spans {
            await #expect(throws: ClubError.self) {
                try await club.statistics(
                    from: from.map { Date(timeIntervalSince1970: $0) },
                    to: Date(timeIntervalSince1970: to),
                    in: .gmt
                )
            }
        }
        try await club.close()
        await #expect(throws: ClubError(.notOpen, attempting: "count visits")) {
            try await club.statistics(to: start, in: .gmt)
        }
    }

    @Test func theJSONHasAllKeys() async throws {
        let club = try await club([("anna", "2026-11-20T10:00:00Z")])
        let statistics = try await club.statistics(ofDayAt: try Self.time("2026-11-20T10:00:00Z"), in: .gmt)
        let json = String(decoding: try JSONEncoder().encode(statistics), as: UTF8.self)
        let object = try JSONDecoder().decode([String: FieldValue].self, from: Data(json.utf8))
        #expect(object["from"] == .string("2026-11-20T00:00:00.000Z"))
        #expect(object["peakHour"] == .object(["hour": .int(10), "visits": .int(1)]))
        #expect(
            object.keys.sorted() == [
                "busiestDay", "days", "from", "hours", "ignored", "manualVisits", "newMembers", "peakHour", "reasons",
                "rejected", "repeats", "returningMembers", "timeZone", "to", "uniqueVisitors", "visits",
            ]
        )
        try await club.close()
    }
}
