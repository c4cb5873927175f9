import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct CaptureRedact: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Replaces in a capture what identifies people and opens cards.",
        discussion: """
            Identifiers, texts and addresses in NDEF messages, keys, proofs of keys and what phones' passes say get \
            stand-ins of the same length, the same one everywhere, so that the capture replays to the same kind of taps. \
            Titles and other headers lose the same words. Comments are left out; ATRs and the names of readers stay.

            The result goes to standard output, to a file (--output), or takes the original's place (--in-place). \
            With a seed that others know they can check guesses: a short member number is then not hidden.

            EXAMPLES
              readerctl capture redact tap.capture -o given.capture
              readerctl capture check given.capture

            JSON keys (with --output or --in-place): file, output, values (identifiers, keys and payloads replaced), \
            words (words of texts replaced), secrets (lines and kinds of what was found), unexaminedLines (commands \
            that are not understood, or whose answers are not, and stay: look at them), replaysAlike.
            """
    )

    @OptionGroup var output: OutputOptions
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: "The file to write; '-' is standard output.",
        completion: .file(extensions: ["capture"])
    )
    var destination: String?
    @Flag(help: "Replace the original.")
    var inPlace = false
    @Flag(
        help: """
            Replace the output file if it exists; with --in-place, the original even if the result does not replay to \
            the same kind of taps.
            """
    )
    var force = false
    @Option(help: "Make the stand-ins from this number; without it they depend on the whole capture.")
    var seed: UInt64?
    @Argument(help: "The capture file.", completion: .file(extensions: ["capture"]))
    var file: String

    /// The file to write, or `nil` for standard output.
    private var path: String? { inPlace ? file : destination == "-" ? nil : destination }

    func validate() throws {
        if inPlace, destination != nil { throw ValidationError("Give either --output or --in-place.") }
        if output.json, path == nil {
            throw ValidationError("With --json the capture needs another place: give --output or --in-place.")
        }
    }

    func perform(_ out: Output) async throws {
        let original = try Capture(contentsOf: file)
        let redaction = CaptureRedaction(of: original, seed: seed)
        let isAlike = await CaptureRedaction.replaysAlike(original, redaction.capture)
        try Task.checkCancellation()
        guard isAlike || !inPlace || force else {
            throw ToolFailure(
                "could not redact \(file) in its place: the redacted capture does not replay to the same kind of "
                    + "taps. The original is kept; write to another file with --output, or add --force."
            )
        }
        try redaction.capture.write(to: path, force: force || inPlace)
        if let path {
            try out.result(
                fields: [
                    "file": file, "output": path, "values": redaction.replacedValues,
                    "words": redaction.replacedWords, "unexaminedLines": redaction.unexaminedLines,
                    "secrets": redaction.secrets.map {
                        ["kind": $0.kind.rawValue, "line": $0.line] as JSONObject
                    },
                    "replaysAlike": isAlike,
                ],
                text: Self.text(path, redaction, isAlike)
            )
        }
        if !redaction.unexaminedLines.isEmpty {
            let count = redaction.unexaminedLines.count
            let lines = redaction.unexaminedLines.prefix(20).map(String.init).joined(separator: ", ")
            let places = "line\(count == 1 ? "" : "s") \(lines)\(count > 20 ? ", …" : "")"
            out.message("warning: what is not understood was left as it is; look at \(places) of \(file)")
        }
        if !isAlike { out.message("warning: the redacted capture does not replay to the same kind of taps") }
    }

    private static func text(_ path: String, _ redaction: CaptureRedaction, _ isAlike: Bool) -> String {
        let unexamined = redaction.unexaminedLines.map(String.init).joined(separator: ", ")
        return """
            \(path): \(counted(redaction.replacedValues, "value")) and \(counted(redaction.replacedWords, "word")) replaced
              unexamined lines  \(unexamined.isEmpty ? "none" : unexamined)
              replays alike     \(isAlike ? "yes" : "no")
            """
    }
}
