import ClubRecords
import Foundation
import GRDB
import Synchronization

/// Texts as people take them for the same: by Unicode's full case folding, without accents, widths and ligatures, in UTF-8.
enum FoldedText {
    /// Letters that Unicode takes for letters of their own and keyboards do not have, and what is typed for them.
    private static let typed: [Unicode.Scalar: String] = [
        "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ə": "e",
        "’": "'", "‘": "'", "ʼ": "'", "ʻ": "'", "′": "'", "ـ": "",
    ]

    /// What is written for letters with an accent, or that are letters of their own, where there is no key for them.
    private static let expanded: [[Unicode.Scalar]: UInt8] = [
        ["a", "\u{308}"]: UInt8(ascii: "e"), ["o", "\u{308}"]: UInt8(ascii: "e"), ["u", "\u{308}"]: UInt8(ascii: "e"),
        ["a", "\u{30A}"]: UInt8(ascii: "a"),
    ]

    /// Folds a text.
    ///
    /// - Parameter expanding: whether ä, ö, ü, ø and å are `ae`, `oe`, `ue`, `oe` and `aa`, and not `a`, `o` and `u`.
    static func fold(_ text: String, expanding: Bool = false) -> [UInt8] {
        var text = text
        let plain: [UInt8]? = text.withUTF8 { bytes in
            bytes.allSatisfy { $0 < 0x80 } ? bytes.map(fold) : nil
        }
        return plain ?? foldLetters(text, expanding)
    }

    private static func fold(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x41...0x5A: byte + 0x20
        case 0x09...0x0D: 0x20
        default: byte
        }
    }

    private static func foldLetters(_ text: String, _ expanding: Bool) -> [UInt8] {
        var folded: [UInt8] = []
        var last: Unicode.Scalar = " "
        var isComposed = true
        for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars {
            let properties = scalar.properties
            switch properties.canonicalCombiningClass.rawValue {
            case 0: break
            // The accents of letters. Signs that make others of Indic, Thai and Japanese letters are none.
            case 1, 10...36, 200...:
                if expanding, let letter = expanded[[last, scalar]] { folded.append(letter) }
                continue
            default: break
            }
            if scalar.value >= 0x1100 { isComposed = false }
            if scalar.isASCII {
                folded.append(fold(UInt8(scalar.value)))
            } else if properties.numericType == .decimal, let digit = properties.numericValue {
                folded.append(UInt8(ascii: "0") + UInt8(digit))
            } else {
                switch properties.generalCategory {
                case .format: continue
                case .dashPunctuation: folded.append(UInt8(ascii: "-"))
                case .spaceSeparator, .lineSeparator, .paragraphSeparator: folded.append(0x20)
                default: append(scalar, expanding, to: &folded)
                }
            }
            last = folded.last.map { Unicode.Scalar($0) } ?? " "
        }
        // What is composed of parts, as Korean is, does not begin with them.
        return isComposed
            ? folded : Array(String(decoding: folded, as: UTF8.self).precomposedStringWithCanonicalMapping.utf8)
    }

    private static func append(_ scalar: Unicode.Scalar, _ expanding: Bool, to folded: inout [UInt8]) {
        // Down, up and down again comes to the same as Unicode's table, of ẞ and ς too.
        let upper = scalar.properties.lowercaseMapping.unicodeScalars.map(\.properties.uppercaseMapping).joined()
        let lower = upper.unicodeScalars.map(\.properties.lowercaseMapping).joined()
        for letter in lower.unicodeScalars {
            if let typed = typed[letter] {
                folded += typed.utf8
                if expanding, letter == "ø" { folded.append(UInt8(ascii: "e")) }
            } else {
                folded += UTF8.encode(letter).map(Array.init) ?? []
            }
        }
    }

    /// A folded text without blanks and without what parts names and numbers, of which people leave out some.
    static func compact(_ folded: [UInt8]) -> [UInt8] { folded.filter { !" -'`.,/()".utf8.contains($0) } }

    /// The digits of a telephone number; `nil` for other texts. The last nine are the same however it is written.
    static func telephone(_ folded: [UInt8]) -> [UInt8]? {
        guard folded.allSatisfy({ isDigit($0) || " +-()/.".utf8.contains($0) }) else { return nil }
        let digits = folded.filter(isDigit)
        return digits.count < 7 ? nil : digits
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// A text that is looked for among members.
///
/// Case, accents, blanks, hyphens and apostrophes are ignored, and ä is found as `a` and as `ae`. The words of a name may
/// stand in any order. A telephone number is found in a custom field however it is written.
struct SearchedText: Sendable {
    /// The text, folded: what is looked for where nothing is left of it otherwise, such as of a hyphen.
    private let whole: [UInt8]
    /// The parts that have to be found.
    private let parts: [[UInt8]]
    /// The parts with ä as `ae`.
    private let expandedParts: [[UInt8]]
    private let telephone: [UInt8]?

    init(_ text: String) {
        let folded = FoldedText.fold(text)
        let trimmed = folded.split(separator: 0x20)
        whole = trimmed.isEmpty ? folded : Array(trimmed.joined(separator: [0x20]))
        parts = Self.parts(folded)
        expandedParts = Self.parts(FoldedText.fold(text, expanding: true))
        // Without the zeros that are dialled at home or for abroad only.
        telephone = FoldedText.telephone(folded)
            .map { Array($0.drop { $0 == UInt8(ascii: "0") }.suffix(9)) }
            .flatMap { $0.count < 6 ? nil : $0 }
    }

    /// The words, of what has digits the whole: numbers keep their order.
    private static func parts(_ folded: [UInt8]) -> [[UInt8]] {
        let words = folded.split(separator: 0x20).map { FoldedText.compact(Array($0)) }.filter { !$0.isEmpty }
        guard words.count > 1, words.contains(where: { $0.contains(where: FoldedText.isDigit) }) else { return words }
        return [Array(words.joined())]
    }

    func isFound(in text: String, isField: Bool = false) -> Bool {
        let folded = FoldedText.fold(text)
        guard !parts.isEmpty else { return !whole.isEmpty && Self.contains(folded, whole) }
        let compact = FoldedText.compact(folded)
        if parts.allSatisfy({ Self.contains(compact, $0) }) { return true }
        if isField, let telephone, let other = FoldedText.telephone(folded),
            Self.contains(other, telephone)
        {
            return true
        }
        let expanded = text.utf8.allSatisfy { $0 < 0x80 } ? folded : FoldedText.fold(text, expanding: true)
        guard expandedParts != parts || expanded != folded else { return false }
        let other = FoldedText.compact(expanded)
        return expandedParts.allSatisfy { Self.contains(other, $0) }
    }

    private func isFound(in value: FieldValue) -> Bool {
        switch value {
        case .string(let text): isFound(in: text, isField: true)
        case .array(let values): values.contains { isFound(in: $0) }
        case .object(let values): values.values.contains { isFound(in: $0) }
        case .int, .double: isFound(in: value.cellText ?? "", isField: true)
        case .null, .bool: false
        }
    }

    /// Whether one of the values of a JSON object in ASCII can have the text: most have not, and need not be read.
    private func mayBeFound(in json: String) -> Bool {
        let isPlain = json.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\\") }
        guard isPlain, !parts.isEmpty else { return true }
        let folded = FoldedText.fold(json)
        let compact = FoldedText.compact(folded)
        if [parts, expandedParts].contains(where: { $0.allSatisfy { Self.contains(compact, $0) } }) { return true }
        return telephone.map { Self.contains(folded.filter(FoldedText.isDigit), $0) } ?? false
    }

    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        text.withUnsafeBytes { text in
            part.withUnsafeBytes { part in
                guard let start = text.baseAddress, let wanted = part.baseAddress, let first = part.first else {
                    return false
                }
                var at = 0
                while at + part.count <= text.count {
                    guard let found = memchr(start + at, Int32(first), text.count - part.count - at + 1) else {
                        return false
                    }
                    at = start.distance(to: found)
                    if memcmp(start + at, wanted, part.count) == 0 { return true }
                    at += 1
                }
                return false
            }
        }
    }

    // MARK: In SQL

    private static let functionName = "club_has_text"

    /// Whether a member has a text, as a condition.
    static func condition(_ text: String) -> SQL {
        "\(sql: functionName)(user_id, username, fields, \(text))"
    }

    /// Makes ``condition(_:)`` known to a connection.
    static func register(in db: Database) {
        // All members are asked for the same.
        let latest = Mutex<(text: String, searched: SearchedText)?>(nil)
        let function = DatabaseFunction(functionName, argumentCount: 4, pure: true) { values in
            let text = String.fromDatabaseValue(values[3]) ?? ""
            let searched = latest.withLock { latest in
                if let latest, latest.text.utf8.elementsEqual(text.utf8) { return latest.searched }
                let searched = SearchedText(text)
                latest = (text, searched)
                return searched
            }
            for value in values[0...1] {
                if let text = String.fromDatabaseValue(value), searched.isFound(in: text) { return true }
            }
            guard let fields = String.fromDatabaseValue(values[2]), fields.utf8.count > 2,
                searched.mayBeFound(in: fields)
            else { return false }
            return searched.isFound(in: .object(MemberRow.fields(fields)))
        }
        db.add(function: function)
    }
}
