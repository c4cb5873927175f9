import CardCore
import ClubKit
import ClubScenarios
import Diagnosis
import Foundation

/// The file that configures a kiosk: YAML, or JSON, in place of the options of `clubctl kiosk`.
///
/// ``Key/all`` has its keys. A file is read as a whole or not at all, and all of its faults are reported at once, each
/// with line and column.
package struct KioskFile: Sendable {
    /// Where the service has it.
    package static let standardPath = "/etc/clubkit/kiosk.conf"
    /// The environment variable that names another.
    package static let variable = "CLUBKIT_CONFIG"

    /// What stands behind a key.
    package struct Setting: Sendable, Hashable {
        /// The values as the option takes them; several of a list. Paths begin at the root, or where the file's do.
        package var values: [String]
        /// The place of the key.
        package var line: Int
        package var column: Int
    }

    /// The path of the file.
    package let path: String
    /// The settings by the names of their keys.
    package let settings: [String: Setting]

    /// Reads a file.
    ///
    /// - Parameter root: what stands before the path, of a machine whose files are in a folder.
    package init(path: String, root: String = "") throws(KioskFileError) {
        let bytes: [UInt8]
        do throws(YAMLFile.Unreadable) {
            bytes = try YAMLFile.bytes(root + path)
        } catch {
            if let code = error.openError { throw KioskFileError(path: path, unreadable: code) }
            throw KioskFileError(path: path, findings: [error.finding])
        }
        try self.init(bytes: bytes, path: path)
    }

    /// Reads a text as that of the file at a path.
    package init(text: String, path: String) throws(KioskFileError) {
        try self.init(bytes: Array(text.utf8), path: path)
    }

    private init(bytes: [UInt8], path: String) throws(KioskFileError) {
        self.path = path
        var reader = KioskFileReader(folder: FileSteps.parent(of: path))
        let (root, findings) = YAMLFile.read(bytes)
        reader.findings = findings
        if let root { reader.readAll(root) }
        guard reader.findings.isEmpty else { throw KioskFileError(path: path, findings: reader.findings.sorted) }
        settings = reader.settings
    }

    /// The only value of a key; `nil` if it is not set.
    package subscript(name: String) -> String? { settings[name]?.values.first }

    /// The members' database; `nil` if the file names none.
    package var database: DatabaseLocation? { self["database"].map { .file(path: $0) } }

    /// The options of `clubctl kiosk` that the file stands for.
    ///
    /// - Parameter given: options that were given too, which win: what they set is left out.
    package func arguments(besides given: [String] = []) -> [String] {
        let names = Set(given.map { String($0.prefix { $0 != "=" }) })
        return Key.all.flatMap { key -> [String] in
            guard let setting = settings[key.name], names.isDisjoint(with: [key.option] + key.yieldsTo) else {
                return []
            }
            if key.form.isFlag { return setting.values == ["true"] ? [key.option] : [] }
            return setting.values.map { "\(key.option)=\($0)" }
        }
    }
}

/// The kiosk's file cannot be used.
package struct KioskFileError: Error, Sendable, Hashable, CustomStringConvertible {
    package var path: String
    /// All that was found, by line and column.
    package var findings: [YAMLFinding]
    /// Why it cannot be opened (`errno`); `nil` if it can.
    package var unreadable: Int32?

    package init(path: String, findings: [YAMLFinding]) {
        (self.path, self.findings) = (path, findings)
    }

    init(path: String, unreadable code: Int32) {
        let message = "the file cannot be read: \(String(cString: strerror(code)))"
        var hint = "Check the path, and that the kiosk's user may read it."
        if code == EACCES, let group = Machine.groupOfThread.flatMap({ getgrgid($0) }) {
            let (name, file) = (String(cString: group.pointee.gr_name), path.shellQuoted)
            hint = "Let this user read it: sudo chgrp \(name) \(file) && sudo chmod g+r \(file)"
        }
        self.init(path: path, findings: [.init(line: 0, column: 0, path: "", message: message, hint: hint)])
        unreadable = code
    }

    /// A line for each finding: `PATH:LINE:COLUMN: KEY: fault. Remedy.`
    package var description: String { findings.map { $0.text(in: path) }.joined(separator: "\n") }
}

/// Reads the values of the kiosk's file. It goes on behind a fault, so that all are found.
private struct KioskFileReader {
    typealias Key = KioskFile.Key

    /// What paths are relative to.
    let folder: String
    var findings = YAMLFindings()
    private(set) var settings: [String: KioskFile.Setting] = [:]

    private static let mostValues = 64

    init(folder: String) { self.folder = folder }

    mutating func readAll(_ root: YAMLValue) {
        read(root)
        checkTogether()
    }

    private mutating func fault(_ value: YAMLValue, _ message: String, _ hint: String) {
        guard !value.isUnusable else { return }
        findings.add(value.node.line, value.node.column, value.place, message, hint)
    }

    private mutating func read(_ group: YAMLValue) {
        // A file, or a group, of comments alone.
        if group.isNothing { return }
        let names = Key.names(in: group.place)
        guard case .mapping(let entries) = group.node.content else {
            return fault(
                group,
                // What another file has in it is nobody's business.
                "expected keys with values, found \(group.place.isEmpty && group.text != nil ? "a text" : group.found)",
                "The keys are: \(names.joined(separator: ", "))."
            )
        }
        for entry in entries {
            let value = YAMLValue(
                node: entry.value,
                place: YAMLValue.place(entry.key, in: group.place)
            )
            if let key = Key.all.first(where: { $0.name == value.place }) {
                guard let values = values(value, of: key) else { continue }
                settings[key.name] = .init(values: values, line: entry.line, column: entry.column)
            } else if group.place.isEmpty, names.contains(entry.key) {
                read(value)
            } else {
                findings.add(
                    entry.line,
                    entry.column,
                    group.place,
                    "there is no key \(YAMLValue.quoted(entry.key)) here",
                    Self.hint(entry.key, names)
                )
            }
        }
    }

    /// The key that is meant, here or in another group.
    private static func hint(_ name: String, _ names: [String]) -> String {
        if let near = NearestName.of(name, among: names) { return "Did you mean '\(near)'?" }
        let others = Key.all.filter { $0.leaf == name || $0.option == "--" + name || $0.name == name }
        if let other = others.first { return "Did you mean '\(other.name)'?" }
        return "The keys are: \(names.joined(separator: ", "))."
    }

    private mutating func values(_ value: YAMLValue, of key: Key) -> [String]? {
        if case .mapping(let entries) = value.node.content, key.form.isMapping {
            return entries.compactMap { entry in
                guard !entry.key.isEmpty, !entry.key.contains("="), KioskFile.Form.text.accepts(entry.key) else {
                    let name = YAMLValue.quoted(entry.key)
                    findings.add(entry.line, entry.column, key.name, "\(name) is no type of messages", key.form.hint)
                    return nil
                }
                let inner = YAMLValue(
                    node: entry.value,
                    place: YAMLValue.place(entry.key, in: value.place)
                )
                return scalar(inner, of: key).map { "\(entry.key)=\($0)" }
            }
        }
        guard key.form.isList else { return scalar(value, of: key).map { [$0] } }
        let elements = value.elements
        guard (1...Self.mostValues).contains(elements.count) else {
            fault(value, "there are \(elements.count) values", "Write 1 to \(Self.mostValues), or remove the key.")
            return nil
        }
        return elements.compactMap { scalar($0, of: key) }
    }

    private mutating func scalar(_ value: YAMLValue, of key: Key) -> String? {
        let form = key.form
        guard !form.isMapping || value.place != key.name, let text = value.text, form.accepts(text) else {
            let near = NearestName.hint(value.text, among: form.words, else: form.hint)
            fault(value, "expected \(form.what), found \(value.found)", near)
            return nil
        }
        // The name of a program alone is looked for as a shell does.
        guard form.isPath, !text.hasPrefix("/"), !folder.isEmpty, !form.isMapping || text.contains("/") else {
            return text
        }
        return folder == "/" ? "/" + text : folder + "/" + text
    }

    /// Checks what keys require of one another.
    private mutating func checkTogether() {
        func add(_ name: String, _ message: String, _ hint: String) {
            guard let setting = settings[name] else { return }
            findings.add(setting.line, setting.column, name, message, hint)
        }
        if settings["http.address"] == nil {
            for key in Key.all where key.name.hasPrefix("http.") {
                add(key.name, "nothing is served to browsers", "Add 'address' to 'http', or remove this.")
            }
        }
        if let address = settings["http.address"]?.values.first.flatMap({ ListenAddress($0) }), !address.isLoopback,
            settings["http.tokenFile"] == nil
        {
            add(
                "http.address",
                "\(address.host) is reached by other machines, which need a secret",
                "Add 'tokenFile' to 'http', or listen on 127.0.0.1:\(address.port)."
            )
        }
        let types = Set((settings["messages.programs"]?.values ?? []).map { String($0.prefix { $0 != "=" }) })
        for type in settings["messages.cardTypes"]?.values ?? [] where !types.contains(type) {
            add(
                "messages.cardTypes",
                "no program takes messages of the type \(YAMLValue.quoted(type))",
                "Name one in 'programs' of 'messages': the kiosk itself does nothing at a card's message."
            )
        }
    }
}
