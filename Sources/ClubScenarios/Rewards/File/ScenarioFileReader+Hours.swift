extension ScenarioFileReader {
    /// Hours such as `16:00-18:00`, or `{ on: [saturday], from: "10:00", until: "14:00" }`, one or a list.
    mutating func hours(_ value: ScenarioFileValue) -> [OpeningHours]? {
        guard !value.isUnusable, let elements = list(value, "hours") else { return nil }
        return elements.compactMap { $0.isUnusable ? nil : hour($0) }
    }

    private mutating func hour(_ value: ScenarioFileValue) -> OpeningHours? {
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
                fault(
                    value,
                    "expected hours as 16:00-18:00, found \(value.found)",
                    "Write hours and minutes, from 00:00 to 24:00."
                )
                return nil
            }
            (from, until) = (times[0], times[1])
        }
        guard let from, let until else { return nil }
        guard from != until, from.minutes < 24 * 60 else {
            fault(
                value,
                from == until ? "these hours end when they begin" : "no hours begin at 24:00",
                "Write 00:00-24:00 for the whole day."
            )
            return nil
        }
        return OpeningHours(weekdays: days, from: from, until: until)
    }

    private mutating func timeOfDay(_ value: ScenarioFileValue) -> TimeOfDay? {
        guard !value.isUnusable else { return nil }
        if let text = value.text, let time = Self.timeOfDay(text) { return time }
        fault(value, "expected a time of the day, found \(value.found)", "Write it as 16:00, from 00:00 to 24:00.")
        return nil
    }

    /// `16:00`, or `9:30` without the zero.
    private static func timeOfDay(_ text: String) -> TimeOfDay? {
        TimeOfDay(text.utf8.count == 4 ? "0\(text)" : text)
    }
}
