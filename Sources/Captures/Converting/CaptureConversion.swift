import CardCore
import CardPasses

/// A capture made from another program's log.
///
/// Each line of the log ends as a part of the capture, as a fault in it, or in ``skipped`` with the reason: where bytes
/// are damaged or missing, the command that they answer has a fault, and what comes behind is read.
///
/// | format | written by | what it provides |
/// |---|---|---|
/// | ``Format/pcscd`` | `pcscd --apdu`, best with `--debug`; with colours, thread ids, times, or in syslog and the journal | APDUs with times; readers, ATRs and removals with `--info` or `--debug`; escape commands where the driver logs them |
/// | ``Format/libnfc`` | `LIBNFC_LOG_LEVEL=3`, with readers on UART, SPI, USB and PC/SC | targets with their facts; APDUs of ISO-DEP targets, raw frames of others; no times |
/// | ``Format/openSC`` | OpenSC with `OPENSC_DEBUG=9` | APDUs |
/// | ``Format/pcscSpy`` | `pcsc-spy` | APDUs, escape commands, the reader, ATRs |
/// | ``Format/nfcPCSC`` | nfc-pcsc with a logger | APDUs, escape commands, ATRs, removals |
/// | ``Format/nfcpy`` | nfcpy with its debug log | targets; APDUs of Type 4 tags, raw frames of others |
/// | ``Format/proxmark`` | a Proxmark's `hf 14a list`, `trace list` | targets; APDUs of ISO-DEP targets, raw frames of others |
/// | ``Format/transcript`` | scriptor, gscriptor, opensc-tool, pyscard, apdu4j, GlobalPlatformPro, `readerctl apdu` (with `--json` too), and what people write by hand | APDUs and raw frames |
///
/// A log without times yields presentations that are two seconds apart.
public struct CaptureConversion: Sendable {
    /// The capture, with a `source` header that describes what it was made from.
    public var capture: Capture

    /// What the text was read as.
    public var format: Format

    /// How many lines the text has.
    public var lines: Int

    /// The lines that are not in the capture, in their order, with the reasons, blank ones not counted. A line that has
    /// no part in a conversation is one of them.
    public var skipped: [CaptureError]

    /// How many lines are not in the capture, blank ones not counted.
    public var skippedLines: Int { skipped.count }

    /// Neighbouring lines that are not in the capture for the same reason.
    public struct SkippedLines: Sendable, Hashable, Codable {
        /// The number of the first line.
        public var first: Int
        /// The number of the last line.
        public var last: Int
        /// Why they are not in the capture.
        public var reason: String
    }

    /// The lines that are not in the capture, those beside each other together.
    public var skippedRanges: [SkippedLines] {
        skipped.reduce(into: []) { ranges, line in
            if let range = ranges.last, range.last + 1 == line.line, range.reason == line.message {
                ranges[ranges.count - 1].last = line.line
            } else {
                ranges.append(SkippedLines(first: line.line, last: line.line, reason: line.message))
            }
        }
    }

    /// The forms of logs.
    public enum Format: String, Sendable, Hashable, CaseIterable, Codable {
        case pcscd
        case libnfc
        case openSC = "opensc"
        case pcscSpy = "pcsc-spy"
        case nfcPCSC = "nfc-pcsc"
        case nfcpy
        case proxmark
        case transcript

        /// Whether it is read as commands and answers behind marks.
        var isTranscript: Bool { ![.pcscd, .libnfc, .proxmark].contains(self) }
    }

    /// The reason for a line that has no part in a conversation.
    public static let noConversation = "no part of a conversation"

    /// Reads a log.
    ///
    /// - Parameters:
    ///   - text: the log. It need not be UTF-8, and may be UTF-16; line ends may be LF, CRLF or CR.
    ///   - format: its form, or `nil` to find out.
    ///   - reader: the name of the reader where the log has none.
    ///   - atr: the ATR of cards for which the log contains none.
    /// - Throws: ``CaptureError`` with the place of the first malformed byte if nothing of a conversation can be read; of
    ///   code ``CaptureError/Code/notACapture`` if there is none in it.
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
        let found = Self.read(lines, as: format, ConversionBuilder(file: file, reader: reader, atr: atr))
        var (builder, format) = found[0]
        capture = builder.finish(format)
        self.format = format
        self.lines = lines.count
        skipped = builder.skipped(lines)
        guard !capture.presentations.isEmpty else {
            if builder.emptiness == nil, let first = skipped.first(where: { $0.code != .trailingText }) { throw first }
            let forms = Format.allCases.map(\.title).joined(separator: ", ")
            let message =
                builder.emptiness
                ?? "no card and no command was found in it, read as \(format.title); the forms that are known are \(forms)"
            throw CaptureError(file: file, line: 1, column: 1, code: .notACapture, message: message)
        }
        let unread = skipped.indices.filter {
            [Self.noConversation, ConversionBuilder.loose].contains(skipped[$0].message)
        }
        // What the log says in another form.
        for (other, format) in found.dropFirst() where other.answers > 0 {
            let others = Set(other.skipped(lines).map(\.line))
            for index in unread where !others.contains(skipped[index].line) {
                skipped[index].message =
                    "this is in the form of \(format.title): convert it with --from \(format.rawValue)"
            }
        }
        if format.isTranscript, capture.presentations.allSatisfy(\.exchanges.isEmpty),
            let line = unread.map({ lines[skipped[$0].line - 1] }).first(where: \.hasMarkedBytes)
        {
            let message = """
                no command was read: it is not known what stands before these bytes. Take that away from all lines, so that \
                they begin with the mark
                """
            throw line.error(.unknownStatement, at: line.start, message)
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

    /// What a line of each form says, in the order in which they are looked for.
    private static let signs: [(format: Format, texts: [StaticString])] = [
        (.libnfc, ["libnfc."]), (.nfcPCSC, ["transmitting <Buffer", "response received <Buffer", "inserted <Buffer"]),
        (.openSC, ["Outgoing APDU", "Incoming APDU"]), (.pcscSpy, ["bSendBuffer", "bRecvBuffer"]),
        (.nfcpy, ["[nfc.", "nfc.clf", "nfc.tag"]),
    ]

    /// Reads a log in the forms that it shows: the first one, or another that makes more of it, stands before the others.
    private static func read(
        _ lines: [LogLine],
        as format: Format?,
        _ empty: ConversionBuilder
    ) -> [(builder: ConversionBuilder, format: Format)] {
        var found: [(builder: ConversionBuilder, format: Format)] = []
        for format in format.map({ [$0] }) ?? formats(of: lines) {
            // All of these are read alike.
            if format.isTranscript, found.contains(where: \.format.isTranscript) { continue }
            var builder = empty
            switch format {
            case .pcscd: PCSCDLog.read(lines, into: &builder)
            case .libnfc: LibNFCLog.read(lines, into: &builder)
            case .proxmark: ProxmarkLog.read(lines, into: &builder)
            case .openSC, .pcscSpy, .nfcPCSC, .nfcpy, .transcript: TranscriptLog.read(lines, into: &builder)
            }
            let isBest = found.first.map { builder.answers > $0.builder.answers } ?? true
            found.insert((builder, format), at: isBest ? 0 : found.count)
        }
        return found
    }

    /// The forms that lines of a log are in, the first one first; a transcript can stand in any.
    private static func formats(of lines: [LogLine]) -> [Format] {
        var found: [Format] = []
        for line in lines.prefix(2000) {
            let sign = signs.first { $0.texts.contains { line.contains($0) } }?.format
            let form =
                sign ?? (LibNFCLog.isBareFrame(line) ? .libnfc : nil) ?? (ProxmarkLog.isOne(line) ? .proxmark : nil)
                ?? (PCSCDLog.isOne(line) ? .pcscd : nil)
            if let form, !found.contains(form) { found.append(form) }
        }
        return found + [.transcript]
    }
}

extension CaptureConversion.Format {
    /// The name for people.
    public var title: String {
        switch self {
        case .transcript: "a transcript"
        case .openSC: "an OpenSC log"
        case .nfcPCSC: "an nfc-pcsc log"
        case .nfcpy: "an nfcpy log"
        case .proxmark: "a Proxmark list"
        case .pcscd, .libnfc, .pcscSpy: "a \(rawValue) log"
        }
    }
}
