import ClubRecords
import Foundation

/// What a file of scenarios says. `Documentation/scenarios.md` describes the format: YAML, or JSON, which is YAML too.
///
/// A file is read as a whole or not at all, and all of its faults are reported at once, each with line and column.
/// Values are taken as they are written: none becomes a truth value, a date or a number in base 60 by the rules of
/// YAML.
public struct ScenarioConfiguration: Sendable {
    /// The scenarios in the order of the file; a reward with tiers has become one for each.
    public var scenarios: [Scenario]

    /// What is allowed and hardly meant, by line and column.
    public var warnings: [Finding]

    /// No file is longer, in bytes.
    public static let longestFile = 1 << 20

    /// No file has more scenarios, each tier counted.
    public static let mostScenarios = 1000

    /// Scenarios that a program made.
    public init(_ scenarios: [Scenario] = []) {
        self.scenarios = scenarios
        warnings = []
    }

    /// Reads a file. It blocks while it reads.
    ///
    /// - Throws: ``ScenarioConfigurationError``, also where the file cannot be read.
    public init(contentsOf url: URL) throws(ScenarioConfigurationError) {
        try self.init(path: url.path)
    }

    /// Reads the file at a path. It blocks while it reads.
    ///
    /// - Throws: ``ScenarioConfigurationError``, also where the file cannot be read.
    public init(path: String) throws(ScenarioConfigurationError) {
        try self.init(bytes: ScenarioFileText.bytes(path), path: path)
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - yaml: the text.
    ///   - path: the name by which errors call it.
    ///   - timeZone: the zone of its days and times, where it does not name one itself.
    /// - Throws: ``ScenarioConfigurationError``.
    public init(
        yaml: String,
        path: String = "scenarios.yaml",
        timeZone: TimeZone = .current
    ) throws(ScenarioConfigurationError) {
        try self.init(bytes: Array(yaml.utf8), path: path, timeZone: timeZone)
    }

    init(bytes: [UInt8], path: String, timeZone: TimeZone = .current) throws(ScenarioConfigurationError) {
        var reader = ScenarioFileReader(timeZone: timeZone)
        let scenarios: [Scenario]
        switch ScenarioFileText.text(bytes) {
        case .failure(let findings):
            reader.findings = findings
            scenarios = []
        case .success(let text):
            let (root, findings) = ScenarioFileYAML.read(text)
            reader.findings = findings
            scenarios = root.map { reader.scenarios(ScenarioFileValue(node: $0, place: "")) } ?? []
        }
        let warnings = reader.warnings.sorted
        guard reader.findings.isEmpty else {
            throw ScenarioConfigurationError(path: path, findings: reader.findings.sorted, warnings: warnings)
        }
        self.scenarios = scenarios
        self.warnings = warnings
    }
}

/// Ready-made scenarios.
///
/// Each becomes one ``Scenario``, or one for each tier, and takes any further conditions:
///
/// ```swift
/// let coffee = Reward.stampCard(every: 10, since: opening).scenarios(id: "free-coffee") {
///     $0.message = "This coffee is on us."
///     $0.minSecondsSinceFirstEvent = 86_400
///     $0.rules.append(.executions(atMost: 1, within: .week))
/// }
/// ```
///
/// A cooldown is a further condition, `.executions(atMost: 1, within: .seconds(604_800))`. That a reward was redeemed
/// is recorded with its ``ScenarioExecution``.
public enum Reward: Sendable, Hashable {
    /// Every n-th visit, n from 1: one execution is owed for each n visits. With `since`, visits before that moment do
    /// not count; without it, members who have visits are owed for all of them.
    case stampCard(every: Int, since: Date?)
    /// The first visit, once. Whoever had a visit before is not welcomed.
    case welcome
    /// The first visit after an absence of more than so many seconds.
    case comeback(after: TimeInterval)
    /// Told when a visit reaches a tier: when it made their number exactly that of the tier in the window. In a window
    /// that moves on it can be reached again.
    case tiers([Tier], within: ScenarioWindow)
    /// The conditions alone.
    case custom

    /// The scenarios.
    ///
    /// The rules of the reward come first, whatever `configure` does, and must hold like those that it adds.
    ///
    /// - Parameters:
    ///   - id: the identifier; that of a tier is `ID/NAME`.
    ///   - configure: sets the other values, once for each scenario. It finds the identifier set, and of a tier its
    ///     title and message.
    public func scenarios(id: String, configure: (inout Scenario) -> Void = { _ in }) -> [Scenario] {
        func scenario(_ id: String, _ rules: [ScenarioRule], _ tier: Tier? = nil) -> Scenario {
            Scenario(id) {
                $0.title = tier?.title
                $0.message = tier?.message
                configure(&$0)
                $0.rules.insert(contentsOf: rules, at: 0)
            }
        }
        switch self {
        case .stampCard(let visits, let since): return [scenario(id, [.every(visits, since: since)])]
        case .welcome:
            return [scenario(id, [.minEventsRequired(1), .maxEventsPermitted(1), .maxExecutionsPermitted(1)])]
        case .comeback(let absence): return [scenario(id, [.absence(absence)])]
        case .tiers(let tiers, let window):
            return tiers.map { scenario("\(id)/\($0.name)", [.reaches($0.visits, within: window)], $0) }
        case .custom: return [scenario(id, [])]
        }
    }
}

/// A level that a member reaches by visits in a period, such as silver with 10 in a year.
public struct Tier: Sendable, Hashable {
    /// The name, which ends the identifier of the tier's scenario (`ID/NAME`); unique among the tiers of a reward.
    public var name: String

    /// The visits with which it is reached, at least 1.
    public var visits: Int

    /// The scenario's title; `nil` leaves it to whoever configures the scenarios.
    public var title: String?

    /// What is shown when the tier is reached; `nil` leaves it to whoever configures the scenarios.
    public var message: String?

    /// A tier.
    public init(_ name: String, visits: Int, title: String? = nil, message: String? = nil) {
        self.name = name
        self.visits = visits
        self.title = title
        self.message = message
    }
}

extension Tier {
    /// The present level of whoever has so many visits in the period: the tier with the most visits of those that they
    /// suffice for, or `nil` while they suffice for none. The tiers may stand in any order.
    public static func present(with visits: Int, of tiers: [Tier]) -> Tier? {
        tiers.filter { $0.visits <= visits }.max { $0.visits < $1.visits }
    }

    /// The next level, or `nil` if absent above the present one.
    public static func next(with visits: Int, of tiers: [Tier]) -> Tier? {
        tiers.filter { $0.visits > visits }.min { $0.visits < $1.visits }
    }
}

/// A file of scenarios cannot be used. It names everything that was found, not only the first fault.
public struct ScenarioConfigurationError: Error, Sendable, Hashable {
    /// The file.
    public var path: String

    /// What is wrong, by line and column; never empty. After ``mostFindings`` the last one states that there is more.
    public var findings: [ScenarioConfiguration.Finding]

    /// What is allowed and hardly meant, as far as the file could be read.
    public var warnings: [ScenarioConfiguration.Finding]

    /// So many findings of a file are reported.
    public static let mostFindings = 200

    /// An error.
    public init(
        path: String,
        findings: [ScenarioConfiguration.Finding],
        warnings: [ScenarioConfiguration.Finding] = []
    ) {
        self.path = path
        self.findings = findings
        self.warnings = warnings
    }
}

extension ScenarioConfigurationError: CustomStringConvertible {
    /// A line for each finding: `PATH:LINE:COLUMN: PLACE: what is wrong. What to do.`
    public var description: String { findings.map { $0.text(in: path) }.joined(separator: "\n") }
}

extension ScenarioConfiguration {
    /// Something about a place of a configuration file: what is wrong there and what to do.
    public struct Finding: Sendable, Hashable {
        /// The line, from 1; 0 if it is about the file as a whole.
        public var line: Int

        /// The column in characters (Unicode scalars), from 1; 0 if it is about the file as a whole.
        public var column: Int

        /// The place among the values, as `scenarios[1].when[0].events`; empty for the whole and for faults of the
        /// syntax.
        public var path: String

        /// What is wrong, without a full stop.
        public var message: String

        /// What a person can do about it, in whole sentences.
        public var hint: String

        /// A finding.
        public init(line: Int, column: Int, path: String, message: String, hint: String) {
            self.line = line
            self.column = column
            self.path = path
            self.message = message
            self.hint = hint
        }

        /// One line for people, which begins with the file, the line and the column.
        public func text(in file: String) -> String {
            let place = line > 0 ? "\(file):\(line):\(column): " : "\(file): "
            return place + (path.isEmpty ? "" : "\(path): ") + "\(message). \(hint)"
        }
    }
}

extension ScenarioConfiguration.Finding: CustomStringConvertible {
    /// One line for people, without the file.
    public var description: String {
        (line > 0 ? "line \(line), column \(column): " : "") + (path.isEmpty ? "" : "\(path): ") + "\(message). \(hint)"
    }
}
