import Foundation
import SirenKit

/// The dialogue was given up: nothing is sent.
package struct GivenUp: Error {}

/// Asks for the values of forms, of each field until the value fits it.
package struct FormDialogue {
    private let console: any Console
    private let secrets: Secrets
    /// A value that stands for every password, for which nobody is asked then.
    private let password: String?

    package init(_ console: any Console, secrets: Secrets, password: String? = nil) {
        self.console = console
        self.secrets = secrets
        self.password = password
    }

    /// Values for the fields that people fill in; for others, and where the field's own value is taken, there are none.
    package func values(for action: SirenAction) throws(GivenUp) -> [String: SirenInput] {
        var (values, names): ([String: SirenInput], Set<String>) = ([:], [])
        for field in action.fields where names.insert(field.name).inserted {
            guard field.type != .hidden, !field.isReadOnly else { continue }
            values[field.name] = try value(for: field)
        }
        return values
    }

    /// Values for a link that is a template.
    package func values(for link: SirenLink) throws(GivenUp) -> [String: SirenInput] {
        var values: [String: SirenInput] = [:]
        for name in link.variables {
            guard let text = console.ask("\(name):", isSecret: false) else { throw GivenUp() }
            if !text.isEmpty { values[name] = .text(text) }
        }
        return values
    }

    private func value(for field: SirenField) throws(GivenUp) -> SirenInput? {
        if field.type == .password, let password { return .text(password) }
        let choices = field.choices
        for (index, choice) in choices.enumerated() {
            let title = choice.title ?? choice.value.description
            console.say("  \(index + 1)\(choice.selected == true ? "*" : " ") \(title)")
        }
        let isSeveral = field.allowsSeveral || field.type == .checkbox && !choices.isEmpty
        while true {
            guard let text = console.ask(question(field, isSeveral), isSecret: field.type == .password) else {
                throw GivenUp()
            }
            if field.type == .password { secrets.add(text) }
            // What stands there is sent where nothing is given.
            if text.isEmpty, field.initial != nil { return nil }
            let texts =
                isSeveral ? text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } : [text]
            let inputs = texts.map { read($0 == "\"\"" ? "" : $0, field, choices) }
            let input: SirenInput? = text.isEmpty ? nil : isSeveral ? .list(inputs) : inputs.first
            guard let complaint = complaint(about: input, field, choices) else { return input }
            console.say("  \(complaint)")
        }
    }

    private func complaint(about input: SirenInput?, _ field: SirenField, _ choices: [SirenChoice]) -> String? {
        if let problem = field.problem(with: input) { return problem.description }
        switch input {
        // A server may take any text for a tick, but nobody means one.
        case .text where field.type == .checkbox && choices.isEmpty: return "yes or no"
        case .file(let file):
            guard case .path(let path) = file.content, !FileManager.default.isReadableFile(atPath: path) else {
                return nil
            }
            return "the file cannot be read"
        default: return nil
        }
    }

    private func question(_ field: SirenField, _ isSeveral: Bool) -> String {
        var notes = field.notes
        if !field.choices.isEmpty { notes.append(isSeveral ? "numbers, with commas" : "a number") }
        if field.choices.isEmpty, isSeveral { notes.append("several, with commas") }
        if field.choices.isEmpty, field.type == .checkbox { notes.append("yes or no") }
        let note = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
        return "\(field.title ?? field.name)\(note)\(field.initial.map { " [\($0)]" } ?? ""):"
    }

    private func read(_ text: String, _ field: SirenField, _ choices: [SirenChoice]) -> SirenInput {
        if let number = Int(text), number > 0, number <= choices.count { return SirenInput(choices[number - 1].value) }
        if let choice = choices.first(where: { $0.title == text }) { return SirenInput(choice.value) }
        switch field.type {
        case .number, .range: return SirenNumber(text).map(SirenInput.number) ?? .text(text)
        case .url: return URL(string: text).map(SirenInput.url) ?? .text(text)
        case .checkbox where choices.isEmpty:
            return ["yes": .bool(true), "y": .bool(true), "no": .bool(false), "n": .bool(false)][text.lowercased()]
                ?? .text(text)
        case .file:
            let path = (text as NSString).expandingTildeInPath
            return .file(SirenFile(.path(path), name: (path as NSString).lastPathComponent))
        default: return .text(text)
        }
    }
}

extension SirenField {
    /// The values to choose from.
    var choices: [SirenChoice] {
        switch value {
        case .choices(let choices): choices
        case .single(let value) where type == .radio: [SirenChoice(value)]
        case .single, nil: []
        }
    }

    /// What is sent where nothing is given, for people.
    var initial: String? {
        switch value {
        case .single(let value):
            type == .checkbox || type == .radio ? nil : type == .password ? "***" : value.description
        case .choices(let choices):
            choices.contains { $0.selected == true }
                ? choices.filter { $0.selected == true }.map { $0.title ?? $0.value.description }
                    .joined(separator: ", ") : nil
        case nil: nil
        }
    }

    /// What is to be known of its values.
    var notes: [String] {
        var notes = type == .text ? [] : [type.rawValue]
        if isRequired { notes.append("required") }
        if let minimum { notes.append("from \(minimum)") }
        if let maximum { notes.append("to \(maximum)") }
        if let step { notes.append("in steps of \(step)") }
        if let minimumLength { notes.append("\(minimumLength) characters at least") }
        if let maximumLength { notes.append("\(maximumLength) characters at most") }
        if let pattern { notes.append("of the form \(pattern)") }
        if let placeholder { notes.append("such as \(placeholder)") }
        return notes
    }
}
