import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

/// A file of scenarios that a person named.
struct ScenarioFile: Sendable {
    var path: String

    /// Reads and checks the file. It blocks while it reads.
    ///
    /// - Throws: ``ScenarioFileError`` with all that is wrong; ``ToolFailure`` with exit code 66 if there is no such
    ///   file, 74 if it cannot be read.
    func load() throws -> ScenarioConfiguration {
        guard access(path, R_OK) == 0 else {
            let code = errno
            throw ToolFailure(
                "could not read \(path): \(String(cString: strerror(code))). Check the path of the scenarios.",
                exit: code == ENOENT || code == ENOTDIR ? ToolExit.noInput : ToolExit.inputOutput
            )
        }
        do throws(ScenarioConfigurationError) {
            return try ScenarioConfiguration(path: path)
        } catch {
            throw ScenarioFileError(error: error)
        }
    }

    /// Reads and checks the file, and tells what is hardly meant.
    func load(_ out: Output) throws -> ScenarioConfiguration {
        let configuration = try load()
        for warning in configuration.warnings { out.message("warning: \(warning.text(in: path))") }
        return configuration
    }
}

/// A file of scenarios cannot be used.
struct ScenarioFileError: ExitCoded, CustomStringConvertible {
    var error: ScenarioConfigurationError

    var exitCode: ExitCode { ToolExit.malformed }

    var errorCode: String { "malformedConfiguration" }

    /// How many findings there are, and a line for each.
    var description: String {
        let count = Count.text(error.findings.count, "fault")
        return "\(error.path) cannot be used; it has \(count):\n\(error)"
    }

    /// The findings without the file's name, in one text.
    var findings: String { error.findings.map(\.description).joined(separator: " ") }
}

/// The file that a command needs.
struct ScenarioFileOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("scenarios"),
        help: ArgumentHelp("The file of scenarios: YAML or JSON.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var path: String

    var file: ScenarioFile { ScenarioFile(path: path) }
}
