import Foundation

/// The days of a time zone, for counting in SQL: where clocks differ from UTC by the same, days are whole numbers of
/// seconds.
struct LocalDays {
    /// A stretch of time in which clocks differ from UTC by the same.
    struct Stretch: Equatable {
        /// In microseconds since 1970.
        var start: Int64
        /// In microseconds since 1970; not included.
        var stop: Int64
        /// What is added to a time to read UTC's clock as the local one, in microseconds.
        var shift: Int64
    }

    static let day: Int64 = 86_400 * Timestamp.second
    static let hour: Int64 = 3_600 * Timestamp.second

    /// Without gaps, from the beginning to the end.
    let stretches: [Stretch]

    let timeZone: TimeZone

    /// - Parameters:
    ///   - from: in microseconds since 1970.
    ///   - to: in microseconds since 1970; not included.
    init(from: Int64, to: Int64, in timeZone: TimeZone) {
        self.timeZone = timeZone
        var stretches: [Stretch] = []
        var start = from
        while start < to {
            let date = Timestamp.date(start)
            let shift = Int64(timeZone.secondsFromGMT(for: date)) * Timestamp.second
            let next = timeZone.nextDaylightSavingTimeTransition(after: date).flatMap(Timestamp.microseconds)
            // A zone that could not tell its next change must not keep this from ending.
            let stop = next.flatMap { $0 > start ? min($0, to) : nil } ?? to
            stretches.append(Stretch(start: start, stop: stop, shift: shift))
            start = stop
        }
        self.stretches = stretches
    }

    /// The number of the local day of a time: 0 is 1 January 1970.
    func number(of time: Int64) -> Int64? {
        guard let stretch = stretches.first(where: { $0.start <= time && time < $0.stop }) else { return nil }
        let local = time + stretch.shift
        return local >= 0 ? local / Self.day : (local - Self.day + 1) / Self.day
    }

    /// The date of a day, as in `2026-11-21`.
    static func date(ofNumber number: Int64) -> String {
        Date(timeIntervalSince1970: Double(number) * 86_400).formatted(
            Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
        )
    }

    /// The beginning of the day of a time.
    static func start(of date: Date, in timeZone: TimeZone) -> Date {
        calendar(timeZone).startOfDay(for: date)
    }

    /// The beginning of the day after that of a time.
    static func end(of date: Date, in timeZone: TimeZone) -> Date {
        let start = start(of: date, in: timeZone)
        // 36 hours later is the next day, also where a day has 25 hours.
        return calendar(timeZone).startOfDay(for: start.addingTimeInterval(129_600))
    }

    private static func calendar(_ timeZone: TimeZone) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }
}
