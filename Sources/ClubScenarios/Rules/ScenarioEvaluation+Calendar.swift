import ClubRecords

extension ScenarioEvaluation {
    /// How many days are searched for the next opening: some weeks, since a change of clocks can skip the hours of one
    /// of them.
    private static let searchedDays = 29

    mutating func isOpen(_ hours: [OpeningHours], at now: Int64) -> Bool {
        let local = calendar().local(now)
        let (today, yesterday) = (CivilDate.weekday(local.day), CivilDate.weekday(local.day - 1))
        return hours.contains { $0.include(local.time, on: today, after: yesterday) }
    }

    /// The next moment after this one at which one of the hours begins.
    mutating func nextOpening(_ hours: [OpeningHours], after now: Int64) -> Int64? {
        let today = calendar().local(now).day
        var next: Int64?
        for day in today - 1...today + Self.searchedDays {
            let weekday = CivilDate.weekday(day)
            let midnight = ZoneCalendar.midnight(day)
            for hours in hours where hours.weekdays.contains(weekday) {
                let end = midnight + (hours.crossesMidnight ? CivilDate.day : 0)
                let stretches = calendar().stretches(
                    from: midnight + CivilDate.microseconds(hours.from),
                    until: end + CivilDate.microseconds(hours.until)
                )
                for stretch in stretches where stretch.start > now { next = min(next ?? .max, stretch.start) }
            }
            // Hours of the next day can begin before those of this one only where a clock is set back past midnight.
            if let next, calendar().local(next).day < day { return next }
        }
        return next
    }

    /// The next moment after this one at which one of the days begins.
    mutating func nextWeekday(_ weekdays: Set<Weekday>, after now: Int64) -> Int64? {
        let today = calendar().local(now).day
        for day in today...today + Self.searchedDays where weekdays.contains(CivilDate.weekday(day)) {
            let midnight = ZoneCalendar.midnight(day)
            let stretches = calendar().stretches(from: midnight, until: midnight + CivilDate.day)
            if let next = stretches.first(where: { $0.start > now }) { return next.start }
        }
        return nil
    }

    /// The birthday that a field of the member tells, or `nil` if it tells none.
    func birthday(_ field: String) -> Birthday? {
        guard case .string(let text) = attempt.member?.fields[field] else { return nil }
        return Birthday(text)
    }
}

/// A day of the year.
struct Birthday: Equatable {
    var month: Int
    var day: Int

    /// The most days around it that are looked at.
    static let reach = 366

    /// Reads `YYYY-MM-DD` or `MM-DD`; `nil` for anything else, and for a day that there is not.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let dash = UInt8(ascii: "-")
        // A year with a 29 February, for a day without a year.
        var year = 2000
        var rest = bytes[...]
        if bytes.count == 10 {
            guard bytes[4] == dash, let number = CivilDate.number(bytes[0...3]) else { return nil }
            year = number
            rest = bytes[5...]
        }
        guard rest.count == 5, rest[rest.startIndex + 2] == dash,
            let month = CivilDate.number(rest.prefix(2)), let day = CivilDate.number(rest.suffix(2)),
            CivilDate(year: year, month: month, day: day).exists
        else { return nil }
        self.month = month
        self.day = day
    }

    /// The number of the day on which it is in a year.
    func number(in year: Int) -> Int {
        let date = CivilDate(year: year, month: month, day: day)
        return date.exists ? date.number : CivilDate(year: year, month: 2, day: 28).number
    }

    /// Whether a day is from so many days before to so many days after it.
    func isNear(_ day: Int, before: Int, after: Int) -> Bool {
        let year = CivilDate(number: day).year
        let (before, after) = (Self.bounded(before), Self.bounded(after))
        return (year - 1...year + 1).contains { each in
            let number = number(in: each)
            return day >= number - before && day <= number + after
        }
    }

    /// The first day after this one on which its days begin.
    func nextBeginning(after day: Int, before: Int) -> Int? {
        let year = CivilDate(number: day).year
        return (year - 1...year + 2).map { number(in: $0) - Self.bounded(before) }.filter { $0 > day }.min()
    }

    /// Negative numbers are 0.
    private static func bounded(_ days: Int) -> Int { min(max(days, 0), reach) }
}
