import ArgumentParser
import ReaderKit
import ToolSupport

/// Where a command puts a key that it made.
struct NewKeyOptions: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file for the key, of mode 0600.", valueName: "file"),
        completion: .file()
    )
    var path: String

    @Flag(help: "Replace a file that is there. Passes that were made for its key cannot be read any more.")
    var force = false

    /// Writes the key.
    func write(_ text: String) throws {
        try WholeFile.write(Array(text.utf8), to: path, overwrite: force, keepingMode: false)
    }
}
