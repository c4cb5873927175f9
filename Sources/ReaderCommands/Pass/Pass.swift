import ArgumentParser
import ReaderKit
import ToolSupport

struct PassCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pass",
        abstract: "Reads and checks passes: wallets of phones, tags that sign, signed tokens.",
        discussion: """
            EXAMPLES
              readerctl pass check-config passes.json
              readerctl pass read --passes passes.json
              readerctl pass vas keygen -o vas.pem

            What a reader needs so that phones offer their passes stands in Documentation/passes.md. Nothing here is certified by \
            Apple or Google.
            """,
        subcommands: [
            PassRead.self, PassVerify.self, PassExplain.self, PassCheckConfiguration.self, PassVAS.self,
            PassSmartTap.self, PassSDM.self,
        ]
    )
}

struct NewKeyOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file for the key, of mode 0600.", valueName: "file"),
        completion: .file()
    )
    var path: String

    @Flag(help: "Replace a file that is there. Passes that were made for its key cannot be read any more.")
    var force = false

    func write(_ text: String) throws {
        try WholeFile.write(Array(text.utf8), to: path, overwrite: force, keepingMode: false)
    }
}
