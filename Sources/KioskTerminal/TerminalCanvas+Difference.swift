import KioskKit

extension TerminalCanvas {
    /// Returns what to write to a terminal that shows another canvas, so that it shows this one.
    ///
    /// Only what changed is written. The terminal is expected not to wrap lines (DECAWM off), to be of the canvas's size,
    /// and to have any style and cursor position; all escape sequences are of ECMA-48. Terminals that count columns
    /// otherwise than ``TextWidth`` are kept in step: after a cluster on whose width they disagree the cursor is placed
    /// anew, and the rest of the row is drawn over what it may have covered. Right-to-left text is enclosed in isolates
    /// (U+2067 … U+2069), which take no column and keep a terminal that reorders text from turning the whole row. A name
    /// that was drawn as an isolate stays one, within the text around it.
    ///
    /// - Parameters:
    ///   - previous: what the terminal shows. With `nil`, or a canvas of another size, it is cleared first.
    ///   - colors: the colours that the terminal shows.
    func difference(from previous: TerminalCanvas?, colors: TerminalColors) -> [UInt8] {
        var output = Output(colors: colors)
        var shown = TerminalCanvas(size: size)
        if let previous, previous.size == size {
            if previous == self { return [] }
            shown = previous
        } else {
            output.set(Style())
            output.text += "\u{1B}[2J"
        }
        for row in 0..<size.rows where self[row: row] != shown[row: row] {
            draw(row, over: shown[row: row], to: &output)
        }
        return Array(output.text.utf8)
    }

    /// Unchanged cells between two changed ones that are drawn, which costs no more than moving the cursor over them.
    private static let gap = 5

    private func draw(_ row: Int, over shown: ArraySlice<Cell>, to output: inout Output) {
        let cells = Array(self[row: row])
        let isolates = Isolate.all(in: cells)
        let isChanged = zip(cells, shown).map { $0 != $1 }
        // What a terminal reorders is drawn as a whole, and what was under a disputed cluster too.
        let isWhole =
            !isolates.isEmpty
            || zip(cells, isChanged).contains { $1 && $0.grapheme?.isDisputed ?? false }
            || shown.contains { $0.grapheme.map { $0.isDisputed || $0.isRightToLeft || $0.isolate != 0 } ?? false }
        var end = 0
        for column in 0..<cells.count where isWhole || isChanged[column] {
            // A wide character is drawn with its left half.
            guard column >= end, let first = cells[column].grapheme else { continue }
            var next = column
            if end > 0, column - end <= Self.gap { next = end }
            output.move(column: next, row: row)
            while next <= column, let grapheme = next == column ? first : cells[next].grapheme {
                for isolate in isolates where isolate.first == next { output.text += isolate.mark }
                output.set(cells[next].style)
                output.text.append(grapheme.character)
                for isolate in isolates where isolate.last == next { output.text += "\u{2069}" }
                next += grapheme.columns
                // At the border, and after what terminals count differently, the cursor can be anywhere.
                output.position = grapheme.isDisputed || next >= size.columns ? nil : (next, row)
                if grapheme.isDisputed, next <= column { output.move(column: next, row: row) }
            }
            end = next
        }
    }

    private struct Output {
        let colors: TerminalColors
        var text = ""
        var position: (column: Int, row: Int)?
        private var style: String?

        init(colors: TerminalColors) { self.colors = colors }

        mutating func move(column: Int, row: Int) {
            if let position, position == (column, row) { return }
            text += "\u{1B}[\(row + 1);\(column + 1)H"
            position = (column, row)
        }

        mutating func set(_ style: Style) {
            let sequence = sequences[style] ?? colors.sequence(for: style)
            sequences[style] = sequence
            if sequence != self.style { text += sequence }
            self.style = sequence
        }

        private var sequences: [Style: String] = [:]
    }

    /// The left cells in which text begins and ends that a terminal has to order by itself.
    private struct Isolate {
        var first: Int
        var last: Int
        var mark = "\u{2067}"

        /// Text with gaps of at most one blank is one phrase. One that begins from right to left is isolated as a whole,
        /// with its numbers and punctuation; of another one only what is written from right to left. What was drawn as
        /// an isolate is one too, and decides nothing for the phrase around it. Outer ones come before inner ones.
        static func all(in cells: [Cell]) -> [Isolate] {
            var isolates: [Isolate] = []
            var phrase: [(column: Int, grapheme: TextWidth.Grapheme)] = []
            var blanks = 0
            func close() {
                let free = phrase.indices.filter { phrase[$0].grapheme.isolate == 0 }
                let turned = free.filter { phrase[$0].grapheme.isRightToLeft }
                if let first = turned.first, var last = turned.last {
                    let isLed = !free.contains { $0 < first && phrase[$0].grapheme.character.isLetter }
                    if isLed { last = phrase.count - 1 }
                    isolates.append(Isolate(first: phrase[isLed ? 0 : first].column, last: phrase[last].column))
                }
                let names = Dictionary(grouping: phrase) { $0.grapheme.isolate }.filter { $0.key != 0 }
                for (number, name) in names.sorted(by: { abs($0.key) < abs($1.key) }) {
                    guard !turned.isEmpty || name.contains(where: \.grapheme.isRightToLeft) else { continue }
                    let mark = number < 0 ? "\u{2067}" : "\u{2066}"
                    isolates.append(Isolate(first: name[0].column, last: name[name.count - 1].column, mark: mark))
                }
                phrase = []
            }
            for (column, cell) in cells.enumerated() {
                guard let grapheme = cell.grapheme else { continue }
                if grapheme.character == " " {
                    if grapheme.isolate == 0 { blanks += 1 }
                    continue
                }
                if blanks > 1 || "─│╭╮╰╯".contains(grapheme.character) { close() }
                blanks = 0
                phrase.append((column, grapheme))
            }
            close()
            return isolates
        }
    }
}
