import Foundation
import KioskKit
import TestSupport
import Testing

@testable import KioskTerminal

@Suite("The visitor's screen")
struct TerminalViewTests {
    static let sizes = [(80, 24), (100, 30), (200, 60)].map { TerminalCanvas.Size(columns: $0.0, rows: $0.1) }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "Frames"
    )

    private func lines(_ scene: VisitorScene, _ size: TerminalCanvas.Size) -> [String] {
        TerminalView.canvas(scene, taps: SampleScenes.taps, theme: Theme(), size: size).lines
    }

    /// A frame that is new is written to its file, and fails once, to be looked at.
    @Test("every scene looks as it was agreed, in each language and size", arguments: Language.allCases, sizes)
    func frames(_ language: Language, _ size: TerminalCanvas.Size) throws {
        var theme = Theme()
        (theme.language, theme.clubName, theme.place) = (language, "Riverside", "←")
        let scenes = VisitorScenes(theme, in: .gmt)
        let taps = scenes.sampleRows()
        let frames = scenes.samples().map { scene in
            let lines = TerminalView.canvas(scene, taps: taps, theme: theme, size: size).lines
            return "== \(scene.kind.rawValue)\n" + lines.joined(separator: "\n") + "\n"
        }
        let file = Self.folder.appendingPathComponent("\(language.rawValue)-\(size.columns)x\(size.rows).txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            try frames.joined().write(to: file, atomically: true, encoding: .utf8)
            Issue.record("written, to be looked at: \(file.path)")
            return
        }
        let agreed = text.split(separator: "== ").map { "== " + $0 }
        for (frame, expected) in zip(frames, agreed) where frame != expected {
            Issue.record("drawn:\n\(frame)\nagreed:\n\(expected)")
        }
        #expect(frames.count == agreed.count)
    }

    @Test("every kind of scene is among the samples")
    func kinds() {
        #expect(Set(SampleScenes.all.map(\.scene.kind)) == Set(VisitorScene.Kind.allCases))
    }

    @Test("no size is too small")
    func smallSizes() {
        var faults: [String] = []
        for columns in [1, 2, 3, 5, 8, 9, 20, 40, 79, 80] {
            for rows in (Array(1...14) + [23, 24]).oneIn(2) {
                let size = TerminalCanvas.Size(columns: columns, rows: rows)
                for sample in SampleScenes.all {
                    let lines = lines(sample.scene, size)
                    let isInside = lines.count == rows && lines.allSatisfy { TextWidth.columns($0) <= columns }
                    // The first word of the title is there wherever one fits.
                    let word = sample.scene.title.split(separator: " ").first ?? ""
                    let isSaid = columns < 40 || lines.contains { $0.contains(word.prefix(5)) }
                    if !isInside || !isSaid { faults.append("\(columns)×\(rows) \(sample.name)") }
                }
            }
        }
        #expect(faults == [])
    }

    @Test("a tone is a colour and a sign, and without colours a reversed band")
    func tones() {
        let signs: [(VisitorScene.Tone, String)] = [
            (.neutral, ""), (.busy, "…"), (.success, "✓"), (.celebration, "★"), (.warning, "!"), (.failure, "×"),
        ]
        var colors: Set<RGBColor?> = []
        for (tone, sign) in signs {
            var scene = SampleScenes.all[0].scene
            (scene.tone, scene.title) = (tone, "Title")
            let canvas = TerminalView.canvas(scene, taps: [], theme: Theme(), size: Self.sizes[0])
            let row = canvas.lines.firstIndex { $0.hasSuffix("Title") } ?? 0
            let words = canvas.lines[row].split(separator: " ").map(String.init)
            #expect(words == [sign, "Title"].filter { !$0.isEmpty })
            let style = canvas[row: row].first?.style
            #expect(style?.isReverse == (tone != .neutral))
            if tone != .celebration { colors.insert(style?.foreground) }
        }
        #expect(colors.count == signs.count - 1)
    }

    @Test("stamps that do not fit are numbers, and impossible ones are mended")
    func stamps() {
        let cases: [((Int, Int), String?)] = [
            ((3, 5), "● ● ● ○ ○"), ((0, 2), "○ ○"), ((9, 3), "● ● ●"), ((-1, 1), "○"), ((1, 0), nil), ((7, -2), nil),
            ((20, 60), String(repeating: "●", count: 20) + String(repeating: "○", count: 40)), ((80, 77), "● 77/77"),
            ((2, .max), "● 2/9223372036854775807"),
        ]
        #expect(
            differences(cases) { filled, total in
                var scene = SampleScenes.all[1].scene
                scene.stamps = .init(filled: filled, total: total)
                let lines = TerminalView.canvas(scene, taps: [], theme: Theme(), size: Self.sizes[0]).lines
                return lines.first { $0.contains("●") || $0.contains("○") }?.trimmingCharacters(in: .whitespaces)
            } == []
        )
    }
}
