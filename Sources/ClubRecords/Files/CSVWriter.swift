/// Writes comma-separated values (RFC 4180) with what ``CSVCell`` says of their content.
///
/// As in files of the original library, rows are divided by LF and the last one ends without: a line behind it would
/// be a member to programs that do not skip empty lines.
package struct CSVWriter {
    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")

    private var isFirstRow = true
    private var isFirstCell = true

    package init() {}

    package mutating func beginRow(_ csv: inout [UInt8]) {
        if !isFirstRow { csv.append(0x0A) }
        isFirstRow = false
        isFirstCell = true
    }

    /// A cell with nothing in it, which says nothing.
    package mutating func skip(_ csv: inout [UInt8]) {
        if !isFirstCell { csv.append(Self.comma) }
        isFirstCell = false
    }

    package mutating func null(_ csv: inout [UInt8]) {
        skip(&csv)
        csv.append(contentsOf: CSVCell.null)
    }

    /// A number, or what else is no text of a person and needs no quotes.
    package mutating func plain(_ csv: inout [UInt8], _ body: (inout [UInt8]) -> Void) {
        skip(&csv)
        body(&csv)
    }

    /// A text.
    ///
    /// - Parameter marksEmpty: whether an empty one stands in quotes, so that it differs from a cell that says nothing.
    package mutating func text(_ text: UnsafeBufferPointer<UInt8>, marksEmpty: Bool, _ csv: inout [UInt8]) {
        skip(&csv)
        let isGuarded = CSVCell.isGuarded(text)
        guard isGuarded || marksEmpty && text.isEmpty || text.contains(where: Self.needsQuotes) else {
            csv.append(contentsOf: text)
            return
        }
        csv.append(Self.quote)
        if isGuarded { csv.append(UInt8(ascii: "'")) }
        for byte in text {
            if byte == Self.quote { csv.append(byte) }
            csv.append(byte)
        }
        csv.append(Self.quote)
    }

    package mutating func text(_ text: String, marksEmpty: Bool, _ csv: inout [UInt8]) {
        var text = text
        text.withUTF8 { self.text($0, marksEmpty: marksEmpty, &csv) }
    }

    /// The value of a custom field.
    package mutating func value(_ value: FieldValue?, _ csv: inout [UInt8]) {
        switch value {
        case nil: skip(&csv)
        case .null: null(&csv)
        case .string(let text): self.text(text, marksEmpty: true, &csv)
        case .array, .object:
            // JSON is not guarded here: it stands for itself.
            skip(&csv)
            csv.append(Self.quote)
            for byte in (value?.cellText ?? "").utf8 {
                if byte == Self.quote { csv.append(byte) }
                csv.append(byte)
            }
            csv.append(Self.quote)
        case .bool, .int, .double: plain(&csv) { $0.append(contentsOf: (value?.cellText ?? "").utf8) }
        }
    }

    /// Other delimiters are quoted too, since spreadsheets guess.
    private static func needsQuotes(_ byte: UInt8) -> Bool {
        switch byte {
        case comma, quote, 0x0A, 0x0D, UInt8(ascii: ";"), 0x09: true
        default: false
        }
    }
}
