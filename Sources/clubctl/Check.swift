import ArgumentParser
import ClubKit
import ToolSupport

/// `clubctl check`
struct Check: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks the database: SQLite's own integrity, and that all totals follow from the visits.",
        discussion: """
            Exit code 0 when nothing is worse than a warning, else 1.

            JSON keys of a finding: severity (warning, error), code, message. A clean database prints nothing on \
            standard output.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    func perform() async throws {
        let club = try await database.openExisting()
        let findings = try await club.check()
        let out = output.output
        for finding in findings {
            try out.result(finding, text: "\(finding.severity.rawValue): \(finding.message)")
        }
        let members = try await club.memberCount()
        try await club.close()
        if findings.isEmpty {
            out.message("The database is clean: \(members) member\(members == 1 ? "" : "s").")
        }
        if findings.contains(where: { $0.severity == .error }) { throw ToolExit.failure }
    }
}
