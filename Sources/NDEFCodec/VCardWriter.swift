import CardCore

extension VCard {
    /// The card as text: lines that end with CR LF and, from version 3.0 on, are folded to 75 bytes; in version 2.1
    /// values that are not plain ASCII are quoted-printable.
    ///
    /// - Throws: ``NDEFError/Code/vCardUnwritable`` for a property whose name, group or parameters cannot be written, and
    ///   ``NDEFError/Code/vCardTooManyProperties``.
    public func encoded() throws(NDEFError) -> [UInt8] {
        guard properties.count <= Self.mostProperties else {
            throw NDEFError(.vCardTooManyProperties, at: 0, value: properties.count, attempting: .encoding)
        }
        var bytes = Array("BEGIN:VCARD\r\nVERSION:\(version.rawValue)\r\n".utf8)
        for property in properties {
            guard let head = property.head(isOld: version == .v2_1) else {
                throw NDEFError(.vCardUnwritable, at: bytes.count, attempting: .encoding)
            }
            if version == .v2_1 {
                let value = property.rawValue
                // A line that ends with = or begins with white space could be taken for one that goes on.
                let isPlain =
                    value.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !VCardText.hasLineBreak(value)
                let line = isPlain ? head + ":" + value : head + ";CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:"
                bytes += line.utf8
                if !isPlain { Self.appendQuotedPrintable(VCardText.withLineBreaks(value), to: &bytes) }
                bytes += [0x0D, 0x0A]
            } else {
                Self.appendFolded(Array((head + ":" + property.rawValue).utf8), to: &bytes)
            }
        }
        bytes += "END:VCARD\r\n".utf8
        return bytes
    }

    /// Appends a line, folded between characters.
    private static func appendFolded(_ line: [UInt8], to bytes: inout [UInt8]) {
        var column = 0
        for byte in line {
            // No continuation byte of UTF-8 begins a line, so a line may have up to 78 bytes.
            if column >= 75, byte & 0xC0 != 0x80 {
                bytes += [0x0D, 0x0A, 0x20]
                column = 1
            }
            bytes.append(byte)
            column += 1
        }
        bytes += [0x0D, 0x0A]
    }

    private static func appendQuotedPrintable(_ value: String, to bytes: inout [UInt8]) {
        var column = 0
        for byte in value.utf8 {
            if column >= 70 {
                bytes += [UInt8(ascii: "="), 0x0D, 0x0A]
                column = 0
            }
            // White space at the start or the end of a line would be lost on the way.
            if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "=") {
                bytes.append(byte)
                column += 1
            } else {
                bytes += "=".utf8
                bytes += CollectionOfOne(byte).hex.utf8
                column += 3
            }
        }
    }
}

extension VCard.Property {
    /// What stands before the value, or `nil` if it cannot be written.
    fileprivate func head(isOld: Bool) -> String? {
        guard VCardText.isName(name), group.map(VCardText.isName) ?? true,
            !["BEGIN", "END", "VERSION"].contains(name)
        else { return nil }
        var head = (group.map { $0 + "." } ?? "") + name
        for parameter in parameters {
            guard let text = parameter.written(isOld: isOld) else { return nil }
            head += ";" + text
        }
        return head
    }
}

extension VCard.Parameter {
    fileprivate func written(isOld: Bool) -> String? {
        if name.isEmpty { return VCardText.isName(value) ? value : nil }
        guard VCardText.isName(name), value == value.trimmed,
            value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0 != "\"" && $0 != "\u{7F}" })
        else { return nil }
        guard value.utf8.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }) else {
            return name + "=" + value
        }
        // Version 2.1 knows no quotes, but a reader has to know them for the later ones.
        return name + "=\"" + value + "\""
    }
}

extension VCardText {
    /// Whether a value in one line has a line break.
    static func hasLineBreak(_ value: String) -> Bool {
        var isEscaped = false
        for byte in value.utf8 {
            if isEscaped, byte == UInt8(ascii: "n") { return true }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return false
    }

    /// A value in one line with its line breaks as they are; the other escapes stay.
    static func withLineBreaks(_ value: String) -> String {
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in value.unicodeScalars {
            if isEscaped {
                isEscaped = false
                if scalar == "n" {
                    result.append(contentsOf: "\r\n".unicodeScalars)
                } else {
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
}
