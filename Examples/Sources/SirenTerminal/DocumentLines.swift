import Foundation
import SirenKit

/// A document in lines as people read it: every member as it came, doubled ones too.
package struct DocumentLines {
    /// A place on the way to a violation: paths are not kept of other lines, of which a document may have millions.
    private final class Place {
        var inner: [String: Place] = [:]
        /// The lines in which its value begins: the first, and that of the last member of its name.
        var lines: (first: Int, last: Int)?
    }

    private let bytes: [UInt8]
    private var index: Int
    private var lines: [String] = []
    private var depth = 0

    /// The lines, with what is not as it should be beside that to which it belongs.
    ///
    /// - Parameter bytes: JSON that was read already, so that its form is known to be right.
    package static func of(_ bytes: [UInt8], _ violations: [SirenViolation] = []) -> [String] {
        var document = DocumentLines(bytes)
        let root = Place()
        let ways = violations.map { violation in
            violation.path.matches(of: /\.\w+|\[\d+\]|\["(?:[^"\\]|\\.)*"\]…?/).reduce(into: [("", root)]) {
                way,
                step in
                let (place, step) = (way[way.count - 1].1, String(step.output))
                let next = place.inner[step] ?? Place()
                place.inner[step] = next
                way.append((step, next))
            }
        }
        document.value(root, label: "")
        var lines = document.lines
        var noted: Set<Int> = []
        for (violation, way) in zip(violations, ways) {
            // What is missing is told of that in which it should be.
            let end = way.lastIndex { $0.1.lines != nil } ?? 0
            let (first, last) = way[end].1.lines ?? (0, 0)
            // Of two members of one name the first counts, and the second is one too many.
            let line = violation.rule == .doubledMember ? last : first
            let rest = way[(end + 1)...].map(\.0).joined()
            lines[line] += noted.insert(line).inserted ? "   ← " : "; "
            lines[line] += rest.isEmpty ? "" : "\(rest.hasPrefix(".") ? String(rest.dropFirst()) : rest): "
            lines[line] += "expected \(violation.expected)"
        }
        return lines
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // There may be a mark of the byte order.
        index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    private mutating func value(_ place: Place?, label: String) {
        place?.lines = (place?.lines?.first ?? lines.count, lines.count)
        let first = next
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return add(label + token()) }
        let isObject = first == UInt8(ascii: "{")
        let (open, close) = isObject ? ("{", "}") : ("[", "]")
        index += 1
        guard next != UInt8(ascii: close == "}" ? "}" : "]") else {
            index += 1
            return add(label + open + close)
        }
        add(label + open)
        depth += 1
        var count = 0
        while true {
            if isObject {
                let name = token()
                _ = next
                index += 1
                let isOnWay = place.map { !$0.inner.isEmpty } ?? false
                value(isOnWay ? place?.inner[Self.step(name)] : nil, label: name + ": ")
            } else {
                value(place?.inner["[\(count)]"], label: "")
            }
            count += 1
            guard next == UInt8(ascii: ",") else { break }
            index += 1
            lines[lines.count - 1] += ","
        }
        index += 1
        depth -= 1
        add(close)
    }

    private mutating func add(_ text: String) {
        lines.append(String(repeating: "  ", count: min(depth, 32)) + text)
    }

    /// The next byte that is no white space; 0 at the end.
    private var next: UInt8 {
        mutating get {
            while index < bytes.count, bytes[index] <= 0x20 { index += 1 }
            return index < bytes.count ? bytes[index] : 0
        }
    }

    /// A text with its quotation marks, a number or a word.
    private mutating func token() -> String {
        let isText = next == UInt8(ascii: "\"")
        let start = index
        index += 1
        while index < bytes.count {
            if isText, bytes[index] == UInt8(ascii: "\\") {
                index += 1
            } else if isText ? bytes[index] == UInt8(ascii: "\"") : ",]} \n\r\t".utf8.contains(bytes[index]) {
                break
            }
            index += 1
        }
        if isText { index += 1 }
        return String(decoding: bytes[start..<min(index, bytes.count)], as: UTF8.self)
    }

    /// A name as it stands in the paths of violations: quoted where it has to be, and then cut after 100 characters.
    private static func step(_ token: String) -> String {
        let name = (try? JSONDecoder().decode(String.self, from: Data(token.utf8))) ?? token
        if name.utf8.count <= 100, name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil { return "." + name }
        let cut = String(name.unicodeScalars.prefix(100))
        return "[\(String(decoding: SirenValue.string(cut).json, as: UTF8.self))]" + (cut == name ? "" : "…")
    }
}
