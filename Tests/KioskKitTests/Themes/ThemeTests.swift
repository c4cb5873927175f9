import Foundation
import ReaderKit
import TestSupport
import Testing

@testable import KioskKit

@Suite("Themes", .timeLimit(.minutes(10)))
struct ThemeTests {
    // MARK: - Contrast

    @Test("The default theme has the contrast that WCAG AA wants")
    func defaultContrast() { #expect(Theme().contrastFindings.isEmpty) }

    @Test("What has too little contrast is named, with its ratio and a colour that has enough")
    func contrast() throws {
        func color(_ hex: String) throws -> RGBColor { try RGBColor(hex: hex) }
        var theme = Theme()
        theme.colors.background = try color("#fff")
        for path in [
            \Theme.Colors.text, \.muted, \.accent, \.success, \.warning, \.failure,
        ] { theme.colors[keyPath: path] = try color("#000") }
        #expect(theme.contrastFindings.isEmpty)
        theme.colors.muted = try color("#777")
        let sentence =
            "The colour 'muted' (#777777) has a contrast of 4.47:1 with the background, and needs 4.5:1. "
            + "The nearest colour that has it is #767676."
        #expect(theme.contrastFindings == [sentence])
        theme.colors.muted = try color("#767676")
        theme.border.color = try color("#ddd")
        #expect(theme.contrastFindings.map { $0.prefix(20) } == ["The colour 'border' "])
        theme.border.width = 0
        #expect(theme.contrastFindings.isEmpty)
        // Red and green are lighter than what lies between them: against dark text only the middle is too dark.
        theme.colors.muted = try color("#000")
        theme.colors.background = try color("#f00")
        theme.gradient = .init(to: try color("#0a0"))
        let ends = [theme.colors.background, try color("#0a0")].map { theme.colors.text.contrast(with: $0) }
        #expect(ends.allSatisfy { $0 > 5 } && theme.contrastFindings.count >= 6)
        theme.gradient = .init(to: try color("#000"))
        #expect(theme.contrastFindings.first?.hasSuffix("No colour has it: let the background change less.") == true)
    }

    @Test("Every nearest colour has the contrast, and where there is none neither black nor white has it")
    func nearest() throws {
        var random = SeededNumbers(seed: 21)
        var failures: [String] = []
        for _ in 0..<300 {
            let colors = (0..<3).map { _ in
                RGBColor(
                    red: .random(in: 0...255, using: &random),
                    green: .random(in: 0...255, using: &random),
                    blue: .random(in: 0...255, using: &random)
                )
            }
            let backgrounds = Array(colors.dropFirst())
            guard let nearest = colors[0].nearest(withContrast: 4.5, to: backgrounds) else {
                let ends = try ["#000", "#fff"].map { try RGBColor(hex: $0).leastContrast(with: backgrounds) }
                if ends.contains(where: { $0 >= 4.5 }) { failures.append("\(colors)") }
                continue
            }
            if nearest.leastContrast(with: backgrounds) < 4.5 { failures.append("\(colors) \(nearest)") }
        }
        #expect(failures.isEmpty, "seed 21")
    }

    // MARK: - Files

    private static let whole = """
        clubName: Boulder Hall
        place: left of the door
        language: de
        region: AT
        logo: logo.svg
        colors: { background: "#000", text: "#fefefe", muted: abc, accent: "0000ffff" }
        gradient: { to: "#203048", direction: downRight }
        border: { width: 2, color: "#111" }
        radius: 0
        shadow: { color: "#222", x: -3, y: 5, blur: 7 }
        sounds: { success: /ding.wav, failure: sounds/buzz.wav }
        texts:
          de:
            welcomeName: "Servus, {name}"
            visitsLeft: { one: "Noch {count} Eintritt", other: "Noch {count} Eintritte" }
            reason.expired: Abgelaufen in {club}
          ar: { holdCard: هنا }
        joinAddress: https://club.example/join?x=1
        greetingSeconds: 2.5
        privacySeconds: 5
        idleSeconds: 60
        """

    @Test("A whole theme is read, from YAML and from JSON")
    func whole() throws {
        var theme = Theme()
        (theme.clubName, theme.place, theme.language, theme.region) = (
            "Boulder Hall", "left of the door", .german, "AT"
        )
        theme.logo = "/etc/club/logo.svg"
        theme.colors.background = RGBColor(red: 0, green: 0, blue: 0)
        theme.colors.text = RGBColor(red: 254, green: 254, blue: 254)
        theme.colors.muted = RGBColor(red: 0xAA, green: 0xBB, blue: 0xCC)
        theme.colors.accent = RGBColor(red: 0, green: 0, blue: 255)
        theme.gradient = .init(to: RGBColor(red: 0x20, green: 0x30, blue: 0x48), direction: .downRight)
        theme.border.width = 2
        theme.border.color = RGBColor(red: 0x11, green: 0x11, blue: 0x11)
        theme.radius = 0
        var shadow = Theme.Shadow()
        shadow.color = RGBColor(red: 0x22, green: 0x22, blue: 0x22)
        (shadow.x, shadow.y, shadow.blur) = (-3, 5, 7)
        theme.shadow = shadow
        theme.sounds = [.success: "/ding.wav", .failure: "/etc/club/sounds/buzz.wav"]
        theme.texts = [
            .german: [
                .welcomeName: "Servus, {name}",
                .visitsLeft: [.one: "Noch {count} Eintritt", .other: "Noch {count} Eintritte"],
                .reason(.expired): "Abgelaufen in {club}",
            ],
            .arabic: [.holdCard: "هنا"],
        ]
        theme.joinAddress = URL(string: "https://club.example/join?x=1")
        (theme.greetingSeconds, theme.privacySeconds, theme.idleSeconds) = (2.5, 5, 60)
        let read = try ThemeFile.theme(from: Self.whole, folder: "/etc/club")
        #expect(read == theme)
        #expect(Words(read).text(.visitsLeft, [.count: 2]) == "Noch 2 Eintritte")
        #expect(read.fileFindings.count == 3)

        let json =
            ##"{"clubName": "A\u00e4", "colors": {"text": "#fff"}, "texts": {"en": {"welcome": "Ta \ud83d\ude00 \\ud"}}, "radius": 3}"##
        let other = try ThemeFile.theme(from: json)
        #expect(other.clubName == "Aä" && other.radius == 3 && other.texts == [.english: [.welcome: #"Ta 😀 \ud"#]])
        #expect(try ThemeFile.theme(from: "clubName: R&D\nplace: '*D'").place == "*D")
        for empty in ["", "# all by default\n", "---\n", "{}", "\u{FEFF}{}"] {
            #expect(try ThemeFile.theme(from: empty) == Theme(), "\(empty)")
        }
    }

    /// Text, and what is found in it as line:column place: the message's beginning.
    private static let faults: [(String, [String])] = [
        ("club: X\nradius: 12\n  ", ["1:1 : there is no key \"club\" here"]),
        ("clubname: X", ["1:1 : there is no key \"clubname\" here"]),
        (
            "clubName: [X]\nplace: {a: b}\nlogo:\n",
            [
                "1:11 clubName: expected a text, found a list", "2:8 place: expected a text, found keys with values",
                "3:6 logo: expected a text, found nothing",
            ]
        ),
        ("clubName: \"a\\nb\"", ["1:11 clubName: the text has a line break"]),
        (
            "language: fr\nregion: xx",
            [
                "1:11 language: expected a word of a list, found \"fr\"",
                "2:9 region: expected the code of a region, found \"xx\"",
            ]
        ),
        (
            "colors:\n  text: red\n  muted: #fff\n  accent: 12\n  hue: 1\n",
            [
                "2:9 colors.text: a character of the colour is no hexadecimal digit: \"red\"",
                "3:9 colors.muted: expected a colour, found nothing",
                "4:11 colors.accent: a colour has 3 or 6 digits, this text has 2: \"12\"",
                "5:3 colors: there is no key \"hue\" here",
            ]
        ),
        ("colors: { text: '#ffffff80' }", ["1:17 colors.text: the colour is not opaque: \"#ffffff80\""]),
        (
            "gradient: { direction: up }",
            [
                "1:11 gradient: 'to' is missing", "1:24 gradient.direction: expected a word of a list, found \"up\"",
            ]
        ),
        (
            "radius: 2.5\nborder: { width: 41 }\nshadow: 3",
            [
                "1:9 radius: expected a whole number, found \"2.5\"",
                "2:18 border.width: expected a whole number, found \"41\"",
                "3:9 shadow: expected keys with values, found \"3\"",
            ]
        ),
        (
            "privacySeconds: 8s\ngreetingSeconds: nan\nidleSeconds: 1e9",
            [
                "1:17 privacySeconds: expected a number of seconds, found \"8s\"",
                "2:18 greetingSeconds: expected a number of seconds, found \"nan\"",
                "3:14 idleSeconds: expected a number of seconds, found \"1e9\"",
            ]
        ),
        ("joinAddress: http://a.example", ["1:14 joinAddress: expected an address that begins with https://"]),
        ("joinAddress: https://", ["1:14 joinAddress: expected an address"]),
        ("joinAddress: https://a:b@c.example", ["1:14 joinAddress: expected an address"]),
        ("joinAddress: https://a b", ["1:14 joinAddress: expected an address"]),
        (
            "sounds: { loud: a.wav, success: }",
            [
                "1:11 sounds: there is no key \"loud\" here", "1:33 sounds.success: expected a text, found nothing",
            ]
        ),
        (
            "texts:\n  de:\n    welcom: Hallo\n    welcomeName: Hallo {nmae}, {count}\n  fr: {}",
            [
                "3:5 texts.de: there is no key \"welcom\" here",
                "4:18 texts.de.welcomeName: there is no placeholder '{nmae}' in this text",
                "4:18 texts.de.welcomeName: there is no placeholder '{count}' in this text",
                "5:3 texts: there is no key \"fr\" here",
            ]
        ),
        (
            "texts:\n  zh-Hans: { visitsLeft: { one: a, other: b }, welcome: { one: a } }\n  en: { visitsLeft: { one: a } }",
            [
                "2:33 texts.zh-Hans.visitsLeft.one: this text has no such form in 'zh-Hans'",
                "2:57 texts.zh-Hans.welcome: the form 'other' is missing",
                "2:64 texts.zh-Hans.welcome.one: this text has no such form in 'zh-Hans'",
                "3:21 texts.en.visitsLeft: the form 'other' is missing",
            ]
        ),
        ("texts: { en: { welcomeName: {name} } }", ["1:29 texts.en.welcomeName: expected a text, found keys"]),
        (
            "texts: { en: { welcome: '\(String(repeating: "a", count: 201))' } }",
            [
                "1:25 texts.en.welcome: the text has 201 characters"
            ]
        ),
        ("- clubName: X", ["1:1 : expected keys with values, found a list"]),
        ("clubName: \"X", ["1:13 : this is neither YAML nor JSON"]),
        ("a: 1\n\tb: 2", ["2:1 : a tab stands at the beginning of this line"]),
        ("radius: 1\nradius: 2", ["1:1 : the key \"radius\" stands here, and again further down"]),
        ("clubName: &a X\nplace: *a", ["2:8 : \"*a\" repeats a value from further up"]),
        ("clubName: &a X", ["1:11 clubName: \"&a\" names a value to be repeated"]),
        ("? [a]\n: b", ["1:3 : a key is a single word here"]),
        ("clubName: \u{1}", ["1:11 : the control character U+0001 stands here"]),
    ]

    @Test("All that is wrong is found at once, with its place and what is allowed")
    func faults() {
        var failures: [String] = []
        for (text, expected) in Self.faults {
            do throws(ThemeFileError) {
                _ = try ThemeFile.theme(from: text)
                failures.append("nothing is found in \(text)")
            } catch {
                let found = error.findings.map { "\($0.line):\($0.column) \($0.path): \($0.message)" }
                let isSame = found.count == expected.count && zip(found, expected).allSatisfy { $0.hasPrefix($1) }
                if !isSame || error.findings.contains(where: { $0.hint.isEmpty }) { failures.append("\(error)") }
            }
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    @Test("A hint has the nearest name, and all names where they are few")
    func hints() throws {
        let error = try #require(throws: ThemeFileError.self) {
            try ThemeFile.theme(from: "radious: 1\ntexts: { en: { welcom: a, zzzzzzzz: b } }")
        }
        let hints = error.findings.map(\.hint)
        #expect(hints[0].hasPrefix("Did you mean 'radius'? The keys are: clubName, "))
        #expect(hints[1].hasPrefix("Did you mean 'welcome'? ") && hints[2] == "The table of texts has the keys.")
    }

    @Test(
        "A file that cannot be read is reported with its path",
        arguments: ["/nowhere/theme.yaml", "/tmp", "/dev/zero"]
    )
    func unreadable(path: String) throws {
        let error = try #require(throws: ThemeFileError.self) { try ThemeFile(path).load() }
        #expect(error.path == path && error.description.hasPrefix(path + ": th"))
    }

    @Test("A file is followed while it is written, replaced, wrong, absent and back", arguments: [true, false])
    func changes(usesNotification: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/theme-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/theme.yaml"
        func write(_ text: String, _ name: String = "theme.yaml") throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        var pauses = FolderWatch.Pauses()
        pauses.watching = .seconds(3600)
        pauses.blind = .milliseconds(5)
        var changes = ThemeFile(path).changes(pauses: pauses, usesNotification: usesNotification).makeAsyncIterator()
        /// The club's name, or the beginning of what is wrong.
        func next() async -> String? {
            switch await changes.next() {
            case .success(let theme): theme.clubName
            case .failure(let error): error.findings.first.map { String($0.message.prefix(23)) }
            case nil: nil
            }
        }
        #expect(await next() == "the file cannot be read")
        try write("clubName: A")
        #expect(await next() == "A")
        try write("clubName: Bb")
        #expect(await next() == "Bb")
        try write("clubName: Ccc", ".theme.yaml.swp")
        #expect(rename("\(folder)/.theme.yaml.swp", path) == 0)
        #expect(await next() == "Ccc")
        try write("clubName: []")
        #expect(await next() == "expected a text, found ")
        try FileManager.default.removeItem(atPath: path)
        #expect(await next() == "the file cannot be read")
        try write("clubName: Ccc")
        #expect(await next() == "Ccc")
    }
}
