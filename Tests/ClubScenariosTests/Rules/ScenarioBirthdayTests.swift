import ClubRecords
import Foundation
import Testing

@testable import ClubScenarios

/// Birthdays, also those that there are not in each year, and times of the day.
@Suite struct ScenarioBirthdayTests {
    struct Day: Sendable {
        var field: FieldValue?
        var before: Int
        var after: Int
        var on: String
        var holds: Bool

        init(_ field: FieldValue?, _ before: Int, _ after: Int, _ on: String, _ holds: Bool) {
            (self.field, self.before, self.after, self.on, self.holds) = (field, before, after, on, holds)
        }
    }

    static let birthdays: [Day] = [
        Day("1990-05-17", 0, 0, "2026-05-17", true), Day("1990-05-17", 0, 0, "2026-05-16", false),
        Day("1990-05-17", 0, 0, "2026-05-18", false), Day("05-17", 0, 0, "2026-05-17", true),
        Day("05-17", 3, 0, "2026-05-14", true), Day("05-17", 3, 0, "2026-05-13", false),
        Day("05-17", 0, 3, "2026-05-20", true), Day("05-17", 0, 3, "2026-05-21", false),
        Day("1992-02-29", 0, 0, "2026-02-28", true), Day("1992-02-29", 0, 0, "2026-03-01", false),
        Day("1992-02-29", 0, 0, "2028-02-28", false), Day("1992-02-29", 0, 0, "2028-02-29", true),
        Day("02-29", 0, 1, "2026-03-01", true), Day("02-29", 1, 0, "2100-02-27", true),
        Day("12-31", 0, 3, "2027-01-03", true), Day("12-31", 0, 3, "2027-01-04", false),
        Day("01-02", 3, 0, "2026-12-30", true), Day("01-02", 3, 0, "2026-12-29", false),
        Day("05-17", 366, 0, "2026-05-18", true), Day("0000-05-17", 0, 0, "2026-05-17", true),
        Day(nil, 366, 366, "2026-05-17", false), Day(.null, 366, 366, "2026-05-17", false),
        Day(.int(517), 366, 366, "2026-05-17", false), Day("1991-02-29", 366, 366, "2026-05-17", false),
        Day("17.05.1990", 0, 0, "2026-05-17", true), Day("1990-13-01", 366, 366, "2026-05-17", false),
        Day("1990-05-17T00:00:00Z", 0, 0, "2026-05-17", true), Day("", 366, 366, "2026-05-17", false),
        Day("1990/05/17", 0, 0, "2026-05-17", true), Day("+990-05-17", 366, 366, "2026-05-17", false),
        Day(.int(37028), 0, 0, "2026-05-17", true), Day("May 17", 0, 0, "2026-05-17", true),
        Day("05/06/1990", 366, 366, "2026-05-17", false), Day("--05-17", 0, 0, "2026-05-18", false),
        Day("00-17", 366, 366, "2026-05-17", false), Day("02-30", 366, 366, "2026-05-17", false),
    ]

    @Test("Birthdays", arguments: birthdays)
    func birthday(day: Day) throws {
        var tried = TriedScenario(
            .birthday(field: "born", daysBefore: day.before, daysAfter: day.after),
            in: .named("Europe/Berlin")
        )
        tried.member = Member(userId: "A1", fields: day.field.map { ["born": $0] } ?? [:])
        for time in ["T05:00:00+00:00", "T12:00:00+00:00", "T21:30:00+00:00"] {
            let decision = try tried.decide(day.on + time)
            #expect(decision.isDue == day.holds)
            #expect(try tried.isDue(day.on + time) == day.holds)
        }
    }

    @Test("When a birthday is next, and why it is not")
    func nextBirthday() throws {
        var tried = TriedScenario(
            .birthday(field: "born", daysBefore: 3, daysAfter: 0),
            in: .named("Europe/Berlin")
        )
        let now = Int64.at("2026-11-22T12:00:00Z")
        #expect(try tried.message(now) == "Only a member has a birthday.")
        tried.member = Member(userId: "A1")
        #expect(try tried.message(now) == "The member has no field \"born\" that tells the birthday.")
        #expect(try tried.next(now) == nil)
        tried.member?.fields["born"] = "soon"
        #expect(try tried.message(now) == "The field \"born\" is no day, such as 2001-05-17 or 05-17.")
        tried.member?.fields["born"] = "1990-05-17"
        #expect(try tried.next(now) == .at("2027-05-14T00:00:00+02:00"))
        #expect(try tried.message(now) == "It happens around the birthday, next in 173 days.")
        tried.member?.fields["born"] = "11-26"
        #expect(try tried.message(now) == "It happens around the birthday, next in 1 day.")
    }

    @Test("Times of the day")
    func timesOfDay() {
        for (text, minutes) in [
            ("00:00", 0), ("09:05", 545), ("23:59", 1439), ("24:00", 1440), ("24:01", nil), ("25:00", nil),
            ("12:60", nil), ("9:00", nil), ("", nil), ("-1:00", nil), ("12:0a", nil), ("12.00", nil), ("٠٩:٠٠", nil),
            ("09:00 ", nil),
        ] as [(String, Int?)] {
            #expect(TimeOfDay(text)?.minutes == minutes)
            if minutes != nil { #expect(TimeOfDay(text)?.description == text) }
        }
        #expect(TimeOfDay(hour: 24, minute: 0)?.minutes == 1440)
        #expect(TimeOfDay(hour: .max, minute: .min) == nil)
        #expect(TimeOfDay("09:00")! < TimeOfDay("10:00")!)
    }
}
