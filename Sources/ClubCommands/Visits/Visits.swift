import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

struct Visits: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Exports visits, and removes old ones.",
        subcommands: [VisitsExport.self, VisitsPrune.self]
    )
}

struct VisitsExport: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes every tap and visit to a CSV file, with whether it counts or why not.",
        discussion: """
            Columns: time (ISO 8601, UTC), userId, username, reader, source (card, manual), counted (yes, undone, \
            deleted, repeat, ignored, rejected), reason, id. Texts that a spreadsheet would take for formulas have an \
            apostrophe in front.

            JSON keys (not with '-'): file, rows, counted, bytes.

            EXAMPLES
              clubctl visits export --from 2026-11-01 --to 2026-11-30 november.csv
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var span: SpanOptions
    @OptionGroup var action: ActionOptions
    @Flag(help: "Replace the file if it exists.")
    var force = false
    @Argument(help: "The file to write; '-' is standard output.", completion: .file(extensions: ["csv"]))
    var file: String

    func validate() throws {
        if file == "-", output.json { throw ValidationError("With --json the rows need a file.") }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        let bar = ProgressBar("Exporting", out)
        defer { bar.end() }
        var report = try await Destination(path: file, replaces: force).write { path in
            try await club.exportTaps(
                to: path,
                from: span.from?.start,
                until: span.to?.end,
                overwrite: force,
                by: action.context,
                progress: { bar.show($0) }
            )
        }
        bar.end()
        if file != "-" { report.file = file }
        if let failure = report.auditFailure { out.message("Not in the audit log: \(failure)") }
        let text = """
            Wrote \(Count.text(report.rows, "row")) to \(Destination(path: file).name), \
            \(Count.grouped(report.counted)) of them counted visits.
            """
        if file == "-" { out.message(text) } else { try out.result(report, text: text) }
    }
}

struct VisitsPrune: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes visits that are older than a retention period allows.",
        discussion: """
            Members keep their totals, and scenarios what they have counted; when members came is no longer known, also \
            not to statistics. It cannot be undone.

            A visit that was recorded after the clock was ahead stays until the one with the wrong time is old itself.

            JSON keys: removed (visits), kept (older ones that stay, if any), before.

            EXAMPLES
              clubctl visits prune --before 2025-01-01
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Option(
        help: ArgumentHelp(
            "Visits before that day or time are removed.",
            discussion: DateArgument.form,
            valueName: "date"
        )
    )
    var before: DateArgument

    func validate() throws {
        if before.start > Date() { throw ValidationError("--before takes a day or time that has been.") }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        let time = LocalTime.text(before.start)
        let (count, scenarioDays) = try await club.oldVisits(before: before.start)
        if let days = scenarioDays {
            out.message(
                "Scenarios look \(Count.text(days, "day")) back, and will count only what is left of these days."
            )
        }
        try await confirmation.ask("Remove \(Count.text(count, "visit")) before \(time)?", out)
        let removed = try await club.pruneVisits(before: before.start, action.context, warns: false)
        let kept = try await club.oldVisits(before: before.start).count
        try out.result(
            fields: ["removed": removed, "kept": kept > 0 ? kept : nil, "before": ISO8601.text(before.start)],
            text: "Removed \(Count.text(removed, "visit")) before \(time)."
        )
        if kept > 0 {
            out.message(
                """
                \(Count.text(kept, "visit")) before \(time) cannot be removed yet: the clock was ahead when an \
                earlier visit of the same member was recorded, and visits go in the order in which they were \
                recorded. They go once that one is old too.
                """
            )
        }
    }
}
