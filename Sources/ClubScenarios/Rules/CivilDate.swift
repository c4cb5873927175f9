import ClubRecords

/// A date of the Gregorian calendar, and its number: 0 is 1 January 1970.
///
/// Foundation's calendar is not used for scenarios: it takes microseconds for each question, and leaves open what
/// becomes of a time that a day does not have or has twice.
struct CivilDate: Equatable {
    var year: Int
    /// 1...12.
    var month: Int
    /// 1...31.
    var day: Int

    /// Microseconds of a day by the clock on the wall.
    static let day: Int64 = 86_400 * Timestamp.second

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date of a day. Years are counted from March, so that the day that not each of them has is the last.
    init(number: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    }

    /// The number of the day.
    var number: Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Whether there is such a day.
    var exists: Bool { (1...12).contains(month) && (1...31).contains(day) && CivilDate(number: number) == self }

    /// The weekday of a day.
    static func weekday(_ number: Int) -> Weekday {
        // 1 January 1970 was a Thursday.
        Weekday(rawValue: ((number + 3) % 7 + 7) % 7 + 1) ?? .monday
    }

    /// Microseconds from midnight, by the clock on the wall.
    static func microseconds(_ time: TimeOfDay) -> Int64 { Int64(time.minutes) * 60 * Timestamp.second }

    /// The number that these digits write, at most nine of them.
    static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...9).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }

    /// `2026-11-22`.
    static func text(_ number: Int) -> String {
        let date = CivilDate(number: number)
        func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(date.year)-\(two(date.month))-\(two(date.day))"
    }
}
