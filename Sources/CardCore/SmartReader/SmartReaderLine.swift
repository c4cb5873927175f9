/// One line of a reader in Smart Reader mode, understood.
public enum SmartReaderLine: Sendable, Hashable {
    /// The reader says what it read.
    case tag(SmartReaderTag)
    /// The reader says that it is there: after its start, or an empty message.
    case greeting

    /// Reads a line, without its end.
    ///
    /// A line is what its beginning says: `$` a `$SCRDR` line, `{` a JSON object, `+` or `#` MK1, and anything else plain
    /// text. A JSON object that has none of a reader's names is plain text too, for it may have been read from a tag.
    ///
    /// - Parameters:
    ///   - text: the line. White space at its ends does not count.
    ///   - format: the format that the line must have; `nil` takes any.
    /// - Throws: ``SmartReaderLineError`` with the place of the first fault.
    public init(decoding text: String, as format: SmartReaderFormat? = nil) throws(SmartReaderLineError) {
        let bytes = Array(text.utf8)
        guard bytes.count <= SmartReaderLimits.lineLength else {
            throw SmartReaderLineError(.tooLong, at: SmartReaderLimits.lineLength)
        }
        let start = bytes.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.endIndex
        let end = (bytes.lastIndex { $0 != 0x20 && $0 != 0x09 } ?? -1) + 1
        guard start < end else { throw SmartReaderLineError(.empty, at: 0) }
        let line = bytes[start..<end]
        switch format ?? Self.format(of: line) {
        case .scrdr: self = try Self.scrdr(line)
        case .json:
            if let known = try Self.json(line) {
                self = known
            } else {
                self = try Self.notATag(line, allowsPlain: format == nil)
            }
        case .mk1: self = try Self.mk1(line)
        case .plain: self = .tag(SmartReaderTag(id: try Self.plain(line)))
        }
    }

    /// Whether a line is a tap: a line that cannot be read is one of which nothing is known; one that reports that a card
    /// went, or that the reader is there, is none.
    package static func isTap(_ text: String) -> Bool {
        guard let line = try? SmartReaderLine(decoding: text) else { return true }
        if case .tag(let tag) = line { return tag.move != .remove }
        return false
    }

    /// The format that the beginning of a line shows.
    package static func format(of line: ArraySlice<UInt8>) -> SmartReaderFormat {
        switch line.first {
        case UInt8(ascii: "$"): .scrdr
        case UInt8(ascii: "{"): .json
        case UInt8(ascii: "+"), UInt8(ascii: "#"): .mk1
        default: .plain
        }
    }

    private static func notATag(
        _ line: ArraySlice<UInt8>,
        allowsPlain: Bool
    ) throws(SmartReaderLineError) -> SmartReaderLine {
        guard allowsPlain else { throw SmartReaderLineError(.noIdentifier, at: line.endIndex) }
        return .tag(SmartReaderTag(id: try plain(line)))
    }

    private static func mk1(_ line: ArraySlice<UInt8>) throws(SmartReaderLineError) -> SmartReaderLine {
        let rest = line.dropFirst()
        switch line.first {
        case UInt8(ascii: "#"):
            // "# M519/RDR" after the reader's start.
            guard Array(rest).suffix(4) == Array("/RDR".utf8) else {
                throw SmartReaderLineError(.wrongBeginning, at: line.startIndex)
            }
            return .greeting
        case UInt8(ascii: "+"):
            let id = try plain(rest)
            guard !id.isEmpty else { throw SmartReaderLineError(.noIdentifier, at: rest.startIndex) }
            return .tag(SmartReaderTag(id: id))
        default: throw SmartReaderLineError(.wrongBeginning, at: line.startIndex)
        }
    }

    /// Text that people can read, of any language.
    static func plain(_ line: ArraySlice<UInt8>) throws(SmartReaderLineError) -> String {
        guard let text = String(validating: line, as: UTF8.self) else {
            let place = line.firstIndex { $0 >= 0x80 } ?? line.startIndex
            throw SmartReaderLineError(.notPrintable, at: place)
        }
        var offset = line.startIndex
        for scalar in text.unicodeScalars {
            // The replacement character is what is left of bytes that were no text.
            if scalar.properties.generalCategory == .control && scalar != "\t" || scalar == "\u{FFFD}" {
                throw SmartReaderLineError(.notPrintable, at: offset)
            }
            offset += String(scalar).utf8.count
        }
        return text.trimmed
    }
}
