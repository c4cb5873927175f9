import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct Export: ClubCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes all members to a file.",
        discussion: """
            userList (.musrl) and csv (.mucsv, .csv) hold the members with their totals, in the forms of the original \
            library; clubkit (.clubkit) holds everything that the club knows, for moving it to another kiosk without \
            loss. Without --type the name of the file decides the form. The file appears when it is whole, and only this \
            user may read it.

            With --for excel a CSV file is made for a spreadsheet: with the mark by which it knows UTF-8, a semicolon or \
            comma between columns as it expects in this language, times to be read, and an apostrophe before what it would \
            change (zeros in front, long numbers, dates, formulas), which an import takes away again.

            JSON keys (not with '-'): file, format, members, rows, bytes, columns, emptyColumns (those that \
            were asked for and that no member has, or only a .clubkit file).

            EXAMPLES
              clubctl export --type csv members.csv
              clubctl export --for excel members.csv
              clubctl export --type userList - | jq length
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Option(help: "The form of the file.")
    var type: TransferFormat?
    @Option(
        help: ArgumentHelp(
            "The columns of a CSV file or keys of a user list, in order; all of them by default.",
            valueName: "name,..."
        ),
        transform: { $0.split(separator: ",").map(String.init) }
    )
    var columns: [String]?
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The program for which a CSV file is made.", valueName: "program")
    )
    var program: Program?
    @Option(
        help: ArgumentHelp(
            "With --for excel, what stands between columns: ';', ',' or tab.",
            discussion: """
                By default a semicolon where the language of LC_ALL, LC_NUMERIC or LANG writes decimals with a comma, such \
                as de_DE, else a comma.
                """,
            valueName: "character"
        )
    )
    var delimiter: String?
    @Flag(help: "Replace the file if it exists.")
    var force = false
    @Argument(
        help: "The file to write; '-' is standard output.",
        completion: .file(extensions: ["musrl", "mucsv", "csv", "clubkit"])
    )
    var file: String

    enum Program: String, ExpressibleByArgument, CaseIterable { case excel }

    /// The delimiter of the file for a spreadsheet.
    private var spreadsheet: Character? {
        guard program != nil else { return nil }
        return delimiter.flatMap(FileLayout.delimiter) ?? Self.delimiter(ProcessInfo.processInfo.environment)
    }

    /// What spreadsheets in the language of the environment have between columns.
    static func delimiter(_ environment: [String: String]) -> Character {
        let name = ["LC_ALL", "LC_NUMERIC", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        let locale = String(name.prefix { $0 != "." && $0 != "@" })
        return locale != "C" && locale != "POSIX" && Locale(identifier: locale).decimalSeparator == "," ? ";" : ","
    }

    private var format: TransferFormat? {
        let end = (file as NSString).pathExtension
        return type ?? TransferFormat(pathExtension: end) ?? (program == nil || !end.isEmpty ? nil : .csv)
    }

    func validate() throws {
        if format == nil { throw ValidationError("Say which form the file gets: --type userList, csv or clubkit.") }
        if file == "-", output.json { throw ValidationError("With --json the members need a file.") }
        if program != nil, format != .csv { throw ValidationError("--for excel goes with --type csv.") }
        if let delimiter {
            guard program != nil else { throw ValidationError("--delimiter goes with --for excel.") }
            guard FileLayout.delimiter(delimiter).map({ ";,\t".contains($0) }) == true else {
                throw ValidationError("'\(delimiter)' is none of ';', ',' and tab.")
            }
        }
        if columns != nil, format == .clubkit {
            throw ValidationError("A club's file always holds everything; --columns goes with userList and csv.")
        }
    }

    func perform(_ club: Club, _ out: Output) async throws {
        guard let format else { return }
        let bar = ProgressBar("Exporting", out)
        defer { bar.end() }
        var report = try await Destination(path: file, replaces: force).write { path in
            try await club.exportMembers(
                to: path,
                options: ExportOptions(format: format, columns: columns, overwrite: force, spreadsheet: spreadsheet),
                by: action.context,
                progress: { bar.show($0) }
            )
        }
        bar.end()
        if file != "-" { report.file = file }
        for name in report.emptyColumns {
            let reason =
                StandingColumn.named(name) == nil
                ? "no member has a value '\(name.onOneLine)'" : "only a .clubkit file has '\(name.onOneLine)'"
            out.message("A column is empty: \(reason). Check --columns.")
        }
        for userId in report.tooLong {
            out.message("\(userId.onOneLine) holds too much for other kiosks to take: shorten the values.")
        }
        if let failure = report.auditFailure { out.message("Not in the audit log: \(failure)") }
        let text = "Wrote \(Count.text(report.members, "member")) to \(Destination(path: file).name)."
        if file == "-" { out.message(text) } else { try out.result(report, text: text) }
    }
}
