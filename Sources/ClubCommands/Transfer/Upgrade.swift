import ArgumentParser
import ClubKit
import ToolSupport

/// What a package does when a new version is installed; people need it to go back.
struct Upgrade: DatabaseCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the database of an earlier version to this one's form; the kiosk must not run.",
        discussion: """
            A copy of the database is migrated and checked, and takes its place only if no error was found. Whatever \
            fails, the database is as it was. The former one is kept beside it.

            --undo puts the former one back, for the earlier version. Visits since are not in it: the database as it \
            was before --undo is kept too, and opens with this version.

            JSON keys: steps, members, visits, keptFile; of --undo: restoredFrom, keptFile, membersSince, visitsSince.
            """,
        shouldDisplay: false
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions

    @Flag(help: "Put back the database from before the latest upgrade.")
    var undo = false

    func perform(_ out: Output) async throws {
        let location = try database.location()
        let configuration = ClubConfiguration(database: location)
        if undo {
            let report = try MemberStore.undoUpgrade(configuration)
            return try out.result(
                report,
                text: """
                    Put back \(report.restoredFrom).
                    The database as it was is kept in \(report.keptFile), with \
                    \(Count.text(report.visitsSince, "visit")) and \(Count.text(report.membersSince, "member")) since.
                    """
            )
        }
        let report = try await MemberStore.upgrade(configuration)
        let counts = "\(Count.text(report.members, "member")), \(Count.text(report.visits, "visit"))"
        let kept = report.keptFile.map {
            "Upgraded \(location.path), checked: \(counts).\nThe former one is kept in \($0)."
        }
        try out.result(report, text: kept ?? "There is nothing to upgrade.")
    }
}
