import ClubKit
import ClubScenarios
import Foundation

/// Reads the values of a theme's file. It goes on behind a fault, so that all faults are found; what it made is good only
/// if there is none.
struct ThemeReader {
    /// What paths are relative to.
    let folder: String
    private(set) var theme = Theme()
    private(set) var findings = YAMLFindings()

    private static let longestText = 200

    init(folder: String) {
        self.folder = folder
    }

    private typealias Value = YAMLValue

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

    mutating func read(_ bytes: [UInt8]) {
        let (root, findings) = YAMLFile.read(bytes)
        self.findings = findings
        // An empty file is the default theme, as is one whose lines are all comments.
        guard let file = root, !file.isNothing else { return }
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
    }

    private mutating func set<Field>(_ path: WritableKeyPath<Theme, Field>, _ value: Field?) {
        if let value { theme[keyPath: path] = value }
    }

    private mutating func set<Field>(_ path: WritableKeyPath<Theme, Field?>, _ value: Field?) {
        if let value { theme[keyPath: path] = value }
    }

    private mutating func fault(_ value: Value, _ message: String, _ hint: String) {
        guard !value.isUnusable else { return }
        findings.add(value.node.line, value.node.column, value.place, message, hint)
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
        guard case .mapping(let entries) = value.node.content else {
            fault(value, "expected keys with values, found \(value.found)", all)
            return []
        }
        return entries.compactMap { entry in
            if let known = Name(rawValue: entry.key) {
                return (known, Value(node: entry.value, place: Value.place(entry.key, in: value.place)))
            }
            let nearest = NearestName.of(entry.key, among: known).map { "Did you mean '\($0)'? " } ?? ""
            let message = "there is no key \(Value.quoted(entry.key)) here"
            findings.add(entry.line, entry.column, value.place, message, nearest + all)
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
            let hint = value.isNothing ? " Without quotes a '#' begins a comment." : ""
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
        var hasEnd = !value.isMapping
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
        guard case .mapping(let entries) = value.node.content else {
            return form(value, key).map { Words.Phrase([.other: $0]) }
        }
        if let name = entries.first?.key, Words.Placeholder(rawValue: name) != nil {
            fault(value, "expected a text, found keys with values", "A text that begins with '{' needs quotes.")
            return nil
        }
        let allowed = key.isPlural ? language.pluralCategories : [.other]
        var forms: [PluralCategory: String] = [:]
        for (category, value) in self.entries(value, PluralCategory.self) {
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
}
