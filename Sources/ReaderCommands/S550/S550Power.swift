import ArgumentParser
import ReaderKit
import ToolSupport

struct S550Reset: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Restarts the reader, which puts written registers into effect.",
        discussion: """
            It leaves the bus and is back some seconds later, if its settings let it ('readerctl watch' shows it).

            JSON: event ("restarted"), reader, way, hard.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Flag(help: "Restart the chip, not only the firmware.") var hard = false

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        try await control.reset(hard ? .hard : .soft)
        try out.done("restarted", control, ["hard": hard], text: "\(control.reader.name) restarts.")
    }
}

struct S550Shutdown: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "shutdown",
        abstract: "Turns the reader off.",
        discussion: """
            Somebody has to turn it on again at the reader, so it needs --yes. On USB power some readers restart instead.

            JSON: event ("shutDown"), reader, way.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Flag(help: "Turn it off.") var yes = false

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        guard yes else {
            throw ToolFailure(
                "The reader was not turned off: somebody has to turn it on again at the reader. Confirm it with --yes.",
                exit: ToolExit.usage
            )
        }
        try await control.shutdown()
        try out.done("shutDown", control, text: "\(control.reader.name) goes off.")
    }
}
