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
