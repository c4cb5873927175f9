import ClubRecords
import Foundation
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubScenarios

/// Days, weeks and hours, where clocks are changed.
@Suite struct ScenarioCalendarTests {
    @Test("Dates and their numbers")
    func civilDates() {
        var date = CivilDate(year: 1896, month: 2, day: 28)
        let first = date.number
        var wrong: [CivilDate] = []
        #expect(CivilDate(year: 1970, month: 1, day: 1).number == 0)
        for number in first..<first + 120_000 {
            if date.number != number || CivilDate(number: number) != date || !date.exists { wrong.append(date) }
            let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            let beyond = CivilDate(year: date.year, month: date.month, day: lengths[date.month - 1] + 1)
            if beyond.exists { wrong.append(beyond) }
            date.day += 1
            if date.day > lengths[date.month - 1] { (date.month, date.day) = (date.month + 1, 1) }
            if date.month > 12 { (date.year, date.month) = (date.year + 1, 1) }
        }
        #expect(wrong.isEmpty)
        #expect(CivilDate.weekday(0) == .thursday && CivilDate.weekday(-4) == .sunday)
        #expect(CivilDate.text(-1) == "1969-12-31")
    }

    @Test(
        "Periods are those of Foundation's calendar, where no clock is changed at midnight",
        arguments: [
            "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham", "GMT",
        ]
    )
    func periods(name: String) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .named(name)
        calendar.firstWeekday = 2
        calendar.minimumDaysInFirstWeek = 4
        let zone = ZoneCalendar(.named(name))
        var random = SeededNumbers(seed: 7)
        let (first, last) = (Int64.at("1995-01-01T00:00:00Z"), Int64.at("2036-01-01T00:00:00Z"))
        let units: [(ZoneCalendar.Unit, Calendar.Component)] = [
            (.day, .day), (.week, .weekOfYear), (.month, .month), (.year, .year),
        ]
        for _ in 0..<300 {
            let moment = Int64.random(in: first..<last, using: &random)
            let date = Timestamp.date(moment)
            let local = zone.local(moment)
            let civil = CivilDate(number: local.day)
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
            #expect(civil.year == parts.year && civil.month == parts.month && civil.day == parts.day)
            #expect(local.time / .seconds(3600) == parts.hour.map(Int64.init))
            for (unit, component) in units {
                let expected = try #require(calendar.dateInterval(of: component, for: date))
                let period = zone.period(unit, ofDay: local.day)
                #expect(Timestamp.date(period.start) == expected.start, "\(unit) of \(date)")
                #expect(Timestamp.date(period.end) == expected.end, "\(unit) of \(date)")
                #expect(period.start <= moment && moment < period.end)
            }
        }
    }

    /// Whether hours on a day of the week are open, at a time.
    struct Opening: Sendable {
        var day: Weekday
        var hours: String
        var zone: String
        var at: String
        var isOpen: Bool
        /// When they are open next, if they are closed.
        var next: String

        init(
            _ hours: String,
            _ zone: String,
            _ at: String,
            _ isOpen: Bool,
            _ next: String = "",
            on day: Weekday = .sunday
        ) {
            (self.hours, self.zone, self.at, self.isOpen, self.next) = (hours, zone, at, isOpen, next)
            self.day = day
        }
    }

    static let openings: [Opening] = [
        // 29 March 2026: 02:00 becomes 03:00 at 01:00 UTC.
        Opening("02:00-03:00", "Europe/Berlin", "2026-03-29T00:59:59Z", false, "2026-04-05T00:00:00Z"),
        Opening("02:00-03:00", "Europe/Berlin", "2026-03-29T01:00:00Z", false, "2026-04-05T00:00:00Z"),
        Opening("02:30-04:00", "Europe/Berlin", "2026-03-29T00:59:59Z", false, "2026-03-29T01:00:00Z"),
        Opening("02:30-04:00", "Europe/Berlin", "2026-03-29T01:00:00Z", true),
        Opening("02:30-04:00", "Europe/Berlin", "2026-03-29T02:00:00Z", false, "2026-04-05T00:30:00Z"),
        Opening("01:00-02:30", "Europe/Berlin", "2026-03-29T00:59:59Z", true),
        Opening("01:00-02:30", "Europe/Berlin", "2026-03-29T01:00:00Z", false, "2026-04-04T23:00:00Z"),
        // 25 October 2026: 03:00 becomes 02:00 at 01:00 UTC.
        Opening("02:00-03:00", "Europe/Berlin", "2026-10-24T23:59:59Z", false, "2026-10-25T00:00:00Z"),
        Opening("02:00-03:00", "Europe/Berlin", "2026-10-25T00:30:00Z", true),
        Opening("02:00-03:00", "Europe/Berlin", "2026-10-25T01:30:00Z", true),
        Opening("02:00-03:00", "Europe/Berlin", "2026-10-25T02:00:00Z", false, "2026-11-01T01:00:00Z"),
        Opening("02:30-02:45", "Europe/Berlin", "2026-10-25T00:00:00Z", false, "2026-10-25T00:30:00Z"),
        Opening("02:30-02:45", "Europe/Berlin", "2026-10-25T00:44:59Z", true),
        // Of a time that comes twice it is the first.
        Opening("02:30-02:45", "Europe/Berlin", "2026-10-25T00:45:00Z", false, "2026-11-01T01:30:00Z"),
        Opening("02:30-02:45", "Europe/Berlin", "2026-10-25T01:30:00Z", false, "2026-11-01T01:30:00Z"),
        Opening("00:00-02:30", "Europe/Berlin", "2026-10-25T00:29:59Z", true),
        Opening("00:00-02:30", "Europe/Berlin", "2026-10-25T01:10:00Z", false, "2026-10-31T23:00:00Z"),
        Opening("02:30-04:00", "Europe/Berlin", "2026-10-25T00:29:59Z", false, "2026-10-25T00:30:00Z"),
        Opening("02:30-04:00", "Europe/Berlin", "2026-10-25T01:10:00Z", true),
        Opening("02:30-04:00", "Europe/Berlin", "2026-10-25T02:59:59Z", true),
        Opening("02:30-04:00", "Europe/Berlin", "2026-10-25T03:00:00Z", false, "2026-11-01T01:30:00Z"),
        Opening("02:30-02:00", "Europe/Berlin", "2026-10-25T01:10:00Z", true),
        // The night before, whose hours are one stretch.
        Opening("22:00-02:30", "Europe/Berlin", "2026-10-25T00:10:00Z", true, on: .saturday),
        Opening("22:00-02:30", "Europe/Berlin", "2026-10-25T00:30:00Z", false, "2026-10-31T21:00:00Z", on: .saturday),
        Opening("22:00-02:30", "Europe/Berlin", "2026-10-25T00:40:00Z", false, "2026-10-31T21:00:00Z", on: .saturday),
        Opening("22:00-02:30", "Europe/Berlin", "2026-10-25T01:10:00Z", false, "2026-10-31T21:00:00Z", on: .saturday),
        Opening("22:00-02:30", "Europe/Berlin", "2026-10-25T01:40:00Z", false, "2026-10-31T21:00:00Z", on: .saturday),
        Opening("22:00-03:00", "Europe/Berlin", "2026-10-25T01:59:59Z", true, on: .saturday),
        Opening("22:00-03:00", "Europe/Berlin", "2026-10-25T02:00:00Z", false, "2026-10-31T21:00:00Z", on: .saturday),
        Opening("22:00-02:30", "Europe/Berlin", "2026-03-29T00:59:59Z", true, on: .saturday),
        Opening("22:00-02:30", "Europe/Berlin", "2026-03-29T01:00:00Z", false, "2026-04-04T20:00:00Z", on: .saturday),
        Opening("02:15-02:30", "Europe/Berlin", "2026-03-29T00:00:00Z", false, "2026-04-05T00:15:00Z"),
        // Over midnight: what begins on Sunday.
        Opening("22:00-04:00", "Europe/Berlin", "2026-03-29T01:30:00Z", false, "2026-03-29T20:00:00Z"),
        Opening("22:00-04:00", "Europe/Berlin", "2026-03-30T01:59:59Z", true),
        Opening("22:00-04:00", "Europe/Berlin", "2026-03-30T02:00:00Z", false, "2026-04-05T20:00:00Z"),
        Opening("12:00-12:00", "Europe/Berlin", "2026-03-30T09:59:59Z", true),
        Opening("12:00-12:00", "Europe/Berlin", "2026-03-30T10:00:00Z", false, "2026-04-05T10:00:00Z"),
        Opening("00:00-24:00", "Europe/Berlin", "2026-10-24T22:00:00Z", true),
        Opening("00:00-24:00", "Europe/Berlin", "2026-10-25T22:59:59Z", true),
        Opening("00:00-24:00", "Europe/Berlin", "2026-10-25T23:00:00Z", false, "2026-10-31T23:00:00Z"),
        // 8 March 2026 at 07:00 UTC, 1 November at 06:00 UTC.
        Opening("02:15-02:45", "America/New_York", "2026-03-08T06:00:00Z", false, "2026-03-15T06:15:00Z"),
        Opening("02:15-03:15", "America/New_York", "2026-03-08T07:00:00Z", true),
        Opening("01:15-01:45", "America/New_York", "2026-11-01T05:20:00Z", true),
        Opening("01:15-01:45", "America/New_York", "2026-11-01T05:50:00Z", false, "2026-11-08T06:15:00Z"),
        Opening("01:15-01:45", "America/New_York", "2026-11-01T06:20:00Z", false, "2026-11-08T06:15:00Z"),
        Opening("01:15-01:45", "America/New_York", "2026-11-01T06:45:00Z", false, "2026-11-08T06:15:00Z"),
        // A quarter of an hour.
        Opening("09:00-17:00", "Asia/Kathmandu", "2026-11-22T03:14:59Z", false, "2026-11-22T03:15:00Z"),
        Opening("09:00-17:00", "Asia/Kathmandu", "2026-11-22T11:14:59Z", true),
        Opening("09:00-17:00", "Asia/Kathmandu", "2026-11-22T11:15:00Z", false, "2026-11-29T03:15:00Z"),
        // Clocks change by half an hour: 4 October 2026, 02:00 becomes 02:30 at 15:30 UTC.
        Opening("02:00-02:30", "Australia/Lord_Howe", "2026-10-03T15:00:00Z", false, "2026-10-10T15:00:00Z"),
        // 5 April 2026: 02:00 becomes 01:30 at 15:00 UTC of the 4th.
        Opening("01:30-01:45", "Australia/Lord_Howe", "2026-04-04T14:40:00Z", true),
        Opening("01:30-01:45", "Australia/Lord_Howe", "2026-04-04T15:10:00Z", false, "2026-04-11T15:00:00Z"),
        Opening("01:45-02:15", "Australia/Lord_Howe", "2026-04-04T15:10:00Z", true),
        Opening("01:45-02:15", "Australia/Lord_Howe", "2026-04-04T15:45:00Z", false, "2026-04-11T15:15:00Z"),
        // Clocks change at midnight: 4 November 2018, 00:00 becomes 01:00 at 03:00 UTC.
        Opening("00:00-00:30", "America/Sao_Paulo", "2018-11-04T03:00:00Z", false, "2018-11-11T02:00:00Z"),
        Opening("00:00-01:30", "America/Sao_Paulo", "2018-11-04T02:59:59Z", false, "2018-11-04T03:00:00Z"),
        Opening("00:00-01:30", "America/Sao_Paulo", "2018-11-04T03:29:59Z", true),
        Opening("22:00-24:00", "America/Sao_Paulo", "2018-11-04T02:59:59Z", true, on: .saturday),
        Opening(
            "22:00-24:00",
            "America/Sao_Paulo",
            "2018-11-04T03:00:00Z",
            false,
            "2018-11-11T00:00:00Z",
            on: .saturday
        ),
        // 18 February 2018, 00:00 becomes 23:00 of the 17th at 02:00 UTC.
        Opening("22:00-24:00", "America/Sao_Paulo", "2018-02-18T02:30:00Z", true, on: .saturday),
        Opening(
            "22:00-24:00",
            "America/Sao_Paulo",
            "2018-02-18T03:00:00Z",
            false,
            "2018-02-25T01:00:00Z",
            on: .saturday
        ),
        Opening(
            "22:00-23:30",
            "America/Sao_Paulo",
            "2018-02-18T01:30:00Z",
            false,
            "2018-02-25T01:00:00Z",
            on: .saturday
        ),
        Opening(
            "22:00-23:30",
            "America/Sao_Paulo",
            "2018-02-18T02:10:00Z",
            false,
            "2018-02-25T01:00:00Z",
            on: .saturday
        ),
        Opening("00:00-24:00", "America/Sao_Paulo", "2018-02-18T02:30:00Z", false, "2018-02-18T03:00:00Z"),
        Opening("00:00-24:00", "America/Sao_Paulo", "2018-02-18T02:30:00Z", true, on: .saturday),
        // 7 November 2010, 00:01 becomes 23:01 of the 6th at 02:31 UTC.
        Opening("20:00-24:00", "America/St_Johns", "2010-11-07T02:29:59Z", true, on: .saturday),
        Opening(
            "20:00-24:00",
            "America/St_Johns",
            "2010-11-07T03:00:00Z",
            false,
            "2010-11-13T23:30:00Z",
            on: .saturday
        ),
        Opening("00:00-24:00", "America/St_Johns", "2010-11-07T03:00:00Z", true),
    ]

    @Test("Opening hours are those of the clock on the wall", arguments: openings)
    func openingHours(opening: Opening) throws {
        let times = opening.hours.split(separator: "-").compactMap { TimeOfDay(String($0)) }
        let hours = OpeningHours(weekdays: [opening.day], from: times[0], until: times[1])
        let tried = TriedScenario(.openingHours([hours]), in: .named(opening.zone))
        #expect(try tried.isDue(opening.at) == opening.isOpen)
        #expect(try tried.next(opening.at) == (opening.isOpen ? .at(opening.at) : .at(opening.next)))
    }

    /// Zones, each with a year in which its clocks are changed in a way of its own.
    static let changes: [(zone: String, year: Int)] = [
        ("Europe/Berlin", 2026), ("America/New_York", 2026), ("Australia/Lord_Howe", 2026), ("America/Sao_Paulo", 2018),
        ("Africa/Cairo", 2026), ("Asia/Beirut", 2026), ("America/St_Johns", 2010), ("Pacific/Apia", 2011),
        ("America/Santiago", 2026), ("Africa/Casablanca", 2026), ("Atlantic/Azores", 2026), ("Asia/Kathmandu", 2026),
        ("UTC", 2026),
    ]

    @Test("Hours are one stretch, and the next opening is the first open minute: seed 33", arguments: changes.oneIn(3))
    func stretches(zone name: String, year: Int) throws {
        let zone = TimeZone.named(name)
        var random = SeededNumbers(seed: 33)
        let minute = Int64.seconds(60)
        // The days around each change, and around the middle of the year.
        var date = Timestamp.date(.at("\(year)-01-01T00:00:00Z"))
        var middles = [Int64.at("\(year)-07-01T12:00:00Z")]
        while let next = zone.nextDaylightSavingTimeTransition(after: date),
            next < date.addingTimeInterval(366 * 86_400),
            middles.count < 6
        {
            middles.append(ScenarioTime.microseconds(next))
            date = next
        }
        for middle in middles {
            let start = middle / minute * minute - .days(5)
            // What the clock shows in each minute, and the latest that it has shown by then, in minutes.
            var shown: [Int] = []
            for number in 0..<18_720 as Range<Int64> {
                let moment = start + number * minute
                let local = moment / minute + Int64(zone.secondsFromGMT(for: Timestamp.date(moment)) / 60)
                shown.append(max(shown.last ?? .min, Int(local)))
            }
            for _ in 0..<2 {
                let times = (0..<2).map { _ in Int.random(in: 0...96, using: &random) * 15 }
                let days = Set((0..<3).compactMap { _ in Weekday(rawValue: .random(in: 1...7, using: &random)) })
                let hours = try OpeningHours(
                    weekdays: days,
                    from: #require(TimeOfDay(hour: times[0] / 60, minute: times[0] % 60)),
                    until: #require(TimeOfDay(hour: times[1] / 60, minute: times[1] % 60))
                )
                let length = times[1] - times[0] + (times[1] <= times[0] ? 1440 : 0)
                func isOpen(_ number: Int) -> Bool {
                    let latest = shown[number]
                    return (latest / 1440 - 2...latest / 1440).contains { day in
                        let from = day * 1440 + times[0]
                        return days.contains(CivilDate.weekday(day)) && latest >= from && latest < from + length
                    }
                }
                let tried = TriedScenario(.openingHours([hours]), in: zone)
                var evaluation = ScenarioEvaluation(tried.scenario, tried.attempt(start))
                // A day before and after, and what follows within the week.
                var next: Int?
                for number in (5760..<shown.count).reversed() {
                    let moment = start + Int64(number) * minute
                    if isOpen(number) { next = number }
                    // Each minute of the hours around the change, and both sides of each quarter of an hour.
                    let isLooked = (7020...7380).contains(number) || [0, 14].contains(number % 15)
                    guard number < 8640, isLooked else { continue }
                    if try evaluation.holds(.openingHours([hours]), at: moment) != isOpen(number) {
                        Issue.record("\(hours) in \(name) at \(Timestamp.date(moment)): \(isOpen(number))")
                        break
                    }
                    guard !isOpen(number), let next, isOpen(number + 1) || number % 97 == 0 else { continue }
                    let found = evaluation.nextOpening([hours], after: moment)
                    #expect(
                        found == start + Int64(next) * minute,
                        "\(hours) in \(name) after \(Timestamp.date(moment))"
                    )
                }
            }
        }
    }

    @Test("A day that was skipped has no hours, and its night goes on with the next")
    func samoa() throws {
        let apia = TimeZone.named("Pacific/Apia")
        // 29 December 2011 ends at 10:00 UTC of the 30th, and the 31st begins.
        let friday = TriedScenario(.weekdays([.friday]), in: apia)
        #expect(try !friday.isDue("2011-12-30T09:59:59Z") && !friday.isDue("2011-12-30T10:00:00Z"))
        #expect(try friday.next("2011-12-29T12:00:00Z") == .at("2012-01-05T10:00:00Z"))
        let saturday = TriedScenario(.weekdays([.saturday]), in: apia)
        #expect(try saturday.next("2011-12-30T09:59:59Z") == .at("2011-12-30T10:00:00Z"))
        let night = OpeningHours(weekdays: [.friday], from: TimeOfDay("22:00")!, until: TimeOfDay("02:00")!)
        let party = TriedScenario(.openingHours([night]), in: apia)
        #expect(try party.next("2011-12-30T09:00:00Z") == .at("2011-12-30T10:00:00Z"))
        #expect(try party.isDue("2011-12-30T11:59:59Z") && !party.isDue("2011-12-30T12:00:00Z"))
        var daily = TriedScenario(.executions(atMost: 1, within: .day), in: apia)
        daily.history.executionTimes = [.at("2011-12-30T09:00:00Z")]
        #expect(try daily.next("2011-12-30T09:00:00Z") == .at("2011-12-30T10:00:00Z"))
        #expect(try daily.isDue("2011-12-30T10:00:00Z"))
    }

    @Test("A day that begins at 1 o'clock begins there")
    func skippedMidnight() throws {
        var daily = TriedScenario(.executions(atMost: 1, within: .day), in: .named("America/Sao_Paulo"))
        daily.history.executionTimes = [.at("2018-11-03T15:00:00Z")]
        #expect(try daily.next("2018-11-03T15:00:00Z") == .at("2018-11-04T03:00:00Z"))
    }

    @Test("A clock that is set back past midnight never permits more")
    func repeatedMidnight() throws {
        // 7 November 2010: 00:01 becomes 23:01 of the 6th, at 02:31 UTC.
        var daily = TriedScenario(.executions(atMost: 1, within: .day), in: .named("America/St_Johns"))
        for at in ["2010-11-07T02:00:00Z", "2010-11-07T02:30:30Z", "2010-11-07T03:00:00Z"] {
            daily.history.executionTimes = [.at(at)]
            for seconds in stride(from: -3600, through: 3600, by: 300) as StrideThrough<Int64> {
                let other = Int64.at("2010-11-07T03:00:00Z") + .seconds(seconds)
                let local = daily.calendars.calendar(.named("America/St_Johns"))
                if local.local(.at(at)).day == local.local(other).day { #expect(try !daily.isDue(other)) }
            }
        }
    }

    struct Limit: Sendable {
        var window: ScenarioWindow
        var executed: String
        /// When the next execution is possible.
        var next: String

        init(_ window: ScenarioWindow, _ executed: String, _ next: String) {
            (self.window, self.executed, self.next) = (window, executed, next)
        }
    }

    static let limits: [Limit] = [
        Limit(.day, "2026-03-29T00:30:00+01:00", "2026-03-30T00:00:00+02:00"),
        Limit(.day, "2026-10-25T00:30:00+02:00", "2026-10-26T00:00:00+01:00"),
        Limit(.days(1), "2026-10-25T00:30:00+02:00", "2026-10-26T00:00:00+01:00"),
        Limit(.days(7), "2026-03-25T15:00:00+01:00", "2026-04-01T00:00:00+02:00"),
        Limit(.days(365), "2026-03-25T15:00:00+01:00", "2027-03-25T00:00:00+01:00"),
        Limit(.week, "2026-10-21T15:00:00+02:00", "2026-10-26T00:00:00+01:00"),
        Limit(.week, "2026-10-25T23:59:59+01:00", "2026-10-26T00:00:00+01:00"),
        Limit(.week, "2026-10-26T00:00:00+01:00", "2026-11-02T00:00:00+01:00"),
        Limit(.week, "2026-12-31T12:00:00+01:00", "2027-01-04T00:00:00+01:00"),
        Limit(.month, "2026-01-31T12:00:00+01:00", "2026-02-01T00:00:00+01:00"),
        Limit(.month, "2026-12-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00"),
        Limit(.year, "2028-02-29T12:00:00+01:00", "2029-01-01T00:00:00+01:00"),
        Limit(.seconds(86_400), "2026-10-25T00:30:00+02:00", "2026-10-25T23:30:00+01:00"),
    ]

    @Test("Calendar windows are periods of the time zone", arguments: limits)
    func windows(limit: Limit) throws {
        let next = Int64.at(limit.next)
        var executions = TriedScenario(
            .executions(atMost: 1, within: limit.window),
            in: .named("Europe/Berlin")
        )
        executions.history.executionTimes = [.at(limit.executed)]
        #expect(try executions.next(limit.executed) == next)
        #expect(try !executions.isDue(next - 1) && executions.isDue(next))
        var events = TriedScenario(
            .events(atLeast: nil, atMost: 0, within: limit.window),
            in: .named("Europe/Berlin")
        )
        events.history.eventTimes = [.at(limit.executed)]
        #expect(try events.next(limit.executed) == next)
        #expect(try !events.isDue(next - 1) && events.isDue(next))
    }

    @Test("A calendar window counts what lies later in it, since the clock was set back")
    func later() throws {
        var tried = TriedScenario(.executions(atMost: 1, within: .week), in: .named("Europe/Berlin"))
        tried.history.executionTimes = [.at("2026-11-22T20:00:00+01:00")]
        #expect(try !tried.isDue("2026-11-16T00:00:00+01:00"))
        #expect(try tried.isDue("2026-11-15T23:59:59+01:00"))
    }

    @Test("Rules together: the next moment at which all of them hold")
    func combinations() throws {
        let hours = OpeningHours(weekdays: [.saturday], from: TimeOfDay("09:00")!, until: TimeOfDay("12:00")!)
        var tried = TriedScenario {
            $0.timeZone = .named("Europe/Berlin")
            $0.minSecondsBetweenExecutions = 7 * 86_400
            $0.rules = [.openingHours([hours])]
        }
        tried.history.executionTimes = [.at("2026-03-21T10:00:00+01:00")]
        #expect(try tried.next("2026-03-21T10:00:00+01:00") == .at("2026-03-28T10:00:00+01:00") + 1)
        // A week of 7 * 24 hours later it is 12:30 in summer, and closed.
        tried.history.executionTimes = [.at("2026-03-28T11:30:00+01:00")]
        #expect(try tried.next("2026-03-28T11:30:00+01:00") == .at("2026-04-11T09:00:00+02:00"))
        // A birthday on a Monday, and not before 2030.
        tried.scenario.rules = [
            .birthday(field: "birthday", daysBefore: 0, daysAfter: 0), .weekdays([.monday]),
            .any([.valid(from: Timestamp.date(.at("2030-01-01T00:00:00Z")), until: nil), .tagged("vip")]),
        ]
        tried.member = Member(userId: "A1", fields: ["birthday": .string("1990-03-28")])
        #expect(try tried.next("2026-03-28T11:30:00+01:00") == .at("2033-03-28T00:00:00+02:00"))
        tried.scenario.validUntil = Timestamp.date(.at("2033-01-01T00:00:00Z"))
        #expect(try tried.next("2026-03-28T11:30:00+01:00") == nil)
        // What the application says may change at any time.
        tried.scenario.rules = [.customConditions]
        tried.customConditionsHold = false
        #expect(try tried.next("2027-03-28T11:30:00+01:00") == nil)
    }
}
