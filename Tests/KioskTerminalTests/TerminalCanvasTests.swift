import CardCore
import Foundation
import KioskKit
import TestSupport
import Testing

@testable import KioskTerminal

/// The cells of a canvas as the emulator has them.
func cells(of canvas: TerminalCanvas, _ colors: TerminalColors) -> [[TerminalEmulator.Cell]] {
    (0..<canvas.size.rows).map { row in
        canvas[row: row].map {
            TerminalEmulator.Cell(
                text: $0.grapheme.map { String($0.character) } ?? "",
                style: colors.sequence(for: $0.style)
            )
        }
    }
}

@Suite("A canvas and what is written of it")
struct TerminalCanvasTests {
    private let plain = TerminalCanvas.Style()

    private func canvas(_ columns: Int, _ rows: Int, _ draw: (inout TerminalCanvas) -> Void) -> [String] {
        var canvas = TerminalCanvas(size: .init(columns: columns, rows: rows))
        draw(&canvas)
        return canvas.lines
    }

    @Test("text is clipped, and no wide character is halved")
    func clipping() {
        let cases: [((String, Int), String)] = [
            (("abc", 0), "abc"), (("abcdef", 0), "abcd"), (("abc", -1), "bc"), (("abc", 3), "   a"), (("abc", 4), ""),
            (("漢字", 0), "漢字"), (("漢字", -1), " 字"), (("漢字", 1), " 漢"), (("漢字", 3), ""), (("漢", 2), "  漢"),
            (("e\u{301}x", 2), "  e\u{301}x"),
        ]
        #expect(
            differences(cases) { text, column in
                canvas(4, 1) { $0.draw(text, column: column, row: 0, style: plain) }.first ?? ""
            } == []
        )
        let over: [((String, Int), String)] = [
            (("x", 0), "x 字"), (("x", 1), " x字"), (("x", 2), "漢x"), (("xy", 1), " xy"), (("中", 1), " 中"),
            (("中", 0), "中字"),
        ]
        #expect(
            differences(over) { text, column in
                canvas(4, 1) {
                    $0.draw("漢字", column: 0, row: 0, style: plain)
                    $0.draw(text, column: column, row: 0, style: plain)
                }.first ?? ""
            } == []
        )
        #expect(canvas(4, 1) { $0.draw("abc", column: 0, row: 1, style: plain) } == [""])
    }

    @Test("boxes, rules and aligned text")
    func shapes() {
        let lines = canvas(8, 4) {
            $0.box(columns: 0..<8, rows: 0..<3, style: plain)
            $0.draw("Ada", in: 1..<7, row: 1, .right, style: plain)
            $0.rule(columns: 2..<20, row: 3, style: plain)
        }
        #expect(lines == ["╭──────╮", "│   Ada│", "╰──────╯", "  ──────"])
        let clipped = canvas(2, 2) {
            $0.box(columns: -3..<2, rows: -1..<2, style: plain)
            $0.box(columns: 0..<1, rows: 0..<1, style: plain)
            $0.fill(columns: -5..<1, rows: 0..<1, style: plain)
        }
        #expect(clipped == [" │", "─╯"])
        #expect(TerminalCanvas.Size(columns: 0, rows: -3) == TerminalCanvas.Size(columns: 1, rows: 1))
        #expect(TerminalCanvas.Size(columns: .max, rows: 5).columns == TerminalCanvas.Size.limit)
    }

    @Test("only what changed is written")
    func changes() {
        var old = TerminalCanvas(size: .init(columns: 20, rows: 3))
        old.draw("Hello, Ada", column: 0, row: 0, style: plain)
        old.draw("12:00", column: 0, row: 2, style: plain)
        func written(_ change: (inout TerminalCanvas) -> Void) -> String {
            var new = old
            change(&new)
            return String(decoding: new.difference(from: old, colors: .none), as: UTF8.self)
                .replacing("\u{1B}", with: "^").replacing("\u{2067}", with: "<").replacing("\u{2069}", with: ">")
        }
        let bold = TerminalCanvas.Style(isBold: true)
        #expect(written { _ in } == "")
        #expect(written { $0.draw("Eve", column: 7, row: 0, style: plain) } == "^[1;8H^[0mEve")
        #expect(written { $0.draw("Jello. Ada", column: 0, row: 0, style: plain) } == "^[1;1H^[0mJello.")
        #expect(
            written {
                $0.draw("J", column: 0, row: 0, style: plain); $0.draw("!", column: 10, row: 0, style: plain)
            }
                == "^[1;1H^[0mJ^[1;11H!"
        )
        #expect(written { $0.draw("5", column: 3, row: 2, style: bold) } == "^[3;4H^[0;1m5")
        // The cursor is placed anew after what terminals measure differently, and the rest drawn.
        #expect(
            written { $0.draw("👍🏽", column: 0, row: 2, style: plain) }
                == "^[3;1H^[0m👍🏽^[3;3H:00" + String(repeating: " ", count: 15)
        )
        #expect(
            written { $0.draw("12 محمد 7, ok  عمر", column: 0, row: 1, style: plain) }
                == "^[2;1H<^[0m12 محمد 7, ok>  <عمر>  "
        )
        #expect(
            written { $0.draw("Hi محمد عمر ok", column: 0, row: 1, style: plain) }
                == "^[2;1H^[0mHi <محمد عمر> ok      "
        )
    }

    /// What stands in a row, and what is written of it: `<` and `{` begin an isolate from right to left and from left to
    /// right, `>` ends one.
    static let isolates: [(drawn: String, written: String)] = [
        ("Hi [עברית Ann (2)]", "Hi <עברית Ann (2)>"), ("Hi [עברית]!", "Hi <עברית>!"),
        ("Hi [Ann עברית (2)], 7", "Hi {Ann עברית (2)>, 7"), ("Hi [(2) עברית]", "Hi <(2) עברית>"),
        ("Hi [2 Ann עברית.]", "Hi {2 Ann עברית.>"), ("Hi [עברית  Ann]", "Hi <עברית  Ann>"),
        ("Hi [Ann (2)]", "Hi Ann (2)"), ("[עברית Ann]", "<עברית Ann>"),
        ("[עברית] and [محمد 7]", "<עברית> and <محمد 7>"),
        // On a screen that is written from right to left.
        ("أهلاً، [Ann (2)]!", "<أهلاً، {Ann (2)>!>"), ("أهلاً، [علي Ann (2)]", "<أهلاً، <علي Ann (2)>>"),
        ("[Ann (2)] أهلاً", "<{Ann (2)> أهلاً>"), ("أهلاً، علي (2)", "<أهلاً، علي (2)>"),
        // Without isolates as before.
        ("12 محمد 7, ok  عمر", "<12 محمد 7, ok>  <عمر>"), ("Hi محمد عمر ok", "Hi <محمد عمر> ok"),
    ]

    @Test("A name is one isolate, in whatever stands around it", arguments: isolates)
    func names(row: (drawn: String, written: String)) {
        let text = row.drawn.replacing("[", with: "\u{2068}").replacing("]", with: "\u{2069}")
        let size = TerminalCanvas.Size(columns: TextWidth.columns(text), rows: 1)
        var canvas = TerminalCanvas(size: size)
        canvas.draw(text, column: 0, row: 0, style: plain)
        let written = String(
            decoding: canvas.difference(from: TerminalCanvas(size: size), colors: .none),
            as: UTF8.self
        )
        .replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "").replacing("\u{2066}", with: "{")
        .replacing("\u{2067}", with: "<").replacing("\u{2069}", with: ">")
        #expect(written.trimmingCharacters(in: .whitespaces) == row.written)
        #expect(canvas.lines == [text.replacing(/[\u{2068}\u{2069}]/, with: "")])
    }

    @Test("what is written makes any canvas of any other (seeds from 1)", arguments: TerminalColors.allCases)
    func property(_ colors: TerminalColors) {
        var faults: [String] = []
        for seed in rounds(16) {
            var numbers = SeededNumbers(seed: UInt64(1 + seed))
            let size = TerminalCanvas.Size(columns: numbers.number(1...24), rows: numbers.number(1...6))
            var emulator = TerminalEmulator(size: size)
            var shown: TerminalCanvas?
            for frame in 1...6 {
                var next = shown ?? TerminalCanvas(size: size, style: numbers.style())
                for _ in 0..<numbers.number(0...8) { numbers.draw(on: &next) }
                emulator.feed(next.difference(from: shown, colors: colors))
                shown = next
                let isRight = emulator.rows == cells(of: next, colors)
                if !isRight || !emulator.complaints.isEmpty || emulator.clears != 1 {
                    faults.append("seed \(seed), frame \(frame): \(emulator.complaints)")
                    break
                }
            }
        }
        #expect(faults == [])
    }

    @Test("a first frame of a large screen takes few moves and styles")
    func economy() {
        let size = TerminalCanvas.Size(columns: 200, rows: 60)
        let scene = SampleScenes.all[2].scene
        let canvas = TerminalView.canvas(scene, taps: SampleScenes.taps, theme: Theme(), size: size)
        var emulator = TerminalEmulator(size: size)
        emulator.feed(canvas.difference(from: nil, colors: .trueColor))
        // One for each row, and one behind an astronaut.
        #expect(emulator.moves == 61)
        #expect(emulator.styles < 120)
    }
}

extension SeededNumbers {
    fileprivate mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    fileprivate mutating func style() -> TerminalCanvas.Style {
        let colors = [nil, RGBColor(red: 250, green: 20, blue: 20), RGBColor(red: 16, green: 24, blue: 40)]
        return TerminalCanvas.Style(
            foreground: colors[number(0...2)],
            background: colors[number(0...2)],
            isBold: Bool.random(using: &self),
            isDim: number(0...4) == 0,
            isReverse: number(0...4) == 0
        )
    }

    fileprivate mutating func draw(on canvas: inout TerminalCanvas) {
        let alphabet = Array("abc xyz  漢字かな한국 محمد שלום 12 é─│👩🏽‍🚀👍🇩🇪❤️\u{202E}\u{7}")
        let column = number(-3...canvas.size.columns)
        let row = number(-1...canvas.size.rows)
        switch number(0...5) {
        case 0: canvas.fill(columns: column..<column + number(0...9), rows: row..<row + number(0...3), style: style())
        case 1: canvas.box(columns: column..<column + number(0...9), rows: row..<row + number(0...4), style: style())
        default:
            let text = String((0..<number(0...10)).map { _ in alphabet[number(0...alphabet.count - 1)] })
            canvas.draw(text, column: column, row: row, style: style())
        }
    }
}
