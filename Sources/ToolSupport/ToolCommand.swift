import ArgumentParser
import Foundation

/// A command of the tools: its work, its errors told in one line, its exit code after the contract.
package protocol ToolCommand: AsyncParsableCommand, Sendable {
    /// Does the work. What it throws is told and mapped to an exit code.
    func perform() async throws
}

extension ToolCommand {
    package func run() async throws {
        // A reader of our output that goes away is a write error with a code, not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
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
