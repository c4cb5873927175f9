import Foundation

/// What a file of scenarios says. `Documentation/scenarios.md` describes the format: YAML, or JSON, which is YAML too.
///
/// A file is read as a whole or not at all, and all of its faults are told at once, each with line and column. Values
/// are taken as they are written: none becomes a truth value, a date or a number in base 60 by the rules of YAML.
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
