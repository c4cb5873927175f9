import CardCore
import CardPasses

/// Writes comma-separated values (RFC 4180) with the content rules of ``CSVCell``.
///
/// As in files of the original library, rows are divided by LF and the last one ends without: a line behind it would
/// be a member to programs that do not skip empty lines.
package struct CSVWriter {
    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")

    private let delimiter: UInt8
    /// Whether the rows are for a spreadsheet, which must not change what it takes for numbers and dates.
    private let isForSpreadsheet: Bool
    private var isFirstRow = true
    private var isFirstCell = true

    package init() { (delimiter, isForSpreadsheet) = (Self.comma, false) }

    /// Writes for a spreadsheet.
    package init(forSpreadsheetWith delimiter: UInt8) { (self.delimiter, isForSpreadsheet) = (delimiter, true) }

    /// What stands before the first row: a spreadsheet knows UTF-8 by its mark.
    package func begin(_ csv: inout [UInt8]) {
        if isForSpreadsheet { csv += [0xEF, 0xBB, 0xBF] }
    }

    package mutating func beginRow(_ csv: inout [UInt8]) {
        if !isFirstRow { csv.append(0x0A) }
        isFirstRow = false
        isFirstCell = true
    }

    /// A cell with nothing in it, which states nothing.
    package mutating func skip(_ csv: inout [UInt8]) {
        if !isFirstCell { csv.append(delimiter) }
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
        let isGuarded = CSVCell.isGuarded(text, inSpreadsheet: isForSpreadsheet)
        append(text, isGuarded: isGuarded, isQuoted: marksEmpty && text.isEmpty, &csv)
    }

    /// A member's identifier, with an apostrophe also where reading would make something else of it.
    package mutating func identifier(_ text: UnsafeBufferPointer<UInt8>, _ csv: inout [UInt8]) {
        let isGuarded = IdentifierText.needsMark(text) || isForSpreadsheet && CSVCell.isFragile(text)
        append(text, isGuarded: isGuarded, isQuoted: false, &csv)
    }

    private mutating func append(
        _ text: UnsafeBufferPointer<UInt8>,
        isGuarded: Bool,
        isQuoted: Bool,
        _ csv: inout [UInt8]
    ) {
        skip(&csv)
        guard isGuarded || isQuoted || text.contains(where: needsQuotes) else {
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
        case .bool, .int, .double:
            let text = value?.cellText ?? ""
            if isForSpreadsheet { self.text(text, marksEmpty: false, &csv) } else { plain(&csv) { $0 += text.utf8 } }
        }
    }

    private static func appendDoublingQuotes(_ text: some Sequence<UInt8>, _ csv: inout [UInt8]) {
        for byte in text {
            if byte == quote { csv.append(byte) }
            csv.append(byte)
        }
    }

    /// Other delimiters are quoted too, since spreadsheets guess.
    private func needsQuotes(_ byte: UInt8) -> Bool {
        switch byte {
        case delimiter, Self.comma, Self.quote, 0x0A, 0x0D, UInt8(ascii: ";"), 0x09: true
        default: false
        }
    }
}

/// What stands in the cells of the club's CSV files, apart from quoting.
///
/// A spreadsheet takes a text that begins with `=`, `+`, `-`, `@`, a tab or a line break for a formula, whatever quotes
/// are around it (CWE-1236). Such a text gets an apostrophe in front, and so does a text that would be read as something
/// else than itself: `<null>`, which stands for no value, and JSON arrays and objects, which stand for themselves; and
/// in files for a spreadsheet, a text of which that would make a number or a date, such as `0042`. An apostrophe is
/// taken away again exactly where it would have been put: `'+49 30` is a telephone number, `'t Hooft` a name. So every
/// text comes back as it was.
package enum CSVCell {
    /// What stands for no value, as in files of the original library.
    package static let null = Array("<null>".utf8)

    private static let apostrophe = UInt8(ascii: "'")

    /// - Parameter inSpreadsheet: whether a spreadsheet must not change the text.
    package static func isGuarded(_ text: UnsafeBufferPointer<UInt8>, inSpreadsheet: Bool = false) -> Bool {
        var at = 0
        while at < text.count, text[at] == apostrophe { at += 1 }
        guard at < text.count else { return false }
        let rest = UnsafeBufferPointer(rebasing: text[at...])
        if beginsFormula(rest) || isNull(rest) || isContainer(rest) { return true }
        return (inSpreadsheet || at > 0) && isFragile(rest)
    }

    /// Whether a spreadsheet makes something else of the text, or of its digits: zeros in front, more than the eleven
    /// digits that it shows, fractions, powers, dates, times, truth values.
    package static func isFragile(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first, text.count <= 40 else { return false }
        if text.allSatisfy({ (0x30...0x39).contains($0) }) { return first == 0x30 && text.count > 1 || text.count > 11 }
        let isNumber = (0x30...0x39).contains(first) || first == UInt8(ascii: ".")
        if isNumber, text.allSatisfy({ "0123456789.,:/-+%eE '".utf8.contains($0) }) { return true }
        guard (0x30...0x39).contains(first) || first >= 0x41 else { return false }
        let string = String(decoding: text, as: UTF8.self)
        return truths.contains(string.lowercased()) || IdentifierText.isDate(string)
    }

    private static let truths: Set = [
        "true", "false", "wahr", "falsch", "vrai", "faux", "vero", "falso", "verdadero", "verdadeiro", "prawda",
        "fałsz",
        "waar", "onwaar", "sant", "falskt",
    ]

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
