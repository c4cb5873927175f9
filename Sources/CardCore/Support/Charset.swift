import Foundation

/// The character sets in which cards and files have their texts, by the names of IANA's register and those that programs
/// write in their place. A set that a larger one holds is read as that one, as browsers do (WHATWG Encoding): programs
/// that state ISO-8859-1 write Windows-1252.
package enum Charset {
    /// The text that bytes are, or `nil` where they are none in that character set, or it is not known.
    ///
    /// A byte order mark counts before the name and is no part of the text. Without a name it is UTF-8, or UTF-16 whose
    /// first characters show it.
    ///
    /// - Parameter isFile: whether programs' own characters are taken for text: those of control, such as a tab within a
    ///   cell, and Apple's mark.
    package static func decode(_ bytes: [UInt8], as name: String?, isFile: Bool = false) -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return utf8(bytes.dropFirst(3)) }
        let key = name.map(key)
        if key.map(wide.contains) ?? true, let encoding = wideEncoding(bytes, key) { return wideText(bytes, encoding) }
        guard let key, !plain.contains(key) else { return utf8(bytes[...]) }
        // In UTF-7 letters of ASCII stand for others too.
        if key.contains("utf7") { return nil }
        if bytes.allSatisfy({ $0 < 0x80 && $0 != 0x1B && $0 != 0x7E }) { return utf8(bytes[...]) }
        if eucJP.contains(key) { return shiftJIS(ofEUC: bytes).flatMap { legacy($0, 0x420, isFile) } }
        return numbers[key].flatMap { legacy(bytes, $0, isFile) }
    }

    /// Whether a name is that of UTF-16 or UTF-32, in which no byte is a character by itself.
    package static func isWide(_ name: String) -> Bool { wide.contains(key(name)) }

    package static func isUTF8(_ name: String) -> Bool { plain.contains(key(name)) }

    /// The bytes of which a character of that set has at least so many; `nil` where the set is not known.
    package static func unit(of name: String) -> Int? {
        let key = key(name)
        if wide.contains(key) { return key.contains("32") || key.hasSuffix("4") ? 4 : 2 }
        return !key.isEmpty && plain.contains(key) || eucJP.contains(key) || numbers[key] != nil ? 1 : nil
    }

    /// The same text in UTF-8, if it is UTF-16 or UTF-32 by its byte order mark, its first characters or its name.
    package static func narrowed(_ bytes: [UInt8], _ name: String?) -> [UInt8]? {
        let key = name.map(key)
        guard let encoding = wideEncoding(bytes, key.flatMap { wide.contains($0) ? $0 : nil }) else { return nil }
        return wideText(bytes, encoding).map { Array($0.utf8) }
    }

    private static func utf8(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }

    /// A name in small letters and digits, without what is written differently: `ISO_8859-1:1987` is `iso88591`.
    private static func key(_ name: String) -> String {
        let key = name.prefix { $0 != ":" }.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        for prefix in ["x", "cs"] where key.hasPrefix(prefix) && key.count > 4 {
            return String(key.dropFirst(prefix.count))
        }
        return key
    }

    // MARK: Unicode

    private static let plain: Set = [
        "utf8", "unicode11utf8", "unicode20utf8", "utf8mb4", "utf8sig", "65001", "cp65001", "usascii", "ascii", "us",
        "iso646us", "ansix341968", "",
    ]
    private static let wide: Set = [
        "utf16", "utf16be", "utf16le", "utf32", "utf32be", "utf32le", "ucs2", "iso10646ucs2", "ucs4", "iso10646ucs4",
        "unicode",
    ]

    private static func wideEncoding(_ bytes: [UInt8], _ key: String?) -> String.Encoding? {
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32 }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return .utf16 }
        switch key {
        case "utf16be": return .utf16BigEndian
        case "utf16le": return .utf16LittleEndian
        case "utf32", "utf32be", "ucs4", "iso10646ucs4": return .utf32BigEndian
        case "utf32le": return .utf32LittleEndian
        default: break
        }
        // No text begins with two characters of which each second byte is no character.
        guard bytes.count >= 4 else { return key == nil ? nil : .utf16BigEndian }
        if bytes[1] == 0, bytes[3] == 0, bytes[0] != 0, bytes[2] != 0 { return .utf16LittleEndian }
        if bytes[0] == 0, bytes[2] == 0, bytes[1] != 0, bytes[3] != 0 { return .utf16BigEndian }
        return key == nil ? nil : .utf16BigEndian
    }

    private static func wideText(_ bytes: [UInt8], _ encoding: String.Encoding) -> String? {
        let unit = [.utf32, .utf32BigEndian, .utf32LittleEndian].contains(encoding) ? 4 : 2
        guard bytes.count % unit == 0, let text = String(data: Data(bytes), encoding: encoding) else { return nil }
        return text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }

    // MARK: Others

    /// The numbers of Foundation (`CFStringEncodings`) by keys; those of ISO 8859 and Windows follow from theirs.
    private static let numbers: [String: UInt] = {
        var numbers: [String: UInt] = [
            "latin0": 0x20F, "thai": 0x41D, "tis620": 0x41D, "ansi": 0x500, "koi8r": 0xA02, "koi8": 0xA02,
            "koi8u": 0xA08, "koi8ru": 0xA08,
            "macintosh": 0, "mac": 0, "macroman": 0, "roman": 0, "macgreek": 6, "maccyrillic": 7, "macukraine": 7,
            "maccentraleurope": 29,
            "macce": 29, "macturkish": 35,
            "shiftjis": 0x420, "sjis": 0x420, "mskanji": 0x420, "windows31j": 0x420, "iso2022jp": 0x820,
            "euckr": 0x422, "ksc56011987": 0x422, "ksc5601": 0x422, "kscs56011987": 0x422, "uhc": 0x422,
            "iso2022kr": 0x840,
            "gb2312": 0x632, "euccn": 0x632, "gbk": 0x632, "gb18030": 0x632, "hzgb2312": 0xA05, "iso2022cn": 0x830,
            "big5": 0xA06, "big5hkscs": 0xA06, "cnbig5": 0xA06, "euctw": 0x931,
        ]
        for (name, part) in [("arabic", 6), ("greek", 7), ("hebrew", 8), ("cyrillic", 5), ("iso88598i", 8)] {
            numbers[name] = 0x200 + UInt(part)
        }
        // Parts 1, 9 and 11 as the larger sets of Windows; part 12 was never made.
        let parts: [Int: UInt] = [1: 0x500, 9: 0x504, 11: 0x41D]
        for part in 1...16 where part != 12 {
            for name in ["iso8859\(part)", "8859\(part)"] { numbers[name] = parts[part] ?? 0x200 + UInt(part) }
        }
        for (latin, part) in zip(1..., [1, 2, 3, 4, 9, 10, 13, 14, 15, 16]) {
            for name in ["latin\(latin)", "isolatin\(latin)", "l\(latin)"] { numbers[name] = numbers["iso8859\(part)"] }
        }
        var pages: [Int: UInt] = [
            437: 0x400, 737: 0x405, 775: 0x406, 850: 0x410, 852: 0x412, 855: 0x413, 857: 0x414, 860: 0x415, 861: 0x416,
            862: 0x417, 863: 0x418, 864: 0x419, 865: 0x41A, 866: 0x41B, 869: 0x41C, 874: 0x41D, 932: 0x420, 936: 0x632,
            949: 0x422, 950: 0xA06,
        ]
        for (page, number) in zip(1250..., [0x501, 0x502, 0x500, 0x503, 0x504, 0x505, 0x506, 0x507, 0x508] as [UInt]) {
            pages[page] = number
        }
        for (page, number) in pages {
            for name in ["windows", "cp", "ibm", "ms", "win", "dos", ""] { numbers["\(name)\(page)"] = number }
        }
        return numbers
    }()

    /// Foundation takes some bytes that stand for nothing, as characters for private use or for control: no text.
    private static func legacy(_ bytes: [UInt8], _ number: UInt, _ isFile: Bool) -> String? {
        let encoding = String.Encoding(
            rawValue: number == 0x820 ? String.Encoding.iso2022JP.rawValue : 1 << 31 | number
        )
        guard let text = String(data: Data(bytes), encoding: encoding) else { return nil }
        let isText = text.unicodeScalars.allSatisfy {
            if isFile, $0.value < 0x20 || $0.value == 0xF8FF { return true }
            return switch $0.properties.generalCategory {
            case .control: "\t\n\r".unicodeScalars.contains($0)
            case .privateUse, .unassigned, .surrogate: false
            default: $0 != "\u{FFFD}"
            }
        }
        return isText ? text : nil
    }

    private static let eucJP: Set = ["eucjp", "ujis", "eucpackedformatjapanese"]

    /// Foundation on Linux has no EUC-JP. It has the same characters as Shift_JIS, by the rule of JIS X 0208.
    private static func shiftJIS(ofEUC bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let first = rest.popFirst() {
            if first < 0x80 {
                result.append(first)
                continue
            }
            guard let second = rest.popFirst(), (0xA1...0xFE).contains(second) else { return nil }
            if first == 0x8E {
                result.append(second)
                continue
            }
            guard (0xA1...0xFE).contains(first) else { return nil }
            let (row, cell) = (first - 0xA1, second - 0xA1)
            result.append(row / 2 + (row < 62 ? 0x81 : 0xC1))
            result.append(cell + (row % 2 == 1 ? 0x9F : cell >= 0x3F ? 0x41 : 0x40))
        }
        return result
    }
}
