public import KioskKit

/// The visitor's screen in a terminal.
public enum TerminalView {
    /// From how many rows on the latest taps are listed.
    static let rowsForTaps = 24
    /// The longest line of text, in columns; wider ones are hard to read.
    private static let longestLine = 100

    /// Draws a scene and the latest taps.
    ///
    /// The club's name stands at the top, then the title on a band in the colour of the scene's tone, with a sign for
    /// it, the lines, the stamp card and the rewards; at the bottom the note for the staff, and in 24 rows or more at
    /// least five of the latest taps. In less room gaps, borders, the list and at last the lower texts are left out. The
    /// layout is from left to right in every language.
    ///
    /// - Parameters:
    ///   - scene: what to show.
    ///   - taps: the latest taps, the newest first; as many as fit are drawn.
    ///   - theme: its colours are used. All texts are the scene's.
    ///   - size: the size of the terminal.
    public static func canvas(
        _ scene: VisitorScene,
        taps: [TapRow],
        theme: Theme,
        size: TerminalCanvas.Size
    ) -> TerminalCanvas {
        let inks = Inks(theme.colors)
        var canvas = TerminalCanvas(size: size, style: inks.text)
        let content = centered(min(longestLine, size.columns > 8 ? size.columns - 4 : size.columns), in: size.columns)

        var top = 0
        if size.rows >= 8 {
            canvas.draw(scene.clubName, in: content, row: 1, .center, style: inks.name)
            canvas.rule(columns: content, row: 2, style: inks.muted)
            top = 3
        }
        var bottom = size.rows
        if size.rows >= rowsForTaps {
            let count = 5 + (size.rows - rowsForTaps) / 2
            bottom -= count + 1
            canvas.rule(columns: content, row: bottom, style: inks.muted)
            draw(taps.prefix(count), in: content, row: bottom + 1, on: &canvas, inks)
        }
        // The title stands in the same row in every scene, a little above the middle, where the eye expects it.
        let usual = (bottom - top) / 5
        if let note = scene.note, bottom - top >= 4 {
            let lines = TextWidth.wrapped(note, to: content.count, limit: bottom - top >= 12 ? 2 : 1)
            bottom -= lines.count
            for (index, line) in lines.enumerated() {
                canvas.draw(line, in: content, row: bottom + index, .center, style: inks.muted)
            }
        }

        let room = bottom - top
        let densities = Density.allCases.drop { $0 == .generous && size.rows < 40 }
        let bodies = densities.lazy.map { body(of: scene, columns: content.count, $0, inks) }
        var rows = bodies.first { $0.count <= room } ?? body(of: scene, columns: content.count, .tight, inks)
        if rows.count > room {
            rows = Array(rows.prefix(room))
            if room > 1, let last = rows.last { rows[room - 1] = Row(text: "…", style: last.style) }
        }
        let start = top + min(room - rows.count, usual)
        for (index, row) in rows.enumerated() {
            if row.isBand {
                canvas.fill(columns: 0..<size.columns, rows: start + index..<start + index + 1, style: row.style)
            }
            canvas.draw(row.text, in: content, row: start + index, .center, style: row.style)
        }
        return canvas
    }

    // MARK: The scene

    private struct Row {
        var text = ""
        var style: TerminalCanvas.Style
        /// Whether its style covers the whole width of the screen.
        var isBand = false
    }

    /// How much room is left around the texts.
    private enum Density: CaseIterable {
        case generous, spacious, close, tight
    }

    private static func body(of scene: VisitorScene, columns: Int, _ density: Density, _ inks: Inks) -> [Row] {
        let (gapRows, edgeRows) =
            switch density {
            case .generous: (2, 2)
            case .spacious: (1, 1)
            case .close: (0, 1)
            case .tight: (0, 0)
            }
        let gap = Array(repeating: Row(style: inks.text), count: gapRows)
        let band = inks.band(scene.tone)
        let isBand = scene.tone != .neutral
        let signed = [sign(scene.tone), scene.title].filter { !$0.isEmpty }.joined(separator: "  ")
        let title = TextWidth.wrapped(signed, to: min(columns, 64), limit: 3)
        let titleRows = title.map { Row(text: $0, style: band, isBand: isBand) }
        let edge = Array(repeating: Row(style: band, isBand: isBand), count: edgeRows)
        var rows = edge + titleRows + edge
        let lines = scene.lines.flatMap { TextWidth.wrapped($0, to: columns, limit: 3) }
        if !lines.isEmpty { rows += gap + lines.map { Row(text: $0, style: inks.text) } }
        if let stamps = scene.stamps.flatMap({ text(of: $0, columns: columns) }) {
            rows += gap + [Row(text: stamps, style: inks.name)]
        }
        let rewards = scene.rewards.flatMap { TextWidth.wrapped("★ " + $0, to: max(1, columns - 4), limit: 2) }
        if !rewards.isEmpty {
            rows += gap + (density == .tight ? rewards : boxed(rewards)).map { Row(text: $0, style: inks.reward) }
        }
        return rows
    }

    /// The lines within a border, each as wide as the widest.
    private static func boxed(_ lines: [String]) -> [String] {
        let columns = lines.map { TextWidth.columns($0) }.max() ?? 0
        let across = String(repeating: "─", count: columns + 2)
        return ["╭" + across + "╮"] + lines.map { "│ " + TextWidth.padded($0, to: columns) + " │" } + [
            "╰" + across + "╯"
        ]
    }

    /// The stamp card, in numbers where the stamps do not fit.
    private static func text(of stamps: VisitorScene.Stamps, columns: Int) -> String? {
        guard stamps.total > 0 else { return nil }
        let filled = min(max(stamps.filled, 0), stamps.total)
        guard stamps.total <= columns else { return "● \(filled)/\(stamps.total)" }
        let signs = Array(repeating: "●", count: filled) + Array(repeating: "○", count: stamps.total - filled)
        return signs.joined(separator: stamps.total <= columns / 2 ? " " : "")
    }

    /// What the tone is where colours do not show it.
    private static func sign(_ tone: VisitorScene.Tone) -> String {
        switch tone {
        case .neutral: ""
        case .busy: "…"
        case .success: "✓"
        case .celebration: "★"
        case .warning: "!"
        case .failure: "×"
        }
    }

    // MARK: The list

    private static func draw(
        _ taps: ArraySlice<TapRow>,
        in columns: Range<Int>,
        row: Int,
        on canvas: inout TerminalCanvas,
        _ inks: Inks
    ) {
        func widest(_ field: (TapRow) -> String, _ limit: Int) -> Int {
            min(limit, taps.map { TextWidth.columns(field($0)) }.max() ?? 0)
        }
        let time = widest(\.time, columns.count / 4)
        let detail = widest(\.detail, columns.count / 3)
        let start = columns.lowerBound + time + 2
        let end = columns.upperBound - (detail > 0 ? detail + 2 : 0)
        guard start < end else { return }
        for (index, tap) in taps.enumerated() {
            let row = row + index
            canvas.draw(
                tap.time,
                in: columns.lowerBound..<columns.lowerBound + time,
                row: row,
                .right,
                style: inks.muted
            )
            canvas.draw("\u{2068}\(tap.text)\u{2069}", in: start..<end, row: row, style: inks.text)
            canvas.draw(tap.detail, in: columns.upperBound - detail..<columns.upperBound, row: row, style: inks.muted)
        }
    }

    private static func centered(_ width: Int, in columns: Int) -> Range<Int> {
        let start = (columns - width) / 2
        return start..<start + width
    }

    /// The styles that a theme's colours make.
    private struct Inks {
        let text: TerminalCanvas.Style
        let name: TerminalCanvas.Style
        let muted: TerminalCanvas.Style
        let reward: TerminalCanvas.Style
        private let colors: Theme.Colors

        init(_ colors: Theme.Colors) {
            func ink(_ color: RGBColor, isBold: Bool = false) -> TerminalCanvas.Style {
                TerminalCanvas.Style(foreground: color, background: colors.background, isBold: isBold)
            }
            self.colors = colors
            text = ink(colors.text)
            name = ink(colors.accent, isBold: true)
            muted = ink(colors.muted)
            reward = ink(colors.success, isBold: true)
        }

        /// The title's style. It is reversed, so that the band can be seen without colours too.
        func band(_ tone: VisitorScene.Tone) -> TerminalCanvas.Style {
            var style = text
            style.isBold = true
            style.isReverse = tone != .neutral
            switch tone {
            case .neutral: break
            case .busy, .celebration: style.foreground = colors.accent
            case .success: style.foreground = colors.success
            case .warning: style.foreground = colors.warning
            case .failure: style.foreground = colors.failure
            }
            return style
        }
    }
}
