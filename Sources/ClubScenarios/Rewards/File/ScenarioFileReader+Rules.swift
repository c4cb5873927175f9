import ClubRecords
import Foundation

extension ScenarioFileReader {
    static let ruleKeys = [
        "events", "executions", "sinceFirst", "sinceLast", "between", "every", "reaches", "absence", "on", "hours",
        "birthday", "tag", "period", "any", "all",
    ]

    /// Rules in a list, each a mapping with one key.
    mutating func rules(_ value: YAMLValue, depth: Int, of events: ScenarioEvents) -> [ScenarioRule]? {
        guard depth <= ScenarioRule.maximumDepth else {
            let message = "rules are nested more than \(ScenarioRule.maximumDepth) deep"
            fault(value, message, "Write them with fewer levels of 'any' and 'all'.")
            return nil
        }
        guard let elements = list(value, "rules") else { return nil }
        return elements.flatMap { rule($0, depth, events) }
    }

    /// One rule, which two of the model may stand for; none if something is wrong with it.
    private mutating func rule(_ value: YAMLValue, _ depth: Int, _ counted: ScenarioEvents) -> [ScenarioRule] {
        guard let fields = fields(value, Self.ruleKeys, as: "a rule") else { return [] }
        let keys = Self.ruleKeys.filter { fields[$0] != nil }
        guard let key = keys.first, let content = fields[key] else {
            if case .mapping(let entries) = value.node.content, entries.isEmpty {
                fault(value, "expected a rule, found none", "The rules are: \(Self.ruleKeys.joined(separator: ", ")).")
            }
            return []
        }
        if keys.count > 1 {
            let message = "a rule has one key, here are \(keys.count): \(keys.joined(separator: ", "))"
            fault(value, message, "Begin each with a '-' of its own; under 'all', all of them have to hold.")
        }
        func one(_ rule: ScenarioRule?) -> [ScenarioRule] { rule.map { [$0] } ?? [] }
        switch key {
        case "events": return events(content, counted)
        case "executions": return one(executionLimit(content))
        case "sinceFirst": return one(duration(content, allowsZero: true).map { .minSecondsSinceFirstEvent($0) })
        case "sinceLast": return one(duration(content, allowsZero: true).map { .minSecondsSinceLastEvent($0) })
        case "between": return one(duration(content, allowsZero: true).map { .minSecondsBetweenExecutions($0) })
        case "every": return one(every(content))
        case "reaches": return one(reaches(content))
        case "absence": return one(duration(content).map { .absence($0) })
        case "on": return one(weekdays(content).map { .weekdays($0) })
        case "hours": return one(hours(content).map { .openingHours($0) })
        case "birthday": return one(birthday(content))
        case "tag": return one(text(content, "a tag").map { .tagged($0) })
        case "period": return one(validity(content))
        case "any": return one(rules(content, depth: depth + 1, of: counted).map { .any($0) })
        default: return one(rules(content, depth: depth + 1, of: counted).map { .all($0) })
        }
    }

    private mutating func events(_ value: YAMLValue, _ counted: ScenarioEvents) -> [ScenarioRule] {
        guard let fields = fields(value, ["atLeast", "atMost", "within"], as: "numbers of events") else { return [] }
        guard fields["atLeast"] != nil || fields["atMost"] != nil else {
            guard fields.lacks("atLeast"), fields.lacks("atMost") else { return [] }
            fault(value, "'atLeast' or 'atMost' is missing", "Write it as { atLeast: 3, within: 7 days }.")
            return []
        }
        let least = fields["atLeast"].flatMap { number($0, 0...1_000_000) }
        let most = fields["atMost"].flatMap { number($0, 0...1_000_000) }
        let window = fields["within"].map { self.window($0) }
        if let least, let most, least > most {
            fault(value, "at least \(least) and at most \(most) is never", "Exchange the numbers.")
            return []
        }
        if most == 0, counted == .visits, let key = fields["atMost"] {
            warn(key, "at most 0 visits is never the case at a visit", "The visit itself counts: write at least 1.")
        }
        switch window {
        case .some(nil): return []
        case .some(let window?): return [.events(atLeast: least, atMost: most, within: window)]
        case nil:
            let rules = [least.map { ScenarioRule.minEventsRequired($0) }, most.map { .maxEventsPermitted($0) }]
                .compactMap(\.self)
            return rules.count > 1 ? [.all(rules)] : rules
        }
    }

    private mutating func executionLimit(_ value: YAMLValue) -> ScenarioRule? {
        guard let fields = fields(value, ["atMost", "within"], as: "a limit"),
            let most = needed("atMost", fields, "Write it as { atMost: 4 } or { atMost: 1, within: week }.")
        else { return nil }
        let times = executions(most)
        guard let within = fields["within"] else { return times.map { .maxExecutionsPermitted($0) } }
        guard let window = window(within), let times else { return nil }
        return .executions(atMost: times, within: window)
    }

    private mutating func every(_ value: YAMLValue) -> ScenarioRule? {
        guard value.isMapping else { return number(value, 1...10_000).map { .every($0, since: nil) } }
        guard let fields = fields(value, ["events", "since"], as: "a stamp card"),
            let events = needed("events", fields, "Write it as { events: 10, since: 2026-12-01 }.")
        else { return nil }
        let count = number(events, 1...10_000)
        let since = fields["since"].map { moment($0)?.start }
        guard let count, since != .some(nil) else { return nil }
        return .every(count, since: since ?? nil)
    }

    private mutating func reaches(_ value: YAMLValue) -> ScenarioRule? {
        guard let fields = fields(value, ["events", "within"], as: "a number to reach") else { return nil }
        guard let events = fields["events"], let within = fields["within"] else {
            guard fields.lacks("events") || fields.lacks("within") else { return nil }
            fault(value, "'events' and 'within' are needed", "Write it as { events: 10, within: year }.")
            return nil
        }
        let count = number(events, 1...100_000)
        guard let window = window(within), let count else { return nil }
        return .reaches(count, within: window)
    }

    private mutating func birthday(_ value: YAMLValue) -> ScenarioRule? {
        guard value.isMapping else {
            return text(value, "the name of a custom field").map { .birthday(field: $0, daysBefore: 0, daysAfter: 0) }
        }
        guard let fields = fields(value, ["field", "daysBefore", "daysAfter"], as: "a birthday") else { return nil }
        guard let name = needed("field", fields, "Name the members' custom field with the date, as 'field: birthday'.")
        else { return nil }
        let field = text(name, "the name of a custom field")
        let before = fields["daysBefore"].map { number($0, 0...Birthday.reach) } ?? 0
        let after = fields["daysAfter"].map { number($0, 0...Birthday.reach) } ?? 0
        guard let field, let before, let after else { return nil }
        return .birthday(field: field, daysBefore: before, daysAfter: after)
    }

    private mutating func validity(_ value: YAMLValue) -> ScenarioRule? {
        guard let fields = fields(value, ["from", "until"], as: "a period") else { return nil }
        guard fields["from"] != nil || fields["until"] != nil else {
            guard fields.lacks("from"), fields.lacks("until") else { return nil }
            fault(value, "'from' or 'until' is missing", "Write it as { from: 2026-12-01, until: 2026-12-31 }.")
            return nil
        }
        return period(fields).map { .valid(from: $0.from, until: $0.until) }
    }
}

extension ScenarioFileReader {
    /// Hours such as `16:00-18:00`, or `{ on: [saturday], from: "10:00", until: "14:00" }`, one or a list.
    mutating func hours(_ value: YAMLValue) -> [OpeningHours]? {
        guard let elements = list(value, "hours") else { return nil }
        return elements.compactMap { hour($0) }
    }

    private mutating func hour(_ value: YAMLValue) -> OpeningHours? {
        var days = Set(Weekday.allCases)
        let from: TimeOfDay?
        let until: TimeOfDay?
        if value.isMapping {
            guard let fields = fields(value, ["on", "from", "until"], as: "hours") else { return nil }
            guard let begin = fields["from"], let end = fields["until"] else {
                guard fields.lacks("from") || fields.lacks("until") else { return nil }
                fault(value, "hours need 'from' and 'until'", "Write them as { from: \"16:00\", until: \"18:00\" }.")
                return nil
            }
            if let value = fields["on"] { days = weekdays(value) ?? [] }
            from = timeOfDay(begin)
            until = timeOfDay(end)
        } else {
            let parts = value.text?.split { "-–".contains($0) }.map { $0.filter { $0 != " " } } ?? []
            let times = parts.compactMap(Self.timeOfDay)
            guard parts.count == 2, times.count == 2 else {
                let message = "expected hours as 16:00-18:00, found \(value.found)"
                fault(value, message, "Write hours and minutes, from 00:00 to 24:00.")
                return nil
            }
            (from, until) = (times[0], times[1])
        }
        guard let from, let until else { return nil }
        guard from != until, from.minutes < 24 * 60 else {
            let hint = "Write 00:00-24:00 for the whole day."
            fault(value, from == until ? "these hours end when they begin" : "no hours begin at 24:00", hint)
            return nil
        }
        return OpeningHours(weekdays: days, from: from, until: until)
    }

    private mutating func timeOfDay(_ value: YAMLValue) -> TimeOfDay? {
        if let text = value.text, let time = Self.timeOfDay(text) { return time }
        fault(value, "expected a time of the day, found \(value.found)", "Write it as 16:00, from 00:00 to 24:00.")
        return nil
    }

    /// `16:00`, or `9:30` without the zero.
    private static func timeOfDay(_ text: String) -> TimeOfDay? { TimeOfDay(text.utf8.count == 4 ? "0\(text)" : text) }
}

extension ScenarioFileReader {
    /// The longest identifier and the longest name of a tag, an event or a group, in Unicode scalars.
    static let longestName = 100

    /// A name or a text: not empty, without control characters but, if allowed, line feeds.
    mutating func text(
        _ value: YAMLValue,
        _ what: String,
        longest: Int = longestName,
        withLines: Bool = false
    ) -> String? {
        guard let raw = value.text else {
            let hint = "Write a text, in quotes if it looks like something else."
            fault(value, "expected \(what), found \(value.found)", hint)
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
    mutating func number(_ value: YAMLValue, _ range: ClosedRange<Int>, _ hint: String? = nil) -> Int? {
        if let text = value.text, let number = Int(text), range.contains(number) { return number }
        let message = "expected a whole number from \(range.lowerBound) to \(range.upperBound), found \(value.found)"
        fault(value, message, hint ?? "Write the number alone, as \(range.contains(10) ? 10 : range.lowerBound).")
        return nil
    }

    mutating func duration(_ value: YAMLValue, allowsZero: Bool = false) -> TimeInterval? {
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

    mutating func moment(_ value: YAMLValue) -> MomentText? {
        if let text = value.text, let moment = MomentText(text, calendar) { return moment }
        let message = "expected a day from 1970 to 2999 or a time, found \(value.found)"
        fault(value, message, "Write it as 2026-12-01 or 2026-12-01 16:00.")
        return nil
    }

    /// A window: a length of time, a calendar period, so many days, or since when.
    mutating func window(_ value: YAMLValue) -> ScenarioWindow? {
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
        let example =
            "Write 7 days for the last 168 hours, week for the calendar's, { days: 7 } for seven calendar days."
        let message = "expected a length of time, or day, week, month or year, found \(value.found)"
        fault(value, message, NearestName.hint(value.text, among: periods.keys.sorted(), else: example))
        return nil
    }

    mutating func weekdays(_ value: YAMLValue) -> Set<Weekday>? {
        guard let elements = list(value, "the days of the week") else { return nil }
        let names = Weekday.allCases.map { $0.name.lowercased() }
        var days: Set<Weekday> = []
        for element in elements {
            let written = element.text?.lowercased() ?? ""
            if let day = zip(names, Weekday.allCases).first(where: { $0.0 == written || $0.0.prefix(3) == written }) {
                days.insert(day.1)
            } else {
                fault(
                    element,
                    "expected a day of the week, found \(element.found)",
                    NearestName.hint(written, among: names, else: "Write monday to sunday, or mon to sun.")
                )
            }
        }
        return days
    }
}
