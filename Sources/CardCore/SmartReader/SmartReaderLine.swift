/// One line of a reader in Smart Reader mode, understood.
public enum SmartReaderLine: Sendable, Hashable {
    /// The reader describes what it read.
    case tag(SmartReaderTag)
    /// The reader states that it is there: after its start, or an empty message.
    case greeting

    /// Reads a line, without its end.
    ///
    /// Its beginning identifies a line: `$` a `$SCRDR` line, `{` a JSON object, `+` or `#` MK1, and anything else plain
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
                guard format == nil else { throw SmartReaderLineError(.noIdentifier, at: line.endIndex) }
                self = .tag(SmartReaderTag(id: try Self.plain(line)))
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

extension SmartReaderTag {
    /// The line that a reader sends for this, without its end.
    ///
    /// MK1 and plain text hold one value alone: what the template read, or else the identifier.
    ///
    /// - Throws: ``SmartReaderLineError/Code/notEncodable`` for a character that the format cannot hold: anything but
    ///   printable ASCII, and `$`, `*` and `;`, in a `$SCRDR` line; control characters in MK1 and plain text.
    public func line(as format: SmartReaderFormat) throws(SmartReaderLineError) -> String {
        let text: String
        switch format {
        case .scrdr: text = try scrdr()
        case .json: text = json()
        case .mk1: text = "+" + (try value())
        case .plain: text = try value()
        }
        guard text.utf8.count <= SmartReaderLimits.lineLength else {
            throw SmartReaderLineError(.tooLong, at: SmartReaderLimits.lineLength)
        }
        return text
    }

    private func value() throws(SmartReaderLineError) -> String {
        let value = data ?? id
        guard !value.isEmpty else { throw SmartReaderLineError(.noIdentifier, at: 0) }
        guard let place = value.utf8.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) else { return value }
        throw SmartReaderLineError(.notEncodable, at: value.utf8.distance(from: value.utf8.startIndex, to: place))
    }

    private func scrdr() throws(SmartReaderLineError) -> String {
        let number = Self.protocols.first { $0.name == radioProtocol }?.number ?? radioProtocol
        let fields = [
            interface == "13.56" ? "01" : interface, number, template.map { Hex.encode([$0]) },
            rssi.map { Hex.encode([UInt8(truncatingIfNeeded: $0)]) }, id, move?.rawValue, data, details,
        ]
        var line = SmartReaderLine.mark
        for field in fields {
            line.append(UInt8(ascii: ";"))
            for byte in (field ?? "").utf8 {
                guard (0x20...0x7E).contains(byte), !"$*;".utf8.contains(byte) else {
                    throw SmartReaderLineError(.notEncodable, at: line.count)
                }
                line.append(byte)
            }
        }
        line += [UInt8(ascii: "*")] + SmartReaderChecksum.text(line[...])
        return String(decoding: line, as: UTF8.self)
    }

    private func json() -> String {
        let name = Self.protocols.first { $0.number == radioProtocol }?.name ?? radioProtocol
        let moves: [Move: String] = [.insert: "Insert", .remove: "Remove", .insertAndRemove: "Insert,Remove"]
        let values: [(String, String?)] = [
            ("Interface", interface.map(Self.quoted)), ("Protocol", name.map(Self.quoted)),
            ("Template", template.map { "\($0)" }), ("RSSI", rssi.map { "\($0)" }), ("TagId", Self.quoted(id)),
            ("Move", move.flatMap { moves[$0] }.map(Self.quoted)), ("TagData", data.map(Self.quoted)),
            ("TagDetails", details.map(Self.quoted)), ("Uptime", uptime.map(Self.quoted)),
        ]
        let members = values.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return "{\(members.joined(separator: ","))}"
    }

    /// A JSON string.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20: result += "\\u00\(Hex.encode([UInt8(scalar.value)]))"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension SmartReaderLine {
    /// Reads a JSON object, or returns `nil` if it has none of a reader's names.
    static func json(_ line: ArraySlice<UInt8>) throws(SmartReaderLineError) -> SmartReaderLine? {
        guard line.first == UInt8(ascii: "{") else { throw SmartReaderLineError(.wrongBeginning, at: line.startIndex) }
        let values = try SmartReaderJSON(line).values
        func text(_ names: String...) -> String? {
            names.lazy.compactMap { values[$0]?.text.trimmed }.first { !$0.isEmpty }
        }
        guard values["tagid"] != nil || values["tagdata"] != nil else {
            // A reader describes itself so when it starts.
            if values["vendorname"] != nil, values["serialnumber"] != nil { return .greeting }
            guard values["interface"] == nil, values["protocol"] == nil, values["template"] == nil else {
                throw SmartReaderLineError(.noIdentifier, at: line.endIndex)
            }
            return nil
        }
        let tag = SmartReaderTag(
            interface: text("interface"),
            radioProtocol: text("protocol"),
            template: try number(values["template"], UInt8.self),
            rssi: try number(values["rssi"], Int.self),
            id: text("tagid") ?? "",
            move: try move(values["move"] ?? values["state"]),
            data: text("tagdata"),
            details: text("tagdetails"),
            uptime: text("uptime")
        )
        return try named(tag, at: values["tagid"]?.place ?? line.endIndex)
    }

    /// A line of a tag identifies it, unless the tag went.
    private static func named(_ tag: SmartReaderTag, at place: Int) throws(SmartReaderLineError) -> SmartReaderLine {
        guard !tag.id.isEmpty || tag.data != nil || tag.move == .remove else {
            throw SmartReaderLineError(.noIdentifier, at: place)
        }
        return .tag(tag)
    }

    private static func number<Number: FixedWidthInteger>(
        _ value: (text: String, place: Int)?,
        _ type: Number.Type
    ) throws(SmartReaderLineError) -> Number? {
        guard let value, !value.text.isEmpty else { return nil }
        guard let number = Number(value.text) else { throw SmartReaderLineError(.invalidField, at: value.place) }
        return number
    }

    /// `Insert`, `Remove`, or both.
    private static func move(
        _ value: (text: String, place: Int)?
    ) throws(SmartReaderLineError) -> SmartReaderTag.Move? {
        guard let value, !value.text.trimmed.isEmpty else { return nil }
        let words = value.text.lowercased().split { $0 == "," || $0 == "/" }.map(\.trimmed)
        switch words {
        case ["insert"]: return .insert
        case ["remove"]: return .remove
        case ["insert", "remove"]: return .insertAndRemove
        default: throw SmartReaderLineError(.invalidField, at: value.place)
        }
    }
}

extension SmartReaderLine {
    /// What such a line begins with.
    static let mark = Array("$SCRDR".utf8)
    /// The fields behind the mark.
    static let fields = 8

    /// Reads a `$SCRDR` line.
    static func scrdr(_ line: ArraySlice<UInt8>) throws(SmartReaderLineError) -> SmartReaderLine {
        if let place = line.firstIndex(where: { !(0x20...0x7E).contains($0) }) {
            throw SmartReaderLineError(.notPrintable, at: place)
        }
        guard line.starts(with: mark) else { throw SmartReaderLineError(.wrongBeginning, at: line.startIndex) }
        guard let star = line.lastIndex(of: UInt8(ascii: "*")), line.endIndex - star == 3 else {
            throw SmartReaderLineError(.noCheckByte, at: line.endIndex)
        }
        let check = line[(star + 1)...]
        guard check.allSatisfy({ hexDigit($0) != nil }) else { throw SmartReaderLineError(.noCheckByte, at: star + 1) }
        let digits = Array(String(decoding: check, as: UTF8.self).uppercased().utf8)
        guard digits == SmartReaderChecksum.text(line[..<star]) else {
            throw SmartReaderLineError(.wrongCheckByte, at: star + 1)
        }

        let body = line[(line.startIndex + mark.count)..<star]
        let parts = body.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        // An empty message notifies whoever has just connected that the reader is there.
        if body.allSatisfy({ $0 == UInt8(ascii: ";") }) { return .greeting }
        guard parts.count == fields + 1, parts[0].isEmpty else {
            throw SmartReaderLineError(.fieldCount, at: parts[0].isEmpty ? star : body.startIndex)
        }
        let tag = SmartReaderTag(
            interface: try number(parts[1]),
            radioProtocol: try number(parts[2]),
            template: try number(parts[3]).flatMap { UInt8($0, radix: 16) },
            rssi: try rssi(parts[4]),
            id: String(decoding: parts[5], as: UTF8.self).trimmed,
            move: try move(parts[6]),
            data: text(parts[7]),
            details: text(parts[8])
        )
        return try named(tag, at: parts[5].startIndex)
    }

    static func hexDigit(_ byte: UInt8) -> Int? { Character(Unicode.Scalar(byte)).hexDigitValue }

    private static func text(_ field: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: field, as: UTF8.self).trimmed
        return text.isEmpty ? nil : text
    }

    /// A byte as one or two hexadecimal digits.
    private static func number(_ field: ArraySlice<UInt8>) throws(SmartReaderLineError) -> String? {
        guard !field.isEmpty else { return nil }
        guard field.count <= 2, field.allSatisfy({ hexDigit($0) != nil }) else {
            throw SmartReaderLineError(.invalidField, at: field.startIndex)
        }
        let digits = String(decoding: field, as: UTF8.self).uppercased()
        return digits.count == 1 ? "0" + digits : digits
    }

    /// A byte in hexadecimal, or a negative number of decibels as some versions write it.
    private static func rssi(_ field: ArraySlice<UInt8>) throws(SmartReaderLineError) -> Int? {
        if field.first == UInt8(ascii: "-") {
            guard let value = Int8(String(decoding: field, as: UTF8.self)) else {
                throw SmartReaderLineError(.invalidField, at: field.startIndex)
            }
            return Int(value)
        }
        return try number(field).flatMap { UInt8($0, radix: 16) }.map { Int(Int8(bitPattern: $0)) }
    }

    private static func move(_ field: ArraySlice<UInt8>) throws(SmartReaderLineError) -> SmartReaderTag.Move? {
        let text = String(decoding: field, as: UTF8.self).trimmed
        guard !text.isEmpty else { return nil }
        guard let move = SmartReaderTag.Move(rawValue: text) else {
            throw SmartReaderLineError(.invalidField, at: field.startIndex)
        }
        return move
    }
}

/// Limits that hold for whatever a reader in Smart Reader mode sends.
public enum SmartReaderLimits {
    /// The longest line, in bytes, without its end. A longer one is dropped up to its end.
    public static let lineLength = 8192

    /// How many objects and arrays of a JSON line may lie within each other.
    public static let jsonDepth = 8

    /// The longest identifier that is taken for that of a card, in bytes; ISO/IEC 14443-3 has 10 at most.
    public static let identifierLength = 16
}

/// The check byte of a `$SCRDR` line: the exclusive or of the characters between `$` and `*`.
package enum SmartReaderChecksum {
    /// The check byte of what stands before the `*`, the `$` included, as two upper-case digits.
    ///
    /// - Parameter skipsMark: whether the `$` is left out, as it should be.
    package static func text(_ line: ArraySlice<UInt8>, skipsMark: Bool = true) -> [UInt8] {
        Array(Hex.encode([(skipsMark ? line.dropFirst() : line).reduce(0, ^)]).utf8)
    }
}
