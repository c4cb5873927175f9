import ArgumentParser
import ReaderKit
import ToolSupport

/// `readerctl ndef`
struct NDEF: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ndef",
        abstract: "Decodes and encodes NDEF messages.",
        subcommands: [Decode.self, Encode.self]
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
            let message = try message.message()
            let bytes = try message.encoded()
            try output.output.result(Line(ndef: bytes.hex, records: message.records), text: bytes.hex)
        }
    }
}

/// The message that a command is to encode or write.
struct NDEFMessageOptions: ParsableArguments, Sendable {
    @Option(help: "A URI record. May be given several times.")
    var uri: [String] = []
    @Option(help: "A text record. May be given several times.")
    var text: [String] = []
    @Option(help: "The language of the texts, as in BCP 47.")
    var language = "en"
    @Argument(help: "A whole message in hexadecimal.")
    var hex: [String] = []

    func validate() throws {
        if hex.isEmpty == (uri.isEmpty && text.isEmpty) {
            throw ValidationError("Give either a message in hexadecimal, or --uri and --text.")
        }
    }

    func message() throws -> NDEFMessage {
        if !hex.isEmpty {
            do {
                return try NDEFMessage(decoding: try Hex.decode(hex.joined(separator: " ")))
            } catch let error as Hex.Failure {
                throw ToolFailure("\(error)", exit: ToolExit.malformed)
            }
        }
        var records: [NDEFRecord] = []
        for uri in uri { records.append(try .uri(uri)) }
        for text in text { records.append(try .text(text, language: language)) }
        return NDEFMessage(records)
    }
}
