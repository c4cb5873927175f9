import ArgumentParser
import Diagnosis
import Foundation
import ReaderKit

extension AsyncParsableCommand {
    /// Prepares the process: at its very beginning, on its first thread, as long as no other one reads the environment,
    /// which setenv(3) may move meanwhile.
    package static func prepareProcess() {
        // The number of a standard stream that is closed would be assigned to the next file that is opened. Reading
        // from it or writing to it is an error still.
        for stream: Int32 in 0...2 where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY)
        }
        #if NFC
        NFCLibrary.prepare()
        #endif
        // A reader of our output that goes away is a write error with a code, not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        Probe.answerIfAsked()
    }

    /// Runs the tool, of which this is the root command, on the arguments of the process.
    ///
    /// Arguments that are wrong are reported as ArgumentParser does, with exit code 64. If `--json` is among them they
    /// are a line `{"error":…}` too, as every other error is: the parser ends before the command could know of
    /// `--json`.
    package static func runTool() async {
        do {
            var command = try await asyncParseAsRoot(nil)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            var error = error
            let arguments = Array(CommandLine.arguments.dropFirst())
            let options = arguments.prefix { $0 != "--" }
            if exitCode(for: error) != .success, let unknown = unknownCommand(in: arguments) { error = unknown }
            // Help and versions end this way too, with 0.
            if exitCode(for: error) != .success, options.contains("--json") {
                // A command that has only other commands does not know the option, which is not what is wrong.
                if message(for: error).contains("'--json'") {
                    let others = options.filter { $0 != "--json" } + arguments[options.endIndex...]
                    do {
                        _ = try await asyncParseAsRoot(others)
                    } catch let other where exitCode(for: other) != .success {
                        error = other
                    } catch {}
                }
                try? Output(json: true).json(fields: ["error": ErrorLine(code: "usage", message(for: error))])
            }
            exit(withError: error)
        }
    }

    /// What is wrong with arguments that have something else where a command should be. The parser reports only that
    /// they are unexpected.
    private static func unknownCommand(in arguments: [String]) -> ValidationError? {
        var command: any ParsableCommand.Type = self
        for word in arguments {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            if let named = commands.first(where: { $0._commandName == word }) {
                command = named
                continue
            }
            let nearest = commands.map { ($0._commandName, $0._commandName.difference(from: word).count) }
                .min { $0.1 < $1.1 }
            let advice = nearest.flatMap { $0.1 <= 2 ? " Did you mean '\($0.0)'?" : nil } ?? ""
            return ValidationError("There is no command '\(word)'.\(advice)")
        }
        return nil
    }
}

/// What `--version` prints: the package's version and the libraries that this build uses.
package enum ToolVersion {
    package static let number = "0.1.0"

    package static var text: String {
        var text = number
        #if PCSC
        text += ", PC/SC through libpcsclite"
        #endif
        #if NFC
        text += ", libnfc \(LibNFC.version)"
        #endif
        return text
    }
}

/// A command of the tools: its work, its errors reported in one line, its exit code according to the contract.
package protocol ToolCommand: AsyncParsableCommand, Sendable {
    /// Does the work. What it throws is reported and mapped to an exit code.
    func perform() async throws
}

/// A command whose failures are results too: with `--json` an error is a line `{"error":…}` as well.
package protocol ReportingCommand: ToolCommand {
    var output: OutputOptions { get }

    func perform(_ out: Output) async throws
}

extension ReportingCommand {
    package func perform() async throws {
        let out = output.output
        try await out.tellingErrors { try await perform(out) }
    }
}

extension ToolCommand {
    package func run() async throws {
        do {
            try await Interruption.stopping { try await perform() }
            Self.end(ToolExit.success)
        } catch let code as ExitCode {
            Self.end(code)
        } catch let error as ValidationError {
            throw error
        } catch {
            Output.tellLast("\(Self.toolName): \(error)")
            Self.end(ToolFailure.exitCode(for: error))
        }
    }

    /// Ends the process without exit handlers: a thread may still be in a library, whose handler would take away the
    /// ground from under it. All that was printed is written, and all that was opened is closed.
    private static func end(_ code: ExitCode) -> Never {
        fflush(nil)
        _exit(code.rawValue)
    }

    private static var toolName: String {
        CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "tool"
    }
}
