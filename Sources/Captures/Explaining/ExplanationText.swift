import CardCore

enum ExplanationText {
    /// The most characters of a value that are shown, unless more are asked for.
    static let longestValue = 64

    /// Some bytes in hexadecimal, cut behind so many digits.
    static func hex(_ bytes: [UInt8], longest: Int? = longestValue) -> String {
        let count = longest.map { max(1, $0 / 2) } ?? bytes.count
        guard bytes.count > count else { return bytes.hex }
        return Hex.encode(bytes.prefix(count)) + "…"
    }

    /// A text in quotation marks, cut, with nothing in it that could steer a terminal.
    static func quote(_ text: String, longest: Int? = longestValue) -> String {
        let count = longest.map { max(1, $0) } ?? text.unicodeScalars.count
        var quoted = "\""
        for scalar in text.unicodeScalars.prefix(count) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + (text.unicodeScalars.count > count ? "…\"" : "\"")
    }

    /// The text that some bytes are, if all of them are visible ASCII characters.
    static func ascii(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `1 byte`, `2 bytes`.
    static func count(_ number: Int, _ noun: String = "byte") -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    static func list(_ items: [String], none: String = "nothing") -> String {
        items.isEmpty ? none : items.joined(separator: ", ")
    }

    static func bits(_ byte: UInt8, _ names: KeyValuePairs<UInt8, String>, none: String = "nothing") -> String {
        let known = names.reduce(UInt8(0)) { $0 | $1.key }
        var items = names.filter { byte & $0.key != 0 }.map(\.value)
        if byte & ~known != 0 { items.append("unknown bits \([byte & ~known].hex)") }
        return list(items, none: none)
    }

    /// The number that some bytes are, the most significant first; `nil` for more than four.
    static func number(_ bytes: [UInt8]) -> Int? {
        (1...4).contains(bytes.count) ? bytes.number(at: 0, count: bytes.count) : nil
    }
}

extension ExplainedField {
    /// Lines for people, this one and its parts below it, each further in than the one that it belongs to.
    ///
    /// - Parameters:
    ///   - indentation: how many spaces stand before the first line.
    ///   - longestValue: how many characters of a value are shown; `nil` for all.
    public func text(indentation: Int = 0, longestValue: Int? = 64) -> String {
        var line = String(repeating: " ", count: max(0, indentation))
        line += offset.map { "[\($0), \(length)] " } ?? "[\(isJoined ? "joined, " : "")\(length)] "
        line += name
        if let text {
            line += " = " + ExplanationText.quote(text, longest: longestValue)
        } else if let bytes, !bytes.isEmpty {
            line += " = " + ExplanationText.hex(bytes, longest: longestValue)
        }
        if let meaning { line += ": " + meaning }
        let parts = fields.map { $0.text(indentation: indentation + 2, longestValue: longestValue) }
        return ([line] + parts).joined(separator: "\n")
    }
}

extension ExplainedLine {
    /// Lines for people: the line of the capture with its number, what it is, and its parts further in.
    ///
    /// - Parameter longestValue: how many characters of a value are shown, `nil` for all; of the line itself twice as many.
    public func text(longestValue: Int? = 64) -> String {
        let number = line.map(String.init) ?? "-"
        let longest = longestValue.map { 2 * min(max(1, $0), 1 << 20) } ?? statement.count
        let cut = statement.count > longest ? statement.prefix(longest) + "…" : statement[...]
        let head = String(repeating: " ", count: max(0, 5 - number.count)) + number + "  " + cut
        let parts = fields.map { $0.text(indentation: 11, longestValue: longestValue) }
        return ([head, "         " + title] + parts).joined(separator: "\n")
    }
}

/// Lines of a reader in Smart Reader mode.
enum ReportText {
    static func message(_ line: String) -> ExplainedExchange.Message {
        do throws(SmartReaderLineError) {
            switch try SmartReaderLine(decoding: line) {
            case .greeting: return .init("the reader says that it is there")
            case .tag(let tag): return .init(title(tag), fields(tag))
            }
        } catch {
            let fault = ExplainedField(name: "not read", length: line.utf8.count, meaning: "\(error)")
            return .init("a line that is not well formed", [fault])
        }
    }

    private static func title(_ tag: SmartReaderTag) -> String {
        switch (tag.move, tag.template) {
        case (.remove?, _): "the reader reports that a card went"
        case (_, 0xD1?): "the reader reports a pass of Apple Wallet"
        case (_, 0xD2?): "the reader reports a pass of Google Wallet"
        default: "the reader reports a card"
        }
    }

    private static func fields(_ tag: SmartReaderTag) -> [ExplainedField] {
        func field(_ name: String, _ text: String?, _ meaning: String? = nil) -> ExplainedField? {
            text.map { ExplainedField(name: name, length: $0.utf8.count, text: $0, meaning: meaning) }
        }
        let uid = tag.identifierBytes.map { CardUID(readerBytes: $0, technology: tag.technology) }
        let kind = uid.flatMap { CardUID.lengths.contains($0.bytes.count) ? ReaderExplainer.text(of: $0.kind) : nil }
        return [
            field("interface", tag.interface), field("protocol", tag.radioProtocol, tag.technology?.rawValue),
            field("template", tag.template.map { [$0].hex }, tag.template.map(template)),
            field("identifier", tag.id.isEmpty ? nil : tag.id, kind),
            field("what the card did", tag.move?.rawValue, tag.move.flatMap { moves[$0] }), field("data", tag.data),
            field("details", tag.details), field("strength", tag.rssi.map { "\($0)" }),
            field("the reader's clock", tag.uptime),
        ].compactMap(\.self)
    }

    private static func template(_ number: UInt8) -> String {
        switch number {
        case 0: "none"
        case 1...4: "as it is numbered in the reader: what it reads is not told"
        case 0xD1: "Apple VAS"
        case 0xD2: "Google Smart Tap"
        case 0x40...0x4F: "NDEF"
        default: "what the template looks for"
        }
    }

    private static let moves: [SmartReaderTag.Move: String] = [
        .insert: "it came", .remove: "it went", .insertAndRemove: "it came and went",
    ]
}
