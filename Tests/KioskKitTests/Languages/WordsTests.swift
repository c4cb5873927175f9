import ClubKit
import Foundation
import ReaderKit
import TestSupport
import Testing

@testable import KioskKit

@Suite("The texts of the screen")
struct WordsTests {
    /// All texts in all languages.
    private static let all = Language.allCases.flatMap { language in
        Words.Key.allCases.map { (language, $0, Words.phrase($0, in: language)) }
    }

    @Test("Every text has the forms that its language needs, with the same placeholders in all of them")
    func complete() {
        var failures: [String] = []
        for (language, key, phrase) in Self.all {
            func fail(_ message: String) { failures.append("\(language) \(key.rawValue): \(message)") }
            let needed = key.isPlural ? Set(language.pluralCategories) : [.other]
            if Set(phrase.forms.keys) != needed { fail("forms \(phrase.forms.keys)") }
            let english = Words.phrase(key, in: .english).forms[.other].map { Set(Words.placeholders($0)) }
            for (category, text) in phrase.forms {
                // A form for one number may have it in words.
                let isOptional = [.zero, .one, .two].contains(category) && language == .arabic
                let placeholders = Set(Words.placeholders(text)).union(
                    isOptional ? english?.intersection([.count]) ?? [] : []
                )
                if placeholders != english { fail("placeholders \(placeholders)") }
                if !Words.unknownPlaceholders(text).isEmpty || text.filter({ "{}".contains($0) }).count % 2 != 0 {
                    fail("unknown placeholders")
                }
                // Han characters take two columns, and a screen has 80; reasons are titles.
                let columns = text.unicodeScalars.reduce(0) { $0 + ($1.value >= 0x2E80 ? 2 : 1) }
                if text.isEmpty || columns > 76 { fail("\(columns) columns") }
                if case .reason = key, columns > 46 { fail("\(columns) columns") }
                if Words.plain(text) != text { fail("spaces, control or direction-changing characters") }
            }
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    @Test("Every text is written in its language's letters, and none twice for different things")
    func letters() {
        var failures: [String] = []
        for (language, key, phrase) in Self.all {
            let scalars = phrase.forms.values.joined().replacing(/\{[a-z]+\}|pcscd/, with: "").unicodeScalars
            let isFine =
                switch language {
                case .english, .german: scalars.allSatisfy { $0.value < 0x250 || "–—’…".unicodeScalars.contains($0) }
                case .chinese: !scalars.contains { $0.isASCII && $0.properties.isAlphabetic }
                case .arabic: !scalars.contains { $0.value < 0x600 && $0.properties.isAlphabetic }
                }
            if !isFine { failures.append("\(language) \(key.rawValue)") }
            if language != .english, phrase == Words.phrase(key, in: .english) {
                failures.append("\(language) \(key.rawValue) is English")
            }
        }
        #expect(failures.isEmpty)
    }

    @Test("Every reason to refuse a tap has a title and advice, and every key a name")
    func keys() {
        let keys = Set(Words.Key.allCases)
        for code in Receipt.Reason.Code.allCases where !keys.contains(.reason(code)) || !keys.contains(.advice(code)) {
            Issue.record("\(code)")
        }
        #expect(keys.count == Words.Key.allCases.count)
        #expect(Words.Key.allCases.allSatisfy { Words.Key(rawValue: $0.rawValue) == $0 })
        // A name that is not in the table cannot be found by its name, so this finds a case that was forgotten there.
        #expect(Words.Key(rawValue: "visitsToday") == .visitsToday && Words.Key(rawValue: "nothing") == nil)
        #expect(Words.Key.advice(.card(.noPass)).rawValue == "advice.noPass")
    }

    @Test("A theme's own text replaces that of the table, in its language only")
    func overrides() {
        var theme = Theme()
        (theme.clubName, theme.place) = ("Halle", "links")
        var failures: [String] = []
        for key in Words.Key.allCases {
            theme.texts = [.english: [key: "own {club} {place}"]]
            if Words(theme).text(key) != "own Halle links" { failures.append(key.rawValue) }
            theme.language = .german
            if Words(theme).text(key).hasPrefix("own") { failures.append(key.rawValue) }
            theme.language = .english
        }
        #expect(failures.isEmpty)
    }

    @Test("Placeholders are replaced once, in the plural form of the count")
    func placeholders() {
        let english = Words(language: .english)
        let arabic = Words(language: .arabic)
        let table: [(String, String)] = [
            (english.text(.welcomeName, [.name: "Ada"]), "Welcome, Ada"),
            (english.text(.welcomeName, [.name: "{club} {name}"]), "Welcome, {club} {name}"),
            (english.text(.welcomeName), "Welcome, "),
            (english.text(.visitsLeft, [.count: 1]), "1 visit left"),
            (english.text(.visitsLeft, [.count: 0]), "0 visits left"),
            (english.text(.visitsLeft, [.count: 12_345]), "12,345 visits left"),
            (english.text(.visitsLeft, [.count: "1"]), "1 visits left"),
            (english.text(.stampsLeft, [.count: 3, .reward: "Coffee"]), "3 more visits until: Coffee"),
            (Words(language: .german).text(.visitsToday, [.count: 1234]), "1.234 Besuche heute"),
            (Words(language: .chinese).text(.visitsLeft, [.count: 1]), "剩余 1 次"),
            (arabic.text(.visitsLeft, [.count: 2]), "بقيت زيارتان"),
            (arabic.text(.visitsLeft, [.count: 3]), "بقيت 3 زيارات"),
            (arabic.text(.visitsLeft, [.count: 11]), "بقيت 11 زيارة"),
            (Words(language: .arabic, region: "EG").text(.visitsLeft, [.count: 11]), "بقيت ١١ زيارة"),
        ]
        #expect(table.filter { $0 != $1 }.map(\.0) == [])
    }

    @Test("Values of the other direction are isolated, and what would turn the screen round is removed")
    func directions() {
        let table: [(Language, String, String)] = [
            (.english, "Ada", "Ada"), (.english, "علي", "\u{2068}علي\u{2069}"),
            (.english, "דנה", "\u{2068}דנה\u{2069}"),
            (.english, "王伟", "王伟"), (.english, "Ada علي", "\u{2068}Ada علي\u{2069}"), (.english, "\u{202E}adA", "adA"),
            (.english, "A\u{2066}B\u{2069}C\u{200F}\u{061C}", "ABC"), (.english, "A\u{1B}[2J\nB\u{0}", "A [2J B"),
            (.english, "A\u{2028}B", "A B"), (.english, "x\u{2069}علي", "\u{2068}xعلي\u{2069}"),
            (.english, "👩‍🚀", "👩‍🚀"), (.arabic, "علي", "علي"), (.arabic, "Ada", "\u{2068}Ada\u{2069}"),
            (.arabic, "王伟", "\u{2068}王伟\u{2069}"), (.arabic, "42", "42"),
        ]
        let failures = table.filter { language, value, expected in
            let words = Words(language: language, overrides: [.welcomeName: "<{name}>"])
            return words.text(.welcomeName, [.name: .text(value)]) != "<\(expected)>"
        }
        #expect(failures.map(\.1) == [])
    }

    @Test("Times, days and numbers are those of the language and the region")
    func times() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let date = Date(timeIntervalSince1970: 1_795_507_500)
        let table: [(Language, String?, String)] = [
            (.english, nil, "9:05 AM, November 24, 2026, 1,234"), (.english, "GB", "09:05, 24 November 2026, 1,234"),
            (.german, nil, "09:05, 24. November 2026, 1.234"), (.chinese, nil, "09:05, 2026年11月24日, 1,234"),
            (.arabic, nil, "9:05 ص, 24 نوفمبر، 2026, 1,234"), (.arabic, "EG", "٩:٠٥ ص, ٢٤ نوفمبر، ٢٠٢٦, ١٬٢٣٤"),
        ]
        let found = table.map { language, region, _ in
            let words = Words(language: language, region: region)
            return "\(words.time(date, in: zone)), \(words.day(date, in: zone)), \(words.number(1234))"
                .replacing(/[\u{202F}\u{A0}]/, with: " ")
        }
        #expect(found == table.map(\.2))
    }
}

/// Babel, a library of others for CLDR's rules.
private let babel = PythonWitness(modules: "babel")

@Suite(
    "Plural forms",
    .enabled(if: babel != nil, "babel is not installed: run Scripts/setup --tests"),
    .timeLimit(.minutes(2))
)
struct PluralWitnessTests {
    @Test("Babel has the same plural category for each number")
    func pluralForms() throws {
        let numbers = Array(0...200) + [1_000_000]
        let script = """
            import babel, json, sys
            question = json.load(sys.stdin)
            forms = [babel.Locale.parse(name, sep="-").plural_form for name in question["names"]]
            print(json.dumps([[form(int(number)) for number in question["numbers"]] for form in forms]))
            """
        let question = ["numbers": numbers.map(String.init), "names": Language.allCases.map(\.rawValue)]
        let found = try JSONDecoder().decode([[String]].self, from: try #require(babel).ask(script, question))
        let ours = Language.allCases.map { language in numbers.map { language.pluralCategory(of: $0).rawValue } }
        #expect(found == ours)
        for language in Language.allCases {
            #expect(Set(numbers.map(language.pluralCategory)) == Set(language.pluralCategories), "\(language)")
        }
        #expect(Language.arabic.pluralCategory(of: .min) == .few && Language.english.pluralCategory(of: -1) == .one)
    }
}
