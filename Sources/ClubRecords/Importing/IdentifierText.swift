import CardCore
import CardPasses
import Foundation

/// What a spreadsheet or another program makes of identifiers, so that no card can ever show them.
///
/// An apostrophe in front marks a text as it is, in spreadsheets and in the club's own CSV files: nothing of this holds
/// for what stands behind one.
enum IdentifierText {
    /// What is known of an identifier besides its text.
    enum Finding: Sendable, Hashable, CaseIterable {
        // Those that name nobody.
        case scientific, error, nothing, formula, unreadable
        // Those that may be right.
        case fraction, thousands, date, lostDigits, placeholder

        var isFault: Bool {
            switch self {
            case .scientific, .error, .nothing, .formula, .unreadable: true
            case .fraction, .thousands, .date, .lostDigits, .placeholder: false
            }
        }

        /// What is wrong, and the remedy, in words that quote nothing.
        var reason: String {
            switch self {
            case .scientific:
                "the number is written in powers of ten (as 4.01E+12), and its last digits are lost; give the column the "
                    + "format 'Text' where the numbers are whole, and export it again"
            case .error: "the cell is an error of the spreadsheet; mend its formula there, and export it again"
            case .nothing: "expected an identifier; the cell is what programs write for none"
            case .formula: "the cell is a formula; export its value"
            case .unreadable:
                "the identifier has a character that cannot be seen, or that was lost in another encoding; write it anew"
            case .fraction:
                "the identifier was a number with a fraction of zeros, which was left out; zeros at its front may be lost"
            case .thousands:
                "the identifier is written like a number with marks for thousands; check that cards have them too"
            case .date:
                "the identifier looks like a date or time, as spreadsheets make of numbers such as 10-16; check it"
            case .lostDigits:
                "the identifier has more than 15 digits and ends in zeros, as where a spreadsheet lost digits; check it"
            case .placeholder:
                "the identifier is zero, a truth value, a total or the like, which no card shows; check whether it is one"
            }
        }
    }

    /// The identifier in a cell, without blanks at its ends, a mark that it is text, and a fraction of zeros.
    static func read(
        _ cell: UnsafeBufferPointer<UInt8>
    ) -> (text: UnsafeBufferPointer<UInt8>, finding: Finding?) {
        let cell = NumberText.trimmed(cell)
        if let text = marked(cell) { return (NumberText.trimmed(text), nil) }
        let finding = finding(cell)
        guard finding == .fraction, let point = cell.firstIndex(where: { $0 == 0x2E || $0 == 0x2C }) else {
            return (cell, finding)
        }
        return (UnsafeBufferPointer(rebasing: cell[..<point]), finding)
    }

    static func read(_ text: String) -> (text: String, finding: Finding?) {
        Array(text.utf8).withUnsafeBufferPointer { cell in
            let (text, finding) = read(cell)
            return (String(decoding: text, as: UTF8.self), finding)
        }
    }

    /// Whether the cell needs an apostrophe in front to be read as that text.
    static func needsMark(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.first == apostrophe || CSVCell.isGuarded(text) || marked(text) != nil || finding(text) != nil
    }

    private static let apostrophe = UInt8(ascii: "'")

    /// What stands behind the apostrophe; also between two, where that is a plain word, as some programs quote.
    private static func marked(_ cell: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        // What makes quotes typographic does so here too, where it stands before what needs one.
        for mark in ["’", "‘", "`"] where cell.starts(with: mark.utf8) {
            let rest = UnsafeBufferPointer(rebasing: cell.dropFirst(mark.utf8.count))
            return CSVCell.isFragile(rest) ? rest : nil
        }
        guard cell.count > 1, cell[0] == apostrophe else { return nil }
        let rest = UnsafeBufferPointer(rebasing: cell.dropFirst())
        if rest.count > 1, rest.last == apostrophe, rest.dropLast().allSatisfy(\.isASCIIAlphanumeric) {
            return UnsafeBufferPointer(rebasing: rest.dropLast())
        }
        return rest
    }

    /// What is odd about an identifier.
    static func finding(_ text: UnsafeBufferPointer<UInt8>) -> Finding? {
        // Nearly all are letters and digits.
        if text.allSatisfy(\.isASCIIAlphanumeric) {
            if text.count > 15, text.allSatisfy({ $0 < 0x3A }) {
                return text.dropFirst(15).allSatisfy { $0 == 0x30 } ? .lostDigits : nil
            }
            guard text.allSatisfy({ $0 == 0x30 }) || text.count <= 9 && text.allSatisfy({ $0 >= 0x41 }) else {
                return nil
            }
        }
        return finding(String(decoding: text, as: UTF8.self))
    }

    static func finding(_ text: String) -> Finding? {
        let isHidden = text.unicodeScalars.contains {
            $0.properties.isDefaultIgnorableCodePoint || $0 == "\u{2800}" || $0 == "\u{FFFD}"
        }
        if isHidden { return .unreadable }
        if isError(text) { return .error }
        let word = text.lowercased()
        if nothing.contains(word) || text.allSatisfy(marks.contains) { return .nothing }
        if placeholders.contains(word) || text.allSatisfy({ $0 == "0" }) { return .placeholder }
        if text.hasPrefix("#"), text.dropFirst().allSatisfy(\.isUppercase) { return .placeholder }
        if text.hasPrefix("=") || text.hasPrefix("＝") { return .formula }
        // The digits of all scripts, as those who write them see them.
        let number = String(
            text.map { character in
                character.wholeNumberValue.flatMap { $0 < 10 ? Character(String($0)) : nil } ?? character
            }
        )
        let dense = number.filter { !$0.isWhitespace }
        if dense.wholeMatch(of: scientific) != nil || dense.wholeMatch(of: power) != nil { return .scientific }
        if dense.wholeMatch(of: fraction) != nil {
            return number.prefix { $0.isNumber }.count > 15 ? .scientific : number == text ? .fraction : nil
        }
        if number.wholeMatch(of: thousands) != nil { return .thousands }
        return isDate(number) || number.wholeMatch(of: time) != nil || isDayAndMonth(number) ? .date : nil
    }

    private static let marks = Set("!\"#$%&'()*+,-./:;<>?@[\\]^_`{|}~‐‑‒–—… ")

    private static let nothing: Set = [
        "null", "(null)", "[null]", "<null>", "#null", "nan", "n/a", "n.a.", "k.a.", "k. a.", "none", "nil",
        "undefined",
        "unknown", "unbekannt", "tbd", "(blank)", "(empty)", "(none)", "(leer)", "(空白)", "(فارغ)", "\\n", "loading...",
        "loading…", "[object object]",
    ]

    private static let placeholders: Set = [
        "true", "false", "wahr", "falsch", "vrai", "faux", "verdadero", "falso", "vero", "yes", "no", "ja", "nein",
        "total", "grand total", "sum", "summe", "gesamt", "gesamtergebnis", "totaal", "totale", "合计", "总计", "المجموع",
    ]

    // Without a point or a sign it is the number of a card: 1234E567.
    nonisolated(unsafe) private static let scientific =
        /[-+−]?(?:(?:[0-9]+[.,٫]?[0-9]*|[.,٫][0-9]+)[eE]\+[0-9]+|[0-9]*[.,٫][0-9]+[eE][-−]?[0-9]+)/
    nonisolated(unsafe) private static let power = /[-+−]?[0-9]+(?:[.,٫][0-9]*)?[×x*·]10\^?[-+−]?[0-9]+/
    nonisolated(unsafe) private static let fraction = /[0-9]+[.,]0{1,2}|[0-9]{4,}[.,]0+/
    nonisolated(unsafe) private static let time =
        /(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?:[.,][0-9]+)?(?:\s?[aApP][mM])?/
    nonisolated(unsafe) private static let thousands =
        /[0-9]{1,3}(?:(?:[.][0-9]{3})+|(?:[,][0-9]{3})+|(?:[٬][0-9]{3})+|(?:['’][0-9]{3})+|(?:\s[0-9]{3})+)/

    // MARK: Errors

    private static let errors: Set = [
        "NV", "VALUE", "REF", "NUM", "YOK", "SAKNAS", "BŁĄD", "NEDOSTUPNÝ", "HIÁNYZIK", "PUUTTUU", "ERROR",
        "GETTING_DATA", "NENÍ_K_DISPOZICI", "NIET.BESCHIKBAAR",
    ]

    /// `#N/A`, `#NAME?`, `#REF!` and their kind in all languages; a number that was wider than its column; and
    /// LibreOffice's `Err:502`.
    private static func isError(_ text: String) -> Bool {
        guard text.hasPrefix("#") else {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            let words = ["err", "error", "fehler", "erreur", "errore"]
            return parts.count == 2 && words.contains(parts[0].lowercased()) && parts[1].count == 3
                && parts[1].allSatisfy(\.isNumber)
        }
        let name = text.dropFirst().uppercased()
        if name.hasSuffix("!") || name.hasSuffix("?") || errors.contains(name) { return true }
        if !name.isEmpty, name.allSatisfy({ $0 == "#" }) { return true }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { (1...2).contains($0.count) && $0.allSatisfy(\.isLetter) }
    }

    // MARK: Dates

    private static let months = Set(
        "jan ene gen feb fev mar mrt mrz apr avr abr may mai mag mei maj jun giu jui jul lug aug ago aou sep set oct okt ott out nov dec dez dic des"
            .split(separator: " ").map(String.init)
    )

    /// `10/16`, `01.02`: as many digits as a spreadsheet writes, which `94/1` has not.
    private static func isDayAndMonth(_ text: String) -> Bool {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "." }
        let numbers = parts.compactMap { $0.count == 2 ? Int($0) : nil }
        guard parts.count == 2, numbers.count == 2, let least = numbers.min(), let most = numbers.max() else {
            return false
        }
        return 1...12 ~= least && 1...31 ~= most
    }

    /// `2024-10-16`, `16.10.2024`, `10/16/24`, with a time or without; `16-Oct`, `Oct-24`, `16. Okt 2024`.
    static func isDate(_ text: String) -> Bool {
        guard text.count >= 5, text.count <= 40, let first = text.first, first.isNumber || first.isLetter else {
            return false
        }
        var parts = text.split(omittingEmptySubsequences: true) { "-/. ".contains($0) || $0 == "T" }.map(String.init)
        // A time behind it.
        while parts.count > 1, parts.last?.contains(":") == true { parts.removeLast() }
        func month(_ part: String) -> Bool {
            let plain = part.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            return plain.count <= 9 && plain.allSatisfy(\.isLetter) && months.contains(String(plain.prefix(3)))
        }
        let numbers = parts.map { $0.allSatisfy(\.isNumber) && $0.count <= 4 ? Int($0) : nil }
        func isDay(_ index: Int) -> Bool {
            numbers[index].map { (1...31).contains($0) && parts[index].count < 3 } ?? false
        }
        func isYear(_ index: Int) -> Bool {
            parts[index].count == 4 && (numbers[index].map { (1900...2100).contains($0) } ?? false)
        }
        func isShortYear(_ index: Int) -> Bool { isYear(index) || numbers[index] != nil && parts[index].count == 2 }
        switch parts.count {
        case 2: return isDay(0) && month(parts[1]) || month(parts[0]) && isShortYear(1)
        case 3:
            if isDay(0), month(parts[1]) { return isShortYear(2) }
            guard isDay(1) else { return false }
            return isYear(0) && isDay(2) || isDay(0) && isYear(2)
                || isDay(0) && isShortYear(2) && !text.contains(" ")
                    && min(numbers[0] ?? 0, numbers[1] ?? 0) <= 12 && text.contains { $0 == "/" || $0 == "." }
        default: return false
        }
    }
}

extension FieldValue {
    /// Whether a spreadsheet may have made this of another value, and lost a part of it: zeros or a plus at its front,
    /// digits of a long number, or all of it in an error.
    package func isShortened(of whole: FieldValue) -> Bool {
        guard let text = cellText?.trimmed, let whole = whole.cellText?.trimmed else { return false }
        func finding(_ text: String) -> IdentifierText.Finding? {
            Array(text.utf8).withUnsafeBufferPointer { IdentifierText.finding($0) }
        }
        let known = finding(whole)
        switch finding(text) {
        case .error: return known != .error && !whole.isEmpty
        case .scientific: return known != .scientific && whole.contains(where: \.isNumber)
        case .lostDigits where known != .lostDigits:
            return text.count == whole.count && text.prefix(15) == whole.prefix(15)
        default:
            let digits = whole.drop { $0 == "0" || $0 == "+" }
            return text != whole && text == (digits.isEmpty ? "0" : digits)
                && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
    }
}
