/// The escapes of a vCard's values.
enum VCardText {
    /// Whether a scalar ends a line where a value is written, so that it has to be escaped.
    private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }

    /// A value in one line: every line break as `\n`.
    static func oneLine(_ value: String) -> String {
        guard value.unicodeScalars.contains(where: { isLineBreak($0) || $0 == "\\" }) else { return value }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        var isAfterReturn = false
        for scalar in value.unicodeScalars {
            defer { isAfterReturn = scalar == "\r" }
            if isLineBreak(scalar) {
                if scalar == "\n", isAfterReturn { continue }
                // A backslash at the end of a line would escape the one that is written for the break.
                if isEscaped { result.append("\\") }
                isEscaped = false
                result.append(contentsOf: "\\n".unicodeScalars)
            } else if isEscaped {
                isEscaped = false
                result.append(scalar == "N" ? "n" : scalar)
            } else {
                isEscaped = scalar == "\\"
                result.append(scalar)
            }
        }
        if isEscaped { result.append("\\") }
        return String(result)
    }

    static func escape(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\\" || scalar == "," || scalar == ";" { result.append("\\") }
            result.append(scalar)
        }
        return oneLine(String(result))
    }

    /// The text that a value in one line stands for. A backslash before another character than those that are escaped
    /// stands for itself.
    static func unescape(_ value: String) -> String {
        guard value.utf8.contains(UInt8(ascii: "\\")) else { return value }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in value.unicodeScalars {
            if isEscaped {
                isEscaped = false
                switch scalar {
                case "n", "N": result.append("\n")
                case "\\", ",", ";", ":": result.append(scalar)
                default:
                    result.append("\\")
                    result.append(scalar)
                }
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                result.append(scalar)
            }
        }
        if isEscaped { result.append("\\") }
        return String(result)
    }

    /// The components of a value, still escaped.
    static func split(_ value: String) -> [String] {
        var parts: [String] = []
        var part = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in value.unicodeScalars {
            if scalar == ";", !isEscaped {
                parts.append(String(part))
                part = String.UnicodeScalarView()
                continue
            }
            isEscaped = scalar == "\\" && !isEscaped
            part.append(scalar)
        }
        parts.append(String(part))
        return parts
    }

    /// Whether a text can be the name of a property, a group or a parameter: letters, digits and hyphens of ASCII.
    /// Underscores, which no standard allows, are found on cards.
    static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}
