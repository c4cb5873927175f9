import KioskKit
import Testing

@testable import KioskTerminal

@Suite("Colours")
struct TerminalColorsTests {
    @Test("by the environment")
    func environment() {
        let cases: [([String: String], TerminalColors)] = [
            ([:], .none), (["TERM": "dumb", "COLORTERM": "truecolor"], .none), (["TERM": ""], .none),
            (["TERM": "xterm"], .standard), (["TERM": "linux"], .standard), (["TERM": "xterm-256color"], .indexed),
            (["TERM": "tmux-256color", "COLORTERM": "truecolor"], .trueColor),
            (["TERM": "foot", "COLORTERM": "24bit"], .trueColor),
            (["TERM": "xterm", "COLORTERM": "yes"], .standard), (["TERM": "xterm-256color", "NO_COLOR": "1"], .none),
            (["TERM": "xterm-256color", "NO_COLOR": ""], .indexed),
        ]
        #expect(differences(cases) { TerminalColors(environment: $0) } == [])
    }

    @Test("sequences")
    func sequences() {
        let red = RGBColor(red: 250, green: 10, blue: 20)
        let night = RGBColor(red: 0x10, green: 0x18, blue: 0x28)
        let style = TerminalCanvas.Style(foreground: red, background: night, isBold: true)
        let all: [(TerminalColors, String)] = [
            (.none, "\u{1B}[0;1m"), (.standard, "\u{1B}[0;1;91;40m"), (.indexed, "\u{1B}[0;1;38;5;196;48;5;234m"),
            (.trueColor, "\u{1B}[0;1;38;2;250;10;20;48;2;16;24;40m"),
        ]
        #expect(differences(all) { $0.sequence(for: style) } == [])
        let marks = TerminalCanvas.Style(isDim: true, isReverse: true)
        #expect(TerminalColors.allCases.allSatisfy { $0.sequence(for: marks) == "\u{1B}[0;2;7m" })
        // Two colours that become one would hide the text.
        let similar = TerminalCanvas.Style(foreground: RGBColor(red: 8, green: 8, blue: 8), background: night)
        #expect(TerminalColors.standard.sequence(for: similar) == "\u{1B}[0;97;40m")
    }

    @Test("every tone of the default theme is another colour of 16, and none is the background")
    func tones() {
        let colors = Theme.Colors()
        let tones = [colors.text, colors.accent, colors.success, colors.warning, colors.failure, colors.background]
        #expect(Set(tones.map(TerminalColors.standard.nearest)).count >= 5)
        let background = TerminalColors.standard.nearest(colors.background)
        #expect(tones.dropLast().allSatisfy { TerminalColors.standard.nearest($0) != background })
    }
}
