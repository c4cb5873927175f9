import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct ScenarioWords {
    private let scenario: Scenario

    init(_ scenario: Scenario) { self.scenario = scenario }

    var rules: [String] { scenario.allRules.map { words($0) } }

    var audience: String {
        switch scenario.audience {
        case .members: "each member"
        case .group(let tag): "the group \(tag) together"
        case .kiosk: "this kiosk"
        }
    }

    private var noun: String { if case .named(let name) = scenario.events { "event '\(name)'" } else { "visit" } }

    private var nouns: String { if case .named(let name) = scenario.events { "events '\(name)'" } else { "visits" } }

    private func events(_ count: Int) -> String { Count.text(count, noun, nouns) }

    /// Lists lie at most eight deep in what a club takes.
    private func words(_ rule: ScenarioRule, depth: Int = 0) -> String {
        switch rule {
        case .minEventsRequired(let count): "from \(events(count)) on"
        case .maxEventsPermitted(let count): "up to \(events(count))"
        case .maxExecutionsPermitted(let count): "\(Self.times(count)) at most"
        case .minSecondsSinceFirstEvent(let seconds): "more than \(Self.span(seconds)) after the first \(noun)"
        case .minSecondsSinceLastEvent(let seconds): "more than \(Self.span(seconds)) after the last \(noun)"
        case .minSecondsBetweenExecutions(let seconds): "more than \(Self.span(seconds)) after the last time"
        case .customConditions: "if the application's own conditions hold"
        case .valid(let from, let until): validity(from, until)
        case .events(let least, let most, let window): count(least, most, within: window)
        case .executions(let most, let window): "\(Self.times(most)) at most \(words(window))"
        case .every(let count, let since):
            "once for each \(events(count))" + (since.map { " since \(time($0))" } ?? "")
        case .reaches(let count, let window): "with \(noun) number \(count) \(words(window))"
        case .absence(let seconds): "after more than \(Self.span(seconds)) without \(nouns)"
        case .weekdays(let days): "on \(Self.list(days))"
        case .openingHours(let hours): "in the hours \(hours.map(\.description).joined(separator: ", "))"
        case .birthday(let field, let before, let after):
            "\(Count.text(before, "day")) before until \(Count.text(after, "day")) after the birthday in '\(field)'"
        case .tagged(let tag): "with the tag \(tag)"
        case .all(let rules): list(rules, "all of", depth)
        case .any(let rules): list(rules, "one of", depth)
        }
    }

    private func list(_ rules: [ScenarioRule], _ title: String, _ depth: Int) -> String {
        guard depth < 8 else { return "\(title): …" }
        return "\(title): (" + rules.map { words($0, depth: depth + 1) }.joined(separator: "; ") + ")"
    }

    private func validity(_ from: Date?, _ until: Date?) -> String {
        [from.map { "from \(time($0)) on" }, until.map { "before \(time($0))" }].compactMap(\.self)
            .joined(separator: ", ")
    }

    private func count(_ least: Int?, _ most: Int?, within window: ScenarioWindow) -> String {
        let limits = [least.map { "at least \(Count.grouped($0))" }, most.map { "at most \(Count.grouped($0))" }]
        return limits.compactMap(\.self).joined(separator: " and ") + " \(nouns) \(words(window))"
    }

    private func words(_ window: ScenarioWindow) -> String {
        switch window {
        case .seconds(let seconds): "within \(Self.span(seconds))"
        case .days(let days): "within \(Count.text(days, "calendar day"))"
        case .day: "in a calendar day"
        case .week: "in a calendar week"
        case .month: "in a calendar month"
        case .year: "in a calendar year"
        case .since(let date): "since \(time(date))"
        }
    }

    /// In the scenario's own time zone, which its days and hours are those of.
    private func time(_ date: Date) -> String { LocalTime.text(date.timeIntervalSince1970, in: scenario.timeZone) }

    private static func times(_ count: Int) -> String {
        switch count {
        case 1: "once"
        case 2: "twice"
        default: "\(Count.grouped(count)) times"
        }
    }

    private static func list(_ days: Set<Weekday>) -> String {
        let names = Weekday.allCases.filter(days.contains).map { "\($0)".capitalized }
        guard let last = names.last, names.count > 1 else { return names.last ?? "no day" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }

    /// `7 days`, `1 day and 12 hours`: the two greatest units.
    static func span(_ seconds: TimeInterval) -> String {
        guard seconds.isFinite, seconds < 1e15 else { return "more time than there is" }
        guard seconds >= 1, let whole = Int(exactly: seconds.rounded(.down)) else {
            return "\(max(seconds, 0).formatted(.number.locale(Locale(identifier: "en_US_POSIX")))) seconds"
        }
        let units = [(86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second")]
        var (rest, parts) = (whole, [String]())
        for (length, name) in units where parts.count < 2 {
            if rest >= length { parts.append(Count.text(rest / length, name)) }
            rest %= length
        }
        return parts.joined(separator: " and ")
    }
}

struct ScenarioFile: Sendable {
    var path: String

    /// Reads and checks the file. It blocks while it reads.
    func load() throws -> ScenarioConfiguration {
        guard access(path, R_OK) == 0 else {
            let code = errno
            throw ToolFailure(
                "could not read \(path): \(String(cString: strerror(code))). Check the path of the scenarios.",
                exit: code == ENOENT || code == ENOTDIR ? ToolExit.noInput : ToolExit.inputOutput
            )
        }
        do throws(ScenarioConfigurationError) {
            return try ScenarioConfiguration(path: path)
        } catch {
            throw ScenarioFileError(error: error)
        }
    }

    /// Reads and checks the file, and describes what is hardly meant.
    func load(_ out: Output) throws -> ScenarioConfiguration {
        let configuration = try load()
        for warning in configuration.warnings { out.message("warning: \(warning.text(in: path))") }
        return configuration
    }
}

struct ScenarioFileError: ExitCoded, CustomStringConvertible {
    var error: ScenarioConfigurationError
    let exitCode = ToolExit.malformed
    let errorCode = "malformedConfiguration"

    var description: String {
        let count = Count.text(error.findings.count, "fault")
        return "\(error.path) cannot be used; it has \(count):\n\(error)"
    }

    var findings: String { error.findings.map(\.description).joined(separator: " ") }
}

struct ScenarioFileOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("scenarios"),
        help: ArgumentHelp("The file of scenarios: YAML or JSON.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var path: String

    var file: ScenarioFile { ScenarioFile(path: path) }
}
