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

            JSON keys (not with '-'): file, format, members, rows, bytes, columns, emptyColumns (those that \
            were asked for and that no member has).

            EXAMPLES
              clubctl export --type csv members.csv
              clubctl export --type userList - | jq length
            """
    )

    @OptionGroup var options: ClubOptions
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
    @Flag(help: "Replace the file if it exists.")
    var force = false
    @Argument(
        help: "The file to write; '-' is standard output.",
        completion: .file(extensions: ["musrl", "mucsv", "csv", "clubkit"])
    )
    var file: String

    private var format: TransferFormat? { type ?? TransferFormat(pathExtension: (file as NSString).pathExtension) }

    func validate() throws {
        if format == nil { throw ValidationError("Say which form the file gets: --type userList, csv or clubkit.") }
        if file == "-", output.json { throw ValidationError("With --json the members need a file.") }
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
                options: ExportOptions(format: format, columns: columns, overwrite: force),
                by: action.context,
                progress: { bar.show($0) }
            )
        }
        bar.end()
        if file != "-" { report.file = file }
        for name in report.emptyColumns {
            out.message("No member has a value '\(name.onOneLine)': its column is empty. Check --columns.")
        }
        for userId in report.tooLong {
            out.message("\(userId.onOneLine) holds too much for other kiosks to take: shorten the values.")
        }
        if let failure = report.auditFailure { out.message("Not in the audit log: \(failure)") }
        let text = "Wrote \(Count.text(report.members, "member")) to \(Destination(path: file).name)."
        if file == "-" { out.message(text) } else { try out.result(report, text: text) }
    }
}
