import ArgumentParser
import ToolSupport

package struct ClubCtl: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "clubctl",
        abstract: "Counts the visits of a club's members.",
        discussion: """
            Results go to standard output (with --json one object a line), messages to standard error.

            Exit codes: 0 success, 1 failure, 64 usage, 65 malformed input, 66 no such file, 69 service or reader \
            unavailable, 74 input/output error, 130 interrupted.
            """,
        version: ToolVersion.text,
        subcommands: [
            Kiosk.self, Members.self, Scenarios.self, Route.self, Inbox.self, Stats.self, Visits.self, Import.self,
            Export.self, Backup.self, Check.self, Upgrade.self, Audit.self, ScreenCommands.self,
            Config.self, Setup.self,
        ]
    )

    package init() {}

    /// Runs the command of this process' arguments, to its exit code. Called first of all: on the main actor, so that the
    /// process has one thread.
    @MainActor package static func start() async {
        prepareProcess()
        await runTool()
    }
}
