import Foundation
import ReaderKit

extension KioskFile {
    /// A file with every key, in words; those that a kiosk needs are set.
    ///
    /// - Parameter omitting: keys that are not set.
    package static func example(omitting: Set<String> = []) -> String {
        var lines = [
            "# The configuration of the kiosk, for 'clubctl kiosk --config': see configuration.md of its documentation.",
            "#",
            "# A key holds without the '#' before it. Relative paths begin at the folder of this file. After a change:",
            "#   sudo clubctl config check && sudo systemctl restart clubkit",
        ]
        var group = ""
        for key in Key.all {
            if key.group != group {
                group = key.group
                lines += ["", "\(group):"]
            }
            let margin = group.isEmpty ? "" : "  "
            if lines.last != "\(group):" { lines.append("") }
            lines += wrapped("\(key.meaning) By default: \(key.initial).").map { "\(margin)# \($0)" }
            let sign = key.isSet && !omitting.contains(key.name) ? "" : "#"
            lines.append("\(margin)\(sign)\(key.leaf): \(key.example)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The keys as a table in Markdown.
    package static var table: String {
        Key.all.reduce("| key | what it is for | by default | option |\n| --- | --- | --- | --- |\n") {
            $0 + "| `\($1.name)` | \($1.meaning) | \($1.initial) | `\($1.option)` |\n"
        }
    }

    private static func wrapped(_ text: String) -> [String] {
        text.split(separator: " ").reduce(into: [""]) { lines, word in
            let last = lines.count - 1
            if lines[last].isEmpty {
                lines[last] = String(word)
            } else if lines[last].count + word.count > 106 {
                lines.append(String(word))
            } else {
                lines[last] += " " + word
            }
        }
    }

    /// A text as the file has it.
    package static func scalar(_ text: String) -> String {
        if text.wholeMatch(of: /[A-Za-z0-9\/][A-Za-z0-9_.\/\-]*( [A-Za-z0-9_.\/\-]+)*(:[0-9]+)?/) != nil,
            text.lowercased() != "null"
        {
            return text
        }
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\", "\"": "\\\(scalar)"
            case _ where scalar.properties.generalCategory == .control: "\\x" + Hex.encode([UInt8(scalar.value)])
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }

    /// Changes settings in the text of a file. Its comments and its other lines stay.
    ///
    /// - Parameter values: what stands behind each key then; `nil` for a key that is not set any more.
    package static func edit(_ text: String, setting values: [String: String?]) -> String {
        var lines = text.components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        for key in Key.all {
            guard let value = values[key.name] else { continue }
            edit(&lines, key, value)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func edit(_ lines: inout [String], _ key: Key, _ value: String?) {
        var part = 0..<lines.count
        if !key.group.isEmpty {
            guard let title = lines.firstIndex(where: { isKey($0, key.group, margin: 0...0) }) else {
                if let value { lines += ["\(key.group):", "  \(key.leaf): \(value)"] }
                return
            }
            let end = lines[(title + 1)...].firstIndex { $0.first.map { !" #\t".contains($0) } == true }
            part = (title + 1)..<(end ?? lines.count)
        }
        let margin = key.group.isEmpty ? 0...0 : 1...16
        let found = part.first { isKey(lines[$0], key.leaf, margin: margin) }
        guard let index = found ?? part.first(where: { isKey(lines[$0], "#" + key.leaf, margin: margin) }) else {
            guard let value else { return }
            if key.group.isEmpty { lines.append("\(key.leaf): \(value)") }
            if !key.group.isEmpty { lines.insert("  \(key.leaf): \(value)", at: part.lowerBound) }
            return
        }
        let space = lines[index].prefix { $0 == " " }
        // A list or a mapping of several lines.
        var end = index + 1
        while found != nil, end < part.upperBound,
            lines[end].prefix(while: { $0 == " " }).count > space.count || lines[end].hasPrefix(space + "- ")
        {
            end += 1
        }
        guard let value else {
            guard found != nil else { return }
            for line in index..<end { lines[line] = space + "#" + lines[line].dropFirst(space.count) }
            return
        }
        lines.removeSubrange((index + 1)..<end)
        let comment = found.flatMap { lines[$0].firstMatch(of: /\ +#[^"']*$/)?.0 } ?? ""
        lines[index] = "\(space)\(key.leaf): \(value)\(comment)"
    }

    private static func isKey(_ line: String, _ name: String, margin: ClosedRange<Int>) -> Bool {
        let space = line.prefix { $0 == " " }.count
        return margin.contains(space) && line.dropFirst(space).hasPrefix(name + ":")
    }
}
