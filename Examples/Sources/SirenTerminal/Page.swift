import Foundation
import SirenKit

/// An entity as a page of lines, on which all that leads on has a number.
package struct Page {
    /// What leads on.
    package enum Target {
        case link(SirenLink)
        case entity(SirenEntity, rel: [String])
        case action(SirenAction)

        /// Under what it can be named: relations, or the action's name.
        package var names: [String] {
            switch self {
            case .link(let link): link.rel
            case .entity(_, let rel): rel
            case .action(let action): [action.name]
            }
        }
    }

    /// What it came with.
    package let answer: SirenAnswer
    /// It, or an entity within it.
    package let entity: SirenEntity
    /// What leads on; the first has the number 1.
    package var targets: [Target]

    package init(_ answer: SirenAnswer, _ entity: SirenEntity) {
        self.answer = answer
        self.entity = entity
        let entities = entity.entities.map { sub -> Target in
            switch sub {
            case .link(let link): .link(link)
            case .representation(let inner, let rel): .entity(inner, rel: rel)
            }
        }
        targets = entity.links.map(Target.link) + entities + entity.actions.map(Target.action)
    }

    /// The targets under a number or a name.
    package func targets(_ word: String) -> [Target] {
        if let number = Int(word) { return number > 0 && number <= targets.count ? [targets[number - 1]] : [] }
        return targets.filter { $0.names.contains(word) }
    }

    /// The page.
    ///
    /// - Parameter base: what is left out at the beginning of references.
    package func lines(base: URL) -> [String] {
        func short(_ href: String) -> String {
            // What a template is relative to.
            if href.hasPrefix("{@"), let end = href.firstIndex(of: "}") { return String(href[end...].dropFirst()) }
            let prefix = base.absoluteString
            return href.hasPrefix(prefix) && href != prefix ? String(href.dropFirst(prefix.count)) : href
        }
        func described(_ classes: [String], _ title: String?) -> [String] {
            [title, classes.isEmpty ? nil : "[\(classes.joined(separator: ", "))]"].compactMap { $0 }
        }
        var lines = [described(entity.classes, entity.title).joined(separator: " ")].filter { !$0.isEmpty }
        lines += Self.lines(entity.properties)
        var section = ""
        for (index, target) in targets.enumerated() {
            var (title, parts): (String, [String])
            var further: [String] = []
            switch target {
            case .link(let link):
                title =
                    index < entity.links.count || index >= entity.links.count + entity.entities.count
                    ? "Links" : "Entities"
                parts = described(link.classes, link.title) + [short(link.href)]
            case .entity(let inner, _):
                title = "Entities"
                parts = described(inner.classes, inner.title)
                // Enough to tell it from its neighbours.
                parts += inner.properties.prefix(4).compactMap { member in
                    member.value.scalarText.map { "\(member.name): \($0.prefix(40))" }
                }
            case .action(let action):
                title = "Actions"
                parts = described(action.classes, action.title) + [action.httpMethod, short(action.href)]
                for field in action.fields where field.type != .hidden {
                    let notes = field.notes + (field.isReadOnly ? ["fixed"] : [])
                    let note = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
                    let choices = field.choices.map {
                        ($0.selected == true ? "*" : "") + ($0.title ?? $0.value.description)
                    }
                    let shown = choices.isEmpty ? field.initial : choices.joined(separator: " | ")
                    further.append("         \(field.title ?? field.name)\(note)\(shown.map { ": \($0)" } ?? "")")
                }
            }
            if title != section { lines.append(title) }
            section = title
            let number = String(repeating: " ", count: max(0, 4 - String(index + 1).count)) + String(index + 1)
            let names = target.names.isEmpty ? "-" : target.names.joined(separator: " ")
            lines.append("\(number)  \(([names] + parts).joined(separator: "  "))")
            lines += further
        }
        let count = answer.violations.count
        if count > 0 {
            lines.append(count == 1 ? "1 fault in the document: raw" : "\(count) faults in the document: raw")
        }
        return lines
    }

    /// Properties, one a line, with those of objects indented.
    static func lines(_ properties: SirenObject, indent: String = "  ") -> [String] {
        // A server may give them names of any length.
        let width = min(40, properties.map(\.name.count).max() ?? 0)
        func cut(_ text: String) -> String { text.count > 200 ? "\(text.prefix(200))…" : text }
        return properties.flatMap { member -> [String] in
            if let object = member.value.object, !object.isEmpty {
                return ["\(indent)\(cut(member.name))"] + lines(object, indent: indent + "  ")
            }
            let name = cut(member.name) + String(repeating: " ", count: max(0, width - member.name.count))
            return [
                "\(indent)\(name)  \(cut(member.value.string ?? String(decoding: member.value.json, as: UTF8.self)))"
            ]
        }
    }
}
