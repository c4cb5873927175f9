import CardCore
import CardPasses

/// A capture made from another program's log.
///
/// Lines that contain nothing of a conversation are skipped and counted; bytes that are malformed are an error.
///
/// | format | written by | what it provides |
/// |---|---|---|
/// | ``Format/pcscd`` | `pcscd --apdu`, best with `--debug`; with colours, thread ids, times, or behind the journal's prefix | APDUs with times; readers, ATRs and removals with `--info` or `--debug`; escape commands where the driver logs them |
/// | ``Format/libnfc`` | `LIBNFC_LOG_LEVEL=3` | targets with their facts; APDUs of ISO-DEP targets, raw frames of others; no times |
/// | ``Format/transcript`` | scriptor, gscriptor, opensc-tool, pyscard, GlobalPlatformPro, `readerctl apdu` (with `--json` too), and what people write by hand | APDUs and raw frames |
///
/// A log without times yields presentations that are two seconds apart.
public struct CaptureConversion: Sendable {
    /// The capture, with a `source` header that describes what it was made from.
    public var capture: Capture

    /// What the text was read as.
    public var format: Format

    /// How many lines the text has.
    public var lines: Int

    /// How many of them contain nothing of a conversation, blank ones not counted.
    public var skippedLines: Int

    /// The forms of logs.
    public enum Format: String, Sendable, Hashable, CaseIterable, Codable {
        case pcscd
        case libnfc
        case transcript
    }

    /// Reads a log.
    ///
    /// - Parameters:
    ///   - text: the log. It need not be UTF-8; line ends may be CRLF.
    ///   - format: its form, or `nil` to find out.
    ///   - reader: the name of the reader where the log has none.
    ///   - atr: the ATR of cards for which the log contains none.
    /// - Throws: ``CaptureError`` with the place of the first malformed byte; of code
    ///   ``CaptureError/Code/notACapture`` if there is no conversation in it.
    public init(
        _ text: [UInt8],
        format: Format? = nil,
        file: String? = nil,
        reader: String? = nil,
        atr: [UInt8]? = nil
    ) throws(CaptureError) {
        let lines = try LogLine.split(text, file: file)
        if let line = Self.captureLine(lines) {
            throw line.error(.notACapture, at: 0, "this is a capture already, and no log")
        }
        let format = format ?? Self.format(of: lines)
        var builder = ConversionBuilder(file: file, reader: reader, atr: atr)
        switch format {
        case .pcscd: try PCSCDLog.read(lines, into: &builder)
        case .libnfc: try LibNFCLog.read(lines, into: &builder)
        case .transcript: try TranscriptLog.read(lines, into: &builder)
        }
        capture = builder.finish(format)
        self.format = format
        self.lines = lines.count
        skippedLines = max(0, lines.count { !$0.isBlank } - builder.usedLines)
        guard !capture.presentations.isEmpty else {
            let message = "no card and no command was found in it, read as \(format.title)"
            throw CaptureError(file: file, line: 1, column: 1, code: .notACapture, message: message)
        }
        let length = capture.text().utf8.count
        guard length <= CaptureLimits.fileLength else {
            let message = "the capture would have \(length) bytes, \(CaptureLimits.fileLength) are allowed"
            throw CaptureError(file: file, line: 1, column: 1, code: .fileTooLong, message: message)
        }
    }

    /// The line `capture N` with which a capture begins.
    private static func captureLine(_ lines: [LogLine]) -> LogLine? {
        let first = lines.first { !$0.isBlank && $0.bytes.first { !CaptureCursor.isSpace($0) } != UInt8(ascii: "#") }
        guard let first else { return nil }
        let words = first.text(from: 0).split(whereSeparator: \.isWhitespace)
        return words.count == 2 && words[0] == "capture" && Int(words[1]) != nil ? first : nil
    }

    private static func format(of lines: [LogLine]) -> Format {
        for line in lines.prefix(2000) {
            if line.contains("libnfc.") || LibNFCLog.isBareFrame(line) { return .libnfc }
            if PCSCDLog.isOne(line) { return .pcscd }
        }
        return .transcript
    }
}

extension CaptureConversion.Format {
    /// The name for people.
    public var title: String { self == .transcript ? "a transcript" : "a \(rawValue) log" }
}
