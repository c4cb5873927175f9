/// Text that comes from cards, files and arguments, made safe for a terminal.
enum TerminalText {
    /// The text with what could steer a terminal, or turn its writing round, spelt out as `\u{1B}`. Line ends and tabs
    /// stay, and the joiners of emoji and of some scripts.
    static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var safe = ""
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                safe += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\n" && scalar != "\t"
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        case .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
