import ArgumentParser
import ClubKit
import ToolSupport

/// `clubctl check`
struct Check: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks the database: SQLite's own integrity, and that all totals follow from the visits.",
        discussion: """
            Exit code 0 when nothing is worse than a warning, else 1. Taps may go on meanwhile.

            --repair computes anew what follows from something else. A file that is itself damaged is read as far as \
            possible into a new one; stop the kiosk for that. The database as it was is kept beside it. What could not \
            be brought back is named; the exit code is 1 then too.

            JSON keys of a finding: severity (warning, error), code, message. A clean database prints nothing on \
            standard output. Of a repair: mended, lost (both in words), isNewFile, keptFile (the database as it was), \
            remaining (findings).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Flag(help: "Repair what is wrong.")
    var repair = false

    func perform() async throws {
        try await output.output.tellingErrors {
            try await repair ? mend(output.output) : check(output.output)
        }
    }

    private func check(_ out: Output) async throws {
        if let path = database.emptyFile {
            return out.message("\(path) is empty: it holds no club yet. 'clubctl kiosk' makes one in it.")
        }
        let findings: [IntegrityFinding]
        var members = 0
        do {
            (findings, members) = try await database.withClub { club in
                let findings = try await club.check()
                return (findings, (try? await club.memberCount()) ?? 0)
            }
        } catch let error as ClubError where error.kind == .corrupt || error.code?.name == "SQLITE_NOTADB" {
            // So damaged that it cannot even be opened.
            findings = [IntegrityFinding(.error, .damaged, "\(error)")]
        }
        for finding in findings { try out.result(finding, text: Self.text(finding)) }
        if findings.isEmpty { out.message("The database is clean: \(Count.text(members, "member")).") }
        if findings.contains(where: { $0.severity == .error }) {
            out.message("'clubctl check --repair' puts right what can be put right.")
            throw ToolExit.failure
        }
    }

    private func mend(_ out: Output) async throws {
        let club = try database.closedClub()
        let report = try await club.repair(by: action.context)
        if club.isOpen { try await club.close() }
        var lines = report.wasClean ? ["There was nothing to repair."] : []
        lines += report.mended.map { "mended: \($0)" } + report.lost.map { "lost: \($0)" }
        if report.isNewFile { lines.append("What could be read of the damaged file is in a new one, in its place.") }
        if let kept = report.keptFile { lines.append("The database as it was is kept in \(kept).") }
        lines += report.remaining.map { "still " + Self.text($0) }
        try out.result(report, text: lines.joined(separator: "\n"))
        if !report.lost.isEmpty { out.message("Not all could be brought back; what was lost is named above.") }
        if !report.lost.isEmpty || report.remaining.contains(where: { $0.severity == .error }) {
            throw ToolExit.failure
        }
    }

    private static func text(_ finding: IntegrityFinding) -> String {
        "\(finding.severity.rawValue): \(finding.message)"
    }
}
