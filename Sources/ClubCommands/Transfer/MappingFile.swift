import ArgumentParser
import ClubKit
import ClubScenarios
import Foundation
import KioskKit
import ReaderKit
import ToolSupport

/// How a file of another program is read: what its columns mean, and how it is written.
///
/// As a file it is YAML or JSON, with the keys of ``Key``, each of which is an option of `clubctl import` too.
struct MappingFile: Sendable, Equatable {
    var mappings: [ColumnMapping] = []
    var layout = FileLayout()

    enum Key: String, CaseIterable {
        case delimiter, skipLines, encoding, dateOrder, map
    }

    static let dateOrders: [(name: String, order: DateOrder)] = [
        ("dmy", .dayMonthYear), ("mdy", .monthDayYear), ("ymd", .yearMonthDay),
    ]

    /// Sets what a key is for. Returns what was expected, if the value is none.
    private mutating func set(_ key: Key, _ text: String) -> String? {
        switch key {
        case .delimiter:
            layout.delimiter = FileLayout.delimiter(text)
            return layout.delimiter == nil ? "a character such as ';', or tab, comma, semicolon, pipe, space" : nil
        case .skipLines:
            layout.skippedLines = Int(text).flatMap { (0...1000).contains($0) ? $0 : nil } ?? -1
            return layout.skippedLines < 0 ? "a number of lines from 0 to 1000" : nil
        case .encoding:
            layout.encoding = TextEncoding(text)
            return layout.encoding == nil ? "an encoding such as windows-1252, iso-8859-15, macintosh or utf-16" : nil
        case .dateOrder:
            layout.dateOrder = Self.dateOrders.first { $0.name == text.lowercased() }?.order
            return layout.dateOrder == nil ? "dmy, mdy or ymd" : nil
        case .map: return "columns with what they mean"
        }
    }

    /// The same from an option. Throws a `ValidationError`.
    mutating func set(_ key: Key, option text: String) throws {
        if let expected = set(key, text) { throw ValidationError("'\(text)' is not \(expected).") }
    }

    // MARK: As a file

    static func read(_ path: String) throws -> MappingFile {
        let bytes: [UInt8]
        do throws(YAMLFile.Unreadable) {
            bytes = try YAMLFile.bytes(path)
        } catch {
            if error.openError == ENOENT { throw TransferError(.notFound, file: path) }
            throw ToolFailure(error.finding.text(in: path), exit: ToolExit.inputOutput)
        }
        let (file, findings) = parse(bytes)
        guard findings.isEmpty else {
            let lines = findings.sorted.map { $0.text(in: path) }
            throw ToolFailure(lines.joined(separator: "\n"), exit: ToolExit.malformed)
        }
        return file
    }

    static func parse(_ bytes: [UInt8]) -> (file: MappingFile, findings: YAMLFindings) {
        var file = MappingFile()
        var (root, findings) = YAMLFile.read(bytes)
        guard let root, !root.isNothing else { return (file, findings) }
        let keys = "The keys are: \(Key.allCases.map(\.rawValue).joined(separator: ", "))."
        guard case .mapping(let entries) = root.node.content else {
            if !root.isUnusable {
                findings.add(root.node.line, root.node.column, "", "expected keys with values", keys)
            }
            return (file, findings)
        }
        for entry in entries {
            let value = YAMLValue(node: entry.value, place: entry.key)
            func refuse(_ message: String, _ hint: String) {
                findings.add(entry.line, entry.column, "", message, hint)
            }
            guard let key = Key(rawValue: entry.key) else {
                refuse(
                    "there is no key \(YAMLValue.quoted(entry.key)) here",
                    NearestName.hint(entry.key, among: Key.allCases.map(\.rawValue), else: keys)
                )
                continue
            }
            if value.isUnusable { continue }
            if key == .map, case .mapping(let columns) = value.node.content {
                file.mappings = columns.map { column in
                    ColumnMapping(column: column.key, target: YAMLValue(node: column.value, place: "").text ?? "")
                }
            } else if let expected = file.set(key, value.text ?? "") {
                refuse("found \(value.found)", "'\(key.rawValue)' takes \(expected).")
            }
        }
        return (file, findings)
    }

    /// The text of a file.
    var text: String {
        var lines = ["# How a file of members is read: clubctl import FILE --mapping THIS (see desk.md)"]
        func add(_ key: Key, _ value: String?) { if let value { lines.append("\(key.rawValue): \(value)") } }
        add(.delimiter, layout.delimiter.map { $0 == "\t" ? "tab" : KioskFile.scalar(String($0)) })
        add(.skipLines, layout.skippedLines > 0 ? String(layout.skippedLines) : nil)
        add(.encoding, layout.encoding.map { KioskFile.scalar($0.name) })
        add(.dateOrder, Self.dateOrders.first { $0.order == layout.dateOrder }?.name)
        if !mappings.isEmpty { lines.append("map:") }
        for mapping in mappings {
            lines.append(
                "  \(KioskFile.scalar(mapping.column)): \(mapping.field == nil ? "" : KioskFile.scalar(mapping.target))"
                    .trimmedEnd
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// How a file of another program is written.
struct LayoutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What stands between the fields of a CSV file: a character, or tab, comma, semicolon, pipe, space.",
            discussion:
                "Without it a line 'sep=;' says so, and else the names of the columns that are known or mapped.",
            valueName: "character"
        )
    )
    var delimiter: String?
    @Option(
        help: ArgumentHelp(
            "How many lines stand above the names of the columns.",
            discussion: "Without it the first line that has the names that are known or mapped is taken.",
            valueName: "number"
        )
    )
    var skipLines: Int?
    @Option(
        help: ArgumentHelp(
            "The encoding of the file: windows-1252, iso-8859-15, macintosh, utf-16 and others; UTF-8 by default.",
            valueName: "name"
        )
    )
    var encoding: String?
    @Option(
        help: ArgumentHelp("The order of day, month and year in dates such as 03/04/2026.", valueName: "dmy|mdy|ymd")
    )
    var dateOrder: String?
    @Option(
        help: ArgumentHelp(
            "A file that says all this, and what the columns mean; options come before it.",
            valueName: "file"
        ),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var mapping: String?
    @Option(help: ArgumentHelp("Write such a file, once the import is done.", valueName: "file"))
    var saveMapping: String?

    func validate() throws { _ = try set(MappingFile()) }

    private func set(_ file: MappingFile) throws -> MappingFile {
        var file = file
        let options: [(MappingFile.Key, String?)] = [
            (.delimiter, delimiter), (.skipLines, skipLines.map(String.init)), (.encoding, encoding),
            (.dateOrder, dateOrder),
        ]
        for case (let key, let text?) in options { try file.set(key, option: text) }
        return file
    }

    /// What the file and the options say; of a column that both map, the option counts.
    func mapping(with map: [ColumnMapping]) throws -> MappingFile {
        var file = try set(mapping.map(MappingFile.read) ?? MappingFile())
        let columns = Set(map.map(\.column)), fields = Set(map.compactMap(\.field))
        file.mappings.removeAll { columns.contains($0.column) || $0.field.map(fields.contains) == true }
        file.mappings += map
        return file
    }

    func save(_ file: MappingFile) throws {
        guard let saveMapping else { return }
        try Destination(path: saveMapping, replaces: true).save(Array(file.text.utf8))
        Output.tell("Wrote \(saveMapping); next time: --mapping \(saveMapping.shellQuoted)")
    }
}
