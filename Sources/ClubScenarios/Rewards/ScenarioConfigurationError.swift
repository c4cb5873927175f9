/// A file of scenarios cannot be used. It names everything that was found, not only the first fault.
public struct ScenarioConfigurationError: Error, Sendable, Hashable {
    /// The file.
    public var path: String

    /// What is wrong, by line and column; never empty. After ``mostFindings`` the last one says that there is more.
    public var findings: [ScenarioConfiguration.Finding]

    /// What is allowed and hardly meant, as far as the file could be read.
    public var warnings: [ScenarioConfiguration.Finding]

    /// So many findings are told of a file.
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
