import ArgumentParser
import ClubKit
import Foundation
import Synchronization
import ToolSupport

struct Check: DatabaseCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks the database: SQLite's own integrity, and that all totals follow from the visits.",
        discussion: """
            Exit code 0 when nothing is worse than a warning, else 1. Taps may go on meanwhile.

            --repair computes anew what follows from something else. A file that is itself damaged is read as far as \
            possible into a new one; stop the kiosk for that. Where the kiosk has kept a good snapshot, it is said what \
            only the file has and what only the snapshot has, and you choose which of them is taken: --take says so \
            without a question. Without --take and a terminal it is what could be read of the file, or, where nothing \
            could, neither. The database as it was is kept beside it. What could not be brought back is named; the exit \
            code is 1 then too, as it always is with a snapshot.

            JSON keys of a finding: severity (warning, error), code, message. A clean database prints nothing on \
            standard output. Of a repair: mended, lost (both in words), isNewFile, keptFile (the database as it was), \
            restoredFrom (the snapshot, if it was taken), remaining (findings).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @OptionGroup var snapshots: SnapshotFolderOption
    @Flag(help: "Repair what is wrong.")
    var repair = false

    enum Source: String, CaseIterable, ExpressibleByArgument {
        case file, snapshot
    }

    @Option(help: "Of a damaged database, take what can be read of the file, or the latest good snapshot.")
    var take: Source?

    func validate() throws {
        if take != nil, !repair { throw ValidationError("--take goes with --repair.") }
    }

    func perform(_ out: Output) async throws {
        try await repair ? mend(out) : check(out)
    }

    private func check(_ out: Output) async throws {
        if let path = try database.location().emptyFile {
            return out.message("\(path) is empty: it holds no club yet. 'clubctl kiosk' makes one in it.")
        }
        let findings: [IntegrityFinding]
        var members = 0
        var ahead: Date?
        do {
            (findings, members, ahead) = try await database.withClub { club in
                let findings = try await club.check()
                return (findings, (try? await club.memberCount()) ?? 0, try? await club.recordsAhead())
            }
        } catch let error as ClubError where error.kind == .corrupt || error.code?.name == "SQLITE_NOTADB" {
            // So damaged that it cannot even be opened.
            findings = [IntegrityFinding(.error, .damaged, "\(error)")]
        }
        for finding in findings { try out.result(finding, text: Self.text(finding)) }
        if findings.isEmpty { out.message("The database is clean: \(Count.text(members, "member")).") }
        if let day = ahead?.formatted(.iso8601.year().month().day()) {
            out.message(
                """
                There are records of \(day), of when the clock of a kiosk was ahead: until then other kiosks take in nothing \
                that is recorded here. Set the clock, and merge again from that day on.
                """
            )
        }
        if findings.contains(where: { $0.severity == .error }) {
            out.message("'clubctl check --repair' puts right what can be put right.")
            throw ToolExit.failure
        }
    }

    private func mend(_ out: Output) async throws {
        let folder = try database.place().file?["backups.folder"]
        let club = try database.closedClub()
        let offered = Mutex<RepairOffer?>(nil)
        let report: RepairReport
        do throws(ClubError) {
            report = try await club.repair(
                by: action.context,
                from: snapshots.folder(of: club.configuration.database, configured: folder)
            ) { offer in
                offered.withLock { $0 = offer }
                return await choose(offer, out)
            }
        } catch {
            guard error.kind == .cancelled, let offer = offered.withLock(\.self) else { throw error }
            let unreadable = offer.isFileReadable ? "" : "Nothing in the file could be read. "
            throw ToolFailure(
                unreadable + "Nothing was changed. 'clubctl check --repair --take snapshot' takes the snapshot."
            )
        }
        if take == .snapshot, report.isNewFile, report.restoredFrom == nil {
            out.message("There is no snapshot that can be read.")
        }
        if club.isOpen { try await club.close() }
        var lines = report.wasClean ? ["There was nothing to repair."] : []
        lines += report.mended.map { "mended: \($0)" } + report.lost.map { "lost: \($0)" }
        if report.isNewFile, report.restoredFrom == nil {
            lines.append("What could be read of the damaged file is in a new one, in its place.")
        }
        if let kept = report.keptFile { lines.append("The database as it was is kept in \(kept).") }
        lines += report.remaining.map { "still " + Self.text($0) }
        try out.result(report, text: lines.joined(separator: "\n"))
        if !report.lost.isEmpty { out.message("Not all could be brought back; what was lost is named above.") }
        if !report.lost.isEmpty || report.remaining.contains(where: { $0.severity == .error }) {
            throw ToolExit.failure
        }
    }

    /// Reports how a snapshot compares with what could be read, and finds out which is to be taken.
    private func choose(_ offer: RepairOffer, _ out: Output) async -> RepairOffer.Choice {
        func count(_ members: Int, _ visits: Int) -> String {
            "\(Count.text(members, "member")) and \(Count.text(visits, "visit"))"
        }
        let name = "The snapshot of \(LocalTime.text(offer.madeAt))"
        if offer.isFileReadable {
            out.message(
                """
                The database is damaged. There is a good snapshot: \(offer.snapshot.path)
                Lost with the snapshot: \(offer.lostWithSnapshot.joined(separator: "; ")).
                Lost without it: \((offer.lost.isEmpty ? ["nothing that is known of"] : offer.lost).joined(separator: "; ")).
                \(name) has \(count(offer.membersOnlyInSnapshot, offer.visitsOnlyInSnapshot)) that the file has not, or not \
                any more.
                """
            )
        } else {
            let all = count(offer.membersOnlyInSnapshot, offer.visitsOnlyInSnapshot)
            out.message("Nothing of the database can be read. \(name) has \(all): \(offer.snapshot.path)")
        }
        switch take {
        case .file: return .rescue
        case .snapshot: return .snapshot
        case nil: break
        }
        guard Terminal.canAsk else { return offer.isFileReadable ? .rescue : .neither }
        if (try? await Terminal.agrees(to: "Take the snapshot?", out)) == true { return .snapshot }
        guard offer.isFileReadable else { return .neither }
        let takesFile = (try? await Terminal.agrees(to: "Take what could be read of the file?", out)) == true
        return takesFile ? .rescue : .neither
    }

    private static func text(_ finding: IntegrityFinding) -> String {
        "\(finding.severity.rawValue): \(finding.message)"
    }
}
