import ArgumentParser
import ToolSupport

/// The technician's tool for readers, cards and captures.
package struct ReaderCtl: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "readerctl",
        abstract: "Finds out what readers see and cards say.",
        discussion: """
            Results go to standard output (with --json one object a line), messages to standard error.

            Exit codes: 0 success, 1 failure, 64 usage, 65 malformed input, 66 no such file, 69 service or reader \
            unavailable, 74 input/output error, 130 interrupted.
            """,
        version: ToolVersion.text,
        subcommands: [
            List.self, Watch.self, Scan.self, Info.self, Doctor.self, SendAPDU.self, NDEFCommands.self,
            PassCommands.self, Record.self,
            Replay.self,
            Emulate.self,
            S550Commands.self,
            CaptureCommands.self, DescribeATR.self, DescribeUID.self,
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
