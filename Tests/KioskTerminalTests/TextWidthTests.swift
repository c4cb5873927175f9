import KioskTerminal
import Testing

/// The cases that differ, each as text, so that one expectation stands for a table.
func differences<Case, Value: Equatable>(
    _ cases: [(Case, Value)],
    _ actual: (Case) -> Value
) -> [String] {
    cases.compactMap { input, expected in
        let actual = actual(input)
        return actual == expected ? nil : "\(input): \(actual), not \(expected)"
    }
}

@Suite("The width of text")
struct TextWidthTests {
    @Test("columns by grapheme cluster")
    func columns() {
        let cases: [(String, Int)] = [
            ("", 0), ("Ada", 3), ("Zoë", 3), ("Zoe\u{308}", 3), ("Łódź", 4),
            ("漢字", 4), ("かな", 4), ("ｶﾅ", 2), ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2),
            ("محمد", 4), ("مُحَمَّد", 4), ("שלום", 4), ("สวัสดี", 4),
            ("👩", 2), ("👩‍👩‍👧‍👦", 2), ("👩🏽‍🚀", 2), ("👍🏽", 2), ("🇩🇪", 2), ("❤", 1), ("❤️", 2), ("1️⃣", 2), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2),
            ("✓ ! × ★ ● ○ …", 13), ("╭─╮", 3),
            // What is not drawn.
            ("\u{1B}[31m", 4), ("a\u{0}b", 2), ("a\tb", 3), ("a\r\nb", 3), ("\u{202E}abc\u{202C}", 3),
            ("\u{2067}x\u{2069}", 1),
            ("\u{301}", 0), ("\u{200D}", 0), ("a\u{FE0F}", 1), ("\u{FEFF}a\u{AD}b", 2),
        ]
        #expect(differences(cases) { TextWidth.columns($0) } == [])
        let clean = TextWidth.graphemes(of: "\u{202E}a\u{1B}b\tc\u{301}").map(\.character)
        #expect(clean == ["a", "b", " ", "c\u{301}"])
        let zalgo = "e" + String(repeating: "\u{301}", count: 5000)
        #expect(TextWidth.graphemes(of: zalgo).first?.character.unicodeScalars.count == TextWidth.longestCluster)
    }

    @Test("truncating and padding")
    func arranging() {
        #expect(
            differences([
                ("Ada", "Ada   | Ada  |   Ada"), ("Grace Hopper", "Grace…|Grace…|Grace…"), ("漢字漢字", "漢字… |漢字… | 漢字…"),
                ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦    |  👩‍👩‍👧‍👦  |    👩‍👩‍👧‍👦"), ("", "      |      |      "), ("Anna Maria", "Anna… |Anna… | Anna…"),
            ]) { text in
                TextWidth.Alignment.allCases.map { TextWidth.padded(text, to: 6, $0) }.joined(separator: "|")
            } == []
        )
        #expect((-1...2).map { TextWidth.truncated("漢字", to: $0) } == ["", "", "…", "…"])
    }

    @Test("lines break between words, and Chinese anywhere")
    func wrapping() {
        let cases: [(String, [String])] = [
            ("", []), ("  ", []), ("one two three", ["one two", "three"]), ("one  two\nthree", ["one two", "three"]),
            ("incomprehensible", ["incompre", "hensible"]), ("a incomprehensibly", ["a", "incompre", "hensibly"]),
            ("欢迎光临俱乐部", ["欢迎光临", "俱乐部"]), ("欢迎光临，你好", ["欢迎光", "临，你好"]), ("Hi 欢迎光临", ["Hi 欢迎", "光临"]),
            ("e\u{301}e\u{301} e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", ["éé", "éééééé"]),
        ]
        #expect(differences(cases) { TextWidth.wrapped($0, to: 8) } == [])
        #expect(TextWidth.wrapped("one two three four", to: 8, limit: 1) == ["one two…"])
        #expect(
            TextWidth.wrapped("Hi \u{2068}עבר Ann (2)\u{2069}!", to: 8) == [
                "Hi \u{2067}עבר\u{2069}", "\u{2067}Ann (2)\u{2069}!",
            ]
        )
        #expect(TextWidth.truncated("\u{2068}Ann עברית\u{2069}", to: 6) == "\u{2066}Ann ע\u{2069}…")
        #expect(TextWidth.truncated("\u{2068}a\u{2068}b", to: 6) == "\u{2066}ab\u{2069}")
        #expect(TextWidth.truncated("\u{2069}a\u{2068}\u{2069}", to: 6) == "a")
        #expect(TextWidth.wrapped("漢字", to: 1) == [])
        #expect(TextWidth.wrapped("a漢b", to: 1) == ["a", "b"])
        #expect(TextWidth.wrapped("a b", to: 0) == [])
    }
}
