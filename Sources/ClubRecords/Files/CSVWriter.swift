import CardPasses

/// Writes comma-separated values (RFC 4180) with the content rules of ``CSVCell``.
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

    /// A cell with nothing in it, which states nothing.
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
    /// - Parameter marksEmpty: whether an empty one stands in quotes, so that it differs from a cell that states
    ///   nothing.
    package mutating func text(_ text: UnsafeBufferPointer<UInt8>, marksEmpty: Bool, _ csv: inout [UInt8]) {
        skip(&csv)
        let isGuarded = CSVCell.isGuarded(text)
        guard isGuarded || marksEmpty && text.isEmpty || text.contains(where: Self.needsQuotes) else {
            csv.append(contentsOf: text)
            return
        }
        csv.append(Self.quote)
        if isGuarded { csv.append(UInt8(ascii: "'")) }
        Self.appendDoublingQuotes(text, &csv)
        csv.append(Self.quote)
    }

    package mutating func text(_ text: String, marksEmpty: Bool, _ csv: inout [UInt8]) {
        var text = text
        text.withUTF8 { self.text($0, marksEmpty: marksEmpty, &csv) }
    }

    package mutating func value(_ value: FieldValue?, _ csv: inout [UInt8]) {
        switch value {
        case nil: skip(&csv)
        case .null: null(&csv)
        case .string(let text): self.text(text, marksEmpty: true, &csv)
        case .array, .object:
            // JSON is not guarded here: it stands for itself.
            skip(&csv)
            csv.append(Self.quote)
            Self.appendDoublingQuotes((value?.cellText ?? "").utf8, &csv)
            csv.append(Self.quote)
        case .bool, .int, .double: plain(&csv) { $0.append(contentsOf: (value?.cellText ?? "").utf8) }
        }
    }

    private static func appendDoublingQuotes(_ text: some Sequence<UInt8>, _ csv: inout [UInt8]) {
        for byte in text {
            if byte == quote { csv.append(byte) }
            csv.append(byte)
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

/// What stands in the cells of the club's CSV files, apart from quoting.
///
/// A spreadsheet takes a text that begins with `=`, `+`, `-`, `@`, a tab or a line break for a formula, whatever quotes
/// are around it (CWE-1236). Such a text gets an apostrophe in front, and so does a text that would be read as something
/// else than itself: `<null>`, which stands for no value, and JSON arrays and objects, which stand for themselves. An
/// apostrophe is taken away again exactly where it would have been put: `'+49 30` is a telephone number, `'t Hooft` a
/// name. So every text comes back as it was.
package enum CSVCell {
    /// What stands for no value, as in files of the original library.
    package static let null = Array("<null>".utf8)

    private static let apostrophe = UInt8(ascii: "'")

    package static func isGuarded(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var at = 0
        while at < text.count, text[at] == apostrophe { at += 1 }
        guard at < text.count else { return false }
        let rest = UnsafeBufferPointer(rebasing: text[at...])
        return beginsFormula(rest) || isNull(rest) || isContainer(rest)
    }

    /// Whether the cell is a text with an apostrophe that was put there.
    package static func hasGuard(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        guard cell.count > 1, cell[0] == apostrophe else { return false }
        return isGuarded(cell)
    }

    /// The text of a cell, without an apostrophe that was put there.
    package static func text(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        hasGuard(cell) ? UnsafeBufferPointer(rebasing: cell.dropFirst()) : cell
    }

    package static func isNull(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
        cell.count == null.count && cell.elementsEqual(null)
    }

    /// Whether the cell is an array or object in JSON.
    package static func container(_ cell: UnsafeBufferPointer<UInt8>) -> FieldValue? {
        guard let first = cell.first, first == UInt8(ascii: "[") || first == UInt8(ascii: "{") else { return nil }
        return (try? JSONReader.value(in: cell))?.normalized
    }

    private static func isContainer(_ text: UnsafeBufferPointer<UInt8>) -> Bool { container(text) != nil }

    private static func beginsFormula(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch text[0] {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0A, 0x0D: true
        // The full-width forms of the same, which East Asian spreadsheets read alike.
        case 0xEF where text.count >= 3 && text[1] == 0xBC: [0x8B, 0x8D, 0x9D, 0xA0].contains(text[2])
        default: false
        }
    }
}
