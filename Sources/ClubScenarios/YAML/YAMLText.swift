import Foundation

/// From bytes to a text that the parser can be given. What it would refuse without a useful place, or take too long
/// for, is found here.
enum YAMLText {
    /// The text without a byte order mark, or why it is none.
    static func text(_ bytes: [UInt8]) -> Result<String, YAMLFindings> {
        guard bytes.count <= YAMLFile.longest else {
            return .failure(
                .init(0, 0, "the file is longer than \(YAMLFile.longest) bytes", "Check that it is the right one.")
            )
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return .failure(.init(1, 1, "the file is written in UTF-16", "Save it as UTF-8."))
        }
        let plain = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard var text = String(validating: plain, as: UTF8.self) else { return .failure(notUTF8(Array(plain))) }
        text.makeContiguousUTF8()
        let found = characters(text)
        guard found.isEmpty else { return .failure(found) }
        if let alias = alias(Array(plain)) { return .failure(alias) }
        return .success(text)
    }

    /// Where the first bytes stand that are no UTF-8.
    private static func notUTF8(_ bytes: [UInt8]) -> YAMLFindings {
        var position = Position()
        var codec = UTF8()
        var iterator = bytes.makeIterator()
        while case .scalarValue(let scalar) = codec.decode(&iterator) { position.pass(scalar) }
        let hint = "Save it as UTF-8, or write this character anew."
        return .init(position.line, position.column, "the file is not written in UTF-8", hint)
    }

    /// Control characters that YAML does not allow. (Of tabs the parser knows where they may stand.)
    private static func characters(_ text: String) -> YAMLFindings {
        var findings = YAMLFindings()
        var position = Position()
        for scalar in text.unicodeScalars {
            let isAllowed =
                switch scalar.value {
                case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xFFFD, 0x10000...: true
                default: false
                }
            if !isAllowed {
                let code = "U+" + String(format: "%04X", scalar.value)
                findings.add(
                    position.line,
                    position.column,
                    "",
                    "the control character \(code) stands here",
                    "Remove it."
                )
                if findings.isFull { break }
            }
            position.pass(scalar)
        }
        return findings
    }

    /// The first alias (`*name`) of what stands before it under that name (`&name`).
    ///
    /// Some lines of aliases of aliases stand for more values than there is memory, and the parser looks at all of them
    /// to compare keys. So they are refused before; this looks only at the characters round them, hence at those in
    /// texts too, where a name with both signs is as good as never.
    private static func alias(_ bytes: [UInt8]) -> YAMLFindings? {
        var names: Set<ArraySlice<UInt8>> = []
        var at = 0
        while at < bytes.count {
            let sign = bytes[at]
            guard sign == UInt8(ascii: "&") || sign == UInt8(ascii: "*"), at == 0 || !isInName(bytes[at - 1]) else {
                at += 1
                continue
            }
            var end = at + 1
            while end < bytes.count, isInName(bytes[end]) { end += 1 }
            let name = bytes[(at + 1)..<end]
            if sign == UInt8(ascii: "&") {
                names.insert(name)
            } else if !name.isEmpty, names.contains(name) {
                var position = Position()
                for scalar in String(decoding: bytes[..<at], as: UTF8.self).unicodeScalars { position.pass(scalar) }
                let text = YAMLValue.quoted("*" + String(decoding: name, as: UTF8.self))
                return .init(
                    position.line,
                    position.column,
                    "\(text) repeats a value from further up, which is not done in this file",
                    "Write the value out; in a text, put a space after the '*'."
                )
            }
            at = end
        }
        return nil
    }

    private static func isInName(_ byte: UInt8) -> Bool { byte.isAlphanumeric(or: "_-") }

    /// Line and column of the next character, as the parser counts them.
    struct Position {
        var line = 1
        var column = 1
        /// Whether a line feed would belong to the end of the line before.
        private(set) var isAfterReturn = false

        mutating func pass(_ scalar: Unicode.Scalar) {
            switch scalar.value {
            case 0x0A where isAfterReturn: column = 1
            case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: (line, column) = (line + 1, 1)
            default: column += 1
            }
            isAfterReturn = scalar.value == 0x0D
        }
    }
}

extension UInt8 {
    func isAlphanumeric(or others: String) -> Bool {
        Unicode.Scalar(self).properties.isAlphabetic && self < 0x80 || (0x30...0x39).contains(self)
            || others.utf8.contains(self)
    }
}

/// Which of the known names somebody may have meant.
package enum NearestName {
    /// No longer name is compared, since that takes the product of the lengths.
    private static let longest = 64

    /// The name that takes the fewest changes of a letter, at most one for three letters; `nil` if absent.
    package static func of(_ name: String, among names: some Sequence<String>) -> String? {
        guard name.unicodeScalars.count <= longest else { return nil }
        let letters = Array(name.lowercased().unicodeScalars)
        var best: (name: String, changes: Int)?
        for candidate in names {
            let other = Array(candidate.lowercased().unicodeScalars)
            let most = max(1, min(letters.count, other.count) / 3)
            guard abs(letters.count - other.count) <= most, other.count <= longest else { continue }
            let changes = changes(from: letters, to: other)
            if changes <= most, changes < best?.changes ?? .max { best = (candidate, changes) }
        }
        return best?.name
    }

    /// The least number of letters to insert, remove, replace, or swap with their neighbour.
    static func changes(from first: [Unicode.Scalar], to second: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int]()
        var last = Array(0...second.count)
        for (i, letter) in first.enumerated() {
            var row = [i + 1]
            row.reserveCapacity(second.count + 1)
            for (j, other) in second.enumerated() {
                var value = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter == other ? 0 : 1))
                if i > 0, j > 0, letter == second[j - 1], first[i - 1] == other {
                    value = min(value, beforeLast[j - 1] + 1)
                }
                row.append(value)
            }
            (beforeLast, last) = (last, row)
        }
        return last[second.count]
    }

    /// "Did you mean X?", or another hint.
    package static func hint(_ name: String?, among names: [String], else other: String) -> String {
        name.flatMap { of($0, among: names) }.map { "Did you mean '\($0)'?" } ?? other
    }
}
