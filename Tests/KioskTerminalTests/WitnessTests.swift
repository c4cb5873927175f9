import Foundation
import KioskKit
import TestSupport
import Testing

@testable import KioskTerminal

/// PyPI's `pyte`, a terminal, and `wcwidth`.
private let witness = PythonWitness(modules: "pyte, wcwidth")

@Suite(.enabled(if: witness != nil, "pyte and wcwidth are not installed: run Scripts/setup --tests"))
struct WitnessTests {
    @Test("[real pyte] wcwidth measures names as we do")
    func widths() throws {
        let names = [
            "Ada Lovelace", "Zoë", "Zoe\u{308}", "Łódź Ångström", "Nguyễn Thị", "Ñandú", "Ελένη", "Сергей", "Ждана й",
            "王小明", "欢迎回来，王小明！", "山田 太郎", "ヤマダ", "ﾔﾏﾀﾞ", "김철수", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}",
            "محمد", "مُحَمَّد", "عبد الله", "שלום", "דוד", "สมชาย", "नमस्ते", "தமிழ்",
            "👩", "👍", "👍🏽", "👩🏽‍🚀", "👩‍👩‍👧‍👦", "🇩🇪", "🇩🇪🇦🇹", "❤", "❤️", "☕", "⚠️", "1️⃣", "✓ ! × ★ ● ○ …", "╭─╮│",
            "a\u{200D}b", "a\u{200C}b", "Ada 👩🏽‍🚀 王", "e\u{301}\u{327}",
        ]
        let program =
            "import json, sys, wcwidth; print(json.dumps([wcwidth.wcswidth(n) for n in json.load(sys.stdin)]))"
        let answer = try #require(witness).ask(program, names)
        let widths = try JSONDecoder().decode([Int].self, from: answer)
        let disputed = zip(names, widths).filter { TextWidth.columns($0) != $1 }.map { "\($0) \($1)" }
        // wcwidth takes whatever follows a joiner for part of what is before it; where no emoji is joined, terminals draw it.
        #expect(disputed == ["a\u{200D}b 1"])
    }

    private struct Screen: Encodable {
        var columns: Int
        var rows: Int
        /// What is written, frame by frame.
        var frames: [String]
    }

    /// pyte knows no isolates: it passes over what follows a character without a width until the next sequence.
    private static let program = """
        import json, sys, pyte
        screens = []
        for s in json.load(sys.stdin):
            screen = pyte.Screen(s["columns"], s["rows"])
            stream = pyte.Stream(screen)
            stream.feed("\\x1b[?7l")
            shown = []
            for frame in s["frames"]:
                stream.feed(frame)
                shown.append([[screen.buffer[y][x].data for x in range(screen.columns)] for y in range(screen.lines)])
            screens.append(shown)
        print(json.dumps(screens))
        """

    @Test(
        "[real pyte] a terminal of others shows every frame as it is, one after the other",
        arguments: TerminalViewTests.sizes
    )
    func frames(_ size: TerminalCanvas.Size) throws {
        let canvases = SampleScenes.all.map { sample in
            TerminalView.canvas(sample.scene, taps: SampleScenes.taps, theme: Theme(), size: size)
        }
        let previous = [nil] + canvases.dropLast().map(Optional.some)
        let frames = zip(canvases, previous).map { canvas, previous in
            String(decoding: canvas.difference(from: previous, colors: .trueColor), as: UTF8.self)
                .replacing(/[\u{2066}\u{2067}\u{2069}]/, with: "")
        }
        let screen = Screen(columns: size.columns, rows: size.rows, frames: frames)
        let answer = try #require(witness).ask(Self.program, [screen])
        let shown = try #require(try JSONDecoder().decode([[[[String]]]].self, from: answer).first)
        var faults: [String] = []
        for (canvas, rows) in zip(canvases, shown) {
            for (row, cells) in rows.enumerated() {
                for (column, pair) in zip(canvas[row: row], cells).enumerated() {
                    // Behind a disputed cluster the terminal may have anything in the half that nobody draws.
                    guard let grapheme = pair.0.grapheme, !grapheme.isDisputed else { continue }
                    if String(grapheme.character) != pair.1 { faults.append("\(row) \(column): \(pair)") }
                }
            }
        }
        #expect(shown.count == canvases.count)
        #expect(faults.prefix(10) == [])
    }
}
