import ClubRecords
import Foundation

/// The content of a file of scenarios. `Documentation/scenarios.md` describes the format: YAML, or JSON, which is YAML
/// too.
///
/// A file is read as a whole or not at all, and all of its faults are reported at once, each with line and column.
/// Values are read as written: none becomes a truth value, a date or a number in base 60 by the rules of YAML.
public struct ScenarioConfiguration: Sendable {
    /// The scenarios in the order of the file; a reward with tiers becomes one for each.
    public var scenarios: [Scenario]

    /// Warnings on valid but probably unintended content, by line and column.
    public var warnings: [Finding]

    /// A fault or a warning and its place in the file.
    public typealias Finding = YAMLFinding

    /// The maximum size of a file, in bytes.
    public static let longestFile = YAMLFile.longest

    /// The maximum number of scenarios in a file, each tier counted.
    public static let mostScenarios = 1000

    /// Creates a configuration from scenarios.
    public init(_ scenarios: [Scenario] = []) {
        self.scenarios = scenarios
        warnings = []
    }

    /// Reads a file. It blocks while it reads.
    ///
    /// - Throws: ``ScenarioConfigurationError``, also if the file cannot be read.
    public init(contentsOf url: URL) throws(ScenarioConfigurationError) {
        try self.init(path: url.path)
    }

    /// Reads the file at a path. It blocks while it reads.
    ///
    /// - Throws: ``ScenarioConfigurationError``, also if the file cannot be read.
    public init(path: String) throws(ScenarioConfigurationError) {
        let bytes: [UInt8]
        do throws(YAMLFile.Unreadable) {
            bytes = try YAMLFile.bytes(path)
        } catch {
            throw ScenarioConfigurationError(path: path, findings: [error.finding])
        }
        try self.init(bytes: bytes, path: path)
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - yaml: the text.
    ///   - path: the name of the text in errors.
    ///   - timeZone: the zone of its days and times, unless the text names one.
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
        let (root, findings) = YAMLFile.read(bytes, emptyHint: "Begin it with 'scenarios:'.")
        reader.findings = findings
        let scenarios = root.map { reader.scenarios($0) } ?? []
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
/// A cooldown is a further condition, `.executions(atMost: 1, within: .seconds(604_800))`. Redeeming a reward is
/// recorded with its ``ScenarioExecution``.
public enum Reward: Sendable, Hashable {
    /// Every n-th visit, n from 1: one execution is due for each n visits. With `since`, visits before that moment do
    /// not count; without it, all earlier visits of members do.
    case stampCard(every: Int, since: Date?)
    /// The first visit, once. Members with earlier visits are not welcomed.
    case welcome
    /// The first visit after an absence of more than that number of seconds.
    case comeback(after: TimeInterval)
    /// A visit that reaches a tier: it makes the number of visits in the window exactly that of the tier. In a moving
    /// window it can be reached again.
    case tiers([Tier], within: ScenarioWindow)
    /// The conditions alone.
    case custom

    /// Returns the scenarios.
    ///
    /// The rules of the reward come first, whatever `configure` does, and must hold in addition to those that it adds.
    ///
    /// - Parameters:
    ///   - id: the identifier; that of a tier is `ID/NAME`.
    ///   - configure: sets the other values, once for each scenario. The identifier is set before, and for a tier its
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

/// A tier that a member reaches by visits in a period, such as silver with 10 in a year.
public struct Tier: Sendable, Hashable {
    /// The name, which ends the identifier of the tier's scenario (`ID/NAME`); unique among the tiers of a reward.
    public var name: String

    /// The number of visits required, at least 1.
    public var visits: Int

    /// The scenario's title; `nil` leaves it to the configuration of the scenarios.
    public var title: String?

    /// The message when the tier is reached; `nil` leaves it to the configuration of the scenarios.
    public var message: String?

    /// Creates a tier.
    public init(_ name: String, visits: Int, title: String? = nil, message: String? = nil) {
        self.name = name
        self.visits = visits
        self.title = title
        self.message = message
    }
}

/// An error of a file of scenarios. It lists everything that was found, not only the first fault.
public struct ScenarioConfigurationError: Error, Sendable, Hashable {
    /// The file.
    public var path: String

    /// The faults, by line and column; never empty. After ``mostFindings`` the last one reports that there are more.
    public var findings: [ScenarioConfiguration.Finding]

    /// Warnings on valid but probably unintended content, as far as the file could be read.
    public var warnings: [ScenarioConfiguration.Finding] = []

    /// The maximum number of findings of a file.
    public static let mostFindings = YAMLFindings.most
}

extension ScenarioConfigurationError: CustomStringConvertible {
    /// A line for each finding: `PATH:LINE:COLUMN: PLACE: fault. Remedy.`
    public var description: String { findings.map { $0.text(in: path) }.joined(separator: "\n") }
}
