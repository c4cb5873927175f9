import ClubRecords
import Foundation

extension Scenario {
    /// How many rules a list may have, and all lists together.
    private static let maximumRules = (list: 64, all: 1024)

    /// Checks that the scenario can be used.
    ///
    /// Throws ``ClubError`` of kind `invalidScenario`, which names the scenario and the rule: for an identifier (or a
    /// name of events, or a tag) that is empty, has more than 100 Unicode scalars or a control character; for numbers
    /// that are negative, infinite or none; for windows, periods, days and lists with nothing in them; for lists that
    /// are nested more than eight deep or have more than 64 rules (1024 in all).
    public func validate() throws(ClubError) {
        if let fault = Self.fault(ofName: id) { throw invalid("its identifier \(fault)") }
        if case .named(let name) = events, let fault = Self.fault(ofName: name) {
            throw invalid("the name of its events \(fault)")
        }
        if case .named(let name) = events, name.hasPrefix("$") {
            throw invalid("the name of its events begins with '$', as only the club's own do")
        }
        if case .group(let tag) = audience, let fault = Self.fault(ofName: tag) {
            throw invalid("the tag of its group \(fault)")
        }
        guard rules.count <= Self.maximumRules.list else { throw invalid("it has more than 64 rules") }
        var count = 0
        for rule in allRules { try check(rule, depth: 0, &count) }
    }

    private func invalid(_ detail: String) -> ClubError {
        let name = PlainText.line(String(String.UnicodeScalarView(id.unicodeScalars.prefix(100))))
        return ClubError(.invalidScenario, attempting: "use the scenario \"\(name)\"", detail: detail)
    }

    /// What is wrong with an identifier, to be read after it; `nil` if nothing is.
    private static func fault(ofName name: String) -> String? {
        if name.isEmpty { return "is empty" }
        if name.unicodeScalars.count > 100 { return "is longer than 100 characters" }
        return name.unicodeScalars.contains(where: PlainText.isControl) ? "has a control character" : nil
    }

    private func check(_ rule: ScenarioRule, depth: Int, _ count: inout Int) throws(ClubError) {
        count += 1
        guard count <= Self.maximumRules.all else { throw invalid("it has more than 1024 rules in all") }
        if case .all(let rules) = rule { return try check(rules, of: rule, depth: depth, &count) }
        if case .any(let rules) = rule { return try check(rules, of: rule, depth: depth, &count) }
        if let fault = Self.fault(of: rule) { throw invalid("its rule \(rule.name) \(fault)") }
    }

    private func check(
        _ rules: [ScenarioRule],
        of list: ScenarioRule,
        depth: Int,
        _ count: inout Int
    ) throws(ClubError) {
        guard depth < ScenarioRule.maximumDepth else {
            throw invalid("its rule \(list.name) is nested more than \(ScenarioRule.maximumDepth) deep")
        }
        guard !rules.isEmpty else { throw invalid("its rule \(list.name) has an empty list") }
        guard rules.count <= Self.maximumRules.list else {
            throw invalid("its rule \(list.name) has more than \(Self.maximumRules.list) rules")
        }
        for rule in rules { try check(rule, depth: depth + 1, &count) }
    }

    /// What is wrong with a rule that is no list, to be read after its name; `nil` if nothing is.
    private static func fault(of rule: ScenarioRule) -> String? {
        switch rule {
        case .minEventsRequired(let number), .maxEventsPermitted(let number), .maxExecutionsPermitted(let number):
            fault(number)
        case .minSecondsSinceFirstEvent(let seconds), .minSecondsSinceLastEvent(let seconds),
            .minSecondsBetweenExecutions(let seconds), .absence(let seconds):
            fault(seconds)
        case .customConditions, .all, .any: nil
        case .valid(let from, let until): fault(from: from, until: until)
        case .events(let least, let most, let window):
            least.flatMap(fault) ?? most.flatMap(fault) ?? fault(window) ?? fault(atLeast: least, atMost: most)
        case .executions(let most, let window): fault(most) ?? fault(window)
        case .every(let number, let since): number < 1 ? "needs at least 1" : since.flatMap(fault)
        case .reaches(let number, let window): number < 1 ? "needs at least 1" : fault(window)
        case .weekdays(let weekdays): weekdays.isEmpty ? "names no day" : nil
        case .openingHours(let hours):
            if hours.isEmpty {
                "has no hours"
            } else if hours.count > maximumRules.list {
                "has more than \(maximumRules.list) hours"
            } else {
                hours.contains { $0.weekdays.isEmpty } ? "has hours without a day" : nil
            }
        case .birthday(let field, let before, let after):
            if field.isEmpty {
                "names no field"
            } else if !(0...Birthday.reach).contains(before) || !(0...Birthday.reach).contains(after) {
                "has days outside 0...\(Birthday.reach)"
            } else {
                nil
            }
        case .tagged(let tag): tag.isEmpty ? "names no tag" : nil
        }
    }

    private static func fault(_ number: Int) -> String? { number < 0 ? "has a negative number" : nil }

    private static func fault(_ seconds: TimeInterval) -> String? {
        guard seconds.isFinite else { return "has a length of time that is no finite number" }
        return seconds < 0 ? "has a negative length of time" : nil
    }

    private static func fault(_ date: Date) -> String? {
        date.timeIntervalSince1970.isFinite ? nil : "has a time that is no finite number"
    }

    private static func fault(from: Date?, until: Date?) -> String? {
        if let fault = from.flatMap(fault) ?? until.flatMap(fault) { return fault }
        guard let from, let until, until <= from else { return nil }
        return "is over before it begins"
    }

    private static func fault(atLeast least: Int?, atMost most: Int?) -> String? {
        switch (least, most) {
        case (nil, nil): "has neither a least nor a greatest number"
        case (let least?, let most?) where least > most: "has a least number above the greatest"
        default: nil
        }
    }

    private static func fault(_ window: ScenarioWindow) -> String? {
        switch window {
        case .seconds(let seconds):
            fault(seconds) ?? (ScenarioTime.microseconds(seconds) == 0 ? "has an empty window" : nil)
        case .days(let days): days < 1 ? "has an empty window" : nil
        case .day, .week, .month, .year: nil
        case .since(let date): fault(date)
        }
    }
}
