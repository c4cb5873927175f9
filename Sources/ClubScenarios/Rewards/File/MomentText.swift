import ClubRecords
import Foundation

/// A day or a time as people write it.
struct MomentText {
    /// The time, or the beginning of the day.
    var start: Date
    /// The time, or the end of the day, which is the beginning of the next.
    var end: Date

    /// `2026-12-01`, `2026-12-01 16:00` or `2026-12-01T16:00:30` by the calendar, or with a zone of its own: `Z` or
    /// `+01:00`. Years 1970 to 2999. A time that is left out when clocks are set forward is the next that there is; of
    /// one that comes twice it is the first.
    init?(_ text: String, _ calendar: ZoneCalendar) {
        let form = /(\d{4})-(\d\d)-(\d\d)(?:(?:[Tt]| +)(\d\d?):(\d\d)(?::(\d\d))?(?: ?(Z|[-+]\d\d:?\d\d))?)?/
        guard text.utf8.count <= 40, let match = text.wholeMatch(of: form.asciiOnlyDigits()),
            let year = Int(match.1), let month = Int(match.2), let day = Int(match.3), (1970...2999).contains(year)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        guard date.exists else { return nil }
        guard let hour = match.4.flatMap({ Int($0) }), let minute = match.5.flatMap({ Int($0) }) else {
            let period = calendar.period(.day, ofDay: date.number)
            (start, end) = (Timestamp.date(max(period.start, 0)), Timestamp.date(max(period.end, 0)))
            return
        }
        let second = match.6.flatMap { Int($0) } ?? 0
        guard hour < 24, minute < 60, second < 60 else { return nil }
        var time = ZoneCalendar.midnight(date.number) + Int64(hour * 3600 + minute * 60 + second) * Timestamp.second
        if let zone = match.7 {
            guard let offset = Self.offset(zone) else { return nil }
            time -= offset * Timestamp.second
        } else {
            time = calendar.stretches(from: time, until: time + 2 * CivilDate.day).first?.start ?? time
        }
        guard time >= 0 else { return nil }
        start = Timestamp.date(time)
        end = start
    }

    /// Seconds east of UTC.
    private static func offset(_ zone: Substring) -> Int64? {
        guard zone != "Z" else { return 0 }
        let digits = zone.utf8.dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard let hours = CivilDate.number(digits[..<2]), let minutes = CivilDate.number(digits[2...]), hours <= 18,
            minutes < 60
        else { return nil }
        return Int64((zone.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60))
    }
}
