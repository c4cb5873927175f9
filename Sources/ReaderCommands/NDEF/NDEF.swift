import ArgumentParser
import ReaderKit
import ToolSupport

struct NDEFCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ndef",
        abstract: "Reads, writes, decodes and encodes NDEF messages.",
        discussion: """
            'read', 'write', 'format', 'lock', 'repair' and 'dump' wait for a tag on a reader; 'decode' and 'encode' \
            need none. 'readerctl help ndef write' and the like have examples.

            With --json an error of those that wait is {"error":{"code":...,"message":...}}, and no tag in time is \
            {"event":"timeout"}.
            """,
        subcommands: [Read.self, Write.self, Format.self, Lock.self, Repair.self, Dump.self, Decode.self, Encode.self]
    )

    struct Decode: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Decodes an NDEF message.",
            discussion: """
                With --json one line {"records":[...]}; each record has tnf, type, payload and where they apply id, uri, \
                text, language, encoding, title and records. Malformed input prints \
                {"error":{"code":...,"offset":...,"message":...}} and exits with 65; with --lenient the records before the \
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
            try out.json(report)
            for record in report.records ?? [] { try out.text(RecordText.describe(record)) }
            if let error = report.error {
                guard report.isAccepted else { throw ToolFailure("\(error)", exit: ToolExit.malformed) }
                out.message("warning: \(error)")
            }
        }
    }

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

        func perform() async throws {
            // Not in validate(), which would hide a slip in an option's name.
            guard message.isGiven else {
                throw ValidationError("Give either a message in hexadecimal, or --uri and --text.")
            }
            let message = try message.message()
            let bytes = try message.encoded()
            try output.output.result(fields: ["ndef": bytes.hex, "records": message.records], text: bytes.hex)
        }
    }
}

extension TagAccess {
    /// What is done to a tag that must not be left half done.
    enum Work {
        case write, format, lock

        var advice: String {
            switch self {
            case .write:
                "The tag may hold the old message, or be empty now. Present it and write it again; "
                    + "'readerctl ndef repair' makes it a clean empty one."
            case .format: "The tag may be half formatted now. Present it and format it again."
            case .lock: "The tag may be half locked now. Present it and lock it again, to bring that to its end."
            }
        }
    }

    /// Does the work, and reports in what state the tag may be if it failed after the tag was touched.
    static func telling(_ output: Output, _ work: Work, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as TagError {
            switch error {
            case .link, .refused, .protected, .notWritten: output.message(work.advice)
            default: break
            }
            throw error
        }
    }
}

struct NDEFMessageOptions: ParsableArguments, Sendable {
    @Option(help: "A URI record. May be given several times.")
    var uri: [String] = []
    @Option(help: "A text record. May be given several times.")
    var text: [String] = []
    @Option(help: "The language of the texts, as in BCP 47.")
    var language = "en"
    @Argument(help: "A whole message in hexadecimal.")
    var hex: [String] = []

    /// Whether there is one, and not two.
    var isGiven: Bool { hex.isEmpty != (uri.isEmpty && text.isEmpty) }

    func message() throws -> NDEFMessage {
        if !hex.isEmpty {
            let bytes = try bytes()
            do {
                return try NDEFMessage(decoding: bytes)
            } catch {
                throw InputMessageError(in: "HEX", error, advice: "Correct the argument.")
            }
        }
        var records: [NDEFRecord] = []
        guard uri.allSatisfy({ !$0.isEmpty }) else {
            throw ToolFailure("--uri needs a URI that is not empty.", exit: ToolExit.malformed)
        }
        for uri in uri { records.append(try .uri(uri)) }
        for text in text { records.append(try .text(text, language: language)) }
        return NDEFMessage(records)
    }

    func bytes() throws -> [UInt8] {
        do {
            return try Hex.decode(hex.joined(separator: " "))
        } catch {
            throw ToolFailure("could not read HEX: \(error)", exit: ToolExit.malformed)
        }
    }
}
