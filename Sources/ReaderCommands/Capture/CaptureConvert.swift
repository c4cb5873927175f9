import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct CaptureConvert: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Makes a capture from a log of another program, or from a transcript.",
        discussion: """
            FORMS
              pcscd       'pcscd --foreground --apdu --debug', syslog, the journal
              libnfc      LIBNFC_LOG_LEVEL=3; of readers on I2C libnfc 1.8 logs no answers
              opensc      OPENSC_DEBUG=9
              pcsc-spy    what 'pcsc-spy' prints
              nfc-pcsc    what its logger prints
              nfcpy       its debug log
              proxmark    'hf 14a list', 'trace list'
              transcript  commands and answers behind marks such as '>' and '<': scriptor, gscriptor, opensc-tool, \
            pyscard, apdu4j, GlobalPlatformPro, 'readerctl apdu', people

            Colours, times, levels and names before the lines, the marks of a mail, UTF-16 and lines that were \
            broken do no harm. \
            Where an answer is missing, damaged or cut, its command has a fault ('!') and the rest is read. Each line that \
            is not in the capture is named on standard error with the reason; a log without any conversation, or without an \
            exchange though it shows bytes, is refused (exit code 65). What cards said is kept as \
            it is: redact it before it is given away.

            EXAMPLES
              readerctl capture convert --from pcscd pcscd.log -o desk.capture
              readerctl capture convert --from transcript --atr 3B8F8001 - <<END
              > FF CA 00 00 00
              < 04 A1 B2 C3 D4 E5 80 90 00
              END

            JSON keys (with --output): file, output, format, presentations, exchanges, faults, lines, skippedLines, \
            skipped (first, last, reason).
            """
    )

    enum Source: String, ExpressibleByArgument, CaseIterable {
        case auto, pcscd, libnfc, opensc, pcscSpy = "pcsc-spy", nfcPCSC = "nfc-pcsc", nfcpy, proxmark, transcript

        var format: CaptureConversion.Format? { CaptureConversion.Format(rawValue: rawValue) }
    }

    @OptionGroup var output: OutputOptions
    @Option(name: .customLong("from"), help: .init("The form of the log; 'auto' finds out.", valueName: "form"))
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
        let exchanges = capture.presentations.flatMap(\.exchanges)
        let faults = exchanges.count { if case .fault = $0.answer { true } else { false } }
        let skipped = conversion.skippedRanges
        if let path {
            try out.result(
                fields: [
                    "file": file, "output": path, "format": conversion.format,
                    "presentations": capture.presentations.count, "exchanges": exchanges.count,
                    "faults": faults, "lines": conversion.lines, "skippedLines": conversion.skippedLines,
                    "skipped": skipped,
                ],
                text: "\(path): " + counted(capture.presentations.count, "presentation") + ", "
                    + counted(exchanges.count, "exchange")
            )
        }
        for (reason, ranges) in Self.grouped(skipped) { out.message("\(ranges): \(reason)") }
        if conversion.capture.presentations.contains(where: { $0.facts.atr == nil && $0.facts.technology == nil }) {
            out.message(
                "The log does not say what kind of card it was: give its answer to reset by --atr, or a replay makes nobody of it."
            )
        }
        out.message(
            "Read as \(conversion.format.title); \(conversion.skippedLines) of "
                + counted(conversion.lines, "line") + " skipped."
        )
    }

    /// The lines of each reason: `lines 1-3, 7`.
    private static func grouped(_ skipped: [CaptureConversion.SkippedLines]) -> [(String, String)] {
        var (reasons, places): ([String], [String: [String]]) = ([], [:])
        for range in skipped {
            if places[range.reason] == nil { reasons.append(range.reason) }
            places[range.reason, default: []].append(
                range.first == range.last ? "\(range.first)" : "\(range.first)-\(range.last)"
            )
        }
        return reasons.map { reason in
            let words = places[reason, default: []].joined(separator: ", ")
            return (reason, (words.contains { $0 == "," || $0 == "-" } ? "lines " : "line ") + words)
        }
    }
}
