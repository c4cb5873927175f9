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

/// `readerctl capture diff`
struct CaptureDiff: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two captures by what they mean.",
        discussion: """
            Cards, facts, commands and answers are compared in order, with those that were put in or left out found; \
            spaces, the case of digits, comments, times and headers do not count. Exit code 0 if both are the same, 1 if \
            they differ, 65 if one is malformed, 66 if one is missing.

            EXAMPLES
              readerctl capture diff before.capture after.capture
              readerctl capture diff --times --json before.capture after.capture

            JSON keys, one object a difference: kind (header, presentation, reader, fact, connectFault, exchange, \
            answer, removal, time, line), and where they apply name, left, right (what each has, absent where it has \
            nothing), leftPresentation, rightPresentation, leftLine, rightLine. Where both are the same nothing is \
            printed.
            """
    )

    @OptionGroup var output: OutputOptions
    @Flag(help: "Compare the times too.")
    var times = false
    @Flag(help: "Compare the header lines too.")
    var headers = false
    @Argument(help: "The first capture file.", completion: .file(extensions: ["capture"]))
    var left: String
    @Argument(help: "The second capture file.", completion: .file(extensions: ["capture"]))
    var right: String

    func perform() async throws {
        let out = output.output
        try await out.tellingErrors {
            let comparison = CaptureComparison(
                try Capture(contentsOf: left),
                try Capture(contentsOf: right),
                comparingTimes: times,
                comparingHeaders: headers
            )
            if !comparison.isSame { try out.text("--- A: \(left)\n+++ B: \(right)") }
            for difference in comparison.differences {
                try Task.checkCancellation()
                try out.result(difference, text: "\(difference)")
            }
            if !comparison.isSame { throw ToolExit.failure }
        }
    }
}
