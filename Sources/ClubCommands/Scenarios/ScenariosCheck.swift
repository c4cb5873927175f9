import ArgumentParser
import ClubKit
import ToolSupport

struct ScenariosCheck: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a file of scenarios, and names line and column of all that is wrong.",
        discussion: """
            Exit code 0 when nothing is worse than a warning, 65 when the file cannot be used.

            JSON keys of a finding: severity (warning, error), line and column (from 1; 0 for the file as a whole), \
            path (the place among the values, empty for the whole), message, hint. A file without findings prints \
            nothing on standard output.

            EXAMPLES
              clubctl scenarios check scenarios.yaml
            """
    )

    @OptionGroup var output: OutputOptions
    @Argument(help: "The file of scenarios: YAML or JSON.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var file: String

    func perform(_ out: Output) async throws {
        do {
            let configuration = try ScenarioFile(path: file).load()
            try tell([], configuration.warnings, out)
            out.message("\(file) can be used: \(Count.text(configuration.scenarios.count, "scenario")).")
        } catch let fault as ScenarioFileError {
            try tell(fault.error.findings, fault.error.warnings, out)
            out.message("\(file) cannot be used: \(Count.text(fault.error.findings.count, "fault")).")
            throw ToolExit.malformed
        }
    }

    private func tell(
        _ errors: [ScenarioConfiguration.Finding],
        _ warnings: [ScenarioConfiguration.Finding],
        _ out: Output
    ) throws {
        let all = errors.map { ("error", $0) } + warnings.map { ("warning", $0) }
        for (severity, finding) in all.sorted(by: { ($0.1.line, $0.1.column) < ($1.1.line, $1.1.column) }) {
            try out.result(
                fields: [
                    "severity": severity, "line": finding.line, "column": finding.column, "path": finding.path,
                    "message": finding.message, "hint": finding.hint,
                ],
                text: severity == "error" ? finding.text(in: file) : "warning: \(finding.text(in: file))"
            )
        }
    }
}
