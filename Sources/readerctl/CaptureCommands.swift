import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

/// `readerctl capture`
struct CaptureCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Checks, redacts, compares and converts capture files.",
        discussion: """
            EXAMPLES
              readerctl capture redact tap.capture -o given.capture
              readerctl capture check given.capture
            """,
        subcommands: [CaptureCheck.self, CaptureRedact.self, CaptureDiff.self, CaptureConvert.self]
    )
}

/// A number with its noun: `1 card`, `2 cards`.
func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

/// Where a command puts the capture that it made.
enum CaptureDestination {
    /// Standard output.
    case output
    /// A file, which is replaced only if that was asked for.
    case file(String, force: Bool)

    func write(_ capture: Capture) throws {
        let text = capture.text()
        switch self {
        case .output:
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else {
                    let reason = String(cString: strerror(errno))
                    throw ToolFailure("could not write to standard output: \(reason)", exit: ToolExit.inputOutput)
                }
                rest = rest.dropFirst(count)
            }
        case .file(let path, let force):
            // A file that is there keeps its content until the new one is whole; a new one is whole or not there.
            try WholeFile.write(Array(text.utf8), to: path, overwrite: force)
        }
    }
}
