import ArgumentParser
import Foundation
import Synchronization

/// A command of the tools: its work, its errors told in one line, its exit code after the contract.
package protocol ToolCommand: AsyncParsableCommand {
    /// Does the work. What it throws is told and mapped to an exit code.
    func perform() async throws
}

extension ToolCommand {
    package func run() async throws {
        // A reader of our output that goes away is a write error with a code, not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        do {
            try await Interruption.stopping { try await perform() }
        } catch let code as ExitCode {
            throw code
        } catch let error as ValidationError {
            throw error
        } catch {
            Output.tell("\(Self.toolName): \(error)")
            throw ToolFailure.exitCode(for: error)
        }
    }

    private static var toolName: String {
        CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "tool"
    }
}

/// Ends the work of a tool in good order when a person interrupts it.
package enum Interruption {
    /// Runs the work; on `SIGINT` or `SIGTERM` its task is cancelled, and once it has ended this throws exit code 130.
    ///
    /// A second signal ends the process at once.
    static func stopping(_ work: @escaping () async throws -> Void) async throws {
        let isInterrupted = Mutex(false)
        try await withoutActuallyEscaping(work) { work in
            let box = WorkBox(work)
            let task = Task { try await box.work() }
            let sources = [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler {
                    let isSecond = isInterrupted.withLock { flag in
                        defer { flag = true }
                        return flag
                    }
                    if isSecond { exit(ToolExit.interrupted.rawValue) }
                    task.cancel()
                }
                source.resume()
                return source
            }
            defer { sources.forEach { $0.cancel() } }
            do {
                try await task.value
            } catch {
                guard isInterrupted.withLock(\.self) else { throw error }
            }
            if isInterrupted.withLock(\.self) { throw ToolExit.interrupted }
        }
    }

    /// `@unchecked Sendable`: the closure is called once, by the one task that is made for it, while its creator waits.
    private struct WorkBox: @unchecked Sendable {
        let work: () async throws -> Void
        init(_ work: @escaping () async throws -> Void) { self.work = work }
    }
}
