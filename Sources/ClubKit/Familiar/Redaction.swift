/// Leaves out of a text what may identify a person or a card.
enum Redaction {
    static let mark = "…"

    /// The text, with a mark in place of membership texts (`number|id|payload|name`), e-mail addresses, identifiers in
    /// hexadecimal and long numbers.
    static func redacted(_ text: String) -> String {
        var text = text[...]
        var end = ""
        if text.lazy.filter({ $0 == "|" }).count >= 3, let first = text.firstIndex(of: "|") {
            // The name at the end of a membership text may have spaces: nothing behind it can be told from it.
            let start = text[..<first].lastIndex(of: " ").map { text.index(after: $0) } ?? text.startIndex
            text = text[..<start]
            end = mark
        }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return words.map { isTelling($0) ? mark : String($0) }.joined(separator: " ") + end
    }

    /// Whether a word may identify somebody: an address, eight hexadecimal digits of which one is a decimal one, or seven
    /// digits, whatever separates them.
    private static func isTelling(_ word: Substring) -> Bool {
        if let at = word.firstIndex(of: "@"), at != word.startIndex, word.index(after: at) != word.endIndex {
            return true
        }
        var (run, digits) = (0, 0)
        for character in word.unicodeScalars {
            switch character {
            case "0"..."9":
                run += 1
                digits += 1
            case "a"..."f", "A"..."F": run += 1
            case "-", ":", ".", "_": continue
            default: (run, digits) = (0, 0)
            }
            if run >= 8 && digits > 0 || digits >= 7 { return true }
        }
        return false
    }
}
