import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

/// Who does something, and why: for the audit log.
struct ActionOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Who does it, for the log.",
            discussion: "By default the name of the user who runs the tool.",
            valueName: "name"
        )
    )
    var by: String?

    @Option(help: ArgumentHelp("Why, for the log.", valueName: "text"))
    var reason: String?

    var context: ActionContext { ActionContext(actor: by ?? Self.user, reason: reason) }

    /// The context, where there must be a reason.
    func contextWithReason() throws -> ActionContext {
        guard let reason, !reason.allSatisfy(\.isWhitespace) else {
            throw ValidationError("Say why: --reason 'TEXT'. It is kept with the change.")
        }
        return context
    }

    private static var user: String? {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return nil }
        return String(cString: name)
    }
}

/// A question before what cannot be taken back.
struct ConfirmationOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Do it without asking. Without a terminal to ask on, it is necessary.")
    var yes = false

    /// Asks whether to go on.
    ///
    /// - Throws: `ValidationError` if there is nobody to ask, exit code 1 if the answer is no.
    func ask(_ question: String, _ out: Output) async throws {
        guard !yes else { return }
        guard Terminal.canAsk else {
            throw ToolFailure(
                "\(question) There is no terminal to ask on: add --yes. Nothing was changed.",
                exit: ToolExit.usage
            )
        }
        guard try await Terminal.agrees(to: question, out) else {
            throw ToolFailure("Nothing was changed.", exit: ToolExit.failure)
        }
    }
}

/// The person at the terminal.
enum Terminal {
    /// Whether somebody can be asked.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Asks a question that is answered with yes or no; anything but yes is no.
    static func agrees(to question: String, _ out: Output) async throws -> Bool {
        out.message("\(question) [y/N]")
        let answer = try await BlockingThread.run(name: "question") { try InputLines($0).next() ?? "" }
        return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
    }

    /// How many characters a line of standard output has, 80 where that is not known.
    static var width: Int {
        var size = winsize()
        if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
    }
}
