import Foundation

/// The forms of HTML's values that are texts of a fixed form.
enum FieldFormat {
    /// An electronic mail address, as HTML describes it.
    static func isEmail(_ text: String) -> Bool {
        guard let at = text.utf8.firstIndex(of: UInt8(ascii: "@")), at != text.utf8.startIndex else { return false }
        let marks = "!#$%&'*+/=?^_`{|}~.-".utf8
        guard text.utf8[..<at].allSatisfy({ $0.isAlphanumeric || marks.contains($0) }) else { return false }
        return text.utf8[at...].dropFirst().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                    && label.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
            }
    }

    /// A colour: `#` and six hexadecimal digits.
    static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.first == "#"
            && text.utf8.dropFirst().allSatisfy { $0 ^ 0x30 < 10 || ($0 | 0x20) &- UInt8(ascii: "a") < 6 }
    }

    /// What a moment's number counts, of the types that are moments, and in what ``SirenField/step`` counts, as HTML has it.
    static func unit(of type: SirenFieldType) -> Int? {
        switch type {
        case .date: 86_400_000
        case .week: 604_800_000
        case .month: 1
        case .time, .datetime, .datetimeLocal: 1000
        default: nil
        }
    }

    /// The number that HTML assigns to a moment: months since January 1970 of a month, else milliseconds since 1970 or
    /// midnight; `nil` if the text does not have the type's form.
    static func number(_ text: String, _ type: SirenFieldType) -> Int? {
        var scan = Scan(rest: text.utf8[...])
        let number: Int?
        switch type {
        case .date: number = scan.date().map { $0 * 86_400_000 }
        case .month: number = scan.month().map { ($0.year - 1970) * 12 + $0.month - 1 }
        case .week: number = scan.week().map { $0 * 86_400_000 }
        case .time: number = scan.time()
        case .datetimeLocal: number = scan.dateAndTime()
        case .datetime:
            let local = scan.dateAndTime()
            let offset = scan.offset()
            number = local.flatMap { local in offset.map { local - $0 } }
        default: return nil
        }
        return scan.rest.isEmpty ? number : nil
    }

    /// The parts of moments, one after the other.
    private struct Scan {
        var rest: Substring.UTF8View

        mutating func take(_ character: Character) -> Bool {
            guard rest.first == character.asciiValue else { return false }
            rest.removeFirst()
            return true
        }

        /// A number of so many digits.
        mutating func digits(_ count: ClosedRange<Int>) -> Int? {
            let digits = rest.prefix(count.upperBound).prefix { $0 ^ 0x30 < 10 }
            guard digits.count >= count.lowerBound else { return nil }
            rest = rest[digits.endIndex...]
            return Int(Substring(digits))
        }

        mutating func number(_ range: ClosedRange<Int>) -> Int? {
            digits(2...2).flatMap { range.contains($0) ? $0 : nil }
        }

        mutating func year() -> Int? { digits(4...6).flatMap { $0 > 0 ? $0 : nil } }

        mutating func month() -> (year: Int, month: Int)? {
            guard let year = year(), take("-"), let month = number(1...12) else { return nil }
            return (year, month)
        }

        /// Days since 1970.
        mutating func date() -> Int? {
            guard let (year, month) = month(), take("-"), let day = number(1...31) else { return nil }
            let days = FieldFormat.days(year, month, day)
            let next = month == 12 ? FieldFormat.days(year + 1, 1, 1) : FieldFormat.days(year, month + 1, 1)
            return days < next ? days : nil
        }

        /// The day since 1970 with which a week begins.
        mutating func week() -> Int? {
            guard let year = year(), take("-"), take("W"), let week = number(1...53) else { return nil }
            let monday = FieldFormat.firstMonday(year) + (week - 1) * 7
            return monday < FieldFormat.firstMonday(year + 1) ? monday : nil
        }

        /// Milliseconds since midnight.
        mutating func time() -> Int? {
            guard let hour = number(0...23), take(":"), let minute = number(0...59) else { return nil }
            var time = (hour * 60 + minute) * 60_000
            guard take(":") else { return time }
            guard let second = number(0...59) else { return nil }
            time += second * 1000
            guard take(".") else { return time }
            let count = rest.count
            guard let fraction = digits(1...3) else { return nil }
            return time + fraction * [100, 10, 1][count - rest.count - 1]
        }

        /// Milliseconds since 1970.
        mutating func dateAndTime() -> Int? {
            guard let date = date(), take("T") || take(" "), let time = time() else { return nil }
            return date * 86_400_000 + time
        }

        /// Milliseconds east of UTC.
        mutating func offset() -> Int? {
            if take("Z") { return 0 }
            let isWest = rest.first == UInt8(ascii: "-")
            guard take("+") || take("-"), let hours = number(0...23) else { return nil }
            _ = take(":")
            return number(0...59).map { (hours * 60 + $0) * (isWest ? -60_000 : 60_000) }
        }
    }

    /// Days since 1970 of a day of the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // Years that begin in March have their leap day last.
        let year = month <= 2 ? year - 1 : year
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + ofYear - 719_468
    }

    /// The day since 1970 with which the first week of a year begins: that with its fourth of January.
    private static func firstMonday(_ year: Int) -> Int {
        let fourth = days(year, 1, 4)
        // 1 January 1970 was a Thursday.
        let weekday = ((fourth + 3) % 7 + 7) % 7
        return fourth - weekday
    }
}
