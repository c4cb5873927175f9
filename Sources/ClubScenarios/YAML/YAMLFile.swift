import CardCore
import ClubRecords
import Foundation
import Yams

/// The one place that knows the YAML parser, for files of scenarios, themes and the kiosk's file.
package enum YAMLFile {
    /// No value lies deeper, counted in lists and mappings; rules in rules reach 23.
    static let deepest = 32

    /// The maximum size of a file, in bytes.
    static let longest = 1 << 20

    /// The bytes of a file, of an endless one no more than show that it is too long. It blocks while it reads.
    package static func bytes(_ path: String) throws(Unreadable) -> [UInt8] {
        // A pipe without a writer would be waited for; one with a writer is no file to be read again either.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw Unreadable(errno, opening: true) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Unreadable(errno) }
        guard status.st_mode & S_IFMT != S_IFIFO else { throw Unreadable(ESPIPE) }
        do throws(FileSteps.Failure) {
            return try FileSteps.read(file, until: longest)
        } catch {
            throw Unreadable(error.code)
        }
    }

    /// A file that cannot be read.
    package struct Unreadable: Error {
        package let finding: YAMLFinding
        /// Why it cannot be opened (`errno`); `nil` if it can.
        package let openError: Int32?

        fileprivate init(_ code: Int32, opening: Bool = false) {
            let message = "the file cannot be read: \(String(cString: strerror(code)))"
            let hint = "Check the path, and that this user may read it."
            finding = YAMLFinding(line: 0, column: 0, path: "", message: message, hint: hint)
            openError = opening ? code : nil
        }
    }

    /// The values, and what is wrong with the file whatever it is about.
    ///
    /// - Parameter emptyHint: what to do about a file without values; `nil` if it may be empty.
    package static func read(
        _ bytes: [UInt8],
        emptyHint: String? = nil
    ) -> (root: YAMLValue?, findings: YAMLFindings) {
        let text: String
        switch YAMLText.text(bytes) {
        case .failure(let findings): return (nil, findings)
        case .success(let found): text = found
        }
        var findings = YAMLFindings()
        do throws(Fault) {
            let root = try parse(YAMLSource(text), &findings)
            if root == nil, let emptyHint { findings.add(0, 0, "", "the file is empty", emptyHint) }
            return (root.map { YAMLValue(node: $0, place: "") }, findings)
        } catch {
            findings.add(error.line, error.column, "", error.message, error.hint)
            return (nil, findings)
        }
    }

    private struct Fault: Error {
        var line = 0
        var column = 0
        var message: String
        var hint: String
    }

    private static func parse(
        _ source: YAMLSource,
        _ findings: inout YAMLFindings
    ) throws(Fault) -> YAMLNode? {
        do {
            // The encoding is given since its default may print; no scalar is resolved to anything but its text.
            let parser = try Yams.Parser(yaml: source.text, resolver: .basic, constructor: .default, encoding: .utf8)
            guard let node = try parser.singleRoot() else { return nil }
            var conversion = Conversion(source: source, findings: findings)
            // The nodes know their anchors only as long as there is the parser.
            let root = withExtendedLifetime(parser) { conversion.node(node, depth: 0, place: "") }
            findings = conversion.findings
            return root
        } catch {
            throw fault(error, source)
        }
    }

    private static func fault(_ error: any Error, _ source: YAMLSource) -> Fault {
        func syntax(_ problem: String, _ mark: Yams.Mark, _ context: YamlError.Context?) -> Fault {
            let (line, column) = source.place(mark.line, mark.column)
            if source.isTab(line, column) || source.isIndentedByTab(line) {
                return Fault(
                    line: line,
                    column: column,
                    message: "a tab stands at the beginning of this line, where YAML counts spaces",
                    hint: "Indent with spaces."
                )
            }
            var message = "this is neither YAML nor JSON: \(PlainText.line(problem))"
            if let context, context.mark.line > 0, context.mark.line != mark.line {
                message += ", \(PlainText.line(context.text)) from line \(context.mark.line)"
            }
            return Fault(line: line, column: column, message: message, hint: hint(problem))
        }
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            return syntax(problem, mark, context)
        case .duplicatedKeysInMapping(let duplicates, let context):
            let (line, column) = source.place(context.mark.line, context.mark.column)
            // The parser stops at one, and reports where it stands first.
            let name = YAMLValue.quoted(duplicates.first ?? "")
            let message = "the key \(name) stands here, and again further down"
            return Fault(line: line, column: column, message: message, hint: "Keep one of them.")
        case .reader(let problem, _, _, _):
            let message = "this is neither YAML nor JSON: \(problem)"
            return Fault(message: message, hint: "Save the file as UTF-8.")
        default:
            return Fault(message: "this cannot be read as YAML", hint: "Check the file.")
        }
    }

    private static func hint(_ problem: String) -> String {
        switch problem {
        case "mapping values are not allowed in this context":
            "A text with a ':' needs quotes, and a key the indentation of its neighbours."
        case "found character that cannot start any token":
            "A text that begins with this character needs quotes."
        case "did not find expected alphabetic or numeric character":
            "A text that begins with '*' or '&' needs quotes."
        case "found undefined alias": "Write the value out; a text that begins with '*' needs quotes."
        case "but found another document": "Remove the line '---', and what follows if it is no part of this."
        case "found unexpected end of stream": "Close the quotes or brackets that were opened."
        case "found unknown escape character": "Write '\\\\' for a backslash, or put the text in single quotes."
        case "found invalid Unicode character escape code": "Write the character itself."
        case let text where text.hasPrefix("Maximum nesting level"): "Check the brackets and the indentation."
        default: "Check indentation, quotes and brackets of this line and the one before."
        }
    }
}

extension YAMLFile {
    /// From the parser's nodes to `YAMLNode`s, without anchors, tags and keys that are no texts.
    private struct Conversion {
        let source: YAMLSource
        var findings: YAMLFindings

        mutating func node(_ node: Yams.Node, depth: Int, place: String) -> YAMLNode {
            let (line, column) = source.place(node.mark?.line ?? 0, node.mark?.column ?? 0)
            func refuse(_ message: String, _ hint: String) { findings.add(line, column, place, message, hint) }
            var result = YAMLNode(line: line, column: column, content: .unusable)
            // An anchor is refused where it first comes, hence no value is ever seen twice.
            if let anchor = node.anchor {
                let name = YAMLValue.quoted("&" + anchor.rawValue)
                refuse(
                    "\(name) names a value to be repeated, which is not done in this file",
                    "Remove it; a text that begins with '&' needs quotes."
                )
                return result
            }
            guard depth < YAMLFile.deepest || node.scalar != nil else {
                refuse("this lies deeper than \(YAMLFile.deepest) levels", "Write it with fewer levels.")
                return result
            }
            if let tag = tag(node) {
                refuse("\(tag) says a type, which is not done in this file", "Remove it.")
                return result
            }
            switch node {
            case .scalar(let scalar):
                let isPlain = scalar.style == .plain || scalar.style == .any
                result.content = .text(scalar.string, isPlain: isPlain)
            case .sequence(let sequence):
                result.content = .list(
                    sequence.enumerated().map { self.node($1, depth: depth + 1, place: "\(place)[\($0)]") }
                )
            case .mapping(let mapping): result.content = .mapping(entries(mapping, depth, place))
            case .alias: break
            }
            return result
        }

        private mutating func entries(
            _ mapping: Yams.Node.Mapping,
            _ depth: Int,
            _ place: String
        ) -> [YAMLNode.Entry] {
            var entries: [YAMLNode.Entry] = []
            for (key, value) in mapping {
                let (line, column) = source.place(key.mark?.line ?? 0, key.mark?.column ?? 0)
                guard let scalar = key.scalar, key.anchor == nil, tag(key) == nil else {
                    findings.add(line, column, place, "a key is a single word here", "Write 'key: value'.")
                    continue
                }
                let value = node(value, depth: depth + 1, place: YAMLValue.place(scalar.string, in: place))
                entries.append(.init(key: scalar.string, line: line, column: column, value: value))
            }
            return entries
        }

        /// A tag that the file names itself, such as `!!int`.
        private func tag(_ node: Yams.Node) -> String? {
            let tag =
                switch node {
                case .scalar(let scalar): scalar.tag
                case .mapping(let mapping): mapping.tag
                case .sequence(let sequence): sequence.tag
                case .alias(let alias): alias.tag
                }
            let harmless: [Yams.Tag.Name] = [.implicit, .nonSpecific, .str, .seq, .map]
            return harmless.contains { $0.rawValue == tag.rawValue } ? nil : YAMLValue.quoted(tag.rawValue)
        }
    }
}
