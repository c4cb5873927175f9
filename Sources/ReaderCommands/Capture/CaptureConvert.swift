import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct CaptureConvert: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Makes a capture from a log of pcscd or libnfc, or from a transcript.",
        discussion: """
            pcscd: what 'pcscd --foreground --apdu --debug' prints, with or without colours, or as the journal keeps it. \
            libnfc: what a program prints with LIBNFC_LOG_LEVEL=3. A transcript: commands and answers behind marks such \
            as '>' and '<', as scriptor, opensc-tool, pyscard, 'readerctl apdu' and people write them.

            Lines that are not part of a conversation are skipped and counted. Malformed bytes are an error with line and \
            column (exit code 65). What cards said is kept as it is: redact it before it is given away.

            EXAMPLES
              readerctl capture convert --from pcscd pcscd.log -o desk.capture
              readerctl capture convert --from transcript --atr 3B8F8001 - <<END
              > FF CA 00 00 00
              < 04 A1 B2 C3 D4 E5 80 90 00
              END

            JSON keys (with --output): file, output, format, presentations, exchanges, lines, skippedLines.
            """
    )

    enum Source: String, ExpressibleByArgument, CaseIterable {
        case auto, pcscd, libnfc, transcript

        var format: CaptureConversion.Format? { CaptureConversion.Format(rawValue: rawValue) }
    }

    @OptionGroup var output: OutputOptions
    @Option(name: .customLong("from"), help: "The form of the log; 'auto' finds out.")
    var source: Source = .auto
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: "The file to write; '-' is standard output.",
        completion: .file(extensions: ["capture"])
    )
    var destination: String?
    @Flag(help: "Replace the output file if it exists.")
    var force = false
    @Option(help: "The name of the reader, where the log has none.")
    var reader: String?
    @Option(
        help: "The ATR of the cards in hexadecimal, where the log has none.",
        transform: { text in
            guard let bytes = try? Hex.decode(text), (2...ReaderLimits.atrLength).contains(bytes.count) else {
                throw ValidationError("'\(text)' is no ATR in hexadecimal.")
            }
            return bytes
        }
    )
    var atr: [UInt8]?
    @Option(help: "A title for the capture.")
    var title: String?
    @Option(help: "The licence of the capture, as in SPDX.")
    var license: String?
    @Argument(help: "The log; '-' is standard input.", completion: .file())
    var file: String

    /// The file to write, or `nil` for standard output.
    private var path: String? { destination == "-" ? nil : destination }

    func validate() throws {
        if output.json, path == nil {
            throw ValidationError("With --json the capture needs another place: give --output.")
        }
    }

    func perform(_ out: Output) async throws {
        let text = try CaptureFiles.bytes(of: file == "-" ? "/dev/stdin" : file)
        let conversion = try CaptureConversion(text, format: source.format, file: file, reader: reader, atr: atr)
        var capture = conversion.capture
        if let license { capture.headers.append(.init("license", license)) }
        if let title { capture.headers.insert(.init("title", title), at: 0) }
        try capture.write(to: path, force: force)
        let exchanges = capture.presentations.reduce(0) { $0 + $1.exchanges.count }
        if let path {
            try out.result(
                fields: [
                    "file": file, "output": path, "format": conversion.format,
                    "presentations": capture.presentations.count, "exchanges": exchanges,
                    "lines": conversion.lines, "skippedLines": conversion.skippedLines,
                ],
                text: "\(path): " + counted(capture.presentations.count, "presentation") + ", "
                    + counted(exchanges, "exchange")
            )
        }
        out.message(
            "Read as \(conversion.format.title); \(conversion.skippedLines) of "
                + counted(conversion.lines, "line") + " skipped."
        )
    }
}
