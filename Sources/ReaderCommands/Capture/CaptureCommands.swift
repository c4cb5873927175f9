import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

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

func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

extension Capture {
    /// Writes the capture to a file, which is replaced only if that is asked for, or to standard output for `nil`.
    func write(to path: String?, force: Bool) throws {
        let bytes = Array(text().utf8)
        // A file that is there keeps its content until the new one is whole; a new one is whole or not there.
        if let path { return try WholeFile.write(bytes, to: path, overwrite: force) }
        if let code = Output.write(bytes, to: STDOUT_FILENO) { throw Output.failure(code) }
    }
}

struct CaptureDiff: ReportingCommand {
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

    func perform(_ out: Output) async throws {
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
