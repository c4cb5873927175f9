import Foundation

/// Reads the values of a file of scenarios. It goes on behind a fault and leaves out what cannot be used, so that all
/// faults are found; what it made is good only if there is none.
struct ScenarioFileReader {
    var findings = ScenarioFileFindings()
    var warnings = ScenarioFileFindings()

    /// The calendar of days and times.
    private(set) var calendar: ZoneCalendar

    /// The lines in which identifiers stand.
    var identifiers: [String: Int] = [:]

    var timeZone: TimeZone { calendar.timeZone }

    init(timeZone: TimeZone) {
        calendar = ZoneCalendar(timeZone)
    }

    /// The whole file.
    mutating func scenarios(_ root: ScenarioFileValue) -> [Scenario] {
        guard let fields = fields(root, ["timeZone", "scenarios"], as: "'scenarios' and 'timeZone'") else { return [] }
        // First, since days and times are of this zone wherever it stands.
        if let value = fields["timeZone"], let zone = timeZone(value) { calendar = ZoneCalendar(zone) }
        guard let list = fields["scenarios"] else {
            guard fields.lacks("scenarios") else { return [] }
            fault(root, "'scenarios' is missing", "Write 'scenarios:' and below it '- id: …' for each.")
            return []
        }
        guard list.isList || list.isUnusable else {
            fault(list, "expected a list of scenarios, found \(list.found)", "Begin each scenario with '- id: …'.")
            return []
        }
        var scenarios: [Scenario] = []
        for value in list.elements where !value.isUnusable {
            scenarios += scenario(value)
            if scenarios.count > ScenarioConfiguration.mostScenarios {
                fault(
                    value,
                    "there are more than \(ScenarioConfiguration.mostScenarios) scenarios",
                    "Remove those that are over, or keep them in other files."
                )
                break
            }
        }
        return scenarios
    }

    mutating func fault(_ value: ScenarioFileValue, _ message: String, _ hint: @autoclosure () -> String) {
        findings.add(value.node.line, value.node.column, value.place, message, hint())
    }

    mutating func warn(_ value: ScenarioFileValue, _ message: String, _ hint: @autoclosure () -> String) {
        warnings.add(value.node.line, value.node.column, value.place, message, hint())
    }

    /// The keys of a mapping; `nil` if it is none. Keys that are not known are faults.
    mutating func fields(
        _ value: ScenarioFileValue,
        _ known: [String],
        as what: String
    ) -> ScenarioFileFields? {
        guard case .mapping(let entries) = value.node.content else {
            if !value.isUnusable {
                fault(
                    value,
                    "expected \(what), found \(value.found)",
                    "The keys there are: \(known.joined(separator: ", "))."
                )
            }
            return nil
        }
        let unknown = entries.filter { !known.contains($0.key) }
        let meant = unknown.prefix(ScenarioConfigurationError.mostFindings)
            .compactMap { NearestName.of($0.key, among: known) }
        let fields = ScenarioFileFields(whole: value, entries: entries, meant: Set(meant))
        for key in unknown.compactMap({ fields.key($0.key) }) {
            let name = key.text ?? ""
            fault(
                key,
                "nothing has the name \(ScenarioFileValue.quoted(name)) here",
                name == "<<" ? "Write out what it was to bring in." : NearestName.hint(name, among: known)
            )
        }
        return fields
    }

    /// A list of at most so many; a single value is a list of one. `nil` if there is none or too many.
    mutating func list(_ value: ScenarioFileValue, _ what: String, most: Int = 64) -> [ScenarioFileValue]? {
        let elements = value.elements
        guard !elements.isEmpty else {
            fault(value, "expected at least one of \(what), found an empty list", "Add one, or remove the key.")
            return nil
        }
        guard elements.count <= most else {
            fault(value, "there are more than \(most) of \(what)", "Remove those that are over.")
            return nil
        }
        return elements
    }

    /// One of some words.
    mutating func word<Word>(_ value: ScenarioFileValue, _ words: [(String, Word)]) -> Word? {
        guard !value.isUnusable else { return nil }
        if let text = value.text, let found = words.first(where: { $0.0 == text }) { return found.1 }
        let names = words.map(\.0)
        fault(
            value,
            "expected one of \(names.joined(separator: ", ")), found \(value.found)",
            value.text.flatMap { NearestName.of($0, among: names) }.map { "Did you mean '\($0)'?" }
                ?? "Write one of these words."
        )
        return nil
    }

    private mutating func timeZone(_ value: ScenarioFileValue) -> TimeZone? {
        guard !value.isUnusable else { return nil }
        guard let text = value.text else {
            fault(value, "expected the name of a time zone, found \(value.found)", "Write it as Europe/Berlin.")
            return nil
        }
        if let zone = TimeZoneName.zone(text) { return zone }
        let nearest = TimeZoneName.nearest(text)
        let name = ScenarioFileValue.quoted(text)
        let isKnown = !text.contains("/") && TimeZone(identifier: text) != nil
        fault(
            value,
            isKnown ? "\(name) is an abbreviation or an offset of time zones" : "there is no time zone \(name)",
            nearest.map { "Did you mean '\($0)'?" } ?? "Take the IANA name of a city in it, as Europe/Berlin."
        )
        return nil
    }
}
