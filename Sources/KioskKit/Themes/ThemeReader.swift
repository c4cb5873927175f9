import ClubKit
import Foundation
import Yams

/// Reads the values of a theme's file. It goes on behind a fault, so that all faults are found; what it made is good only
/// if there is none.
struct ThemeReader {
    /// What paths are relative to.
    let folder: String
    private(set) var theme = Theme()
    private(set) var findings: [ThemeFileError.Finding] = []

    private static let mostFindings = 100
    private static let longestText = 200

    init(folder: String) {
        self.folder = folder
    }

    /// A node and the keys that lead to it.
    private struct Value {
        var node: Node
        var place: String

        /// The text; `nil` for lists, mappings and what stands for nothing.
        var text: String? {
            guard let scalar = node.scalar else { return nil }
            let isPlain = scalar.style == .plain || scalar.style == .any
            return isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string) ? nil : scalar.string
        }

        var found: String {
            switch node {
            case .mapping: "keys with values"
            case .sequence: "a list"
            default: text.map { "'\(PlainText.line($0).prefix(40))'" } ?? "nothing"
            }
        }
    }

    private enum Key: String, CaseIterable {
        case clubName, place, language, region, logo, colors, gradient, border, radius, shadow, sounds, texts
        case joinAddress, greetingSeconds, privacySeconds, idleSeconds
    }

    private enum ColorKey: String, CaseIterable {
        case background, text, muted, accent, success, warning, failure

        var path: WritableKeyPath<Theme.Colors, RGBColor> {
            switch self {
            case .background: \.background
            case .text: \.text
            case .muted: \.muted
            case .accent: \.accent
            case .success: \.success
            case .warning: \.warning
            case .failure: \.failure
            }
        }
    }

    private enum GradientKey: String, CaseIterable { case to, direction }
    private enum BorderKey: String, CaseIterable { case width, color }
    private enum ShadowKey: String, CaseIterable { case color, x, y, blur }

    mutating func read(_ text: String) {
        guard let root = root(text) else { return }
        let file = Value(node: root, place: "")
        // An empty file is the default theme, as is one whose lines are all comments.
        if root.scalar != nil, file.text == nil { return }
        for (key, value) in entries(file, Key.self) {
            switch key {
            case .clubName: set(\.clubName, self.text(value))
            case .place: set(\.place, self.text(value))
            case .language: set(\.language, word(value))
            case .region: set(\.region, region(value))
            case .logo: set(\.logo, path(value))
            case .colors:
                for (key, value) in entries(value, ColorKey.self) {
                    if let color = color(value) { theme.colors[keyPath: key.path] = color }
                }
            case .gradient: gradient(value)
            case .border:
                for (key, value) in entries(value, BorderKey.self) {
                    switch key {
                    case .width: set(\.border.width, whole(value, 0...40))
                    case .color: set(\.border.color, color(value))
                    }
                }
            case .radius: set(\.radius, whole(value, 0...200))
            case .shadow:
                var shadow = Theme.Shadow()
                for (key, value) in entries(value, ShadowKey.self) {
                    switch key {
                    case .color: shadow.color = color(value) ?? shadow.color
                    case .x: shadow.x = whole(value, -100...100) ?? shadow.x
                    case .y: shadow.y = whole(value, -100...100) ?? shadow.y
                    case .blur: shadow.blur = whole(value, 0...200) ?? shadow.blur
                    }
                }
                theme.shadow = shadow
            case .sounds:
                for (tone, value) in entries(value, VisitorScene.Tone.self) { theme.sounds[tone] = path(value) }
            case .texts:
                for (language, value) in entries(value, Language.self) {
                    for (key, value) in entries(value, Words.Key.self) {
                        if let phrase = phrase(value, key, language) {
                            theme.texts[language, default: [:]][key] = phrase
                        }
                    }
                }
            case .joinAddress: set(\.joinAddress, address(value))
            case .greetingSeconds: set(\.greetingSeconds, seconds(value, 1...60))
            case .privacySeconds: set(\.privacySeconds, seconds(value, 1...3600))
            case .idleSeconds: set(\.idleSeconds, seconds(value, 10...86_400))
            }
        }
        findings.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    }

    private mutating func set<Field>(_ path: WritableKeyPath<Theme, Field>, _ value: Field?) {
        if let value { theme[keyPath: path] = value }
    }

    private mutating func set<Field>(_ path: WritableKeyPath<Theme, Field?>, _ value: Field?) {
        if let value { theme[keyPath: path] = value }
    }

    private mutating func fault(_ value: Value, _ message: String, _ hint: String) {
        fault(value.node.mark?.line ?? 0, value.node.mark?.column ?? 0, value.place, message, hint)
    }

    private mutating func fault(_ line: Int, _ column: Int, _ place: String, _ message: String, _ hint: String) {
        guard findings.count < Self.mostFindings else { return }
        findings.append(.init(line: line, column: column, place: place, message: message, hint: hint))
    }

    // MARK: - Kinds of values

    /// The values of the keys that are known; the others are findings.
    private mutating func entries<Name: RawRepresentable<String> & CaseIterable>(
        _ value: Value,
        _: Name.Type
    ) -> [(Name, Value)] {
        let known = Name.allCases.map(\.rawValue)
        // Of the many texts only those are named that are likely to be meant.
        let all =
            known.count > 40 ? "The table of texts has the keys." : "The keys are: \(known.joined(separator: ", "))."
        guard let mapping = value.node.mapping else {
            fault(value, "expected keys with values, found \(value.found)", all)
            return []
        }
        return mapping.compactMap { key, node in
            let name = key.scalar?.string ?? ""
            let place = value.place.isEmpty ? name : "\(value.place).\(name)"
            if let known = Name(rawValue: name) { return (known, Value(node: node, place: place)) }
            let nearest = NearestName.of(name, among: known).map { "Did you mean '\($0)'? " } ?? ""
            let shown = PlainText.line(name).prefix(40)
            fault(Value(node: key, place: value.place), "there is no key '\(shown)' here", nearest + all)
            return nil
        }
    }

    private mutating func text(_ value: Value, longest: Int = longestText) -> String? {
        guard let text = value.text, !text.allSatisfy(\.isWhitespace) else {
            fault(value, "expected a text, found \(value.text == nil ? value.found : "only spaces")", "Write a text.")
            return nil
        }
        guard text.count <= longest else {
            fault(value, "the text has \(text.count) characters", "It has \(longest) at most.")
            return nil
        }
        guard !text.unicodeScalars.contains(where: PlainText.isControl) else {
            fault(value, "the text has a line break or another control character", "Write it on one line.")
            return nil
        }
        return text
    }

    private mutating func word<Word: RawRepresentable<String> & CaseIterable>(_ value: Value) -> Word? {
        if let word = value.text.flatMap(Word.init(rawValue:)) { return word }
        let known = Word.allCases.map(\.rawValue)
        let hint = "It is one of: \(known.joined(separator: ", "))."
        fault(value, "expected a word of a list, found \(value.found)", hint)
        return nil
    }

    private mutating func region(_ value: Value) -> String? {
        if let text = value.text, text.count == 2, Locale.Region(text).isISORegion { return text }
        fault(value, "expected the code of a region, found \(value.found)", "Write it in capital letters, as GB.")
        return nil
    }

    private mutating func path(_ value: Value) -> String? {
        guard let text = text(value, longest: 4096) else { return nil }
        return text.hasPrefix("/") || folder.isEmpty ? text : folder + "/" + text
    }

    private mutating func color(_ value: Value) -> RGBColor? {
        guard let text = value.text else {
            let isNothing = value.node.scalar != nil
            let hint = isNothing ? " Without quotes a '#' begins a comment." : ""
            fault(value, "expected a colour, found \(value.found)", "Write it in quotes, as \"#1a2b3c\".\(hint)")
            return nil
        }
        do throws(RGBColorError) {
            return try RGBColor(hex: text)
        } catch {
            fault(value, "\(error.message): \(value.found)", error.hint)
            return nil
        }
    }

    private mutating func whole(_ value: Value, _ range: ClosedRange<Int>) -> Int? {
        if let number = value.text.flatMap({ Int($0) }), range.contains(number) { return number }
        let hint = "It is \(range.lowerBound) to \(range.upperBound), in pixels."
        fault(value, "expected a whole number, found \(value.found)", hint)
        return nil
    }

    private mutating func seconds(_ value: Value, _ range: ClosedRange<Double>) -> Double? {
        if let number = value.text.flatMap({ Double($0) }), range.contains(number) { return number }
        let hint = "It is \(Int(range.lowerBound)) to \(Int(range.upperBound)), without a unit."
        fault(value, "expected a number of seconds, found \(value.found)", hint)
        return nil
    }

    private mutating func address(_ value: Value) -> URL? {
        if let text = value.text, text.utf8.count <= 300, let url = URL(string: text, encodingInvalidCharacters: false),
            url.scheme?.lowercased() == "https", url.host()?.isEmpty == false, url.user() == nil
        {
            return url
        }
        let hint = "Write it as https://club.example/join, with at most 300 characters, and without a password."
        fault(value, "expected an address that begins with https://, found \(value.found)", hint)
        return nil
    }

    private mutating func gradient(_ value: Value) {
        var end: RGBColor?
        var direction = Theme.Gradient.Direction.down
        var hasEnd = value.node.mapping == nil
        for (key, value) in entries(value, GradientKey.self) {
            switch key {
            case .to: (end, hasEnd) = (color(value), true)
            case .direction: direction = word(value) ?? direction
            }
        }
        if !hasEnd { fault(value, "'to' is missing", "Write the colour at the end, as { to: \"#203048\" }.") }
        theme.gradient = end.map { Theme.Gradient(to: $0, direction: direction) }
    }

    // MARK: - Texts

    private mutating func phrase(_ value: Value, _ key: Words.Key, _ language: Language) -> Words.Phrase? {
        guard let mapping = value.node.mapping else { return form(value, key).map { Words.Phrase([.other: $0]) } }
        if let name = mapping.first?.key.scalar?.string, Words.Placeholder(rawValue: name) != nil {
            fault(value, "expected a text, found keys with values", "A text that begins with '{' needs quotes.")
            return nil
        }
        let allowed = key.isPlural ? language.pluralCategories : [.other]
        var forms: [PluralCategory: String] = [:]
        for (category, value) in entries(value, PluralCategory.self) {
            guard allowed.contains(category) else {
                let names = allowed.map(\.rawValue).joined(separator: ", ")
                fault(value, "this text has no such form in '\(language.rawValue)'", "Its forms are: \(names).")
                continue
            }
            if let text = form(value, key) { forms[category] = text } else { forms[category] = "" }
        }
        if forms[.other] == nil { fault(value, "the form 'other' is missing", "Add it: it is used for all others.") }
        return Words.Phrase(forms)
    }

    private mutating func form(_ value: Value, _ key: Words.Key) -> String? {
        guard let text = text(value) else { return nil }
        let allowed = key.placeholders
        let wrong =
            Words.unknownPlaceholders(text)
            + Words.placeholders(text).filter { !allowed.contains($0) }.map(\.rawValue)
        for name in wrong {
            let names = allowed.map { "{\($0.rawValue)}" }.sorted().joined(separator: ", ")
            fault(value, "there is no placeholder '{\(name.prefix(40))}' in this text", "It may have: \(names).")
        }
        return text
    }

    // MARK: - YAML

    /// The values; `nil` if the text is no YAML.
    private mutating func root(_ text: String) -> Node? {
        if let (line, column) = Self.alias(text) {
            fault(line, column, "", "'*' repeats a value from further up", "Write the value out, or quote the text.")
            return nil
        }
        do {
            return try Parser(yaml: Self.joined(text), resolver: .basic, constructor: .default, encoding: .utf8)
                .singleRoot()
                ?? Node("")
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _)
        {
            let hint = "Check indentation, quotes and brackets; a text with ':', '{' or '#' needs quotes."
            fault(mark.line, mark.column, "", "this is neither YAML nor JSON: \(PlainText.line(problem))", hint)
        } catch YamlError.duplicatedKeysInMapping(let keys, let context) {
            let name = PlainText.line(keys.first ?? "").prefix(40)
            let message = "the key '\(name)' stands here twice"
            fault(context.mark.line, context.mark.column, "", message, "Keep one of them.")
        } catch {
            fault(0, 0, "", "this is neither YAML nor JSON", "Save it as UTF-8, without control characters.")
        }
        return nil
    }

    /// JSON may write characters beyond U+FFFF as two escapes, which YAML does not know.
    private static func joined(_ text: String) -> String {
        guard text.first(where: { !$0.isWhitespace && $0 != "\u{FEFF}" }) == "{", text.contains("\\u") else {
            return text
        }
        // Other escapes are matched too, so that no second backslash is taken for the first of an escape.
        return text.replacing(/\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|.)/) { match in
            let units = [match.1, match.2].compactMap { $0.flatMap { UInt16($0, radix: 16) } }
            return units.count == 2 ? String(decoding: units, as: UTF16.self) : String(match.0)
        }
    }

    /// Where the first alias (`*name`) of an anchor (`&name`) stands. Aliases of aliases could stand for more values
    /// than there is memory, so there are none in this file.
    private static func alias(_ text: String) -> (line: Int, column: Int)? {
        guard text.contains("*"), text.contains("&") else { return nil }
        let names = Set(text.matches(of: /&([A-Za-z0-9_\-]+)/).map(\.1))
        guard let alias = text.matches(of: /\*([A-Za-z0-9_\-]+)/).first(where: { names.contains($0.1) }) else {
            return nil
        }
        let lines = text[..<alias.range.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.count, (lines.last?.unicodeScalars.count ?? 0) + 1)
    }
}
