import Foundation

/// What two spellings of one thing have in common.
enum Likeness {
    /// A name without case and accents, its parts in order; `nil` if too little is left.
    static func name(_ text: String) -> String? {
        let parts = folded(text).split { !$0.isLetter && !$0.isNumber }.map(String.init).sorted()
        let name = parts.joined(separator: " ")
        return name.count < 3 ? nil : name
    }

    /// The value of a custom field: of a telephone number its last digits, of other texts letters and digits; `nil` if
    /// too little is left to mean one person.
    static func field(_ text: String) -> String? {
        let digits = text.filter { $0.isASCII && $0.isNumber }
        let isNumber = text.allSatisfy { ($0.isASCII && $0.isNumber) || " +-()/.".contains($0) }
        if isNumber { return digits.count < 7 ? nil : String(digits.suffix(9)) }
        let plain = folded(text).filter { $0.isLetter || $0.isNumber || $0 == "@" }
        return plain.count < 6 ? nil : plain
    }

    /// What an identifier may be, as a number in hexadecimal: each way to read it in the order of bytes that comes first.
    /// One that is no number is its letters and digits.
    static func identifiers(_ text: String) -> [String] {
        let plain = text.filter { $0.isLetter || $0.isNumber }.uppercased()
        guard plain.utf8.count >= 4 else { return [] }
        var readings = [plain]
        if [8, 14, 20].contains(plain.utf8.count), plain.utf8.allSatisfy(Self.isHex) { readings.append(first(plain)) }
        if plain.utf8.count >= 6, let number = UInt64(plain) {
            let hex = String(number, radix: 16, uppercase: true)
            for length in [8, 14] where hex.count <= length && hex.count > length - 6 {
                readings.append(first(String(repeating: "0", count: length - hex.count) + hex))
            }
        }
        return Array(Set(readings))
    }

    private static func isHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) }

    /// Of both orders of the bytes, the one that is sorted first.
    private static func first(_ hex: String) -> String {
        let digits = Array(hex)
        let pairs = stride(from: 0, to: digits.count - 1, by: 2).map { String(digits[$0...$0 + 1]) }
        return min(hex, pairs.reversed().joined())
    }

    private static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }

    /// FNV-1a, the same in every process.
    static func hash(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}
