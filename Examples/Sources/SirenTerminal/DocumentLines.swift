import Foundation
import SirenKit

/// A document in lines as people read it: every member as it came, doubled ones too.
package struct DocumentLines {
    private struct Line {
        var text: String
        /// The path (RFC 9535) of the value that begins in the line.
        var path: String?
    }

    private let bytes: [UInt8]
    private var index: Int
    private var lines: [Line] = []
    private var depth = 0

    /// The lines, with what is not as it should be beside that to which it belongs.
    ///
    /// - Parameter bytes: JSON that was read already, so that its form is known to be right.
    package static func of(_ bytes: [UInt8], _ violations: [SirenViolation] = []) -> [String] {
        var document = DocumentLines(bytes)
        document.value("$", label: "")
        var notes: [Int: [String]] = [:]
        for violation in violations {
            let (line, rest) = document.place(of: violation)
            notes[line, default: []].append((rest.isEmpty ? "" : "\(rest): ") + "expected \(violation.expected)")
        }
        return document.lines.enumerated().map { index, line in
            line.text + (notes[index].map { "   ← " + $0.joined(separator: "; ") } ?? "")
        }
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // There may be a mark of the byte order.
        index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// The line of the value, or of that in which it is missing, and the path from there on.
    private func place(of violation: SirenViolation) -> (line: Int, rest: String) {
        var (best, length) = (0, 0)
        for (index, line) in lines.enumerated() {
            guard let path = line.path, violation.path.hasPrefix(path), path.count >= length else { continue }
            let rest = violation.path.dropFirst(path.count)
            guard rest.isEmpty || rest.hasPrefix(".") || rest.hasPrefix("[") else { continue }
            // Of two members of one name the first counts, and the second is one too many.
            if path.count > length || violation.rule == .doubledMember { (best, length) = (index, path.count) }
        }
        let rest = violation.path.dropFirst(length)
        return (best, String(rest.hasPrefix(".") ? rest.dropFirst() : rest))
    }

    private mutating func value(_ path: String, label: String) {
        let first = next
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return add(label + token(), path) }
        let isObject = first == UInt8(ascii: "{")
        let (open, close) = isObject ? ("{", "}") : ("[", "]")
        index += 1
        guard next != UInt8(ascii: close == "}" ? "}" : "]") else {
            index += 1
            return add(label + open + close, path)
        }
        add(label + open, path)
        depth += 1
        var count = 0
        while true {
            if isObject {
                let name = token()
                _ = next
                index += 1
                value(path + Self.step(name), label: name + ": ")
            } else {
                value("\(path)[\(count)]", label: "")
            }
            count += 1
            guard next == UInt8(ascii: ",") else { break }
            index += 1
            lines[lines.count - 1].text += ","
        }
        index += 1
        depth -= 1
        add(close, nil)
    }

    private mutating func add(_ text: String, _ path: String?) {
        lines.append(Line(text: String(repeating: "  ", count: depth) + text, path: path))
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
