import CardCore
import ClubRecords
import Foundation

/// Lengths of time as people write them.
enum DurationText {
    /// A hundred years, so that nothing overflows where it is added to a time.
    static let longest: TimeInterval = 36_525 * 86_400

    enum Fault: Error, Hashable {
        case malformed, negative, tooLong, monthOrYear, ambiguousUnit, comma

        var hint: String {
            switch self {
            case .malformed: "Write a number and s, min, h, days or weeks; a number alone is in seconds."
            case .negative: "It cannot be negative."
            case .tooLong: "It is at most 100 years, which is 36525 days."
            case .monthOrYear: "Months and years differ in length: write days, or 'month' or 'year' for a window."
            case .ambiguousUnit: "Write 'min' for minutes."
            case .comma: "Write a decimal point, as 1.5 h."
            }
        }
    }

    /// The seconds of `90 s`, `10 min`, `1.5 h`, `1 day 12 h`, `2 weeks`, or of a number alone.
    static func seconds(_ text: String) -> Result<TimeInterval, Fault> {
        guard text.utf8.count <= 64 else { return .failure(.malformed) }
        var rest = text[...]
        var sum: TimeInterval = 0
        var isFirst = true
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard !rest.isEmpty else { return isFirst ? .failure(.malformed) : .success(sum) }
            if rest.first == "-" { return .failure(.negative) }
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(number.count)
            if rest.first == "," { return .failure(.comma) }
            rest = rest.drop { $0 == " " || $0 == "\t" }
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let value = value(number), rest.isEmpty || rest.first == " " else { return .failure(.malformed) }
            // Seconds without a unit stand alone.
            guard !unit.isEmpty || isFirst && rest.isEmpty else { return .failure(.malformed) }
            switch length(of: unit) {
            case .success(let length): sum += value * length
            case .failure(let fault): return .failure(fault)
            }
            guard sum <= longest else { return .failure(.tooLong) }
            isFirst = false
        }
    }

    private static func value(_ digits: Substring) -> Double? {
        guard digits.first?.isNumber == true, digits.last?.isNumber == true, digits.filter({ $0 == "." }).count <= 1
        else { return nil }
        return Double(digits)
    }

    private static func length(of unit: Substring) -> Result<TimeInterval, Fault> {
        switch unit.lowercased() {
        case "", "s", "sec", "secs", "second", "seconds": .success(1)
        case "min", "mins", "minute", "minutes": .success(60)
        case "h", "hr", "hrs", "hour", "hours": .success(3600)
        case "d", "day", "days": .success(86_400)
        case "w", "week", "weeks": .success(604_800)
        case "m": .failure(.ambiguousUnit)
        case "mo", "month", "months", "y", "yr", "year", "years": .failure(.monthOrYear)
        default: .failure(.malformed)
        }
    }
}

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
            time = calendar.moment(time)
        }
        guard time >= 0 else { return nil }
        start = Timestamp.date(time)
        end = start
    }

    private static func offset(_ zone: Substring) -> Int64? {
        guard zone != "Z" else { return 0 }
        let digits = zone.utf8.dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard let hours = ISO8601.number(digits[..<2]), let minutes = ISO8601.number(digits[2...]), hours <= 18,
            minutes < 60
        else { return nil }
        return Int64((zone.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60))
    }
}

enum TimeZoneName {
    /// The zone of an IANA name, in its own spelling; `nil` for offsets and abbreviations, which know no summer time or
    /// stand for several zones.
    static func zone(_ name: String) -> TimeZone? {
        guard name == "UTC" || name == "GMT" || name.contains("/"), name.utf8.count <= 64,
            name.utf8.allSatisfy({ $0.isAlphanumeric(or: "/_-+") }), !name.contains("..")
        else { return nil }
        return TimeZone(identifier: name)
    }

    /// The name that is meant by one with a slip in it, or by the name of the city alone.
    static func nearest(_ name: String) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let name = name.split(separator: " ").joined(separator: "_")
        let all = TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") }.sorted()
        if let nearest = NearestName.of(name, among: all) { return nearest }
        var cities: [String: String] = [:]
        for zone in all { if let city = zone.split(separator: "/").last { cities[String(city)] = zone } }
        let city = name.split(separator: "/").last.map(String.init) ?? name
        return NearestName.of(city, among: cities.keys.sorted()).flatMap { cities[$0] }
    }
}
