/// The identifier of a card as a person enters it, and as a reader reports it.
enum CardKey {
    private static let lengths = [4, 7, 8, 10]

    /// What a reader reports for a card whose UID was typed in lower case, with `0x` before it, or with `:`, `-` or a
    /// space between its bytes. Returns upper-case hexadecimal digits, or `nil` for what is no such UID, or is written so
    /// already.
    /// Membership numbers that are grouped otherwise stay what they are.
    static func normalised(_ given: String) -> String? {
        let text = Array((given.hasPrefix("0x") ? given.dropFirst(2).lowercased() : given).utf8)
        // The longest one with separators.
        guard text.count <= 29 else { return nil }
        let separators = text.filter { [UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: " ")].contains($0) }
        let digits: [UInt8]
        if let separator = separators.first {
            let groups = text.split(separator: separator, omittingEmptySubsequences: false)
            guard groups.allSatisfy({ $0.count == 2 }) else { return nil }
            digits = Array(groups.joined())
        } else {
            // Small and capital letters together are no way to write a UID.
            guard !text.contains(where: { (0x41...0x5A).contains($0) }) else { return nil }
            digits = text
        }
        guard lengths.contains(digits.count / 2), digits.count.isMultiple(of: 2), digits.allSatisfy(isDigit) else {
            return nil
        }
        let upper = String(decoding: digits, as: UTF8.self).uppercased()
        return upper == given ? nil : upper
    }

    /// The digits of what looks like a UID, however they are grouped, in upper case; `nil` for other identifiers, numbers
    /// without a letter among them.
    static func digits(_ id: ArraySlice<UInt8>) -> [UInt8]? {
        guard 8...34 ~= id.count else { return nil }
        let text =
            id.first == UInt8(ascii: "0") && id.dropFirst().first.map({ $0 | 0x20 }) == 0x78 ? id.dropFirst(2) : id
        let digits = text.filter { !" \t-:._/".utf8.contains($0) }
        guard lengths.contains(digits.count / 2), digits.count.isMultiple(of: 2), digits.allSatisfy(isDigit),
            digits.contains(where: { $0 > UInt8(ascii: "9") })
        else { return nil }
        return digits.map { $0 > UInt8(ascii: "Z") ? $0 - 0x20 : $0 }
    }

    /// How another program may have written a UID in a file that was imported, where it is kept as it was spelled.
    ///
    /// - Parameter told: as a reader reports it.
    /// - Returns: in lower case, and with separators; nothing for what is no such UID.
    static func spellings(_ told: String) -> [String] {
        let digits = Array(told.utf8)
        let isUID =
            lengths.contains(digits.count / 2) && digits.count.isMultiple(of: 2)
            && digits.allSatisfy { isDigit($0) && $0 < UInt8(ascii: "a") }
        guard isUID else { return [] }
        let pairs = stride(from: 0, to: digits.count, by: 2).map {
            String(decoding: digits[$0..<$0 + 2], as: UTF8.self)
        }
        var spellings: [String] = []
        for separator in ["", ":", "-", " "] {
            let joined = pairs.joined(separator: separator)
            for spelling in [joined, joined.lowercased()] where spelling != told && !spellings.contains(spelling) {
                spellings.append(spelling)
            }
        }
        return spellings
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UnicodeScalar(byte).properties.isASCIIHexDigit }
}
