import ArgumentParser
import ReaderKit
import ToolSupport

/// `readerctl ndef`
struct NDEF: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ndef",
        abstract: "Reads, writes, decodes and encodes NDEF messages.",
        discussion: """
            'read', 'write', 'format', 'lock', 'repair' and 'dump' wait for a tag on a reader; 'decode' and 'encode' \
            need none. 'readerctl help ndef write' and the like have examples.

            With --json an error of those that wait is {"error":{"code":…,"message":…}}, and no tag in time is \
            {"event":"timeout"}.
            """,
        subcommands: [
            Read.self, Write.self, Format.self, Lock.self, Repair.self, Dump.self, Decode.self, Encode.self,
        ]
    )

    /// `readerctl ndef decode`
    struct Decode: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Decodes an NDEF message.",
            discussion: """
                With --json one line {"records":[…]}; each record has tnf, type, payload and where they apply id, uri, \
                text, language, encoding, title and records. Malformed input prints \
                {"error":{"code":…,"offset":…,"message":…}} and exits with 65; with --lenient the records before the \
                fault come too.
                """
        )

        @OptionGroup var output: OutputOptions
        @Flag(help: "Accept bytes after the message and reserved formats; show the records before a fault.")
        var lenient = false
        @Argument(help: "The message in hexadecimal; spaces and colons are allowed.")
        var hex: [String]

        func perform() async throws {
            let out = output.output
            let report = NDEFReport(hex: hex.joined(separator: " "), lenient: lenient)
            if out.isJSON {
                try out.result(report, text: "")
            } else {
                for record in report.records ?? [] { try out.text(RecordText.describe(record)) }
            }
            if let error = report.error {
                guard report.isAccepted else { throw ToolFailure("\(error)", exit: ToolExit.malformed) }
                out.message("warning: \(error)")
            }
        }
    }

    /// `readerctl ndef encode`
    struct Encode: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Encodes an NDEF message and prints it in hexadecimal.",
            discussion: """
                Several records may be given; they are written in the order URIs, then texts. A message in hexadecimal \
                is checked and printed in its shortest form.

                JSON keys: ndef (the message in hexadecimal) and records.
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var message: NDEFMessageOptions

        private struct Line: Encodable {
            var ndef: String
            var records: [NDEFRecord]
        }

        func perform() async throws {
            // Not in validate(), which would hide a slip in an option's name.
            guard message.isGiven else {
                throw ValidationError("Give either a message in hexadecimal, or --uri and --text.")
            }
            let message = try message.message()
            let bytes = try message.encoded()
            try output.output.result(Line(ndef: bytes.hex, records: message.records), text: bytes.hex)
        }
    }
}
