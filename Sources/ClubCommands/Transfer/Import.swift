import ArgumentParser
import ClubKit
import Foundation
import Synchronization
import ToolSupport

extension TransferFormat: ExpressibleByArgument {}

struct Import: DatabaseCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes in the members of a file.",
        discussion: """
            Reads user lists (.musrl), CSV (.mucsv, .csv) and the club's own files (.clubkit); of standard input ('-') \
            the beginning shows which it is, or --type. Unknown members are \
            added. Members who are there stay as they are; with --merge, both are taken together: visits are never \
            counted twice, of names and fields the latest counts, and what is overruled is kept. With --overwrite the \
            names and fields of the file count as said now, for somebody who corrected them in a spreadsheet; of two rows \
            of one member the first one counts.

            The file is never changed, and the same file again changes nothing. Rows that cannot be read keep no other \
            row out: they are reported, and the exit code is 65 although the others were taken. Rows that must not be \
            taken, since the member was erased or deleted later, are reported too and are no failure. 65 is also a file \
            that cannot be read at all. An interrupted import (130) has whole rows; the same command does the rest.

            JSON: for each row event "row", row (line or element of the file), userId, outcome (created, changed, \
            kept, skipped, malformed), changes and conflicts (field, stored, imported; also \
            $blocked, $expires as ISO 8601, $visitsBought, $visitsLeft, $notes, $tags and $cards as lists, and of a \
            club's file $state and $mergedInto), \
            record (card, visit, undo, erasure, audit: what other rows of a club's file are), column and reason (what is wrong), notes (what to know of a row that is right, as that another one has the same \
            identifier); then event "report" with file, \
            format, dryRun, columns (column, field), total, created, changed, kept, conflicting, skipped, malformed, records, newRecords (other rows of a club's file), raised (rows that raised a total of visits), raisedTotals (the first of them: row, userId, from, to), noted (rows with notes), notes (on the file); if it was \
            interrupted, event "interrupted" with file, rows.

            EXAMPLES
              clubctl import members.csv --dry-run
              clubctl import members.csv --map 'Card number=userId' --map 'Full name=username' --map Remarks=
              clubctl import old-lockers.csv --map 'Card=userId:8H10D-reversed' --map Name=username
              clubctl import members.csv --map 'Card number=userId' --skip-lines 2 --save-mapping desk.yaml
              clubctl import members.csv --mapping desk.yaml --merge
              clubctl import other-kiosk.clubkit --merge
              ssh kiosk clubctl export --type clubkit - | clubctl import - --merge
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Flag(help: "Say what would happen, with --json row by row, and change nothing.")
    var dryRun = false
    @Flag(help: "Merge what the file has of members who are there.")
    var merge = false
    @Flag(help: "Merge, and let the names and fields of the file count as said now.")
    var overwrite = false
    @OptionGroup var layout: LayoutOptions
    @Option(
        help: ArgumentHelp(
            "What a column means: COLUMN=FIELD; 'COLUMN=' leaves it out. Can be given several times.",
            discussion: """
                FIELD is userId, username (the name), timeStampAdded, numVisits, timeStampOfLastVisit, or the name of a \
                custom field. A column that is not mapped and has none of these names becomes a custom field; passId is \
                the userId where there is none. A column that is named for what the club keeps itself, as blocked, \
                status, expires, visitsLeft, tags, cards or notes, in English, German, Chinese or Arabic, is that, \
                and so is one that is mapped to such a name; of a name that only looks so the report has a note.

                userId:FORM reads the numbers that another reader printed, as userId:8H10D: the member is found by a \
                tap of the card. 'readerctl uid --from NUMBER' tells which form a list has; behind 8H10D, 14H17D or hex \
                '-reversed' stands where the last byte comes first. A form that shows only a part of the identifier \
                names no card.
                """,
            valueName: "column=field"
        ),
        transform: { text in
            guard let mapping = ColumnMapping(text) else { throw ValidationError("'\(text)' is not COLUMN=FIELD.") }
            return mapping
        }
    )
    var map: [ColumnMapping] = []
    @Option(help: "The form of the file, if its name and content do not show it.")
    var type: TransferFormat?
    @Argument(
        help: "The file; '-' is standard input.",
        completion: .file(extensions: ["musrl", "mucsv", "csv", "clubkit"])
    )
    var file: String

    func validate() throws { try layout.validate() }

    private var mode: MergeMode { overwrite ? .overwrite : merge ? .merge : .addOnly }

    func perform(_ out: Output) async throws {
        // Before the database is touched: a missing file must not leave an empty club behind.
        guard file == "-" || FileManager.default.fileExists(atPath: file) else {
            throw TransferError(.notFound, file: file)
        }
        // Before root works as the club's user, who may not read it.
        let isRoots = file != "-" && geteuid() == 0
        let source = isRoots ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO
        guard source >= 0 else { throw TransferError(.notReadable, file: file) }
        defer { if isRoots { close(source) } }
        let mapping = try layout.mapping(with: map)
        _ = try database.place()
        let isSpooled = file == "-" || isRoots && OtherUser.isAtWork
        let input = isSpooled ? try await SpooledInput(of: source, named: file) : nil
        // It stays open until all is done.
        defer { withExtendedLifetime(input) {} }
        try await database.withClub(dryRun: dryRun) { club in
            let plans = Mutex(Plans())
            let report = try await importing(input?.path ?? file, mapping, into: club, out) { row in
                plans.withLock { $0.add(row) }
            }
            let text = ImportText(report: report, name: name, mode: mode, plans: plans.withLock(\.self)).text
            // Without its rows, which have lines of their own.
            try out.result(
                fields: [
                    "event": "report", "file": report.file, "format": report.format, "dryRun": report.dryRun,
                    "columns": report.columns, "total": report.total, "created": report.created,
                    "changed": report.changed, "kept": report.kept, "conflicting": report.conflicting,
                    "raised": report.raised, "raisedTotals": report.raisedTotals,
                    "skipped": report.skipped, "malformed": report.malformed, "records": report.records,
                    "newRecords": report.newRecords, "noted": report.noted, "notes": report.notes,
                ],
                text: text
            )
            try layout.save(mapping)
            if report.malformed > 0 { throw ToolExit.malformed }
        }
    }

    private var name: String { file == "-" ? "standard input" : file }

    /// - Parameter planned: called with each row of a dry run for people.
    private func importing(
        _ path: String,
        _ mapping: MappingFile,
        into club: Club,
        _ out: Output,
        planned: @escaping @Sendable (ImportedRow) -> Void
    ) async throws -> ImportReport {
        let bar = ProgressBar(dryRun ? "Checking" : "Importing", out)
        defer { bar.end() }
        let rows = Mutex(0)
        let failure = Mutex<(any Error)?>(nil)
        var told: (@Sendable (ImportedRow) -> Void)? = dryRun ? planned : nil
        if out.isJSON {
            told = { row in
                guard failure.withLock({ $0 == nil }) else { return }
                do {
                    try out.json(JSONObject(row, ["event": "row"]))
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        }
        do {
            let options = ImportOptions(
                format: type,
                mappings: mapping.mappings,
                layout: mapping.layout,
                mode: mode,
                dryRun: dryRun
            )
            var report = try await club.importMembers(
                from: path,
                options: options,
                by: action.context,
                row: told,
                progress: { progress in
                    rows.withLock { $0 = progress.rows }
                    bar.show(progress)
                }
            )
            bar.end()
            if let error = failure.withLock(\.self) { throw error }
            report.file = file
            return report
        } catch var error as TransferError {
            guard error.kind == .cancelled else {
                error.file = name
                throw error
            }
            bar.end()
            let count = rows.withLock(\.self)
            try out.json(fields: ["event": "interrupted", "file": file, "rows": count])
            let taken = dryRun ? "were looked at; nothing was changed" : "were taken in"
            out.message(
                """
                Interrupted: the first \(Count.text(count, "row")) of \(name) \(taken). The same command does the rest.
                """
            )
            throw ToolExit.interrupted
        }
    }
}

private struct Plans: Sendable {
    var rows: [ImportedRow] = []
    var omitted = 0

    private static let most = 50

    mutating func add(_ row: ImportedRow) {
        // Entries of the audit log are not shown.
        guard row.outcome == .created || row.outcome == .changed, row.record != "audit" else { return }
        if rows.count < Self.most { rows.append(row) } else { omitted += 1 }
    }
}

private struct ImportText {
    var report: ImportReport
    var name: String
    var mode: MergeMode
    var plans: Plans

    private static let rows = 20

    var text: String {
        var lines = [report.dryRun ? "\(name) would be imported like this; nothing was changed." : name]
        for column in report.columns where column.field != column.column {
            let kept = column.field.flatMap { field in StandingColumn.allCases.first { $0.caption.field == field } }
            let meaning = kept.map { "is \($0.caption.words), as of 'members \($0.command)'" }
            lines.append(
                "  column '\(column.column.onOneLine)' " + (meaning ?? column.field.map { "is \($0)" } ?? "is left out")
            )
        }
        let base = MembershipUser.CodingKeys.allCases.map(\.rawValue)
        let custom = report.columns.compactMap(\.field).filter { !base.contains($0) && !$0.hasPrefix("$") }
        if !custom.isEmpty { lines.append("  custom fields: " + custom.joined(separator: ", ").onOneLine) }
        let isNamed = report.columns.contains { $0.field == "username" || $0.column == "username" }
        if !report.columns.isEmpty, !isNamed {
            let likely = report.columns.map(\.column).first { $0.lowercased().contains("name") }
            let map = "\((likely ?? "COLUMN").onOneLine)=username".shellQuoted
            lines.append("  note: no column is the member's name; --map \(map) says which one is")
        }
        lines += report.notes.map { "  note: \($0)" }
        lines += counts.map { "  \($0.0.padded(to: 11))  \(Count.grouped($0.1))" + ($0.2.isEmpty ? "" : "  \($0.2)") }
        if report.raised > 0 {
            let shown = report.raisedTotals.prefix(Self.rows).map { "\($0.userId) \($0.from) to \($0.to)".onOneLine }
            let more = report.raised - shown.count
            let rest = more > 0 ? ", and \(Count.grouped(more)) more" : ""
            let which = report.dryRun ? "would count" : "now count"
            lines.append("  more visits than were known \(which) for " + shown.joined(separator: ", ") + rest)
        }
        for row in plans.rows where !row.needsAttention { lines.append("  " + Self.text(row)) }
        if plans.omitted > 0 { lines.append("  and \(Count.grouped(plans.omitted)) more; --json lists all") }
        for row in report.rows.prefix(Self.rows) { lines.append("  " + Self.text(row)) }
        let more = report.rows.count + report.omittedRows - min(report.rows.count, Self.rows)
        if more > 0 { lines.append("  and \(Count.text(more, "more row")); --json lists every row") }
        return lines.joined(separator: "\n")
    }

    private var counts: [(String, Int, String)] {
        let keeps = mode == .addOnly ? "they were there; --merge takes what the file knows" : "nothing was new"
        var counts = [
            ("rows", report.total, ""), ("new members", report.created, ""), ("changed", report.changed, ""),
            ("unchanged", report.kept, report.kept > 0 ? keeps : ""),
        ]
        if report.records > 0 { counts.append(("records", report.records, "\(report.newRecords) of them new")) }
        if report.conflicting > 0 { counts.append(("conflicts", report.conflicting, "the club's value stays")) }
        if report.skipped > 0 { counts.append(("skipped", report.skipped, "")) }
        if report.malformed > 0 { counts.append(("malformed", report.malformed, "")) }
        if report.noted > 0 { counts.append(("with a note", report.noted, "look at them")) }
        return counts
    }

    /// A value for people; texts of a list, such as tags, stand one after another.
    private static func cell(_ value: FieldValue?) -> String {
        guard case .array(let values) = value else { return value?.cellText ?? "-" }
        return values.map { $0.cellText ?? "-" }.joined(separator: ", ")
    }

    private static func text(_ row: ImportedRow) -> String {
        var text = "row \(row.row): \(row.outcome.rawValue)"
        if let id = row.userId { text += " \(id)" }
        if let record = row.record, row.outcome == .changed { text += "; new \(record)" }
        if let reason = row.reason { text += ": " + (row.column.map { "\($0): " } ?? "") + reason }
        for change in row.changes {
            let (stored, imported) = (cell(change.stored), cell(change.imported))
            text += "; \(change.field) '\(stored)' becomes '\(imported)'"
        }
        for conflict in row.conflicts {
            let (stored, imported) = (cell(conflict.stored), cell(conflict.imported))
            text += "; \(conflict.field) is '\(stored)' here, '\(imported)' in the file"
        }
        text += row.notes.map { "; note: \($0)" }.joined()
        return text.onOneLine
    }
}
