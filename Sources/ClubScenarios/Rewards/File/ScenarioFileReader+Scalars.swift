import ClubRecords
import Foundation

extension ScenarioFileReader {
    /// The longest identifier and the longest name of a tag, an event or a group, in Unicode scalars.
    static let longestName = 100
    static let longestTitle = 200
    static let longestMessage = 500

    /// A name or a text: not empty, without control characters but, if allowed, line feeds.
    mutating func text(
        _ value: ScenarioFileValue,
        _ what: String,
        longest: Int = longestName,
        withLines: Bool = false
    ) -> String? {
        guard !value.isUnusable else { return nil }
        guard let raw = value.text else {
            fault(
                value,
                "expected \(what), found \(value.found)",
                "Write a text, in quotes if it looks like something else."
            )
            return nil
        }
        // A text in several lines ends with a line feed.
        let text = raw.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else {
            fault(value, "expected \(what), found an empty text", "Write something, or remove the key.")
            return nil
        }
        let count = text.unicodeScalars.count
        guard count <= longest else {
            fault(value, "\(what) has at most \(longest) characters, this one has \(count)", "Make it shorter.")
            return nil
        }
        guard text.unicodeScalars.allSatisfy({ !PlainText.isControl($0) || withLines && $0 == "\n" }) else {
            fault(
                value,
                "\(what) has a control character in it",
                withLines ? "Remove it; line feeds alone are allowed." : "Remove it, and write it in one line."
            )
            return nil
        }
        return text
    }

    /// A whole number, in decimal whatever its zeros in front.
    mutating func number(_ value: ScenarioFileValue, _ range: ClosedRange<Int>, _ hint: String? = nil) -> Int? {
        guard !value.isUnusable else { return nil }
        if let text = value.text, let number = Int(text), range.contains(number) { return number }
        fault(
            value,
            "expected a whole number from \(range.lowerBound) to \(range.upperBound), found \(value.found)",
            hint ?? "Write the number alone, as \(range.contains(10) ? 10 : range.lowerBound)."
        )
        return nil
    }

    /// A length of time in seconds.
    mutating func duration(_ value: ScenarioFileValue, allowsZero: Bool = false) -> TimeInterval? {
        guard !value.isUnusable else { return nil }
        let hint: String
        if let text = value.text {
            switch DurationText.seconds(text) {
            case .success(let seconds):
                if seconds > 0 || allowsZero { return seconds }
                hint = "It has to be longer than nothing."
            case .failure(let fault): hint = fault.hint
            }
        } else {
            hint = DurationText.Fault.malformed.hint
        }
        fault(value, "expected a length of time such as 90 s, 10 min, 2 h or 7 days, found \(value.found)", hint)
        return nil
    }

    /// A day or a time.
    mutating func moment(_ value: ScenarioFileValue) -> MomentText? {
        guard !value.isUnusable else { return nil }
        if let text = value.text, let moment = MomentText(text, calendar) { return moment }
        fault(
            value,
            "expected a day from 1970 to 2999 or a time, found \(value.found)",
            "Write it as 2026-12-01 or 2026-12-01 16:00."
        )
        return nil
    }

    /// A window: a length of time, a calendar period, so many days, or since when.
    mutating func window(_ value: ScenarioFileValue) -> ScenarioWindow? {
        guard !value.isUnusable else { return nil }
        if value.isMapping {
            guard let fields = fields(value, ["days", "since"], as: "a window") else { return nil }
            switch (fields["days"], fields["since"]) {
            case (let days?, nil): return number(days, 1...36_525).map { .days($0) }
            case (nil, let since?): return moment(since).map { .since($0.start) }
            case (nil, nil):
                fault(value, "a window needs 'days' or 'since'", "Write it as { days: 7 } or { since: 2026-01-01 }.")
            case (_?, let since?):
                fault(since, "a window has either 'days' or 'since'", "Remove one of them.")
            }
            return nil
        }
        let periods: [String: ScenarioWindow] = ["day": .day, "week": .week, "month": .month, "year": .year]
        if let text = value.text {
            if let period = periods[text] { return period }
            if case .success(let seconds) = DurationText.seconds(text), seconds > 0 { return .seconds(seconds) }
        }
        let nearest = value.text.flatMap { NearestName.of($0, among: periods.keys.sorted()) }
        fault(
            value,
            "expected a length of time, or day, week, month or year, found \(value.found)",
            nearest.map { "Did you mean '\($0)'?" }
                ?? "Write 7 days for the last 168 hours, week for the calendar's, { days: 7 } for seven calendar days."
        )
        return nil
    }

    /// Days of the week.
    mutating func weekdays(_ value: ScenarioFileValue) -> Set<Weekday>? {
        guard !value.isUnusable, let elements = list(value, "the days of the week") else { return nil }
        let names: [(String, Weekday)] = [
            ("monday", .monday), ("tuesday", .tuesday), ("wednesday", .wednesday), ("thursday", .thursday),
            ("friday", .friday), ("saturday", .saturday), ("sunday", .sunday),
        ]
        var days: Set<Weekday> = []
        for element in elements {
            let written = element.text?.lowercased() ?? ""
            if let day = names.first(where: { $0.0 == written || $0.0.prefix(3) == written }) {
                days.insert(day.1)
            } else if !element.isUnusable {
                fault(
                    element,
                    "expected a day of the week, found \(element.found)",
                    NearestName.of(written, among: names.map(\.0)).map { "Did you mean '\($0)'?" }
                        ?? "Write monday to sunday, or mon to sun."
                )
            }
        }
        return days
    }
}
